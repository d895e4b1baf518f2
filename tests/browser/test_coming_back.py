"""What becomes of the panels of a kernel that ends, and of a notebook whose tab is closed and opened again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from browser.lab import Notebook, shown, until
from browser.pages import AGAIN, OpenNotebook

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser]

IMPORTS = "import ipywidgets, os\nimport reelbook as rb\nsession = rb.connect('sandbox')"
SAYS = "No kernel answers."
# The sentence is looked for in each frame, from before the kernel ends: how long it took, in ms.
WATCH = """() => {
  window.began = performance.now();
  window.took = null;
  const look = () => {
    const said = [...document.querySelectorAll('.rb-ended')].some((one) => one.checkVisibility());
    if (said) window.took = performance.now() - window.began;
    else requestAnimationFrame(look);
  };
  look();
}"""
ENABLED = """(cell) => [...cell.querySelectorAll('.rb-body :is(button, input, select, textarea)')]
  .filter((one) => one.checkVisibility() && !one.matches(':disabled')).length"""
ENDS = {
    "killed": None,
    "restarted": "jupyterapp.shell.currentWidget.sessionContext.restartKernel()",
    "shut down": "jupyterapp.shell.currentWidget.sessionContext.shutdown()",
}
START = """async () => {
  const { sessionContext } = jupyterapp.shell.currentWidget;
  if (!sessionContext.session?.kernel) await sessionContext.startKernel();
  const { kernel } = sessionContext.session;
  while (kernel.status !== 'idle' || kernel.connectionStatus !== 'connected') {
    await new Promise((done) => setTimeout(done, 50));
  }
}"""


@pytest.fixture(scope="module")
def own(page: Page, address: str, folder: Path, open_notebook: OpenNotebook) -> Iterator[Notebook]:
    """A notebook with a kernel of its own, which may end."""
    before = page.url
    own = Notebook(page, address, folder, "ends")
    own.run(IMPORTS)
    yield own
    page.goto(before)
    for script in open_notebook.IS_READY:
        page.wait_for_function(script, polling=AGAIN)


@pytest.mark.parametrize("how", ENDS)
def test_a_panel_says_that_its_kernel_is_gone(own: Notebook, how: str) -> None:
    """Within a second, once for a Studio; what counted stands still, and nothing can be pressed."""
    own.clear()
    own.run("session.sandbox.settings(pace=30, rate_limiting=False)")
    own.run("job = session.text_to_video('a slow fox', duration_seconds=1, again=True)")
    studio = own.run("studio = rb.Studio(session)\nstudio.card.job = job\nstudio")
    until(shown(studio, ".rb-of-job_card"), "(card) => /Processing|Pending/.test(card.innerText)")
    matrix = own.run("rb.SweepForm(session, template='a {fox|owl}')")
    shown(matrix, ".rb-sweep dl")
    pid = own.value("os.getpid()")
    own.page.evaluate(WATCH)
    if (script := ENDS[how]) is None:
        os.kill(pid, signal.SIGKILL)
    else:
        own.page.evaluate(f"void {script}")
    own.page.wait_for_function("window.took !== null", polling=AGAIN)
    took = own.page.evaluate("window.took")
    assert took < 1000, f"it took {took:.0f} ms"
    _stands_still(studio, matrix)
    own.page.evaluate(START)
    _stands_still(studio, matrix)  # a new kernel knows nothing of these
    own.run(IMPORTS)
    card = own.run("rb.JobBoard(session)")
    assert card.evaluate(ENABLED) or not card.get_by_text(SAYS).is_visible()


def _stands_still(*cells: Locator) -> None:
    texts = [cell.inner_text() for cell in cells]
    for cell in cells:
        assert cell.locator(".rb-ended:visible").count() == 1
        assert time.strftime("at %H:") in cell.locator(".rb-ended:visible").inner_text()
        assert cell.evaluate(ENABLED) == 0
        cell.evaluate("(cell) => cell.querySelectorAll('.rb-body *').forEach((one) => one.click())")
    cells[0].page.wait_for_timeout(1200)
    assert [cell.inner_text() for cell in cells] == texts
