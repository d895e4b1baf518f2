"""What must be seen in a page while its kernel idles, awaits, blocks, or speaks only when it is asked.

The same for JupyterLab and for the classic Notebook.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.lab import PLAYS, shown, until
from browser.pages import OpenNotebook

if TYPE_CHECKING:
    from playwright.sync_api import Locator

IDLE = ""
AWAITING = "import asyncio\nawait asyncio.sleep(20)"
BLOCKED = "import time\ntime.sleep(20)"

_SUPPORT = Path(__file__).parents[1] / "support"
_STATE = """(card) => {
  const bar = card.querySelector('.rb-bar');
  return `${card.querySelector('.rb-chip').textContent} ${bar.getAttribute('aria-valuenow') ?? ''}`;
}"""
_COMPLETED = "(card) => card.innerText.includes('Completed')"
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
    notebook.run(f"session.sandbox.set_pace({seconds})")
    try:
        yield
    finally:
        if notebook.busy():
            notebook.interrupt()
        notebook.run("session.sandbox.set_pace(3)")


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


def states_until_completed(card: Locator, seconds: int = 30) -> set[str]:
    """State and progress that the card showed before it said Completed."""
    seen: set[str] = set()
    end = time.monotonic() + seconds
    while not card.evaluate(_COMPLETED):
        assert time.monotonic() < end, f"it showed {seen} and never Completed: {card.inner_text()}"
        seen.add(card.evaluate(_STATE))
        card.page.wait_for_timeout(100)
    return seen


def a_job(name: str) -> str:
    """Code that submits a job and calls it `name`; another name is another request, not a re-run."""
    return f"{name} = session.text_to_video('a train, {name}', duration_seconds=1)\n"


def a_card_lives_while(notebook: OpenNotebook, under_way: str) -> None:
    """Progress and end of a job reach the page while this code is under way."""
    with at_pace(notebook, 8):
        cell = notebook.run(a_job(f"live_{len(under_way)}") + f"live_{len(under_way)}")
        card = shown(cell, ".rb-card")
        if under_way:
            notebook.start(under_way)
        assert len(states_until_completed(card)) >= 2
        assert notebook.busy() == bool(under_way)


def a_studio_lives_by_asking(notebook: OpenNotebook) -> None:
    """Generate, progress, clip, balance: all in answers to the page's questions, which end with the job."""
    with like_colab(notebook), at_pace(notebook, 8):
        cell = notebook.run("asked_studio = rb.Studio(session)\nasked_studio")
        shown(cell, ".rb-form")
        notebook.page.evaluate(_COUNT_QUESTIONS)
        began = time.monotonic()
        cell.get_by_label("Prompt").fill("a train by asking")
        cell.get_by_role("button", name="Generate").click()
        card = shown(cell, ".rb-card")
        assert len(states_until_completed(card)) >= 2
        until(card, PLAYS)
        until(cell, "(cell) => cell.querySelectorAll('.rb').length === 3")
        balance = "f'${session.facts.balance_usd:.2f}'"
        left = notebook.value(balance)
        until(cell.locator(".rb").first, f"(line) => line.innerText.includes('{left}')", 10)
        # Three panels, each at most once a second.
        assert 2 <= questions(notebook) <= 3 * (time.monotonic() - began + 1)
        assert notebook.value("like_colab.dropped") == ["comm_msg"]  # nothing was sent in vain
        notebook.page.wait_for_timeout(8000)  # what follows a job has followed
        asked = questions(notebook)
        notebook.page.wait_for_timeout(4000)
        assert questions(notebook) == asked


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
        notebook.page.wait_for_timeout(1500)
        notebook.page.evaluate(_COUNT_QUESTIONS)
        notebook.page.wait_for_timeout(3000)
        assert questions(notebook) == 0
        notebook.run("unseen_job.result(30);")
        assert questions(notebook) == 0
        card.scroll_into_view_if_needed()
        until(card, _COMPLETED, 10)


def one_question_at_a_time(notebook: OpenNotebook) -> None:
    """A kernel that is blocked is asked once, and not again until it answered; then the card is right."""
    with like_colab(notebook), at_pace(notebook, 4):
        cell = notebook.run(a_job("blocked_job") + "rb.JobCard(blocked_job)")
        card = shown(cell, ".rb-card")
        notebook.start("import time\ntime.sleep(8)")
        notebook.page.evaluate(_COUNT_QUESTIONS)
        notebook.page.wait_for_timeout(5000)
        assert notebook.busy()
        assert questions(notebook) <= 1
        until(card, _COMPLETED, 20)


def questions(notebook: OpenNotebook) -> int:
    """How often the page asked since it was last told to count."""
    asked: int = notebook.page.evaluate("window.questions")
    return asked
