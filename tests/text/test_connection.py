"""What the connection panel says of a service, its key and where things are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reelbook.text import connection as words

LIVE: dict[str, Any] = {
    "service": "live",
    "base_url": "https://api.example.com",
    "colab": False,
    "keyring": True,
    "home": Path("/home/me/reelbook"),
}


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
    assert words.connection_words(**LIVE, source=source)["key"] == said


def test_colab_is_told_of_its_secrets() -> None:
    """There is no keyring there that would outlive the machine."""
    said = words.connection_words(**{**LIVE, "colab": True}, source=None)
    assert "open Secrets" in said["keep"]
    assert not said["can_keep"]


def test_colab_is_told_what_its_disk_forgets() -> None:
    """And how to keep it on a mounted Drive; where it is kept there already nothing more is said."""
    colab = {**LIVE, "colab": True, "source": None}
    lost = words.connection_words(**{**colab, "home": Path("/root/reelbook")})["disk"]
    kept = words.connection_words(**{**colab, "home": Path("/content/drive/MyDrive/reelbook")})["disk"]
    assert "are lost then" in lost
    assert "drive.mount('/content/drive')" in lost
    assert kept == "Clips and the ledger are in /content/drive/MyDrive/reelbook."


def test_a_live_service_costs_real_money() -> None:
    """Beside the sandbox a key for it is named, and its address stands in the field."""
    live = words.connection_words(**LIVE, source=None)
    assert (live["title"], live["address"]) == ("api.example.com", "https://api.example.com")
    assert "real money" in live["about"]
    beside = {**LIVE, "service": "sandbox", "source": "keyring", "known_address": "https://api.example.com"}
    sandbox = words.connection_words(**beside)
    assert sandbox["address"] == "https://api.example.com"
    assert sandbox["key"] == "There is also a key for a live service: it comes from this system's keyring."
