"""What the buttons of a panel do with a job, as on a card."""

import pytest
from widgets.doubles import FakeSession, job, says, work_ends

import reelbook as rb
from reelbook import errors
from reelbook.sandbox.handle import Sandbox
from reelbook.session import JobRequest, Reconciliation
from reelbook.widgets.job_actions import send_again
from reelbook.widgets.job_card import JobCard


def uncertain_card() -> tuple[JobCard, FakeSession]:
    session = FakeSession()
    return JobCard(job(session=session, state="uncertain", request_id=None)), session


def test_finding_out_asks_once_and_holds_up_nobody() -> None:
    """The press comes back at once; until the answer is there, another one asks nothing."""
    card, session = uncertain_card()
    says(card, "find_out")
    says(card, "find_out")
    assert [alone for alone, _ in session.asked] == [False]
    assert (card.face["aside"], card.live) == ("Asking the service what was spent.", True)


def test_what_keeps_from_finding_out_is_shown() -> None:
    """An error of the service stands under the card, and the button is back."""
    card, session = uncertain_card()
    says(card, "find_out")
    session.asked[0][1].set_exception(errors.ServiceUnreachable("No connection. Nothing was lost."))
    work_ends(card)
    assert card.message["text"] == "No connection. Nothing was lost."
    assert card.face["actions"][0] == ["find_out", "Find out"]


def test_a_real_verdict_stands_in_the_cards_note(session: rb.Session, sandbox: Sandbox) -> None:
    """On a sandbox: a lost answer, found out from the card, with its reasons in the note.

    Where nothing can be told unless nobody else was there, the card offers to say so.
    """
    session.usage()
    sandbox.fault("answer_lost", endpoint="generate")
    lost = session.text_to_video("a fox", duration_seconds=1)
    with pytest.raises(errors.SubmissionUncertain):
        lost.result(30)
    card = JobCard(lost)
    for press, state, said in (
        ("find_out", "uncertain", "Can't tell."),
        ("only_me", "lost", "Accepted."),
    ):
        says(card, press)
        work_ends(card)
        assert (card.state, card.face["note"].startswith(said)) == (state, True)
        assert "requests 0 at" in card.face["note"].lower()
        offered = ["only_me", "Only I use this account"] in card.face["actions"]
        assert offered == (state == "uncertain")
    assert session.reconcile() == Reconciliation(())  # nothing is left to find out
    card.close()


def test_again_sends_the_same_request_in_the_same_experiment(session: rb.Session) -> None:
    """A new job, bought once more; an earlier kernel's picture, which isn't kept, can't be sent again."""
    first = session.submit_many([rb.JobRequest.from_text("a fox", seed=7)], experiment="fog")[0]
    again = send_again(first)
    assert again is not None
    assert (again.request, again.experiment) == (first.request, "fog")
    assert again is not first
    assert len(session.jobs(experiment="fog")) == 2
    assert send_again(job(request=JobRequest("image-to-video", "the cat turns its head"))) is None
