"""`connect()` chooses between the sandbox and a live service."""

import threading
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.raw_server import RawServer, raw_server
from support.waiting import until

import reelbook as rb
from reelbook import errors
from reelbook.errors import ConfigurationError
from reelbook.ledger import LedgerFile
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.settings import InsecureAddress

KEY = "sk-planted-connect"


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]  # a generator of RawServer
    """A configured live service that keeps what reaches it."""
    with raw_server(lambda e: e.answer(404, b"{}")) as service:
        monkeypatch.setenv("REELBOOK_API_KEY", KEY)
        monkeypatch.setenv("REELBOOK_BASE_URL", service.url)
        yield service


def test_with_nothing_configured_auto_is_the_sandbox(sandbox: Sandbox) -> None:
    """No key and no address: the local sandbox."""
    with rb.connect() as session:
        assert (session.service, session.base_url) == ("sandbox", sandbox.url)
        assert session.sandbox is not None
        assert session.sandbox.mcp_url == f"{sandbox.url}/mcp"


@pytest.mark.parametrize("service", ["auto", "sandbox"])
def test_a_configured_service_is_asked_who_it_is_and_no_more(
    live: RawServer, sandbox: Sandbox, service: Any
) -> None:
    """With key and address "auto" is live, a lesson's sandbox isn't; connecting sends no key to either."""
    with rb.connect(service) as session:
        if service == "sandbox":
            assert session.base_url == sandbox.url
            session.text_to_video("a fox", duration_seconds=1).result(30)
        else:
            assert (session.service, session.sandbox) == ("live", None)
    assert [exchange.first_line for exchange in live.seen] == ["GET /_sandbox/about HTTP/1.1"]
    assert not any(KEY in exchange.head for exchange in live.seen)


def test_an_address_that_gives_the_key_away_is_warned_of_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the line that connects, as a class's students see it; the session's client has nothing to add. No
    filter of the whole process is changed meanwhile, which would silence other threads.
    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with monkeypatch.context() as patched:
            patched.setattr(warnings, "catch_warnings", Mock(side_effect=AssertionError))
            rb.connect(api_key=KEY, base_url="http://class.invalid").close()
    assert [(each.category, each.filename) for each in said] == [(InsecureAddress, __file__)]


def test_a_key_that_the_service_refuses_shows_from_the_first_answer_on(sandbox: Sandbox, home: Path) -> None:
    """Connecting asks nothing; who asks first hears it, and all read `facts`. Space isn't the key's."""
    with rb.connect("live", api_key="sk-mistyped", base_url=sandbox.url) as session:
        assert session.facts.key_trouble is None
        with pytest.raises(errors.AuthenticationError, match="doesn't accept this API key"):
            session.balance()
        assert "It may be mistyped" in str(session.facts.key_trouble)
    with rb.connect("live", api_key=f" {sandbox.api_key.reveal()}\n", base_url=sandbox.url) as session:
        session.balance()
        assert session.facts.key_trouble is None


def test_in_a_class_the_sandbox_is_the_one_on_the_card(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the three settings of a card: its address, its key and its limit, and no other sandbox starts."""
    monkeypatch.setenv("REELBOOK_API_KEY", sandbox.api_key.reveal())
    monkeypatch.setenv("REELBOOK_BASE_URL", sandbox.url)
    monkeypatch.setenv("REELBOOK_MAX_SPEND", "1.00")
    student = tmp_path / "student"
    with rb.connect("sandbox", home=student) as session:
        assert rb.connect("sandbox", home=student) is session
        assert (session.service, session.base_url, session.sandbox) == ("sandbox", sandbox.url, None)
        session.text_to_video("a fox", duration_seconds=1).result(30)
        assert session.facts.max_spend_usd == 1
    assert sandbox.state()["requests"]["text-to-video"] == 1
    assert server.find(student) is None


def test_without_a_network_a_configured_live_service_is_no_hindrance(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing answers at an address with https, which is no room's: the home's own sandbox is taken."""
    monkeypatch.setenv("REELBOOK_BASE_URL", "https://127.0.0.1:9")
    with rb.connect("sandbox") as session:
        assert session.base_url == sandbox.url


@pytest.mark.parametrize(
    ("service", "key", "address", "said"),
    [
        ("auto", KEY, None, "address is missing.*Set REELBOOK_BASE_URL"),
        ("auto", None, "https://host.example", "key is missing.*Set REELBOOK_API_KEY"),
        ("sandbox", None, "the class's", r"key is missing\. Set REELBOOK_API_KEY as your card has it"),
        ("sandbox", None, "http://127.0.0.1:9", "REELBOOK_BASE_URL names .*own, set REELBOOK_BASE_URL"),
    ],
    ids=["no address", "no key", "a class without the key", "a class that doesn't answer"],
)
def test_half_a_configuration_is_an_error_that_says_what_is_missing(
    sandbox: Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    service: Any,
    key: str | None,
    address: str | None,
    said: str,
) -> None:
    """It names the setting and the way out: nobody works in another sandbox unawares, and none starts."""
    address = sandbox.url if address == "the class's" else address
    for name, value in (("REELBOOK_API_KEY", key), ("REELBOOK_BASE_URL", address)):
        if value is not None:
            monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=said):
        rb.connect(service, home=tmp_path / "student")
    assert server.find(tmp_path / "student") is None


