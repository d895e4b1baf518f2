"""What a row, a heading and the top of the board say."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from widgets.doubles import FOX, clip, view

from reelbook.account import Facts
from reelbook.formatting import plain
from reelbook.ledger import Spend
from reelbook.media.images import prepare
from reelbook.session import JobRequest
from reelbook.states import STATES
from reelbook.text import board as words
from reelbook.text.card import ShownJob


def row(request: JobRequest | None = FOX, **changes: Any) -> dict[str, Any]:
    return words.board_row(ShownJob(view(**changes), request, "req-1"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "14 s left"),
        ({"progress": 0.99, "remaining_seconds": None}, "waiting for the service"),
        ({"remaining_seconds": None}, "62 %"),
        ({"remaining_seconds": None, "progress": None}, "23 s so far"),
        ({"watched": False}, "not watched"),
        ({"state": "sending"}, "being sent"),
        ({"state": "completed", "download": None}, "waits to be fetched"),
        ({"state": "completed", "download": 0.4}, "fetching 40 %"),
        ({"state": "completed", "error": "gone"}, "not on this disk"),
        ({"state": "failed", "took_seconds": 12.0}, ""),
    ],
)
def test_a_rows_time_says_what_is_known(changes: dict[str, Any], said: str) -> None:
    """Time left before progress, progress before time passed; what became of the file."""
    assert plain(row(**changes)["time"]) == said


def test_a_finished_row_says_how_long_it_took(tmp_path: Path) -> None:
    """As the clip's card does. A long prompt is cut between letters, also between those of several bytes; the
    open row has all of it.
    """
    snow = JobRequest("text-to-video", "雪" * 100, 5, "16:9")
    done = words.board_row(ShownJob(view(state="completed"), snow, clip=clip(tmp_path / "a.mp4")))
    assert (plain(done["time"]), done["bar"], done["word"]) == ("took 48 s", None, "Completed")
    assert done["prompt"] == "雪" * 50 + "…"


@pytest.mark.parametrize(
    ("request_", "about"),
    [
        (FOX, "seed 7 · 5 s · 16:9"),
        (JobRequest("text-to-video", "x", 2, "1:1", -1), "random seed · 2 s · 1:1"),
        (
            JobRequest("image-to-video", "x", 3, image=prepare(Image.new("RGB", (300, 300)))),
            "from an image, no seed · 3 s",
        ),
        (None, ""),
    ],
)
def test_a_row_says_what_was_asked_for(request_: JobRequest | None, about: str) -> None:
    """Seed, length and shape; an image has no seed and no ratio."""
    assert row(request_)["about"] == about


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        *(({"state": name}, row.word) for name, row in STATES.items()),
        ({"watched": False}, "not watched"),
        ({"state": "completed", "watched": False}, "done"),
        ({"state": "a word of its own"}, "running"),
    ],
)
def test_what_a_job_is_counted_as(changes: dict[str, Any], kind: str) -> None:
    """The word of its state; a job in progress that nobody watches is counted as that."""
    assert words.kind(view(**changes)) == kind
    assert words.kind_words([view(**changes)]) == f"1 {kind}"


def test_sums_tell_what_is_final_from_what_is_not() -> None:
    """Paid, to be paid, both; and apart from them what may have been billed."""
    paid, owed = view(state="completed", cost_usd=0.3), view()
    failed, refused = view(state="failed"), view(state="refused")
    for views, said in (
        ([], "$0.00"),
        ([refused], "$0.00"),
        ([paid], "$0.30"),
        ([owed], "about $0.25"),
        ([view(given_up=True)], "$0.25 not certain"),
        ([view(state="failed", cost_usd=0.0)], "$0.00"),
        ([view(state="a word of its own")], "about $0.25"),
        ([paid, owed], "spent $0.30 of about $0.55"),
        ([failed], "$0.25 not certain"),
        ([paid, failed], "$0.30, $0.25 not certain"),
        ([paid, owed, failed], "spent $0.30 of about $0.55, $0.25 not certain"),
    ):
        assert words.sum_words(views) == said


def test_the_key_has_its_spend_and_its_requests() -> None:
    """With its limit and what may have been billed; and where no request is left, when more come."""
    assert words.spent_words(Spend(2.4, 0.0, 0.0), 5.0) == "spent $2.40 of $5.00"
    assert words.spent_words(Spend(2.4, 0.0, 0.25), None) == "spent $2.40, $0.25 not certain"
    assert plain(words.requests_words(Facts(None, 7, 10, None))) == "7 of 10 requests left"
    assert plain(words.requests_words(Facts(None, 999, 1000, None))) == "999 of 1,000 requests left"
    assert plain(words.requests_words(Facts(None, 0, 10, 9.0))) == "0 of 10 requests left, more in 9 s"
