"""What the panels say."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from widgets.doubles import FOX, clip, view

from reelbook.executions import KnownBy
from reelbook.formatting import plain
from reelbook.media.images import PreparedImage
from reelbook.session import EarlierRun, JobRequest
from reelbook.session.clip import clip_file_name
from reelbook.text.card import CardFace, ShownJob, clip_lines, job_face, job_lines


def face(state: Any = None, request: JobRequest | None = FOX, **facts: Any) -> CardFace:
    known = {"request_id": "req-1", "service": "live", **facts}
    return job_face(ShownJob(state or view(), request, **known))


def lines(state: Any, **facts: Any) -> list[str]:
    return [plain(line) for line in job_lines(state, **facts)]


UNKNOWN: dict[str, Any] = {"progress": None, "remaining_seconds": None}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ["62 % · about 14 s left", "23 s so far", "asked 3 s ago, next in 6 s"]),
        ({"remaining_seconds": 0.0}, ["62 % · about 1 s left"]),  # what is due is about to happen
        ({"elapsed_seconds": 0.0}, ["62 % · about 14 s left", "0 s so far"]),
        ({"progress": 0.98, "remaining_seconds": None}, ["98 %"]),
        ({"progress": 0.99, "remaining_seconds": None}, ["99 % · waiting for the service"]),
        ({"progress": 1.0, "remaining_seconds": None}, ["100 % · waiting for the service"]),
        ({"progress": 1.0}, ["100 % · about 14 s left"]),
        (UNKNOWN, ["No figure yet"]),
        ({"state": "pending", **UNKNOWN}, ["Accepted, not begun yet"]),
        ({"state": "pending", "ahead": 23, **UNKNOWN}, ["23 clips ahead of yours"]),
        ({"state": "pending", "ahead": 0, **UNKNOWN}, ["Yours is sent next"]),
        ({"unheard": True, **UNKNOWN}, ["The service hasn't said yet how far it is"]),
        (
            {"state": "sending", "waiting_seconds": 12.0},
            ["The key's 10 requests are used up. Sending in 12 s."],
        ),
        ({"state": "sending"}, ["Being sent."]),
        ({"watched": False}, ["23 s so far"]),
        ({"state": "completed", "download": 0.4}, ["Fetching the clip · 40 %"]),
        ({"state": "completed", "download": None}, ["Waiting to fetch the clip"]),  # two at a time
        ({"state": "failed"}, []),
    ],
)
def test_the_lines_say_what_is_known(changes: dict[str, Any], said: list[str]) -> None:
    """How far it is and how long it takes; nothing counts down to what only the service decides."""
    assert lines(view(**changes), requests_limit=10)[: len(said) or None] == said


def test_when_it_is_asked_is_the_last_line() -> None:
    """Or why it waits. Seconds travel as numbers with a rate, so that the page can count on by itself: what
    has passed goes up, what is left goes down.
    """
    assert lines(view(waiting_seconds=9.0))[-1] == "The key's requests are used up. Asking again in 9 s."
    asked = job_lines(view())[-1]
    assert [part for part in asked if not isinstance(part, str)] == [[3.0, 1], [6.0, -1]]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ("Processing", "run", "about $0.25", "figure")),
        (UNKNOWN, ("Processing", "run", "about $0.25", "open")),
        ({"state": "pending", **UNKNOWN}, ("Pending", "wait", "about $0.25", "open")),
        ({"state": "pending", "unheard": True, **UNKNOWN}, ("Asking", "wait", "about $0.25", "open")),
        ({"state": "sending", "waiting_seconds": 1.0, **UNKNOWN}, ("Waiting", "wait", "about $0.25", "open")),
        ({"state": "queued_for_gpu"}, ("queued_for_gpu", "odd", "about $0.25", "figure")),
        ({"state": "completed", "download": 0.4}, ("Completed", "done", "$0.25", "figure")),
    ],
)
def test_a_card_has_a_word_a_tone_an_amount_and_a_bar(changes: dict[str, Any], said: tuple[str, ...]) -> None:
    """Taken up by its id a job may not be there at all; a word of the service's own isn't hidden."""
    shown = face(view(**changes))
    assert (shown["word"], shown["tone"], shown["money"], shown["bar"]) == said
    assert shown["shape"] is not None


def test_what_can_be_done_follows_the_state() -> None:
    """Each state offers its own actions, and what costs says its price.

    Finding out comes before sending again; the person's word is asked for only where it would tell. Without
    its picture, as after another kernel, a request can't be sent again.
    """

    def names(request: JobRequest = FOX, *, request_id: str | None = "req-1", **changes: Any) -> list[str]:
        facts = {name: changes.pop(name) for name in ("settled_if_alone", "finding_out") if name in changes}
        shown = face(view(**changes), request, request_id=request_id, **facts)
        return [name for name, _ in shown["actions"]]

    assert names(state="sending", request_id=None) == ["cancel"]
    assert names() == ["stop", "copy"]
    assert names(watched=False) == ["watch", "copy"]
    assert face(view(watched=False))["note"] == "Not watching. The job goes on and is billed."
    unfetched = face(view(state="completed", error="The connection broke. 40 % is kept."))
    assert unfetched["note"] == "The connection broke. 40 % is kept."
    assert ["watch", "Fetch again"] in unfetched["actions"]
    assert "watch" in names(state="completed", watched=False)
    assert "again" not in names(JobRequest("image-to-video", "zoom in", 5), state="completed")
    assert names(state="failed") == ["again", "copy"]
    failed = face(view(state="failed"))
    assert ["again", "Again…"] in failed["actions"]
    assert failed["again"] == [["again", "Same seed · $0.25"], ["another", "Another seed · $0.25"]]
    seedless = face(view(state="failed"), request=replace(FOX, seed=-1))
    assert (["again", "Again · $0.25"] in seedless["actions"], seedless["again"]) == (True, [])
    unanswered: dict[str, Any] = {"state": "uncertain", "request_id": None}
    assert names(**unanswered) == ["find_out", "again"]
    assert names(**unanswered, settled_if_alone=True) == ["find_out", "only_me", "again"]
    assert names(**unanswered, finding_out=True) == ["again"]


def test_a_completed_job_says_what_the_file_is(tmp_path: Path) -> None:
    """Length and size come from the file, the cost without "about"."""
    done = clip(tmp_path / "c.mp4")
    state = view(state="completed", cost_usd=0.25, progress=1.0)
    assert [plain(line) for line in clip_lines(done)] == ["1.0 s", "64 × 36", "seed 7", "took 48 s"]
    shown = face(state, clip=done)
    assert (shown["money"], shown["mark"], shown["codec"]) == ("$0.25", "sandbox", "h264")
    assert (shown["shape"], bool(shown["clip"]), shown["bar"]) == ([64, 36], True, "")
    assert shown["file"] == "a-red-fox-runs-through-snow-7.mp4"
    assert shown["actions"][-1] == ["save", "Save"]


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


def test_a_saved_clip_is_named_by_prompt_and_seed() -> None:
    """A file name of plain words, whatever the prompt holds."""
    odd = replace(FOX, prompt="../../etc/passwd\n“x”", seed=1)
    asked = [FOX, replace(FOX, seed=-1), odd, replace(FOX, prompt="…"), None]
    assert [clip_file_name(each, "req-1").removesuffix(".mp4") for each in asked] == [
        *("a-red-fox-runs-through-snow-7", "a-red-fox-runs-through-snow", "etc-passwd-x-1"),
        *("clip-req-1-7", "clip-req-1"),
    ]


@pytest.mark.parametrize(
    ("known_by", "notebook", "aside"),
    [
        ("id", "/notebooks/fox.ipynb", "That was on 7 Mar 2026, 09:05, in fox.ipynb. "),
        ("text", None, "09:05; the cell was recognised by its text alone. "),
        ("pool", None, "09:05; a pool of threads asked for it that another cell may use too"),
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


@pytest.mark.parametrize(
    ("state", "again"),
    [
        ("uncertain", "Send again"),
        ("lost", "Send again"),
        ("not accepted", "Send again"),
        ("refused", "Send again"),
        ("cancelled", "Again"),
    ],
)
def test_what_became_of_a_job_without_an_answer_is_said(state: str, again: str) -> None:
    """Its error says it, and that it can be sent again, for which the button has the price."""
    gone = view(state=state, error="What became of it.")
    shown = face(gone, request_id=None)
    assert shown["note"] == "What became of it."
    assert shown["actions"][-1] == ["again", f"{again} · $0.25"]
    assert lines(gone) == []
