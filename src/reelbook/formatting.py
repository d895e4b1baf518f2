"""Text from outside made safe for where it goes: a terminal, a spreadsheet's cell, a file's name."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
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
