"""A paid request is never left without a verdict, whatever comes back and whatever goes wrong here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.raw_server import Exchange, Handler, raw_server

import reelbook as rb
from reelbook.client import AsyncClient, responses
from reelbook.errors import ReelbookError, SubmissionUncertain
from reelbook.ledger import LedgerFile
from reelbook.states import REFUSED, UNCERTAIN

KEY = "sk-planted-verdicts"


@pytest.fixture
def connected(home: Path) -> Iterator[Callable[[str], rb.Session]]:
    sessions = []

    def connect(url: str) -> rb.Session:
        sessions.append(rb.connect("live", api_key=KEY, base_url=url))
        return sessions[-1]

    yield connect
    for session in sessions:
        session.close()


def answering(submission: Handler) -> Handler:
    """A service that is no sandbox and answers a submission so."""
    return lambda e: submission(e) if e.first_line.startswith("POST") else e.answer(404)


def test_a_mistake_of_ours_after_the_sending_is_uncertain_too(
    home: Path, connected: Callable[[str], rb.Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request was out when it happened, so it may be billed; the error is one of our own."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("ours")

    def accepted(exchange: Exchange) -> None:
        exchange.answer(200, b'{"request_id": "r", "status": "pending"}')

    with raw_server(answering(accepted)) as service:
        session = connected(service.url)
        monkeypatch.setattr(responses, "read", broken)
        job = session.text_to_video("a fox")
        with pytest.raises(SubmissionUncertain, match=r"ZeroDivisionError.*may bill"):
            job.result(20)
        assert session.spending().of_key.uncertain_usd == pytest.approx(0.25)
    with LedgerFile.open(home) as ledger:
        assert [entry.state for entry in ledger.find()] == [UNCERTAIN]


def test_a_mistake_of_ours_before_the_sending_pays_nothing(
    home: Path, connected: Callable[[str], rb.Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What never went out isn't kept as if it might have."""

    async def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(AsyncClient, "submit", broken)
    with raw_server(answering(lambda e: e.answer(500))) as service:
        job = connected(service.url).text_to_video("a fox")
        with pytest.raises(ReelbookError, match="ZeroDivisionError") as error:
            job.result(20)
    assert not isinstance(error.value, SubmissionUncertain)
    assert job.state == REFUSED
