"""A key whose answer was lost, and a key that is changed while jobs run: nothing is lost."""

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.ledgers import locked
from support.live import KEY, session_of
from support.raw_server import Exchange
from support.waiting import until

import reelbook as rb
from reelbook import errors, settings
from reelbook.account.keys import is_preview
from reelbook.models import ApiKey
from reelbook.sandbox.accounts import Accounts, Key
from reelbook.sandbox.handle import Sandbox, handle_on
from reelbook.secret import Secret


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The fingerprint of each request's key, as it arrives at the sandbox."""
    arrived: list[str] = []
    authenticate = Accounts.authenticate

    def noting(accounts: Accounts, secret: str) -> Key | None:
        arrived.append(Secret(secret).fingerprint)
        return authenticate(accounts, secret)

    monkeypatch.setattr(Accounts, "authenticate", noting)
    return arrived


def test_a_key_nobody_saw_is_found_and_can_be_revoked(session: rb.Session, sandbox: Sandbox) -> None:
    """The error names the one key that it may be, not an older one of that name."""
    older = session.keys.create("workshop")
    sandbox.fault("answer_lost", endpoint="create-key")
    with pytest.raises(errors.KeyUncertain) as uncertain:
        session.keys.create("workshop")
    (candidate,) = uncertain.value.candidates
    assert candidate.key_id != older.key_id
    assert f"{candidate.key_id} ({candidate.key_preview}, created " in str(uncertain.value)
    session.keys.revoke(candidate.key_id)
    active = [key.key_id for key in session.keys.list() if key.is_active and key.name == "workshop"]
    assert active == [older.key_id]
    assert sandbox.state()["requests"]["create-key"] == 2


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([("500", "create-key")], "shows no such key so far"),
        ([("answer_lost", "create-key"), ("html", "list-keys")], r"couldn't be listed .*List them later"),
    ],
)
def test_without_a_candidate_the_error_says_why(
    session: rb.Session, sandbox: Sandbox, faults: list[tuple[str, Any]], said: str
) -> None:
    """A request that was never handled leaves none; if the list fails too, a person has to look later."""
    session.keys.create("another")
    for kind, endpoint in faults:
        sandbox.fault(kind, endpoint=endpoint)
    with pytest.raises(errors.KeyUncertain, match=said) as uncertain:
        session.keys.create("workshop")
    assert uncertain.value.candidates == ()


def test_keys_from_before_and_revoked_ones_are_no_candidates(home: Path, no_pauses: None) -> None:
    """Only an active key of that name, made about now or at an unknown time."""
    now = datetime.fromtimestamp(time.time(), UTC)

    def key(key_id: str, **more: object) -> dict[str, object]:
        known = {"key_id": key_id, "name": "workshop", "created_at": now.isoformat(), "is_active": True}
        return {**known, **more}

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

    with session_of(handle) as (session, _):
        with pytest.raises(errors.KeyUncertain, match="One of these may be it") as uncertain:
            session.keys.create("workshop")
    assert [candidate.key_id for candidate in uncertain.value.candidates] == ["new", "untold"]


def test_no_job_is_lost_while_the_key_is_changed(
    session: rb.Session, sandbox: Sandbox, home: Path, used: list[str]
) -> None:
    """Ten jobs run: all end with a clip, no request carries the former key after the change, and one ledger
    account holds them all. The home's sandbox gives out the new key, and the next kernel finds them with it.
    """
    assert session.sandbox is not None
    session.sandbox.settings(pace=2)
    before = session.keys.fingerprint
    batch = session.submit_many([f"a fox {n}" for n in range(10)], duration_seconds=1)
    until(lambda: sum(job.request_id is not None for job in batch) >= 5)
    rotation = session.keys.rotate("second")
    session._call(lambda client: client.former_keys_done())  # with the former key
    changed_at = len(used)
    rotation.revoke_old()
    assert len(batch.results(60)) == 10
    after = session.keys.fingerprint
    assert before != after
    assert set(used[changed_at:]) == {after}
    assert before in used[:changed_at]
    assert {job.state for job in batch} == {"completed"}
    assert session.sandbox.kept_settings == {"pace": 2}, "a sandbox that is started again is as fast"
    assert sandbox.state()["requests"]["text-to-video"] == 10
    session.close()
    assert handle_on(home, sandbox.url, sandbox.pid).api_key == rotation.new.api_key
    with rb.connect("sandbox") as later:
        assert later.spending().of_key.spent_usd == pytest.approx(0.5)
        assert later.balance().balance_usd == pytest.approx(24.5)
        assert len(later.jobs()) == 10


