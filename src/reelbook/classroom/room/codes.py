"""A class's code: how it is made, shown and compared, and how many wrong ones an address may try."""

import secrets
from collections import OrderedDict
from typing import Any, Final
from urllib.parse import quote

# Without characters that look alike on a screen: O and 0, I and 1.
ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
FREE_TRIES: Final = 5
LONGEST_WAIT_SECONDS: Final = 60.0
FORGOTTEN_SECONDS: Final = 600.0
LONGEST_CODE: Final = 20
_ADDRESSES: Final = 10_000


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
    """Wrong codes by address. After five of them an address waits before its next try, longer each time.

    A right code has to wait as well, or the wait would give it away; and it doesn't reset the count, or
    somebody who knows one code could try others without end. Ten quiet minutes do. Times are seconds.
    """

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait_seconds(self, address: str, now: float) -> float:
        """How long until the address may try again; 0 if it may now."""
        wrong, since = self._of(address, now)
        if wrong < FREE_TRIES:
            return 0.0
        longest = min(LONGEST_WAIT_SECONDS, 2.0 ** (wrong - FREE_TRIES + 1))
        return max(0.0, since + longest - now)

    def wrong(self, address: str, now: float) -> None:
        count, _ = self._of(address, now)
        self._wrong.pop(address, None)
        self._wrong[address] = (count + 1, now)
        if len(self._wrong) > _ADDRESSES:
            self._wrong.popitem(last=False)

    def _of(self, address: str, now: float) -> tuple[int, float]:
        count, since = self._wrong.get(address, (0, now))
        return (0, now) if now - since > FORGOTTEN_SECONDS else (count, since)
