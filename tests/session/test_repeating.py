"""`retry_uncertain`: submissions repeated at their owner's risk, and what the ledger says of them."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.live import connected, session_of
from support.raw_server import Exchange, Handler, RawServer, in_turn
from support.waiting import until

import reelbook as rb
from reelbook import errors, event_thread
from reelbook.ledger import Entry, LedgerFile

FOX: Any = {"duration_seconds": 1, "aspect_ratio": "1:1", "seed": 7, "retry_uncertain": True}
pytestmark = pytest.mark.usefixtures("home", "no_pauses")
PENDING = {"request_id": "req_1", "status": "pending"}


def lose(exchange: Exchange) -> None:
    """The connection is closed without an answer."""


def accept(exchange: Exchange) -> None:
    exchange.answer(200, json.dumps(PENDING).encode())


@contextmanager
def serving(*submissions: Handler, **options: Any) -> Iterator[tuple[RawServer, rb.Session]]:
    """A session with a service whose submissions are handled one by one; every job stays pending."""
    handled = in_turn(*submissions)

    def handle(exchange: Exchange) -> None:
        handled(exchange) if exchange.first_line.startswith("POST") else accept(exchange)

    with session_of(handle, **options) as (session, service):
        yield service, session


def entries(session: rb.Session) -> list[Entry]:
    """What is written down, oldest first."""
    with LedgerFile.open(session.home) as ledger:
        return ledger.find(sort="oldest")


def test_each_attempt_that_may_have_been_bought_is_kept_and_counted() -> None:
    """A lost answer, a 500 and a job: three entries of one request, and the money of all three."""
    with serving(lose, lambda e: e.answer(500), accept) as (service, session):
        job = session.text_to_video("a fox", **FOX)
        until(lambda: job.request_id)
        spend = session.spending().of_key
        assert (spend.reserved_usd, spend.uncertain_usd) == (0.05, 0.1)
        assert job.view().unanswered == 2
        kept = entries(session)
        assert [e.state for e in kept] == ["uncertain", "uncertain", "pending"]
        assert [e.request_id for e in kept] == [None, None, "req_1"]
        assert job.entry_id == kept[-1].id
        assert "sent again, as asked" in str(kept[0].error)
        assert [found.state for found in session.jobs()] == ["pending", "uncertain", "uncertain"]
    sent = [exchange.body for exchange in service.seen if exchange.first_line.startswith("POST")]
    assert sent == [sent[0]] * 3


def test_a_batch_repeats_each_of_its_submissions() -> None:
    """As a single one does; without it a batch is sent once, also through `map`."""
    with serving(lose, accept, lose) as (service, session):
        (job,) = session.submit_many(["a fox"], duration_seconds=1, retry_uncertain=True)
        until(lambda: job.request_id)
        assert (job.view().unanswered, session.spending().of_key.uncertain_usd) == (1, 0.05)
        with pytest.raises(errors.SubmissionUncertain):
            next(session.map(["a hen"], duration_seconds=1, retry_uncertain=False))
    assert service.posts == 3


def test_a_spending_limit_ends_the_repetitions() -> None:
    """What may have been bought already counts, and the job says why it wasn't sent again."""
    with serving(lose, accept, max_spend=0.07) as (service, session):
        with pytest.warns(errors.SpendingWarning):
            job = session.text_to_video("a fox", **FOX)
        with pytest.raises(errors.SubmissionUncertain, match=r"not sent again: .*limit of \$0\.07"):
            job.result(60)
        assert (job.state, session.spending().of_key.committed_usd) == ("uncertain", 0.05)
        assert [e.state for e in entries(session)] == ["uncertain"]
    assert service.posts == 1


def test_a_refused_repetition_leaves_the_job_uncertain(run_cell: Callable[[], None]) -> None:
    """The 402 bought nothing, the attempt before it may have: a cell run again doesn't buy another."""
    with serving(lose, lambda e: e.answer(402, b"{}")) as (service, session):
        run_cell()
        job = session.text_to_video("a fox", **FOX)
        with pytest.raises(errors.SubmissionUncertain, match=r"may bill \$0\.05.*too low") as uncertain:
            job.result(60)
        assert isinstance(uncertain.value.refusal, errors.InsufficientBalance)
        assert uncertain.value.estimated_cost_usd == 0.05
        assert [e.state for e in entries(session)] == ["uncertain", "refused"]
        assert (job.state, session.spending().of_key.committed_usd) == ("uncertain", 0.05)
        run_cell()
        assert session.text_to_video("a fox", **FOX) is job
    assert service.posts == 2


@pytest.mark.usefixtures("real_time")
def test_a_job_that_may_have_been_bought_is_never_said_to_be_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the repetition waits for the rate limit, the first attempt is out of anybody's hands."""
    monkeypatch.setattr(event_thread, "SETTLE_SECONDS", 0.1)
    with serving(lose, lambda e: e.answer(429, b"{}", {"retry-after": "60"})) as (service, session):
        job = session.text_to_video("a fox", **FOX)
        until(lambda: service.posts == 2)
        until(lambda: [e.state for e in entries(session)] == ["uncertain", "intended"])
        assert not job.cancel()
        assert job.state == "sending"
        session.close()  # the end of the block would wait until it is sent
        with connected(service) as later:
            assert later.resume(unsent=True) == ()
        assert [e.state for e in entries(session)] == ["uncertain", "cancelled"]