@pytest.mark.parametrize("arguments", [{"service": "sandbox", "api_key": KEY}, {"service": "paid"}])
def test_arguments_that_contradict_each_other_are_refused(home: Path, arguments: dict[str, str]) -> None:
    """A key for the sandbox and an unknown service are mistakes."""
    with pytest.raises(ConfigurationError) as refused:
        rb.connect(**arguments)  # type: ignore[arg-type]  # wrong on purpose
    assert KEY not in str(refused.value)


def test_the_same_arguments_give_the_same_session(sandbox: Sandbox) -> None:
    """Every cell that connects shares one thread and one budget, until it is closed and says so."""
    first = rb.connect("sandbox")
    assert rb.connect("sandbox") is first
    first.close()
    first.close()
    with pytest.raises(errors.SessionClosed, match="connect"):
        first.text_to_video("a fox")
    with rb.connect("sandbox") as again:
        assert again is not first


def test_a_home_that_cannot_be_written_is_an_error_before_anything_is_paid(
    live: RawServer, tmp_path: Path
) -> None:
    """It names the ways out; nothing was asked with the key."""
    (tmp_path / "ledger.db").mkdir()
    with pytest.raises(errors.LedgerUnavailable, match=r"home=… or REELBOOK_HOME; connect\(…, ledger=None\)"):
        rb.connect(home=tmp_path)
    assert not any(KEY in exchange.head for exchange in live.seen)


def test_a_disk_that_fails_while_connecting_leaves_no_thread(
    live: RawServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full by the time the key is entered into a ledger that could be written a moment before."""

    def full(*_: object, **__: object) -> Any:
        raise errors.LedgerUnavailable("The disk is full.")

    monkeypatch.setattr(LedgerFile, "account", full)
    before = set(threading.enumerate())
    with pytest.raises(errors.LedgerUnavailable, match="The disk is full"):
        rb.connect(home=home)
    until(lambda: set(threading.enumerate()) <= before)


def test_play_money_may_be_spent_without_a_ledger(sandbox: Sandbox, tmp_path: Path) -> None:
    """On a sandbox the session goes on in memory, and a warning says so."""
    (tmp_path / "ledger.db").mkdir()
    with pytest.warns(errors.LedgerTrouble, match=r"can't be used: .*This session keeps no ledger"):
        session = rb.connect(api_key=sandbox.api_key, base_url=sandbox.url, home=tmp_path)
    with session:
        job = session.text_to_video("a fox", duration_seconds=1)
        job.result(30)
        assert "this clip's id is gone when the kernel ends" in rb.JobCard(job).face["note"]


def test_who_wants_no_ledger_gets_none_on_the_disk(live: RawServer, tmp_path: Path) -> None:
    """`ledger=None` is said when connecting, and is another session than the one with a ledger."""
    home = tmp_path / "home"
    with pytest.warns(errors.LedgerTrouble, match="keeps no ledger"):
        session = rb.connect(home=home, ledger=None)
    with session, rb.connect(home=home) as other:
        assert other is not session
        assert (session.facts.kept, other.facts.kept) == (False, True)
        assert other.facts.trouble is None
    with pytest.raises(ConfigurationError, match="'home' or None"):
        rb.connect(home=home, ledger="memory")  # type: ignore[arg-type]


def test_what_was_never_answered_is_said_to_the_next_one_who_connects(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, with its cost and how to find out: in the notebook's cell, and beside a script's own output."""
    with rb.connect("sandbox") as session:
        sandbox.fault("answer_lost", endpoint="generate", times=2)
        for prompt in ("a fox", "a hen"):
            with pytest.raises(errors.SubmissionUncertain):
                session.text_to_video(prompt, duration_seconds=5).result(30)
    assert capsys.readouterr() == ("", "")
    said = "2 submissions never got an answer (up to $0.50): {} finds out what was bought.\n"
    with rb.connect("sandbox") as later:
        assert rb.connect("sandbox") is later
        assert capsys.readouterr() == ("", said.format("reelbook jobs resume --find-out"))
    monkeypatch.setattr("reelbook.session.display.in_notebook", lambda: True)
    with rb.connect("sandbox"):
        assert capsys.readouterr() == (said.format("session.reconcile()"), "")
