"""A paid request is never left without a verdict, whatever comes back and whatever goes wrong here."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.live import session_of
from support.raw_server import Exchange

from reelbook.client import AsyncClient, responses
from reelbook.errors import ReelbookError, SubmissionUncertain
from reelbook.ledger import LedgerFile
from reelbook.states import REFUSED, UNCERTAIN


def service(exchange: Exchange) -> None:
    """Accepts a submission, and is no sandbox."""
    if exchange.first_line.startswith("POST"):
        exchange.answer(200, b'{"request_id": "r", "status": "pending"}')
    else:
        exchange.answer(404)


def test_a_mistake_of_ours_after_the_sending_is_uncertain_too(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request was out when it happened, so it may be billed; the error is one of our own."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("ours")

    with session_of(service) as (session, _):
        monkeypatch.setattr(responses, "read", broken)
        job = session.text_to_video("a fox")
        with pytest.raises(SubmissionUncertain, match=r"ZeroDivisionError.*may bill"):
            job.result(20)
        assert session.spending().of_key.uncertain_usd == pytest.approx(0.25)
    with LedgerFile.open(home) as ledger:
        assert [entry.state for entry in ledger.find()] == [UNCERTAIN]


@pytest.mark.usefixtures("home")
def test_a_mistake_of_ours_before_the_sending_pays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never went out isn't kept as if it might have."""

    async def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(AsyncClient, "submit", broken)
    with session_of(service) as (session, _):
        job = session.text_to_video("a fox")
        with pytest.raises(ReelbookError, match="ZeroDivisionError") as error:
            job.result(20)
    assert not isinstance(error.value, SubmissionUncertain)
    assert job.state == REFUSED