@pytest.mark.usefixtures("real_time")
def test_requests_are_counted_anew(session: rb.Session, sandbox: Sandbox) -> None:
    """A rate limit is a key's own: the new key's budget holds only what it was used for."""
    sandbox.settings(rate_limiting=True)
    for _ in range(6):
        session.balance()
    assert session.facts.requests_left <= 4
    session.keys.rotate("second", rate_limit=30)
    assert session.facts.requests_limit == 30
    assert session.facts.requests_left == 29  # one tried it
    session.balance()
    assert session.facts.requests_left == 28


@pytest.mark.parametrize("lost", [False, True])
def test_a_key_that_is_lost_or_does_not_work_changes_nothing(
    session: rb.Session, sandbox: Sandbox, lost: bool
) -> None:
    """The error names the useless key, and the session goes on with its own."""
    before = session.keys.fingerprint
    if lost:
        sandbox.fault("answer_lost", endpoint="create-key")
    else:
        sandbox.fault("html", endpoint="balance", times=9)
    with pytest.raises((errors.KeyUncertain, errors.RotationFailed), match="still works") as failed:
        session.keys.rotate("second")
    sandbox.clear_faults()
    assert session.keys.fingerprint == before
    if isinstance(failed.value, errors.KeyUncertain):
        assert [candidate.name for candidate in failed.value.candidates] == ["second"]
    elif isinstance(failed.value, errors.RotationFailed):
        session.keys.revoke(failed.value.key_id)
    assert session.balance().balance_usd == 25


def test_a_key_that_the_ledger_cannot_record_is_given_to_nobody(
    session: rb.Session, sandbox: Sandbox, home: Path
) -> None:
    """Or a later kernel would find no job, and be refused once the useless key is revoked, as advised."""
    session.text_to_video("a fox", duration_seconds=1).result(30)
    with locked(home), pytest.raises(errors.RotationFailed, match="still works") as failed:
        session.keys.rotate("second")
    session.keys.revoke(failed.value.key_id)
    session.close()
    assert handle_on(home, sandbox.url, sandbox.pid).api_key == sandbox.api_key
    with rb.connect("sandbox") as later:
        assert later.balance().balance_usd == pytest.approx(24.95)
        assert len(later.jobs()) == 1


def test_a_new_key_that_does_not_see_the_clips_is_not_used(home: Path) -> None:
    """The interface doesn't say whether one key sees another's clips, so one in progress is asked about."""
    keys: list[str | None] = []
    pending = {"request_id": "r1", "status": "pending", "estimated_cost_usd": 0.05}
    bodies = {
        "POST /api/v1/generate": pending,
        "GET /api/v1/status": pending,
        "POST /api/v1/keys": {"key_id": "k2", "name": "second", "api_key": "sk-planted-new"},
        "GET /api/v1/keys": {"api_keys": [], "count": 0},
        "": {"balance_usd": 1.0, "total_spent_usd": 0.0},
    }

    def answer(exchange: Exchange) -> None:
        keys.append(exchange.header("authorization"))
        body = next(body for line, body in bodies.items() if exchange.first_line.startswith(line))
        unknown = body is pending and keys[-1] == "Bearer sk-planted-new"
        exchange.answer(404 if unknown else 200, json.dumps(body).encode())

    with session_of(answer) as (session, _):
        job = session.text_to_video("a fox", duration_seconds=1)
        until(lambda: job.view().asked_seconds_ago is not None)
        with pytest.raises(errors.RotationFailed, match="doesn't see the clip r1") as failed:
            session.keys.rotate("second")
        assert "sk-planted" not in str(failed.value)
        done = len(keys)
        session.balance()
        assert set(keys[done:]) == {f"Bearer {KEY}"}


