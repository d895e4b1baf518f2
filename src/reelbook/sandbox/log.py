"""The log of the sandbox's process: bounded in size, and without endless repetitions."""

from __future__ import annotations

import logging
import logging.handlers
import os
import shutil
import time
from collections.abc import Callable
from typing import Final

from .places import Places

MOST_BYTES: Final = 1 << 20
MOST_ALIKE: Final = 5
PERIOD_SECONDS: Final = 60.0
MOST_KINDS: Final = 1000


def start_log(places: Places, *, foreground: bool) -> None:
    """Log to the terminal in the foreground, and to `places.log` in the background."""
    handler = logging.StreamHandler() if foreground else bounded_file(places)
    handler.addFilter(RepetitionFilter())
    logging.basicConfig(
        level=logging.WARNING if foreground else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        handlers=[handler],
    )


def bounded_file(places: Places) -> logging.Handler:
    """Writes to `places.log`; what is older than the last MiB goes to one file beside it."""
    handler = logging.handlers.RotatingFileHandler(
        places.log, maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8"
    )
    handler.rotator = _copy_and_empty
    return handler


def _copy_and_empty(log: str, older: str) -> None:
    # Not renamed: the process's standard error goes to the same file, and must not go on in the older one.
    shutil.copyfile(log, older)
    os.truncate(log, 0)


class RepetitionFilter(logging.Filter):
    """Lets through 5 messages of a kind a minute; the first one after that says how many were left out.

    A kind is a message's text before its arguments are filled in, up to its first line break.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether `record` is written."""
        kind = (record.name, str(record.msg).partition("\n")[0])
        if len(self._seen) > MOST_KINDS:
            self._seen.clear()
        begun, count = self._seen.get(kind, (-PERIOD_SECONDS, 0))
        if self._now() - begun < PERIOD_SECONDS:
            self._seen[kind] = begun, count + 1
            if count + 1 == MOST_ALIKE:
                self._add(record, "more like this are left out for a minute")
            return count < MOST_ALIKE
        self._seen[kind] = self._now(), 1
        if count > MOST_ALIKE:
            self._add(record, f"{count - MOST_ALIKE} more like this were left out")
        return True

    def _add(self, record: logging.LogRecord, note: str) -> None:
        record.msg, record.args = f"{record.getMessage()} ({note})", ()
