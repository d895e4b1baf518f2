"""What is sent again, after which pause, and how often: the decisions, and AsyncClient that follows them."""

import json
import random
from collections.abc import Callable

import pytest
from support.live import client_of
from support.raw_server import Exchange
from support.records import Heard

from reelbook import errors
from reelbook.client import retries
from reelbook.client.retries import delay_seconds
from reelbook.errors import Answer
from reelbook.requests import JobRequest

FOX = JobRequest.from_text("a fox")
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_pauses")]

ACCEPTED = json.dumps({"request_id": "req_1", "status": "pending"}).encode()


FAULTS: list[tuple[errors.ReelbookError, bool, bool, bool]] = [
    # error, a GET may go again, a paid POST may go again, a paid POST is uncertain
    (errors.ServiceUnreachable("x"), True, True, False),
    (errors.RateLimited("x", answer=Answer(429)), True, True, False),
    (errors.SendInterrupted("x"), True, False, False),
    (errors.AnswerLost("x"), True, False, True),
    (errors.DeadlineExceeded("x"), True, False, True),
    (errors.ServerError("x", answer=Answer(500)), True, False, True),
    (errors.UnexpectedAnswer("x", answer=Answer(200)), False, False, True),
    (errors.BadRequest("x", answer=Answer(400)), False, False, False),
    (errors.AuthenticationError("x", answer=Answer(401)), False, False, False),
    (errors.InsufficientBalance("x", answer=Answer(402)), False, False, False),
    (errors.PayloadTooLarge("x", answer=Answer(413)), False, False, False),
]


@pytest.mark.parametrize(("error", "get", "post", "uncertain"), FAULTS, ids=lambda v: type(v).__name__)
def test_a_paid_request_goes_again_only_where_it_had_no_effect(
    error: errors.ReelbookError, get: bool, post: bool, uncertain: bool
) -> None:
    """After anything that may have been accepted a paid POST isn't."""
    decided = (
        retries.may_send_again(error, twice=True),
        retries.may_send_again(error, twice=False),
        retries.is_uncertain(error),
    )
    assert (get, post, uncertain) == decided


def test_backoff_doubles_to_thirty_seconds_with_full_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause lies anywhere between nothing and the doubled bound."""
    monkeypatch.setattr(retries, "_rng", random.Random(1))
    for attempt, bound in [(1, 1), (2, 2), (5, 16), (9, 30)]:
        pauses = [delay_seconds(attempt) for _ in range(300)]
        assert 0.9 * bound < max(pauses) <= bound
        assert min(pauses) < 0.1 * bound


def lose(exchange: Exchange) -> None:
    """The connection is closed without an answer."""


async def test_repetitions_end_and_say_how_much_may_be_billed() -> None:
    """Four attempts that nobody answered may be four clips."""
    async with client_of(lose) as (client, service):
        with pytest.raises(errors.SubmissionUncertain, match=r"up to \$1\.00.*attempt 4") as uncertain:
            await client.text_to_video("a fox", retry_uncertain=True)
    assert len(service.seen) == retries.MAX_ATTEMPTS
    assert (uncertain.value.estimated_cost_usd, uncertain.value.refusal) == (1.0, None)


async def test_a_readable_answer_that_says_nothing_is_not_repeated_even_then() -> None:
    """A 200 without an id was accepted as likely as not, and a GET isn't repeated after it either."""
    async with client_of(lambda e: e.answer(200, b"{}")) as (client, service):
        with pytest.raises(errors.SubmissionUncertain):
            await client.text_to_video("a fox", retry_uncertain=True)
    assert len(service.seen) == 1


async def test_the_caller_can_hold_a_repetition_back() -> None:
    """What its record raises ends it, and is said."""

    class Limited(Heard):
        def unanswered(self, error: errors.ReelbookError) -> None:
            raise errors.SpendLimitReached("Too much.", limit_usd=0.25, committed_usd=0.25, needed_usd=0.25)

    async with client_of(lose) as (client, service):
        with pytest.raises(errors.SubmissionUncertain, match=r"not sent again: Too much\.") as uncertain:
            await client.submit(FOX, retry_uncertain=True, record=Limited())
    assert len(service.seen) == 1
    assert (uncertain.value.estimated_cost_usd, uncertain.value.refusal) == (0.25, None)


@pytest.mark.parametrize(
    "failure",
    [errors.LedgerUnavailable("disk full"), errors.SendInterrupted("x"), errors.ServiceUnreachable("x")],
)
async def test_what_keeps_a_repetition_from_arriving_leaves_the_first_attempt_uncertain(
    failure: errors.ReelbookError, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A room has a key for all attempts, so they go on; but no answer ever said that nothing was bought."""
    monkeypatch.setattr(retries, "MAX_KEYED_ATTEMPTS", 3)  # so few that no minute's budget is waited for

    class Failing(Heard):
        def sending(self) -> None:
            super().sending()
            if len(self) > 1:
                raise failure

    async with client_of(lose, offers=("idempotency_key",)) as (client, service):
        with pytest.raises(errors.SubmissionUncertain, match="bought once at most") as uncertain:
            await client.submit(FOX, record=Failing())
    assert len(service.seen) == 1
    assert (uncertain.value.estimated_cost_usd, uncertain.value.refusal) == (0.25, None)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Exchange.reset, id="reset"),
        pytest.param(lambda e: e.answer(200, b'{"key_id": "k"}'), id="no secret"),
    ],
)
async def test_a_key_that_may_exist_is_said_and_not_made_twice(fault: Callable[[Exchange], None]) -> None:
    """Nobody saw the secret, so the key is to be found in the list and revoked."""
    async with client_of(fault) as (client, service):
        with pytest.raises(errors.KeyUncertain, match=r"“workshop” may exist.*revoke it") as uncertain:
            await client.create_key("workshop")
    assert len(service.seen) == 1
    assert (uncertain.value.name, uncertain.value.candidates) == ("workshop", ())
