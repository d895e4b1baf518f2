"""What the panels say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from widgets.doubles import FOX, clip, view

from reelbook.account import Facts
from reelbook.formatting import dollars, plain, seconds
from reelbook.ledger import KnownBy, Spend
from reelbook.media.images import PreparedImage
from reelbook.session import EarlierRun, JobRequest
from reelbook.session.clip import clip_file_name
from reelbook.text.card import CardFace, job_face, job_lines
from reelbook.text.form import form_words, image_words
from reelbook.text.status_line import facts_words


def face(state: Any = None, request: JobRequest | None = FOX, **facts: Any) -> CardFace:
    known = {"request_id": "req-1", "clip": None, "service": "live", **facts}
    return job_face(state or view(), request, **known)


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
    assert ["again", "Again · $0.25"] in face(view(state="failed"))["actions"]


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


def test_a_clip_waits_its_turn_to_be_fetched() -> None:
    """Two are fetched at a time."""
    assert lines(view(state="completed", download=None)) == ["Waiting to fetch the clip"]


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


def test_an_uncertain_job_says_what_may_be_and_that_nothing_was_sent_twice() -> None:
    """Not certain: it may run, it may bill, it wasn't sent again."""
    note = face(view(state="uncertain"), request_id=None)["note"]
    assert "it may bill $0.25" in note
    assert note.endswith("Reelbook didn't send it again.")


def test_a_job_taken_back_says_that_nothing_was_sent() -> None:
    """Cancelled before sending costs nothing, and says so once."""
    said = "Taken back before it was sent. Nothing was paid."
    assert face(view(state="cancelled", error=said))["note"] == said
    assert lines(view(state="cancelled", error=said)) == []
    assert face(view(state="cancelled"))["money"] == ""


def test_the_stage_has_the_shape_of_what_was_asked_for() -> None:
    """The shape is the ratio's, the picture's, or the default of a job known only by its id."""
    assert face(request=replace(FOX, aspect_ratio="9:16"))["shape"] == [360, 640]
    picture = PreparedImage(b"", "JPEG", 300, 400)
    assert face(request=JobRequest("image-to-video", "x", 5, image=picture))["shape"] == [300, 400]
    unknown = face(request=None)
    assert (unknown["shape"], unknown["prompt"]) == ([640, 360], "Job req-1")
    assert face(request=None, prompt="a fox")["prompt"] == "a fox"  # an agent tool was called with it


def test_a_sandbox_is_named_on_every_card_of_it() -> None:
    """Nobody takes a drawn clip for a model's."""
    assert (face(service="sandbox")["mark"], face(service="live")["mark"]) == ("sandbox", "")


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


def test_the_form_says_cost_and_what_it_leaves_for_every_length() -> None:
    """All ten lengths are there at once."""
    lengths = form_words(24.75)["lengths"]
    assert len(lengths) == 10
    five = {"line": "5 s × $0.05 · leaves $24.50", "button": "Generate · $0.25", "off": "", "low": ""}
    assert lengths[4] == five
    assert form_words(None)["lengths"][4]["line"] == "5 s × $0.05"


def test_the_form_says_both_amounts_where_the_balance_is_too_low() -> None:
    """Why Generate is off is a sentence with both figures; a shorter clip may still be affordable."""
    lengths = form_words(0.1)["lengths"]
    assert lengths[4]["off"] == "The balance is $0.10; this clip needs about $0.25."
    assert lengths[1]["off"] == ""


def test_the_line_counts_requests() -> None:
    """One request is one request, and no figure is below none."""
    assert facts_words("live", Facts(24.75, 1, 10, None))["text"] == "1 request left"
    odd = facts_words("live", Facts(None, -2, 10, 3.0))
    assert (odd["left"], odd["text"], odd["balance"]) == (0, "0 requests left", "")


@pytest.mark.parametrize(("value", "text"), [(0.4, "0 s"), (59.6, "1 min"), (125.0, "2 min 5 s")])
def test_spans_of_time_are_said_in_seconds_and_minutes(value: float, text: str) -> None:
    """Whole seconds, and minutes from sixty on."""
    assert seconds(value) == text


@pytest.mark.parametrize(("usd", "text"), [(0.25, "$0.25"), (1234.5, "$1,234.50"), (-0.1, "-$0.10")])
def test_amounts_have_two_decimals(usd: float, text: str) -> None:
    """Dollars and cents."""
    assert dollars(usd) == text


def test_an_image_is_described_with_what_was_changed_in_it() -> None:
    """Size, kind, weight, and the notes of its preparation."""
    text = image_words(2048, 1365, "JPEG", 812_345, ("turned upright",))
    assert text == "2048 × 1365 · JPEG · 812 kB · turned upright"
    assert image_words(1, 1, "PNG", 2_500_000, ()).endswith("2.5 MB")


