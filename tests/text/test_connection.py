"""What the connection panel says of a service, its key and where things are kept."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reelbook import settings
from reelbook.text import connection as words


def live(service: str = "live", home: str = "/home/me/reelbook") -> Any:
    """As much of a session as is spoken of."""
    return SimpleNamespace(service=service, base_url="https://api.example.com", home=Path(home))


@pytest.fixture
def colab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "in_colab", lambda: True)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("environment", "The key comes from the environment variable REELBOOK_API_KEY."),
        ("keyring", "The key comes from this system's keyring."),
        (None, "The key was given in the code."),
        ("panel", "The key was typed in here, for this kernel only."),
    ],
)
def test_where_a_key_comes_from_is_said(source: str | None, said: str) -> None:
    """In the person's terms."""
    assert words.connection_words(live(), source)["key"] == said


@pytest.mark.usefixtures("colab")
def test_colab_is_told_of_its_secrets_and_of_what_its_disk_forgets() -> None:
    """No keyring there outlives the machine. Where things are on a mounted Drive, nothing more is said."""
    lost = words.connection_words(live(home="/root/reelbook"), None)
    assert ("open Secrets" in lost["keep"], lost["can_keep"]) == (True, False)
    assert "are lost then" in lost["disk"]
    assert "drive.mount('/content/drive')" in lost["disk"]
    kept = words.connection_words(live(home="/content/drive/MyDrive/reelbook"), None)["disk"]
    assert kept == "Clips and the ledger are in /content/drive/MyDrive/reelbook."


def test_a_live_service_costs_real_money() -> None:
    """Beside the sandbox a key for it is named, and its address stands in the field."""
    said = words.connection_words(live(), None)
    assert (said["title"], said["address"]) == ("api.example.com", "https://api.example.com")
    assert "real money" in said["about"]
    sandbox = words.connection_words(live("sandbox"), "keyring", "https://api.example.com")
    assert sandbox["address"] == "https://api.example.com"
    assert sandbox["key"] == "There is also a key for a live service: it comes from this system's keyring."
