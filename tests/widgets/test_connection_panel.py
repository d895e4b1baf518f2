"""The connection panel: it says where a key comes from, takes one and never shows it."""

from collections.abc import Iterator

import pytest
from support.waiting import until
from widgets.doubles import says

import reelbook as rb
from reelbook import settings
from reelbook.sandbox.handle import Sandbox
from reelbook.widgets.connection_panel import ConnectionPanel


@pytest.fixture
def panel(session: rb.Session) -> Iterator[ConnectionPanel]:
    panel = ConnectionPanel(session)
    yield panel
    panel.close()
    panel.session.close()


def test_a_known_address_needs_no_typing(session: rb.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the sandbox, which says what it is, the field holds the live service's known address."""
    monkeypatch.setenv(settings.BASE_URL, "https://api.example.com")
    panel = ConnectionPanel(session)
    assert panel.words["address"] == "https://api.example.com"
    assert (panel.service, "play money" in panel.words["about"]) == ("sandbox", True)
    assert "The local sandbox" in panel.still()[1]
    panel.close()


def test_testing_sends_one_request_and_says_the_balance(panel: ConnectionPanel, sandbox: Sandbox) -> None:
    """The message says so in plain words."""
    says(panel, "test")
    until(lambda: panel.message["text"])
    assert panel.message == {"text": "The key works. The balance is $25.00.", "tone": "info"}


def test_a_typed_key_is_tried_used_and_kept_nowhere(panel: ConnectionPanel, sandbox: Sandbox) -> None:
    """The new session is told of; the key is in no trait."""
    heard: list[rb.Session] = []
    panel.on_session(heard.append)
    before, key = panel.session, sandbox.api_key.reveal()
    says(panel, "use", key=key, address=sandbox.url)
    until(lambda: heard)
    assert panel.session is heard[0] is not before
    assert key not in repr(panel.get_state())
    assert heard[0].balance().balance_usd == 25


def test_a_key_that_is_refused_changes_nothing(panel: ConnectionPanel, sandbox: Sandbox) -> None:
    """The session in use stays; what was copied badly isn't even tried, nor repeated."""
    before = panel.session
    says(panel, "use", key="sk planted", address=sandbox.url)
    assert "Copy it again" in panel.message["text"]
    assert "planted" not in panel.message["text"]
    panel.say("")
    says(panel, "use", key="sk-planted-wrong", address=sandbox.url)
    until(lambda: panel.message["text"])
    assert (panel.session, panel.message["tone"]) == (before, "problem")
    assert "sk-planted-wrong" not in repr(panel.get_state())
    assert not before.closed


def test_a_ticked_key_goes_into_the_keyring(
    panel: ConnectionPanel, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only after the service accepted it, and with its address."""
    kept: list[tuple[str, str]] = []
    monkeypatch.setattr(settings, "has_keyring", lambda: True)
    monkeypatch.setattr(settings, "keep", lambda key, url: kept.append((key.reveal(), url)))
    says(panel, "use", key="sk-planted-wrong", address=sandbox.url, keep=True)
    until(lambda: panel.message["text"])
    assert kept == []
    says(panel, "use", key=sandbox.api_key.reveal(), address=sandbox.url, keep=True)
    until(lambda: panel.message["text"].startswith("The key works."))
    assert kept == [(sandbox.api_key.reveal(), sandbox.url)]
    assert "kept in this system's keyring" in panel.words["keep"]
