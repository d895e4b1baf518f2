"""What the connection panel says: which service is used, where its key comes from, and how to keep a key."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from reelbook import settings
from reelbook.account import Facts
from reelbook.session import Session
from reelbook.settings import API_KEY, BASE_URL

from .status_line import balance_words

DRIVE = Path("/content/drive")

_SOURCES = {
    None: "was given in the code",
    "environment": f"comes from the environment variable {API_KEY}",
    "Colab secret": f"comes from the Colab secret {API_KEY}",
    "keyring": "comes from this system's keyring",
    "prompt": "was typed in when it was asked for",
    "panel": "was typed in here, for this kernel only",
}


def connection_words(session: Session, source: str | None, known_address: str = "") -> dict[str, Any]:
    """Everything in the panel except the result of a test.

    `source`: where a live service's key was found, None where none is set. `known_address`: the live
    service's, if the settings have it.
    """
    colab, keyring = settings.in_colab(), settings.has_keyring()
    if session.service == "sandbox":
        title = "The local sandbox"
        about = (
            "A practice service on this machine. Its clips are drawn, marked “sandbox” and cost play money."
        )
        key = "It has a key of its own."
        if source is not None:
            key = f"There is also a key for a live service: it {_SOURCES[source]}."
    else:
        title = urlsplit(session.base_url).netloc
        about = "The live service. Clips cost real money, from the prepaid balance."
        key = f"The key {_SOURCES[source]}."
    return {
        "title": title,
        "about": about,
        "key": key,
        "address": known_address if session.service == "sandbox" else session.base_url,
        "keep": _keeping(colab=colab, keyring=keyring, kept=source == "keyring"),
        "can_keep": keyring and not colab,
        "disk": _disk(session.home, colab=colab),
    }


def _disk(home: Path, *, colab: bool) -> str:
    where = f"Clips and the ledger are in {home}."
    if not colab or home.is_relative_to(DRIVE):
        return where
    return (
        f"{where} Colab empties this disk when the machine is shut down. The clips, and the ids of clips "
        "that are still being made, are lost then. To keep them, run this before connecting: "
        f"from google.colab import drive; drive.mount('{DRIVE}'); "
        f"session = rb.connect(home='{DRIVE}/MyDrive/reelbook')"
    )


def _keeping(*, colab: bool, keyring: bool, kept: bool) -> str:
    if colab:
        return (
            f"To keep a key in Colab, open Secrets (the key on the left), add {API_KEY} and {BASE_URL}, "
            "and let this notebook use them. Then run the cell again."
        )
    if kept:
        return "The key is kept in this system's keyring."
    if keyring:
        return "Unless you tick this, the key is forgotten when this kernel ends."
    return "To keep a key in the system's keyring, install it: pip install keyring."


def tested(facts: Facts) -> str:
    return f"The key works. The balance is {balance_words(facts)}."
