"""Text from outside made safe for where it goes: a terminal, a spreadsheet's cell, a file's name."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

# What file systems take in common (ext4, APFS, NTFS); some count bytes.
MAX_NAME_BYTES: Final = 255
# Devices on Windows, with any ending (learn.microsoft.com, "Naming Files, Paths, and Namespaces").
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)
# The first characters of a formula (OWASP, "CSV Injection"); full-width ones are found by their plain form.
_FORMULA: Final = frozenset("=+-@−")


def terminal_text(text: str) -> str:
    """`text` without what a terminal would take for an order or what turns the writing's direction.

    Line breaks and tabs stay.
    """
    return "".join(each for each in text if each.isprintable() or each in "\n\t")


def terminal_line(text: str) -> str:
    """As `terminal_text`, in one line: any white space becomes one blank."""
    return terminal_text(" ".join(text.split()))


def terminal_json(value: Any) -> str:
    """`value` as JSON, with escapes for what `terminal_text` would leave out: read back, it is the same."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)


def spreadsheet_cell(text: str) -> str:
    """`text`, with a ' in front where a spreadsheet would calculate it or send it somewhere."""
    visible = next((each for each in text if each.isprintable() and each != " "), "")
    formula = unicodedata.normalize("NFKC", visible)[:1] in _FORMULA
    return f"'{text}" if formula or text[:1] in ("\t", "\r", "\n") else text


def file_name(text: str, ending: str = "", *, room: int = 0) -> str:
    """A file's name for `text` from outside, such as an id: different texts have different names.

    It is quoted as in an address. As many bytes as `room` says may be put behind it. A hash takes the place
    of what is too long, and makes a name that not every system would take, or tell from another one, its own.
    """
    quoted = quote(text, safe="", errors="surrogatepass")
    if quoted and not re.search("[A-Z]", text) and plain_name(quoted + ending, room=room) == quoted + ending:
        return quoted + ending
    return _hashed(quoted, ending, text, room)


def plain_name(name: str, *, room: int = 0) -> str:
    """`name`, or where it is too long or no system's own, its beginning and a hash."""
    fits = len(name.encode(errors="surrogatepass")) <= MAX_NAME_BYTES - room
    if fits and name.strip(". ") and name[-1] not in ". " and not _DEVICES.match(name):
        return name
    ending = Path(name).suffix if len(Path(name).suffix) < 10 else ""
    return _hashed(name.removesuffix(ending), ending, name, room)


def _hashed(stem: str, ending: str, whole: str, room: int) -> str:
    digest = hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()[:16]
    # A plus is quoted in an address, so no text has this name unhashed.
    tail = f"+{digest}{ending}"
    left = MAX_NAME_BYTES - room - len(tail.encode())
    begin = _DEVICES.sub(r"\1_", stem).encode(errors="surrogatepass")[:left]
    return begin.decode(errors="ignore") + tail


__all__ = ["Line", "counting", "dollars", "file_name", "plain", "seconds"]

Line = list[str | list[float]]


def dollars(usd: float) -> str:
    """An amount in USD: "$0.25"."""
    return f"-${-usd:,.2f}" if usd < -0.004 else f"${abs(usd):,.2f}"


def seconds(value: float) -> str:
    """A span of time: "14 s", "2 min 5 s"."""
    whole = max(0, int(value + 0.5))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole % 60 == 0 else f"{whole // 60} min {whole % 60} s"


def plain(line: Line) -> str:
    """The line as it reads at this moment."""
    return "".join(part if isinstance(part, str) else seconds(_counted(*part)) for part in line)


def _counted(value: float, rate: float) -> float:
    # As on the page: what is due is about to happen, and "0 s left" would be said for as long as it takes.
    return max(1.0, value) if rate < 0 else value


def counting(value: float, rate: float) -> list[float]:
    """A number of seconds in a line, and how many of them a second adds."""
    return [round(value, 1), rate]


def local(at: float) -> datetime:
    """Epoch seconds as a time where the person is."""
    return datetime.fromtimestamp(at).astimezone()


def clock(moment: datetime) -> str:
    """The time of day, with the date if that isn't today."""
    today = moment.date() == datetime.now(moment.tzinfo).date()
    return moment.strftime("%H:%M:%S" if today else "%d %b %Y, %H:%M:%S")


def exact_dollars(amount_usd: float) -> str:
    """An amount with cents, and with more digits where it has them."""
    sign, text = "-" if amount_usd < 0 else "", f"{abs(amount_usd):,.4f}"
    return f"{sign}${text[:-2]}{text[-2:].rstrip('0')}"
