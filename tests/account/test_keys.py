"""A key whose answer never came: what may exist, and how it is got rid of."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from support.raw_server import Exchange, raw_server

import reelbook as rb
from reelbook import errors
from reelbook.client import retries
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.protocol import FaultKind


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[rb.Session]:
    with rb.connect("sandbox") as session:
        yield session


@pytest.mark.parametrize("kind", ["answer_lost", "broken_json", "500"])
def test_a_key_nobody_saw_is_found_and_can_be_revoked(
    session: rb.Session, sandbox: Sandbox, kind: FaultKind
) -> None:
    """The error names the one key that it may be; an older one of that name is none."""
    older = session.keys.create("workshop")
    sandbox.fault(kind, endpoint="create-key", **({"handled": True} if kind == "500" else {}))
    with pytest.raises(errors.KeyUncertain) as uncertain:
        session.keys.create("workshop")
    (candidate,) = uncertain.value.candidates
    assert candidate.key_id != older.key_id
    assert f"{candidate.key_id} ({candidate.key_preview}, made " in str(uncertain.value)
    session.keys.revoke(candidate.key_id)
    active = [key.key_id for key in session.keys.list() if key.is_active and key.name == "workshop"]
    assert active == [older.key_id]
    assert sandbox.state()["requests"]["create-key"] == 2


def test_a_key_that_was_never_made_is_not_looked_for_among_others(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """A request that the service never handled leaves no candidate."""
    session.keys.create("another")
    sandbox.fault("500", endpoint="create-key")
    with pytest.raises(errors.KeyUncertain, match="shows no such key so far") as uncertain:
        session.keys.create("workshop")
    assert uncertain.value.candidates == ()


def test_a_list_that_fails_too_is_said(session: rb.Session, sandbox: Sandbox) -> None:
    """Whoever reads the error learns that the list is still to be looked at."""
    sandbox.fault("answer_lost", endpoint="create-key")
    sandbox.fault("html", endpoint="list-keys")
    with pytest.raises(errors.KeyUncertain, match=r"couldn't be listed .*List them later") as uncertain:
        session.keys.create("workshop")
    assert uncertain.value.candidates == ()


def test_keys_from_before_and_revoked_ones_are_no_candidates(
    home: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only an active key of the name, made about now or at a time that nobody tells."""
    monkeypatch.setattr(retries, "delay_seconds", lambda *_: 0.0)
    now = datetime.fromtimestamp(time.time(), UTC)

    def key(key_id: str, **more: object) -> dict[str, object]:
        return {
            "key_id": key_id,
            "name": "workshop",
            "created_at": now.isoformat(),
            "is_active": True,
            **more,
        }

    keys = [
        key("old", created_at=(now - timedelta(days=1)).isoformat()),
        key("old_without_zone", created_at=(now - timedelta(days=1)).replace(tzinfo=None).isoformat()),
        key("revoked", is_active=False),
        key("another", name="lab"),
        key("new"),
        key("untold", created_at=None),
    ]

    def handle(exchange: Exchange) -> None:
        if "about" in exchange.first_line:
            exchange.answer(404)
        elif exchange.first_line.startswith("GET"):
            exchange.answer(200, json.dumps({"api_keys": keys}).encode())

    with raw_server(handle) as service:
        with rb.connect("live", api_key="sk-planted-keys", base_url=service.url) as session:
            with pytest.raises(errors.KeyUncertain, match="One of these may be it") as uncertain:
                session.keys.create("workshop")
    assert [candidate.key_id for candidate in uncertain.value.candidates] == ["new", "untold"]
