"""What AsyncClient sends again: submissions at their caller's risk, keys never, and all within a quota."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable

import pytest
from support.raw_server import Exchange, Handler, raw_server

from reelbook import errors
from reelbook.client import AsyncClient, retries

KEY = "sk-planted-retrying"
pytestmark = pytest.mark.anyio

ACCEPTED = json.dumps({"request_id": "req_1", "status": "pending"}).encode()


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "delay_seconds", lambda *_: 0.0)


def accept(exchange: Exchange) -> None:
    exchange.answer(200, ACCEPTED)


def lose(exchange: Exchange) -> None:
    """The connection is closed without an answer."""


def fail(exchange: Exchange) -> None:
    exchange.answer(500)


def refuse(exchange: Exchange) -> None:
    exchange.answer(402, b'{"detail": "insufficient balance, current balance $0.10, required $0.25"}')


def hold_off(exchange: Exchange) -> None:
    exchange.answer(429, b"{}", {"retry-after": "0"})


def in_turn(handlers: Iterable[Handler]) -> Handler:
    """The first request is handled by the first handler, and so on."""
    left = iter(handlers)
    return lambda exchange: next(left)(exchange)


class Heard(list[str]):
    """What a submission's caller hears of its attempts, in order."""

    def sending(self, goes_out: bool) -> None:
        self.append("sent" if goes_out else "no effect")

    def uncertain(self, error: errors.ReelbookError) -> None:
        self.append(type(error).__name__)


async def test_a_submission_that_is_uncertain_goes_out_again_only_for_who_asks() -> None:
    """After a lost answer and a 500 the third attempt's job is given, and each attempt was told."""
    heard = Heard()
    with raw_server(in_turn([lose, fail, accept])) as service:
        async with AsyncClient(KEY, service.url) as client:
            accepted = await client.text_to_video(
                "a fox", retry_uncertain=True, on_sending=heard.sending, on_uncertain=heard.uncertain
            )
    assert accepted.request_id == "req_1"
    assert heard == ["sent", "AnswerLost", "sent", "ServerError", "sent"]
    assert len({exchange.body for exchange in service.seen}) == 1


async def test_repetitions_end_and_say_how_much_may_be_billed() -> None:
    """Four attempts that nobody answered may be four clips."""
    with raw_server(lose) as service:
        async with AsyncClient(KEY, service.url) as client:
            with pytest.raises(errors.SubmissionUncertain, match=r"up to \$1\.00.*attempt 4") as uncertain:
                await client.text_to_video("a fox", retry_uncertain=True)
    assert len(service.seen) == retries.MAX_ATTEMPTS
    assert (uncertain.value.estimated_cost_usd, uncertain.value.refusal) == (1.0, None)


async def test_a_readable_answer_that_says_nothing_is_not_repeated_even_then() -> None:
    """A 200 without an id was accepted as likely as not, and a GET isn't repeated after it either."""
    with raw_server(lambda e: e.answer(200, b"{}")) as service:
        async with AsyncClient(KEY, service.url) as client:
            with pytest.raises(errors.SubmissionUncertain):
                await client.text_to_video("a fox", retry_uncertain=True)
    assert len(service.seen) == 1


async def test_a_refused_repetition_doesnt_hide_the_attempt_before_it() -> None:
    """402 says that nothing was charged for the second attempt; the first may have been accepted."""
    with raw_server(in_turn([fail, refuse])) as service:
        async with AsyncClient(KEY, service.url) as client:
            with pytest.raises(errors.SubmissionUncertain, match=r"may bill \$0\.25.*too low") as uncertain:
                await client.text_to_video("a fox", retry_uncertain=True)
    assert isinstance(uncertain.value.refusal, errors.InsufficientBalance)
    assert uncertain.value.answer is not None
    assert (uncertain.value.answer.status, uncertain.value.estimated_cost_usd) == (500, 0.25)


async def test_the_caller_can_hold_a_repetition_back() -> None:
    """What `on_uncertain` raises ends it, and is said."""

    def hold_back(error: errors.ReelbookError) -> None:
        raise errors.SpendLimitReached("Too much.", limit_usd=0.25, committed_usd=0.25, needed_usd=0.25)

    with raw_server(lose) as service:
        async with AsyncClient(KEY, service.url) as client:
            with pytest.raises(errors.SubmissionUncertain, match=r"not sent again: Too much\.") as uncertain:
                await client.text_to_video("a fox", retry_uncertain=True, on_uncertain=hold_back)
    assert len(service.seen) == 1
    assert (uncertain.value.estimated_cost_usd, uncertain.value.refusal) == (0.25, None)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Exchange.reset, id="reset"),
        pytest.param(lose, id="closed"),
        pytest.param(fail, id="500"),
        pytest.param(lambda e: e.answer(200, b"<html>"), id="html"),
        pytest.param(lambda e: e.answer(200, b'{"key_id": "k", "api_key": "sk-br'), id="broken json"),
        pytest.param(lambda e: e.answer(200, b'{"key_id": "k"}'), id="no secret"),
    ],
)
async def test_a_key_that_may_exist_is_said_and_not_made_twice(fault: Callable[[Exchange], None]) -> None:
    """Nobody saw the secret, so the key is to be found in the list and revoked."""
    with raw_server(fault) as service:
        async with AsyncClient(KEY, service.url) as client:
            with pytest.raises(errors.KeyUncertain, match=r"“workshop” may exist.*revoke it") as uncertain:
                await client.create_key("workshop")
    assert len(service.seen) == 1
    assert (uncertain.value.name, uncertain.value.candidates) == ("workshop", ())


async def test_a_secret_within_a_broken_answer_is_not_in_the_error() -> None:
    """What was readable of the new key stays out of the error's text and extract."""
    broken = b'{"key_id": "key_1", "api_key": "sk-new-secret", "name": "workshop"'
    with raw_server(lambda e: e.answer(200, broken)) as service:
        async with AsyncClient(KEY, service.url) as client:
            with pytest.raises(errors.KeyUncertain) as uncertain:
                await client.create_key("workshop")
    assert "sk-new-secret" not in f"{uncertain.value!r} {uncertain.value.answer}"


async def test_a_refused_key_is_no_uncertain_one() -> None:
    """400 is the service's no."""
    with raw_server(lambda e: e.answer(400, b"{}")) as service:
        async with AsyncClient(KEY, service.url) as client:
            with pytest.raises(errors.BadRequest):
                await client.create_key("workshop")


async def test_a_client_that_only_fails_stops_repeating_and_begins_again_after_successes() -> None:
    """Once the quota is used up each call is one request; an answer earns repetitions back."""
    works = False
    with raw_server(lambda e: e.answer(200, b'{"balance_usd": 1}') if works else fail(e)) as service:
        async with AsyncClient(KEY, service.url) as client:
            client._gate.budget.limit = 1000  # the rate limit isn't the question here

            async def requests() -> int:
                before = len(service.seen)
                with contextlib.suppress(errors.ServerError):
                    await client.balance()
                return len(service.seen) - before

            spent = [await requests() for _ in range(6)]
            works = True
            for _ in range(4):
                await requests()
            works = False
            assert (spent, await requests()) == ([4, 4, 4, 2, 1, 1], 3)


async def test_a_client_that_is_told_to_wait_keeps_its_quota() -> None:
    """429s are paced by the key's budget, and are no failures."""
    with raw_server(in_turn([hold_off, hold_off, hold_off, accept])) as service:
        async with AsyncClient(KEY, service.url) as client:
            await client.text_to_video("a fox")
            assert client._quota.left == retries.QUOTA
