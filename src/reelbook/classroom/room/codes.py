"""A class's code: how it is made, shown and compared, and how many wrong ones an address may try."""

import secrets
from collections import defaultdict, deque
from typing import Any, Final
from urllib.parse import quote

# Without characters that look alike on a screen: O and 0, I and 1.
ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
FREE_TRIES: Final = 5
TRIES_SECONDS: Final = 30.0
LONGEST_CODE: Final = 20


def new_code() -> str:
    """A fresh code such as "K7M-4PX", one of a billion."""
    letters = "".join(secrets.choice(ALPHABET) for _ in range(6))
    return f"{letters[:3]}-{letters[3:]}"


def plain_code(code: str) -> str:
    """The part of a code that is compared: its letters and digits, in capitals."""
    return "".join(each for each in code.upper() if each.isascii() and each.isalnum())


def join_link(base_url: str, code: str) -> str:
    """The link that leads to joining with the code filled in."""
    return f"{base_url}/?code={quote(code)}"


def qr_code(link: str) -> Any:
    """The link as a `segno.QRCode`; None without the package for it."""
    try:
        import segno
    except ImportError:
        return None
    return segno.make(link, micro=False)


class Tries:
    """Wrong codes by address. After five within half a minute an address waits before its next try.

    A right code has to wait as well, or the wait would give it away. Times are seconds.
    """

    def __init__(self) -> None:
        self._wrong: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=FREE_TRIES))

    def wait_seconds(self, address: str, now: float) -> float:
        """How long until the address may try again; 0 if it may now."""
        wrong = self._wrong[address]
        return 0.0 if len(wrong) < FREE_TRIES else max(0.0, wrong[0] + TRIES_SECONDS - now)

    def wrong(self, address: str, now: float) -> None:
        self._wrong[address].append(now)
