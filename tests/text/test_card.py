"""What the panels say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from widgets.doubles import FOX, clip, view

from reelbook.formatting import plain
from reelbook.ledger import KnownBy
from reelbook.media.images import PreparedImage
from reelbook.session import EarlierRun, JobRequest
from reelbook.session.clip import clip_file_name
from reelbook.text.card import CardFace, ShownJob, job_face, job_lines


def face(state: Any = None, request: JobRequest | None = FOX, **facts: Any) -> CardFace:
    known = {"request_id": "req-1", "service": "live", **facts}
    return job_face(ShownJob(state or view(), request, **known))


def lines(state: Any, **facts: Any) -> list[str]:
    return [plain(line) for line in job_lines(state, facts.pop("clip", None), **facts)]


def test_a_running_job_says_figure_time_left_and_the_request_budget_at_work() -> None:
    """The line of figures is the drawing's own."""
    assert lines(view()) == ["62 % · about 14 s left", "23 s so far", "asked 3 s ago, next in 6 s"]
    assert (face()["word"], face()["tone"], face()["money"]) == ("Processing", "run", "about $0.25")
    assert face()["bar"] == "figure"


def test_what_is_due_is_about_to_happen() -> None:
    """As on the page: no job has "about 0 s left" for as long as it takes longer than expected."""
    assert lines(view(remaining_seconds=0.0))[0] == "62 % · about 1 s left"
    assert lines(view(elapsed_seconds=0.0))[1] == "0 s so far"


@pytest.mark.parametrize("progress", [0.99, 1.0])
def test_a_job_that_is_all_but_done_waits_for_the_service(progress: float) -> None:
    """However long "completed" takes, nothing counts down to it; before that the moment is still known."""
    state = view(progress=progress, remaining_seconds=None)
    assert lines(state)[0] == f"{int(progress * 100)} % · waiting for the service"
    assert lines(view(progress=progress))[0] == f"{int(progress * 100)} % · about 14 s left"
    assert lines(view(progress=0.98, remaining_seconds=None))[0] == "98 %"


def test_a_job_without_a_figure_says_so() -> None:
    """No progress and no estimate make an honest line and an empty bar."""
    state = view(progress=None, remaining_seconds=None)
    assert lines(state)[0] == "No figure yet"
    assert face(state)["bar"] == "open"


def test_seconds_travel_as_numbers_with_a_rate() -> None:
    """The page can count on by itself: what has passed goes up, what is left goes down."""
    asked = job_lines(view(), None)[2]
    assert [part for part in asked if not isinstance(part, str)] == [[3.0, 1], [6.0, -1]]


def test_a_pending_job_says_that_it_has_not_begun() -> None:
    """Accepted is not running."""
    state = view(state="pending", progress=None, remaining_seconds=None)
    assert lines(state)[0] == "Accepted, not begun yet"
    assert face(state)["word"] == "Pending"


def test_a_job_that_nobody_told_of_is_not_called_accepted() -> None:
    """Taken up by its id, it may not be there at all."""
    state = view(state="pending", progress=None, remaining_seconds=None, unheard=True)
    assert lines(state)[0] == "The service hasn't said yet how far it is"
    assert face(state)["word"] == "Asking"


def test_a_job_that_waits_for_the_rate_limit_says_how_long() -> None:
    """Waiting for the budget is named, before sending and while asking."""
    unsent = view(state="sending", progress=None, waiting_seconds=12.0)
    assert lines(unsent, requests_limit=10) == ["The key's 10 requests are used up. Sending in 12 s."]
    assert face(unsent, request_id=None)["word"] == "Waiting"
    assert lines(view(waiting_seconds=9.0))[-1] == "The key's requests are used up. Asking again in 9 s."


