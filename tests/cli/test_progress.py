"""How jobs look on the terminal while they are waited for, and their clips in the end."""

import re
import time
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from cli.conftest import Run
from cli.doubles import Book, on_a_terminal
from ledger.doubles import Clock
from support.ledgers import ledger_in
from widgets.doubles import view

from reelbook.cli.progress import _ended, progress_figures, state_word
from reelbook.client.watch import PATIENCE_SECONDS
from reelbook.sandbox.handle import Sandbox
from reelbook.session import connect
from reelbook.session.job_lifecycle import clip_missing
from reelbook.text.card import share_done

pytestmark = [pytest.mark.browser]


def test_why_a_job_has_no_clip_is_said_with_a_command() -> None:
    """In place of code."""
    lost = Mock(request_id="req_1", result=Mock(side_effect=clip_missing(None)))
    said = "req_1: The clip isn't on this disk. reelbook jobs resume fetches it while its link works."
    assert _ended(lost, unknown_seconds=0.0) == (said, True)


def test_the_figures_are_share_elapsed_and_left(sandbox: Sandbox) -> None:
    """Where they are known; without a figure the bar claims none, and a download moves it again."""
    unknown = view(progress=None, remaining_seconds=None)
    with connect("sandbox") as session:
        job = session.job("req_1")
        assert state_word(job, view()) == "Processing"
        assert progress_figures(job, view()) == "62 % · about 14 s left · 23 s so far"
        assert progress_figures(job, unknown) == "No figure yet · 23 s so far"
    fetching = view(state="completed", progress=1.0, download=0.4)
    assert [share_done(each) for each in (view(), unknown, fetching)] == [0.62, None, 0.4]


def test_a_terminal_gets_a_bar(home: Path, sandbox: Sandbox, folder: Path) -> None:
    """Where a person watches, a bar with the state's word moves in place; a narrow screen cuts the rest."""
    sandbox.settings(pace=600)
    words = ("generate", "a red fox runs through snow", "--duration", "1", "-o", "fox.mp4")
    seen, end = "Accepted, not begun yet", partial(sandbox.advance, 600)
    said, code = on_a_terminal(*words, cwd=folder, columns=60, at=seen, act=end)
    assert (code, "fox.mp4: 1.0 s" in said) == (0, True), said
    assert "about $0.05, sandbox" in said
    assert re.search(r"The job's id: req_\w+", said)
    assert re.search(r"a red fox runs… Pending.*━+.*Accepted, not begun yet", said)
    assert "\x1b[2K" in said


@pytest.mark.usefixtures("real_time")
def test_an_old_job_that_the_service_has_forgotten_is_given_up_soon(
    run: Run, home: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job of long ago that isn't known there is no job on its way: no minutes of asking."""
    monkeypatch.setattr("reelbook.cli.progress.UNKNOWN_SECONDS", 0.5)
    with ledger_in(home, "sandbox", sandbox.api_key, clock=Clock(time.time() - 86400)) as ledger:
        Book(ledger).job("req_forgotten")
    began = time.monotonic()
    result = run("jobs", "resume")
    assert (result.exit_code, "req_forgotten: " in result.stderr) == (1, True)
    assert time.monotonic() - began < PATIENCE_SECONDS
