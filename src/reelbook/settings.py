"""Where the key, the addresses and the folder come from.

The first found wins: argument, environment, Colab secret, system keyring and, with `ask=True` only, a
one-time masked prompt. Nothing here talks to the network.
"""

import contextlib
import functools
import getpass
import importlib.util
import ipaddress
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from . import wire
from .errors import ConfigurationError
from .secret import Secret, hidden, quotable

API_KEY = "REELBOOK_API_KEY"
BASE_URL = "REELBOOK_BASE_URL"
MCP_URL = "REELBOOK_MCP_URL"
USER_ID = "REELBOOK_USER_ID"
HOME = "REELBOOK_HOME"
MAX_SPEND = "REELBOOK_MAX_SPEND"

KEYRING_SERVICE = "reelbook"
Source = Literal["argument", "environment", "Colab secret", "keyring", "prompt"]


class InsecureAddress(UserWarning):
    """A key is about to travel over plain HTTP to another machine, readable for everyone in between."""


@dataclass(frozen=True)
class Found:
    """A setting and where it was found. The value is held as a Secret, whatever it is."""

    value: Secret
    source: Source


def find(name: str, argument: str | Secret | None = None, *, ask: bool = False) -> Found | None:
    """The setting `name` from the first place that has it, or None.

    A variable of the environment that is empty hides Colab's secret and the keyring. Raises
    ConfigurationError for an empty argument.
    """
    if argument is not None:
        argument = Secret(Secret.of(argument).reveal().strip())
        if not argument.reveal():
            raise ConfigurationError(f"The {_words(name)} given is empty.")
        return Found(argument, "argument")
    if (value := os.environ.get(name)) is not None:
        if secret := _secret(value):
            return Found(secret, "environment")
    elif secret := _from_colab(name):
        return Found(secret, "Colab secret")
    elif secret := _from_keyring(name):
        return Found(secret, "keyring")
    if ask and (secret := _from_prompt(name)):
        return Found(secret, "prompt")
    return None


def has_keyring() -> bool:
    """Whether this system has a keyring that `keep` can put a key into."""
    keyring = _keyring()
    return keyring is not None and bool(getattr(keyring.get_keyring(), "priority", 0) > 0)


def keep(key: Secret, base_url: str) -> None:
    """Keeps a key and its service's address in the system keyring. Raises ConfigurationError."""
    if not has_keyring():
        raise ConfigurationError("This system has no keyring to keep it in. Run: pip install keyring")
    kept, keyring = False, _keyring()
    with contextlib.suppress(keyring.errors.KeyringError):
        keyring.set_password(KEYRING_SERVICE, API_KEY, key.reveal())
        keyring.set_password(KEYRING_SERVICE, BASE_URL, base_url)
        kept = True
    if not kept:  # raised outside, so that no chain of errors holds the key
        raise ConfigurationError(f"The keyring refused it. Set {API_KEY} and {BASE_URL} in the environment.")


def home(argument: str | os.PathLike[str] | None = None) -> Path:
    """The folder for clips, ledger and sandbox: the argument, `REELBOOK_HOME`, or the system's usual place.

    Raises ConfigurationError where it begins with ~ and there is no such user, and where its path is no text.
    """
    import platformdirs

    chosen = argument or os.environ.get(HOME) or platformdirs.user_data_dir("reelbook", appauthor=False)
    try:
        folder = Path(chosen).expanduser().resolve()
    except RuntimeError:
        raise ConfigurationError(f"There is no home {quotable(str(chosen))}. Choose another one.") from None
    try:
        str(folder).encode()  # as the ledger keeps the paths of clips
    except UnicodeEncodeError:
        raise ConfigurationError(
            f"The path of {quotable(str(folder))} isn't text in UTF-8. Choose another folder."
        ) from None
    return folder


