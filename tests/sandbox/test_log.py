"""The log of a sandbox's process."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from reelbook.sandbox import log
from reelbook.sandbox.log import MOST_ALIKE, MOST_BYTES, PERIOD_SECONDS, RepetitionFilter, bounded_file
from reelbook.sandbox.places import Places


class Collected(logging.Handler):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text of `record`."""
        self.lines.append(record.getMessage())


class Written:
    """A logger whose log can be read, on a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.logger = logging.Logger("test")
        self._handler = Collected()
        self.filter = RepetitionFilter(lambda: self.now)
        self._handler.addFilter(self.filter)
        self.logger.addHandler(self._handler)

    @property
    def lines(self) -> list[str]:
        """What was written since this was last read."""
        lines, self._handler.lines = self._handler.lines, []
        return lines


def test_a_message_isnt_repeated_without_end() -> None:
    """A few of a kind are written in a minute; the log says that there are more, and later how many."""
    written = Written()
    for number in range(1000):
        written.logger.error("job %s failed", number)
    assert written.lines == [
        *(f"job {number} failed" for number in range(MOST_ALIKE - 1)),
        f"job {MOST_ALIKE - 1} failed (more like this are left out for a minute)",
    ]
    written.logger.error("another kind")
    written.now += PERIOD_SECONDS
    written.logger.error("job %s failed", "last")
    assert written.lines == [
        "another kind",
        f"job last failed ({1000 - MOST_ALIKE} more like this were left out)",
    ]


def test_a_message_that_isnt_repeated_stays_as_it_is() -> None:
    """A few of a kind in a minute, every minute, are written without a remark."""
    written = Written()
    for minute in range(3):
        written.now = minute * PERIOD_SECONDS
        for number in range(MOST_ALIKE - 1):
            written.logger.error("%s.%s", minute, number)
    assert written.lines == [f"{minute}.{number}" for minute in range(3) for number in range(MOST_ALIKE - 1)]


def test_what_differs_only_after_its_first_line_is_one_kind() -> None:
    """As asyncio's messages, which list what was going on."""
    written = Written()
    for number in range(100):
        written.logger.error(f"out of files\nsocket {number}")
    assert len(written.lines) == MOST_ALIKE


def test_what_is_remembered_of_messages_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ever new kinds of messages take no more memory than so many."""
    monkeypatch.setattr(log, "MOST_KINDS", 10)
    written = Written()
    for number in range(1000):
        written.logger.error(f"kind {number}")
        assert len(written.filter._seen) <= 11
    assert len(written.lines) == 1000


def test_the_file_is_bounded(tmp_path: Path) -> None:
    """It never takes more than its size twice, and its end is always the latest, also of standard error."""
    places = Places.under(tmp_path)
    places.create()
    handler = bounded_file(places)
    logger = logging.Logger("test")
    logger.addHandler(handler)
    with places.log.open("a") as standard_error:
        for number in range(4 * MOST_BYTES // 1000):
            logger.error("%s %s", number, "x" * 1000)
        print("the end", file=standard_error)
    handler.close()
    files = list(places.folder.glob("sandbox.log*"))
    assert len(files) == 2
    assert all(file.stat().st_size <= MOST_BYTES for file in files)
    assert places.log.read_text().endswith(f"{number} {'x' * 1000}\nthe end\n")