def test_what_can_be_done_follows_the_state() -> None:
    """Each state offers its own actions, and what costs says its price."""

    def names(**changes: Any) -> list[str]:
        request_id = changes.pop("request_id", "req-1")
        return [name for name, _ in face(view(**changes), request_id=request_id)["actions"]]

    assert names(state="sending", request_id=None) == ["cancel"]
    assert names() == ["stop", "copy"]
    assert names(watched=False) == ["watch", "copy"]
    assert names(state="failed") == ["again", "copy"]
    failed = face(view(state="failed"))
    assert ["again", "Again…"] in failed["actions"]
    assert failed["again"] == [["again", "Same seed · $0.25"], ["another", "Another seed · $0.25"]]
    seedless = face(view(state="failed"), request=replace(FOX, seed=-1))
    assert (["again", "Again · $0.25"] in seedless["actions"], seedless["again"]) == (True, [])


def test_an_unwatched_job_says_that_it_goes_on_and_is_billed() -> None:
    """Stopping to watch is not stopping to pay."""
    assert face(view(watched=False))["note"] == "Not watching. The job goes on and is billed."
    assert lines(view(watched=False)) == ["23 s so far"]


def test_an_unknown_state_is_shown_by_its_name() -> None:
    """A word of the service's own is neither hidden nor taken for the end."""
    state = face(view(state="queued_for_gpu"))
    assert (state["word"], state["tone"]) == ("queued_for_gpu", "odd")
    assert state["shape"] is not None


def test_a_completed_job_says_what_the_file_is(tmp_path: Path) -> None:
    """Length and size come from the file, the cost without "about"."""
    done = clip(tmp_path / "c.mp4")
    state = view(state="completed", cost_usd=0.25, progress=1.0)
    assert lines(state, clip=done) == ["1.0 s", "64 × 36", "seed 7", "took 48 s"]
    shown = face(state, clip=done)
    assert (shown["money"], shown["mark"], shown["codec"]) == ("$0.25", "sandbox", "h264")
    assert (shown["shape"], bool(shown["clip"]), shown["bar"]) == ([64, 36], True, "")
    assert shown["file"] == "a-red-fox-runs-through-snow-7.mp4"
    assert shown["actions"][-1] == ["save", "Save"]


def test_a_finished_job_says_that_its_clip_is_being_fetched() -> None:
    """Completed is not yet playable."""
    state = view(state="completed", download=0.4)
    assert lines(state) == ["Fetching the clip · 40 %"]
    assert face(state)["bar"] == "figure"
    assert lines(view(state="completed", download=None)) == ["Waiting to fetch the clip"]  # two at a time


@pytest.mark.parametrize(
    ("state", "unanswered", "aside"),
    [
        ("processing", 1, "An earlier attempt was never answered and may be billed too."),
        ("completed", 2, "2 earlier attempts were never answered and may be billed too."),
        ("uncertain", 1, ""),  # its error says it already
    ],
)
def test_attempts_that_may_be_billed_too_are_said(state: str, unanswered: int, aside: str) -> None:
    """A card tells of the money that its clip may have cost besides."""
    assert face(view(state=state, unanswered=unanswered))["aside"] == aside


def test_a_clip_that_could_not_be_fetched_can_be_fetched_again() -> None:
    """The clip is paid for, so the card offers it again."""
    state = face(view(state="completed", error="The connection broke. 40 % is kept."))
    assert state["note"] == "The connection broke. 40 % is kept."
    assert ["watch", "Fetch again"] in state["actions"]


def test_a_failed_job_says_why_and_what_the_balance_tells() -> None:
    """Whether failed jobs are billed isn't documented, so the balance is shown."""
    state = face(view(state="failed", error="content policy", balance_after_usd=24.75))
    assert (state["note"], state["shape"], state["money"]) == ("content policy", None, "maybe $0.25")
    assert state["aside"] == "Whether failed jobs are billed isn't documented. Your balance stayed at $24.75."
    moved = face(view(state="failed", balance_after_usd=24.5))["aside"]
    assert "went from $24.75 to $24.50, other clips included." in moved