def max_spend_usd(argument: float | Secret | None = None) -> float | None:
    """The spending limit in USD: the argument or `REELBOOK_MAX_SPEND`; None for no limit.

    Raises ConfigurationError for anything but an amount of 0 or more.
    """
    argument = hidden(argument)
    given = hidden(os.environ.get(MAX_SPEND, "").strip()) if argument is None else argument
    if given == "":
        return None
    try:
        limit = -1.0 if isinstance(given, Secret) else float(given)
    except (TypeError, ValueError):
        limit = -1.0
    if not 0 <= limit < 1e9:
        raise ConfigurationError(
            f"The spending limit must be an amount in USD, such as 5.00, not {quotable(given)}."
        )
    return limit


def checked_base_url(url: str | Secret) -> str:
    """The service's address without a trailing slash, if a key may be sent to it.

    The API's own path, often copied with it, is left out. Raises ConfigurationError for an unusable address.
    """
    url = Secret.of(url)  # verbose tracebacks print arguments
    return _checked(url, "service").removesuffix(wire.API)


def checked_mcp_url(url: str | Secret) -> str:
    """The tool server's address, checked as `checked_base_url` does."""
    url = Secret.of(url)
    return _checked(url, "tool server")


def warn_if_insecure(url: str) -> None:
    """Warns the caller's caller where the key would travel over plain HTTP beyond this machine."""
    if said := insecure(url, "key"):
        warnings.warn(said, InsecureAddress, stacklevel=3)


def insecure(url: str, credential: str) -> str:
    """What to say where the credential would travel over plain HTTP beyond this machine; else empty."""
    if not url.startswith("http:") or is_loopback(url):
        return ""
    host = urlsplit(url).hostname
    return (
        f"The {credential} will travel unencrypted to {host}, readable on the way. Use https where you can."
    )


def _checked(url: Secret, of: str) -> str:
    if problem := _problem(url):
        raise ConfigurationError(f"The {of}'s address {problem}.")
    return url.reveal().strip().rstrip("/")


def _problem(url: Secret) -> str:
    """What keeps an address from being used; it isn't quoted, as it may hold a credential."""
    try:
        plain = url.reveal().strip()
        parts = urlsplit(plain)
        host, _ = parts.hostname or "", parts.port
        host.encode("idna").decode("idna")  # raises for an invalid name
        if not plain.isprintable() or set(host) & set(' "<>\\^`{|}'):
            raise ValueError
    except ValueError:
        return "can't be read. It looks like https://host"
    if parts.scheme not in ("http", "https") or not host:
        return "must begin with https:// (or http://) and name a host"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "must not contain a user, password, query or fragment"
    return ""


def is_loopback(url: str) -> bool:
    """Whether `url` points at this very machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def in_colab() -> bool:
    return "google.colab" in sys.modules


def _secret(value: str | None) -> Secret | None:
    return Secret(value.strip()) if value and value.strip() else None


@functools.cache  # A refusal is remembered: asking again would open Colab's dialog once more.
def _from_colab(name: str) -> Secret | None:
    if not in_colab():
        return None
    from google.colab import userdata

    try:
        return _secret(userdata.get(name))
    except (userdata.SecretNotFoundError, userdata.NotebookAccessError, userdata.TimeoutException):
        return None


def _keyring() -> Any:
    if importlib.util.find_spec("keyring") is None:
        return None
    import keyring
    import keyring.errors

    return keyring


def _from_keyring(name: str) -> Secret | None:
    if (keyring := _keyring()) is None:
        return None
    try:
        return _secret(keyring.get_password(KEYRING_SERVICE, name))
    except keyring.errors.KeyringError:
        return None


def _from_prompt(name: str) -> Secret | None:
    return _secret(getpass.getpass(f"{_words(name).capitalize()} (not shown, not kept): "))


def _words(name: str) -> str:
    words = name.removeprefix("REELBOOK_").replace("_", " ").lower()
    return words.replace("api", "API").replace("url", "address")


def checked_key(key: Secret, kind: str = "API key") -> Secret:
    """`key`, if a header can hold it; `kind` is what it is. Raises ConfigurationError without quoting it."""
    if key.reveal() and all("!" <= character <= "~" for character in key.reveal()):
        return key
    raise ConfigurationError(
        f"The {kind} is empty, or has a space, a line break or a character that isn't allowed. Copy it again."
    )