def test_the_former_key_must_be_known_to_be_revoked(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the list doesn't tell, nothing is guessed; and the new key is never taken for it."""
    monkeypatch.setattr("reelbook.account.keys.is_preview", lambda *_: False)
    rotation = session.keys.rotate("second")
    assert rotation.old is None
    for key_id in (None, rotation.new.key_id):
        with pytest.raises(errors.ConfigurationError, match="Nothing was revoked"):
            rotation.revoke_old(key_id)
    old = next(key for key in session.keys.list() if key.key_id != rotation.new.key_id)
    rotation.revoke_old(old.key_id)
    assert rotation.revoked


def test_it_is_kept_where_the_next_kernel_looks(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the keyring, with the address; an environment variable with the former key is named. A cell that
    connects again with the new key gets the session that already uses it.
    """
    kept: list[tuple[str, str]] = []
    monkeypatch.setattr(settings, "keep", lambda key, url: kept.append((key.reveal(), url)))
    monkeypatch.setenv(settings.API_KEY, sandbox.api_key.reveal())
    with rb.connect("live", base_url=sandbox.url) as session:
        rotation = session.keys.rotate()
        assert rotation.old_is_set_in == "environment"
        rotation.keep()
        assert kept == [(rotation.new.api_key.reveal(), sandbox.url)]
        assert rotation.kept
        assert rb.connect("live", api_key=rotation.new.api_key, base_url=sandbox.url) is session
    assert rotation.new.api_key.reveal() not in repr(rotation) + repr(vars(rotation))


@pytest.mark.parametrize(
    ("preview", "fits"),
    [
        ("sk-sandbox-…wxyz", True),
        ("sk-s...wxyz", True),
        ("****wxyz", True),
        ("sk-sandbox-••••", True),
        ("sk-xxxxwxyz", True),
        ("sk-live-…wxyz", False),
        ("sk-sandbox-…abcd", False),
        ("wxyz", False),
        ("…", False),
        ("", False),
    ],
)
def test_a_masked_form_is_recognised(preview: str, fits: bool) -> None:
    """By what it shows of the beginning and the end; without a mask it says nothing."""
    assert is_preview(preview, Secret("sk-sandbox-planted-wxyz")) is fits


def test_two_keys_that_look_alike_are_not_told_apart(session: rb.Session) -> None:
    """Nothing is guessed if two active keys fit; a revoked one doesn't count."""
    (own,) = session.keys.list()
    twin = ApiKey(key_id="twin", key_preview=own.key_preview)
    assert session.keys.in_use([own]) == own
    assert session.keys.in_use([own, twin]) is None
    assert session.keys.in_use([own, twin.model_copy(update={"is_active": False})]) == own


def test_stop_says_which_key_was_made_or_that_there_may_be_one(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its secret is gone; the session goes on with its own."""
    own = session.keys.fingerprint
    call, stopped = session.keys._call, Mock(side_effect=KeyboardInterrupt)
    # The key; then the list, another key, the change; and the list below.
    asked = iter([stopped, call, call, stopped, call])
    monkeypatch.setattr(session.keys, "_call", lambda ask: next(asked)(ask))
    with pytest.raises(KeyboardInterrupt) as stop:
        session.keys.create("today")
    assert "A key “today” may have been created" in stop.value.__notes__[0]
    with pytest.raises(KeyboardInterrupt) as stop:
        session.keys.rotate("tomorrow")
    (made,) = [key for key in session.keys.list() if key.name == "tomorrow"]
    assert f"session.keys.revoke('{made.key_id}')" in stop.value.__notes__[0]
    assert session.keys.fingerprint == own
