"""What becomes of the panels of a kernel that ends, and of a notebook that is closed and opened again."""

import contextlib
import os
import re
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from browser.lab import Notebook, shown, tells, until
from browser.pages import AGAIN, OpenNotebook
from browser.test_access import findings
from reelbook.cli import lab
from reelbook.lessons import shipped_lessons

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


# Closes what is open, whose kernels go on.
OPEN = """async ([path, save]) => {
  if (save) await jupyterapp.commands.execute('docmanager:save');
  for (const open of [...jupyterapp.shell.widgets('main')]) open.dispose();
  await jupyterapp.commands.execute('docmanager:open', { path });
}"""


class InItsPlace(Notebook):
    """A notebook that is opened in the place of the other, for which no page is loaded."""

    def _open(self, query: str = "") -> None:
        _open(self, self.file.name)


@pytest.fixture(scope="module")
def own(page: Page, address: str, folder: Path, open_notebook: OpenNotebook) -> Iterator[Notebook]:
    """A notebook with a kernel of its own, which may end."""
    own = InItsPlace(page, address, folder, "ends")
    own.run(IMPORTS)
    yield own
    _open(own, open_notebook.file.name)
    open_notebook.execute("session.sandbox.settings(pace=3)")


@pytest.mark.parametrize("how", ENDS)
def test_a_panel_says_that_its_kernel_is_gone(own: Notebook, how: str) -> None:
    """At once, once for a Studio; what counted stands still, and nothing can be pressed."""
    own.clear()
    own.execute("session.sandbox.settings(pace=30, rate_limiting=False)")
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
    # 0.3 s on an idle machine. What a person ends takes as long as the server takes to end it.
    assert took < (10_000 if script is None else 60_000), f"it took {took:.0f} ms"
    _stands_still(studio, matrix)
    if script is None:
        own.page.get_by_role("dialog").get_by_role("button", name="Ok").click()
        assert findings([studio, matrix], only_colours=False) == []
    own.page.evaluate(START)
    _stands_still(studio, matrix)  # a new kernel knows nothing of these
    own.execute(f"{IMPORTS}\nsession.sandbox.settings(pace=0)")
    card = own.run("rb.JobBoard(session)")
    assert card.evaluate(ENABLED) or not card.get_by_text(SAYS).is_visible()


def _stands_still(*cells: Locator) -> None:
    texts = [cell.inner_text() for cell in cells]
    for cell in cells:
        assert cell.locator(".rb-ended:visible").count() == 1
        assert re.search(r"\bat \d\d:\d\d\b", cell.locator(".rb-ended:visible").inner_text())
        assert cell.evaluate(ENABLED) == 0
        cell.evaluate("(cell) => cell.querySelectorAll('.rb-body *').forEach((one) => one.click())")
    cells[0].page.wait_for_timeout(1200)
    assert [cell.inner_text() for cell in cells] == texts


def test_a_lesson_that_is_opened_again_has_its_live_panel(
    own: Notebook, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signed as `reelbook lab` signs it: the tab is closed, opened again, and Generate works."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(folder / "data"))
    lesson = shipped_lessons()[1]
    lab.copy_lessons([lesson], folder / "work")
    lab.trust([folder / "work" / lesson.name])
    _open(own, lesson.name)
    own.run(IMPORTS)
    studio = own.run("studio = rb.Studio(session)\nstudio")
    shown(studio, ".rb-form")
    _open(own, lesson.name)
    studio = own.page.locator(own.CELLS).last
    studio.get_by_role("textbox", name="Prompt").fill("a fox that came back")
    own.comes_to("studio.form.prompt", "a fox that came back")


def test_an_untrusted_notebook_says_how_its_panels_return(own: Notebook, folder: Path) -> None:
    """A panel's still form says it, also over a picture, and its button brings the live panel back."""
    _open(own, own.file.name)
    own.clear()
    own.run("done = session.text_to_video('a boat', duration_seconds=1, once='finished')\ndone.result()")
    card = own.run("rb.JobCard(done)")
    shown(card, ".rb-card")
    own.save()
    signatures = folder / "data" / "nbsignatures.db"
    with contextlib.closing(sqlite3.connect(signatures)) as db, db:
        db.execute("DELETE FROM nbsignatures")
    _open(own, own.file.name, save=False)  # saved once more it would be signed
    card = own.page.locator(own.CELLS).last
    tells(card, "jupyter trust ends.ipynb")
    assert card.locator("img").count() == 1
    card.get_by_role("button", name="Trust Notebook").click()
    own.page.get_by_role("dialog").get_by_role("button", name="Trust").click()
    shown(own.page.locator(own.CELLS).last, ".rb-card")


def test_a_studio_opens_in_a_tab_of_its_own(own: Notebook) -> None:
    """By its menu: a grid of 24 fills the tab, its panels live, and there it isn't offered again."""
    _open(own, own.file.name)
    own.clear()
    own.execute("session.sandbox.settings(pace=0, rate_limiting=False)")
    axes = "animal=['fox', 'owl', 'bear', 'heron'], place=['snow', 'rain', 'fog', 'city', 'sea', 'wood']"
    own.run(
        f"run = rb.Sweep('a {{animal}} in {{place}}', {axes}, duration_seconds=1).run(session, confirm=True)"
    )
    own.run("run.results()\nstudio = rb.Studio(session, view='explore')\nstudio.sweep_form.on_run.tell(run)")
    studio = own.run("studio")
    shown(studio, ".rb-matrix img:not([hidden])")
    shown(studio, ".rb-line").get_by_role("button", name="More").click()
    studio.get_by_role("button", name="Open in a tab").click()
    tab = own.page.locator(".jp-LinkedOutputView")
    tab.locator(".rb-matrix").evaluate("(grid) => grid.scrollIntoView()")
    until(tab, "(tab) => tab.querySelectorAll('.rb-matrix img:not([hidden])').length > 5")
    share = """(tab) => {
      const [grid, space] = [tab.querySelector('.rb-scroll table'), tab].map((one) => one.clientWidth);
      return grid / space > 0.9 && tab.scrollWidth <= tab.clientWidth && tab.clientHeight > innerHeight / 2;
    }"""
    until(tab, share)
    line = shown(tab, ".rb-line")
    own.page.wait_for_timeout(500)  # a page that moves closes the menu
    line.get_by_role("button", name="More").click()
    assert not tab.get_by_role("button", name="Open in a tab").is_visible()
    tab.get_by_role("button", name="API keys").click()
    shown(tab, ".rb-keys")


def _open(own: Notebook, path: str, *, save: bool = True) -> None:
    own.page.evaluate(OPEN, [path, save])
    for script in own.IS_READY:
        own.page.wait_for_function(script, polling=AGAIN)
