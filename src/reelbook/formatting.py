"""How values are written: money, counts, sizes, times and ages.

And text from outside, made safe for its destination: a terminal, a spreadsheet's cell, a file's name.
"""

import csv
import hashlib
import io
import json
import re
import time
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from . import wire
from .states import BEFORE_AMOUNT, Charge

LITTLE_USD: Final = 0.005  # less than this is written as $0.00
# What all common file systems allow (ext4, APFS, NTFS); some count bytes.
MAX_NAME_BYTES: Final = 255
# Devices on Windows, with any ending (learn.microsoft.com, "Naming Files, Paths, and Namespaces").
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)
# The first characters of a formula (OWASP, "CSV Injection"); full-width ones are found by their plain form.
_FORMULA: Final = frozenset("=+-@−")

# Text, and spans of time that go on counting on the page, see `counting`.
Line = list[str | list[float]]


def dollars(usd: float) -> str:
    """An amount in USD: "$0.25", "$1,234.50"."""
    return f"-${-usd:,.2f}" if usd <= -LITTLE_USD else f"${abs(usd):,.2f}"


def exact_dollars(usd: float) -> str:
    """An amount in USD with as many digits as it has, two to four: "$0.25", "$0.0125"."""
    sign, text = "-" if usd < 0 else "", f"{abs(usd):,.4f}"
    return f"{sign}${text[:-2]}{text[-2:].rstrip('0')}"


def price(usd: float | None, charge: Charge) -> str:
    """A clip's price by how sure it is: "$0.25", "about $0.25", "maybe $0.25"; empty where it is none."""
    return "" if usd is None or charge == "none" else f"{BEFORE_AMOUNT[charge]}{dollars(usd)}"


def count(number: int, noun: str) -> str:
    """How many: "1 clip", "2 clips", "1,000 clips"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def file_size(size_bytes: int) -> str:
    """A file's size: "50 kB", "1.2 MB"; never less than 1 kB."""
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e6 else f"{max(1, round(size_bytes / 1e3))} kB"


def seconds(value: float) -> str:
    """A span of time: "14 s", "2 min 5 s", "1 h 35 min"."""
    whole = max(0, int(value + 0.5))
    if whole < 60:
        return f"{whole} s"
    unit, part, larger, smaller = (60, 1, "min", "s") if whole < 3600 else (3600, 60, "h", "min")
    rest = whole % unit // part
    return f"{whole // unit} {larger}" + (f" {rest} {smaller}" if rest else "")


def local(at: float) -> datetime:
    """Epoch seconds as a local time."""
    return datetime.fromtimestamp(at).astimezone()


def clock(moment: datetime) -> str:
    """The time of day, with the date unless that is today."""
    today = moment.date() == datetime.now(moment.tzinfo).date()
    return moment.strftime("%H:%M:%S" if today else "%d %b %Y, %H:%M:%S")


def hour(at: float, day: float) -> str:
    """A time as "17:00", or "17:00 on 4 Dec" if it isn't on the same day as `day`; both in epoch seconds."""
    moment = local(at)
    date = "" if moment.date() == local(day).date() else f" on {moment.day} {moment:%b}"
    return f"{moment:%H:%M}{date}"


def iso_time(at: float | None) -> str | None:
    """Epoch seconds as an ISO 8601 time with this machine's zone, for a program to read; None stays None."""
    return None if at is None else local(at).isoformat(timespec="seconds")


def epoch_seconds(iso: str | None) -> float | None:
    """Epoch seconds of an ISO 8601 time, taken as UTC if it names no zone; None if it can't be read."""
    try:
        at = datetime.fromisoformat(iso or "")
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def date(iso: str | None) -> str:
    """The local date of an ISO time: "21 Nov 2026". What can't be read stays as it is, None is empty."""
    at = epoch_seconds(iso)
    if at is None:
        return iso or ""
    there = local(at)
    return f"{there.day} {there:%b %Y}"


def age(iso: str | None) -> str:
    """How long ago an ISO time is: "just now", "5 min ago", after a month the date; None is "never"."""
    at = epoch_seconds(iso)
    if at is None:
        return iso or "never"
    passed = time.time() - at
    if passed < 60:
        return "just now"
    if passed < 3600:
        return f"{int(passed / 60)} min ago"
    if passed < wire.DAY_SECONDS:
        return f"{int(passed / 3600)} h ago"
    days = int(passed / wire.DAY_SECONDS)
    return date(iso) if days > 30 else f"{count(days, 'day')} ago"


def counting(value: float, rate: float) -> list[float]:
    """Seconds in a `Line` that go on counting: the value now, and how much a second adds to it."""
    return [round(value, 1), rate]


def plain(line: Line) -> str:
    """A `Line` as it reads now."""
    # As on the page: what is due is about to happen, and "0 s left" would stay there until it does.
    return "".join(
        part if isinstance(part, str) else seconds(max(1.0, part[0]) if part[1] < 0 else part[0])
        for part in line
    )


def shortened(text: str, most: int) -> str:
    """The text, cut with a "…" where it has more than `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shortened_inside(text: str, most: int) -> str:
    """The text without its middle where it has more than `most` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half].rsplit(' ', 1)[0]} … {text[-half:].split(' ', 1)[-1]}"


def terminal_text(text: str) -> str:
    """`text` without control characters and marks that change the writing's direction; line breaks stay."""
    return "".join(each for each in text if each.isprintable() or each in "\n\t")


def terminal_line(text: str, width: int | None = None) -> str:
    """As `terminal_text`, in one line: white space becomes a blank, what exceeds `width` a "…"."""
    line = terminal_text(" ".join(text.split()))
    return line if width is None or len(line) <= width else f"{line[: width - 1].rstrip()}…"


def terminal_json(value: Any) -> str:
    """`value` as JSON, with escapes for what `terminal_text` would leave out: read back, it is the same."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)


def spreadsheet_cell(text: str) -> str:
    """`text`, with a ' in front where a spreadsheet would take it for a formula."""
    visible = next((each for each in text if each.isprintable() and each != " "), "")
    formula = unicodedata.normalize("NFKC", visible)[:1] in _FORMULA
    return f"'{text}" if formula or text[:1] in ("\t", "\r", "\n") else text


def csv_table(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as CSV for a spreadsheet: None is an empty cell, and no text is taken for a formula."""
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(columns)
    writer.writerows(map(_cell, row) for row in rows)
    return table.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    text = ", ".join(value) if isinstance(value, list) else value
    return spreadsheet_cell(text) if isinstance(text, str) else text


def file_name(text: str, ending: str = "", *, room: int = 0) -> str:
    """A file's name for `text` from outside, such as an id: different texts get different names.

    It is percent-quoted, with `room` bytes left free for what is appended later. A hash replaces what is too
    long, and is added where some system wouldn't take the name or couldn't tell it from another one.
    """
    quoted = quote(text, safe="", errors="surrogatepass")
    if quoted and not re.search("[A-Z]", text) and plain_name(quoted + ending, room=room) == quoted + ending:
        return quoted + ending
    return _hashed(quoted, ending, text, room)


def plain_name(name: str, *, room: int = 0) -> str:
    """`name`; or its beginning and a hash, where it is too long or not allowed on every system."""
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


def short_path(path: Path) -> str:
    """A path as a person writes it: from ~ where it is in their home."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (RuntimeError, ValueError):  # no home, or not in it
        return str(path)
