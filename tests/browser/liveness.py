"""What must be seen in a page while its kernel idles, awaits, blocks, or speaks only when it is asked.

The same for JupyterLab and for the classic Notebook.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from browser.lab import PLAYS, at_rest, noted, shown, tells, until
from browser.pages import OpenNotebook

IDLE = ""
# Under way until a file is there: Stop reaches a kernel that awaits only with the next message.
_UNTIL_ENOUGH = "from pathlib import Path\nwhile not Path('enough').exists(): "
AWAITING = f"import asyncio\n{_UNTIL_ENOUGH}await asyncio.sleep(0.05)"
BLOCKED = f"import time\n{_UNTIL_ENOUGH}time.sleep(0.05)"

_SUPPORT = Path(__file__).parents[1] / "support"
_STATE = """(cell) => {
  const card = cell.querySelector('.rb-card'), bar = card?.querySelector('.rb-bar');
  return card && `${card.querySelector('.rb-chip').textContent} ${bar.getAttribute('aria-valuenow') ?? ''}`;
}"""
_COMPLETED = "(part) => part.innerText.includes('Completed')"
# What a plain widget sends so never shows; the panels know that.
_BY_A_THREAD = """import threading, ipywidgets
number = ipywidgets.IntText()
thread = threading.Thread(target=lambda: number.set_trait('value', 3))
thread.start()
thread.join()"""
_COUNT_QUESTIONS = """() => {
  if (window.questions === undefined) {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (data) {
      const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
      if (/"name": ?"ask"/.test(text)) window.questions += 1;
      return send.call(this, data);
    };
  }
  window.questions = 0;
}"""

whatever_the_kernel_does = pytest.mark.parametrize(
    "under_way",
    [
        pytest.param(IDLE, id="idle"),
        pytest.param(AWAITING, id="awaiting"),
        pytest.param(BLOCKED, id="blocked"),
    ],
)


@contextmanager
def at_pace(notebook: OpenNotebook, seconds: int) -> Iterator[None]:
    """The sandbox's jobs take so long meanwhile."""
    notebook.execute(f"session.sandbox.settings(pace={seconds})")
    try:
        yield
    finally:
        notebook.execute("session.sandbox.settings(pace=3)")


@contextmanager
def running(notebook: OpenNotebook, code: str) -> Iterator[None]:
    """`code`, AWAITING or BLOCKED, is under way meanwhile."""
    enough = notebook.file.with_name("enough")
    enough.unlink(missing_ok=True)
    notebook.start(code)
    try:
        yield
    finally:
        enough.touch()


@contextmanager
def like_colab(notebook: OpenNotebook) -> Iterator[None]:
    """The kernel's messages arrive only while it handles one of the page's; `like_colab` keeps count."""
    notebook.run(f"import sys\nsys.path.insert(0, {str(_SUPPORT)!r})\nimport like_colab\nlike_colab.begin()")
    try:
        notebook.run(_BY_A_THREAD)
        # The widget's own; a panel of an earlier test may speak in the same moment.
        assert "comm_msg" in notebook.value("like_colab.dropped")
        yield
    finally:
        notebook.run("like_colab.end()")


def moves_until_completed(cell: Locator) -> None:
    """The cell's card shows at least two states or figures before it says Completed."""
    states = noted(cell, _STATE)
    until(cell, _COMPLETED)
    before = [state for state in states() if state and "Completed" not in state]
    assert len(before) >= 2, f"all that it showed before it was completed: {before}"


def a_job(name: str, kind: str = "duration_seconds=1") -> str:
    """Code that submits a job and calls it `name`; another name is another request, not a re-run.

    How long earlier jobs of a kind took tells when the next is first asked about: one that is to be seen on
    its way is of a kind of its own, or it may be found completed.
    """
    return f"{name} = session.text_to_video('a train, {name}', {kind})\n"


def a_card_lives_while(notebook: OpenNotebook, under_way: str) -> None:
    """Progress and end of a job reach the page while this code is under way."""
    with at_pace(notebook, 8):
        seconds = 1 + (IDLE, AWAITING, BLOCKED).index(under_way)
        kind = f"duration_seconds={seconds}, aspect_ratio='9:16'"
        cell = notebook.run(a_job(f"live_{seconds}", kind) + f"live_{seconds}")
        shown(cell, ".rb-card")
        if not under_way:
            moves_until_completed(cell)
            return
        with running(notebook, under_way):
            moves_until_completed(cell)
            assert notebook.busy()


def a_studio_lives_by_asking(notebook: OpenNotebook) -> None:
    """Generate, progress, clip, balance: all in answers to the page's questions, which end with the job."""
    with like_colab(notebook), at_pace(notebook, 8):
        cell = notebook.run(
            "asked_studio = rb.Studio(session)\n"
            "asked_studio.form.duration_seconds, asked_studio.form.aspect_ratio = 4, '9:16'\nasked_studio"
        )
        shown(cell, ".rb-form")
        notebook.page.evaluate(_COUNT_QUESTIONS)
        began = time.monotonic()
        cell.get_by_label("Prompt").fill("a train by asking")
        cell.get_by_role("button", name="Generate").click()
        card = shown(cell, ".rb-card")
        moves_until_completed(cell)
        until(card, PLAYS)
        until(cell, "(cell) => cell.querySelectorAll('.rb').length === 4")
        balance = "f'${session.facts.balance_usd:.2f}'"
        left = notebook.value(balance)
        tells(cell.locator(".rb").first, left)
        # Three panels, each at most once a second.
        assert 2 <= questions(notebook) <= 3 * (time.monotonic() - began + 1)
        assert notebook.value("like_colab.dropped") == ["comm_msg"]  # nothing was sent in vain
        # What follows a job is asked for some seconds longer.
        at_rest(cell, "() => window.questions", seconds=4)


def nothing_is_asked_out_of_sight(notebook: OpenNotebook) -> None:
    """A running card that nobody sees asks nothing; seen again, it is right at once."""
    with like_colab(notebook), at_pace(notebook, 8):
        cell = notebook.run(
            "from IPython.display import HTML, display\n"
            + a_job("unseen_job")
            + "display(rb.JobCard(unseen_job), HTML('<div style=\"height:3000px\">far</div><p>the end</p>'))"
        )
        card = shown(cell, ".rb-card")
        cell.locator("p", has_text="the end").scroll_into_view_if_needed()
        notebook.page.evaluate(_COUNT_QUESTIONS)
        asked = at_rest(cell, "() => window.questions", seconds=3)  # seen, it would ask each second
        notebook.run("unseen_job.result();")
        assert questions(notebook) == asked
        card.scroll_into_view_if_needed()
        until(card, _COMPLETED)


def one_question_at_a_time(notebook: OpenNotebook) -> None:
    """A kernel that is blocked is asked once, and not again until it answered; then the card is right."""
    with like_colab(notebook), at_pace(notebook, 4):
        cell = notebook.run(a_job("blocked_job") + "rb.JobCard(blocked_job)")
        card = shown(cell, ".rb-card")
        with running(notebook, BLOCKED):
            notebook.page.evaluate(_COUNT_QUESTIONS)
            notebook.page.wait_for_timeout(5000)
            assert notebook.busy()
            assert questions(notebook) <= 1
        until(card, _COMPLETED)


def questions(notebook: OpenNotebook) -> int:
    """How often the page asked since it was last told to count."""
    asked: int = notebook.page.evaluate("window.questions")
    return asked
