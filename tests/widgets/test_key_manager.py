"""The key manager: what it lists, that a secret passes through once, and that nothing is revoked unasked."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from support.waiting import until
from widgets.doubles import Page

import reelbook as rb
from reelbook import settings
from reelbook.sandbox.handle import Sandbox
from reelbook.widgets.key_manager import KeyManager


class KeysPage(Page):
    """A view of the keys, and what is in its list by name."""

    panel: KeyManager

    def rows(self) -> dict[str, dict[str, Any]]:
        return {row["name"]: row for row in self.last("rows")["rows"]}


@pytest.fixture
def page(session: rb.Session, sandbox: Sandbox) -> Iterator[KeysPage]:
    page = KeysPage(KeyManager(session))
    assert not sandbox.state()["requests"].get("list-keys")  # it costs a request, so a page has to open it
    page.says("hello")
    done(page)
    yield page
    page.panel.close()


def done(page: KeysPage) -> None:
    """Waits for the work and for the list after it."""
    until(lambda: page.panel.words["listed"] and not page.panel._busy and not page.panel.words["busy"])


def create(page: KeysPage, name: str = "ada", limit: int = 20) -> None:
    page.says("create", called=name, limit=limit)
    done(page)


def test_the_key_in_use_is_listed_first_and_named(page: KeysPage, sandbox: Sandbox) -> None:
    """Rotating is offered before it is revoked; what is known stays where a later list fails."""
    (row,) = page.last("rows")["rows"]
    assert (row["state"], row["used"]) == ("in use", "just now")
    assert (page.panel.words["summary"], page.panel.active) == ("1 active key.", 1)
    assert "It is the key that this session uses." in row["question"]
    sandbox.fault("html", endpoint="list-keys")
    page.says("refresh")
    until(lambda: page.panel.message["text"])
    assert "couldn't be listed" in page.panel.message["text"]
    assert page.panel.active == 1


def test_a_made_key_goes_to_the_page_and_nowhere_else(page: KeysPage) -> None:
    """One message has it until the page says that it arrived; no trait ever does."""
    create(page)
    message = page.last("secret")
    key = message["key"]
    assert key.startswith("sk-sandbox-")
    assert "20 requests a minute" in message["text"]
    assert key not in repr(page.panel.get_state()) + repr(vars(page.panel)) + repr(page.panel.still())
    page.says("shown", key_id=message["id"])
    page.messages.clear()
    page.says("hello")
    assert page.named("secret") == []
    assert page.rows()["ada"]["used"] == "never"


def test_where_only_answers_arrive_the_secret_waits_for_a_question(
    page: KeysPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Colab what a thread sends is lost: the key and the list go with the answer to the page's message."""
    keys, answered = page.panel.session.keys, threading.Event()
    create = keys.create
    # A key that is made while the press is still being answered goes with that answer.
    monkeypatch.setattr(keys, "create", lambda *args, **limit: answered.wait(60) and create(*args, **limit))
    page.panel.asks = True
    page.messages.clear()
    page.says("create", called="ada", limit=20)
    answered.set()
    until(lambda: not page.panel._busy and page.panel.active == 2)
    assert page.messages == []
    for _ in range(2):
        page.says("ask")
    assert [content["name"] for content, _ in page.messages] == ["rows", "secret"]


def test_the_new_key_is_kept_before_the_old_one_goes(page: KeysPage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is a keyring it is offered, and what it says afterwards is true."""
    kept: list[tuple[str, str]] = []
    monkeypatch.setattr(settings, "has_keyring", lambda: True)
    monkeypatch.setattr(settings, "keep", lambda key, url: kept.append((key.fingerprint, url)))
    monkeypatch.setattr(page.panel.session._connection, "sandbox", None)  # as a service by its address
    page.says("rotate", called="second", limit=30)
    until(lambda: page.panel.words["rotation"])
    done(page)
    assert page.panel.words["rotation"]["can_keep"]
    assert "Keep it before the old key is revoked" in page.panel.words["rotation"]["text"]
    page.says("keep")
    assert kept == [(page.panel.session.keys.fingerprint, page.panel.session.base_url)]
    assert not page.panel.words["rotation"]["can_keep"]
    assert "It is kept in this system's keyring." in page.panel.words["rotation"]["text"]


def test_a_bad_name_or_limit_is_said_before_anything_is_sent(page: KeysPage, sandbox: Sandbox) -> None:
    """1 to 100 requests a minute, and a name."""
    for wrong in ({"called": " ", "limit": 10}, {"called": "ada", "limit": 101}):
        page.says("create", **wrong)
        assert page.panel.message["text"]
        page.says("dismiss")
    assert not sandbox.state()["requests"].get("create-key")


def test_a_key_that_is_listed_is_revoked(page: KeysPage) -> None:
    """Its row has the question that names what stops; another id revokes nothing."""
    create(page)
    ada = page.rows()["ada"]
    assert "“ada”" in ada["question"]
    assert "never used" in ada["question"]
    page.says("revoke", key_id="another")
    assert not page.panel._busy
    page.says("revoke", key_id=ada["id"])
    until(lambda: page.panel.message["text"] == "“ada” is revoked.")
    done(page)
    assert page.rows()["ada"]["state"] == "revoked"


def test_a_rotation_ends_with_the_old_key_revoked(page: KeysPage, sandbox: Sandbox) -> None:
    """The new one is shown, tried and used; the old one goes last, by the person's word."""
    (old,) = page.last("rows")["rows"]
    page.says("rotate", called="second", limit=30)
    until(lambda: page.panel.words["rotation"])
    done(page)
    assert "This session uses “second” now." in page.panel.words["rotation"]["text"]
    assert page.last("secret")["called"] == "second"
    assert page.rows()["second"]["state"] == "in use"
    assert "still works" in page.panel.words["rotation"]["text"]
    page.says("revoke", key_id=page.panel.words["rotation"]["old"])
    until(lambda: not page.panel.words["rotation"])
    done(page)
    assert page.rows()[old["name"]]["state"] == "revoked"
    assert page.panel.session.balance().balance_usd == 25


def test_a_rotation_ends_where_the_old_key_is_revoked_elsewhere(page: KeysPage) -> None:
    """Nothing is left to do then, and no key is said to work that doesn't."""
    page.says("rotate", called="second", limit=30)
    until(lambda: page.panel.words["rotation"])
    done(page)
    page.panel.session.keys.revoke(page.panel.words["rotation"]["old"])
    page.says("refresh")
    until(lambda: not page.panel.words["rotation"])


def test_a_failed_rotation_says_what_exists(page: KeysPage, sandbox: Sandbox) -> None:
    """The session stays with its key."""
    sandbox.fault("html", endpoint="balance")
    page.says("rotate", called="second", limit=30)
    until(lambda: page.panel.message["text"])
    done(page)
    assert page.panel.message["tone"] == "problem"
    assert "which still works" in page.panel.message["text"]
    assert not page.panel.words["rotation"]
    assert page.rows()["second"]["state"] == "active"