def test_the_stage_has_the_shape_of_what_was_asked_for() -> None:
    """The shape is the ratio's, the picture's, or the default of a job known only by its id."""
    assert face(request=replace(FOX, aspect_ratio="9:16"))["shape"] == [360, 640]
    picture = PreparedImage(b"", "JPEG", 300, 400)
    assert face(request=JobRequest("image-to-video", "x", 5, image=picture))["shape"] == [300, 400]
    unknown = face(request=None)
    assert (unknown["shape"], unknown["prompt"]) == ([640, 360], "Job req-1")
    assert face(request=None, prompt="a fox")["prompt"] == "a fox"  # an agent tool was called with it


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (FOX, "a-red-fox-runs-through-snow-7.mp4"),
        (replace(FOX, seed=-1), "a-red-fox-runs-through-snow.mp4"),
        (replace(FOX, prompt="../../etc/passwd\n“x”", seed=1), "etc-passwd-x-1.mp4"),
        (replace(FOX, prompt="…"), "clip-req-1-7.mp4"),
        (None, "clip-req-1.mp4"),
    ],
)
def test_a_saved_clip_is_named_by_prompt_and_seed(request_: JobRequest | None, expected: str) -> None:
    """A file name of plain words, whatever the prompt holds."""
    assert clip_file_name(request_, "req-1") == expected


@pytest.mark.parametrize(
    ("known_by", "notebook", "aside"),
    [
        ("id", "/notebooks/fox.ipynb", "That was on 7 Mar 2026, 09:05, in fox.ipynb. "),
        ("text", "/notebooks/fox.ipynb", "09:05, in fox.ipynb; the cell was recognised by its text alone. "),
        ("text", None, "09:05; the cell was recognised by its text alone. "),
        (
            "pool",
            None,
            '09:05; a pool of threads asked for it that another cell may use too, so only once="…" ',
        ),
        ("label", None, "From an earlier submission with this label: nothing was sent or paid again. That"),
    ],
)
def test_the_card_says_which_run_it_is_from_and_how_to_buy_another(
    known_by: KnownBy, notebook: str | None, aside: str
) -> None:
    """When and where that run was, what it is known by, and the button where there is one."""
    run = EarlierRun(datetime(2026, 3, 7, 9, 5, tzinfo=UTC), known_by, notebook)
    done = face(view(state="completed", earlier_run=run))
    assert aside in done["aside"]
    assert done["aside"].endswith("For another clip: again=True in the code, or Again.")
    assert face(view(earlier_run=run))["aside"].endswith("in the code.")


def test_a_request_without_its_picture_cant_be_sent_again() -> None:
    """A job of an earlier kernel whose image isn't kept offers no Again."""
    shown = face(view(state="completed"), JobRequest("image-to-video", "zoom in", 5))
    assert "again" not in [name for name, _ in shown["actions"]]


def test_an_uncertain_job_offers_to_find_out_before_it_is_sent_again() -> None:
    """Finding out comes first; the person's word is asked for only where it would tell."""

    def names(**facts: Any) -> list[str]:
        return [name for name, _ in face(view(state="uncertain"), request_id=None, **facts)["actions"]]

    assert names() == ["find_out", "again"]
    assert names(word_would_tell=True) == ["find_out", "only_me", "again"]
    assert names(finding_out=True) == ["again"]


@pytest.mark.parametrize(
    ("state", "note", "again"),
    [
        (
            "uncertain",
            "it may bill $0.25. Reelbook didn't send it again.",
            "Send again",
        ),
        (
            "lost",
            "The service accepted this clip, and its id never arrived. It counts as spent.",
            "Send again",
        ),
        ("not accepted", "nothing was paid for it. Send it again if you want the clip.", "Send again"),
        ("refused", "", "Send again"),
        ("cancelled", "", "Again"),  # its error says it
    ],
)
def test_what_became_of_a_job_without_an_answer_is_said(state: str, note: str, again: str) -> None:
    """What it may have cost, that nothing was sent twice, and that it can be sent again."""
    shown = face(view(state=state), request_id=None)
    assert shown["note"].endswith(note)
    assert shown["actions"][-1] == ["again", f"{again} · $0.25"]
    assert lines(view(state=state)) == []