def test_a_job_of_an_earlier_run_says_that_nothing_was_paid_again() -> None:
    """The card of a cell that was run again tells whose clip it shows."""
    shown = face(view(from_earlier_run=True))
    assert shown["aside"] == "From an earlier run of this cell: nothing was sent or paid again."


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
    done = face(view(state="completed", from_earlier_run=True, earlier_run=run))
    assert aside in done["aside"]
    assert done["aside"].endswith("For another clip: again=True in the code, or Again.")
    assert face(view(from_earlier_run=True, earlier_run=run))["aside"].endswith("in the code.")


def test_a_request_without_its_picture_cant_be_sent_again() -> None:
    """A job of an earlier kernel whose image isn't kept offers no Again."""
    request = JobRequest("image-to-video", "zoom in", 5)
    shown = job_face(view(state="completed"), request, request_id="r", clip=None, service="sandbox")
    assert "again" not in [name for name, _ in shown["actions"]]


def test_an_uncertain_job_offers_to_find_out_before_it_is_sent_again() -> None:
    """Finding out comes first; the person's word is asked for only where it would tell."""

    def names(**facts: Any) -> list[str]:
        return [name for name, _ in face(view(state="uncertain"), request_id=None, **facts)["actions"]]

    assert names() == ["find_out", "again"]
    assert names(word_would_tell=True) == ["find_out", "only_me", "again"]
    assert names(finding_out=True) == ["again"]


@pytest.mark.parametrize(
    ("state", "note", "money"),
    [
        (
            "lost",
            "The service accepted this clip, and its id never arrived. It counts as spent.",
            "$0.25",
        ),
        (
            "not accepted",
            "The service never answered, and nothing was paid for it. Send it again if you want the clip.",
            "",
        ),
    ],
)
def test_what_became_of_an_uncertain_job_is_said(state: str, note: str, money: str) -> None:
    """Lost and not accepted say whether it was paid, and offer to send it again."""
    shown = face(view(state=state), request_id=None)
    assert (shown["note"], shown["money"]) == (note, money)
    assert shown["actions"] == [["again", "Send again · $0.25"]]


def test_the_form_says_what_a_clip_leaves_of_the_limit() -> None:
    """Before the button is pressed: near the limit in words beside it, past the limit it is off."""
    spend = Spend(1.2, 0.3, 0.1)
    lengths = form_words(None, spend=spend, limit_usd=2.0)["lengths"]
    assert (lengths[0]["off"], lengths[0]["low"]) == ("", "This leaves $0.35 of your limit of $2.00.")
    assert (
        lengths[7]["low"] == "This leaves $0.00 of your limit of $2.00: not enough for another clip like it."
    )
    assert lengths[8]["off"] == "$0.40 of your limit of $2.00 is left; this clip needs about $0.45."
    assert lengths[8]["low"] == ""


def test_the_form_says_when_the_balance_runs_out() -> None:
    """What is on its way is taken from it too; far from its end the line says what it becomes."""
    lengths = form_words(1.5, to_come_usd=0.5)["lengths"]
    assert lengths[0] == {
        "line": "1 s × $0.05 · leaves $1.45",
        "button": "Generate · $0.05",
        "off": "",
        "low": "",
    }
    assert (lengths[4]["line"], lengths[4]["low"]) == ("5 s × $0.05 · leaves $1.25", "")
    assert (lengths[5]["line"], lengths[5]["low"]) == (
        "6 s × $0.05",
        "This leaves about $1.20 of the balance, enough for 24 more seconds.",
    )


def test_the_line_says_what_is_left_of_the_limit() -> None:
    """Beside the balance; what runs low says so in words, not by its colour alone."""
    facts = Facts(24.75, 9, 10, None, 2.0)
    calm = facts_words("live", facts, spend=Spend(0.5, 0.25, 0.0))
    assert (calm["balance"], calm["limit_left"], calm["low"]) == ("$24.75", "$1.25 of $2.00 left", [])
    low = facts_words("live", Facts(1.0, 9, 10, None, 2.0), spend=Spend(1.88, 0.0, 0.0))
    assert (low["balance"], low["limit_left"], low["low"]) == (
        "$1.00, running low",
        "only $0.12 of $2.00 left",
        ["balance", "limit"],
    )
    assert facts_words("live", Facts(24.75, 9, 10, None), spend=Spend(5, 0, 0))["limit_left"] == ""
    end = facts_words("live", facts, spend=Spend(2.0, 0.0, 0.0))
    assert end["limit_left"] == "nothing of $2.00 left"


def test_the_form_says_the_nearer_of_two_ends() -> None:
    """One sentence beside the button is enough."""
    lengths = form_words(0.9, spend=Spend(0.6, 0.0, 0.0), limit_usd=1.0)["lengths"]
    assert lengths[3]["low"] == "This leaves $0.20 of your limit of $1.00."
    end = form_words(0.9, spend=Spend(1.0, 0.0, 0.0), limit_usd=1.0)["lengths"]
    assert end[0]["off"] == "Nothing of your limit of $1.00 is left; this clip needs about $0.05."
