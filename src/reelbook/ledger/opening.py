"""Opens the ledger's file: private, journalled as its folder needs, at the newest schema, and sound.

A new file gets its name when it is whole, so one without a byte is a ledger that something has emptied. A
damaged file is moved aside with its bytes kept, and what can still be read of it goes into a new one; for an
empty file an earlier damaged one will do. What to do when the file can't be used at all is store.py's.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from filelock import FileLock

from ..deadlines import Countdown, acquire
from .folders import on_network
from .migrations import migrate
from .rescue import rescue

T = TypeVar("T")

FILE_NAME: Final = "ledger.db"
# SQLite asks often only while a wait is young, and hears no Stop meanwhile: long waits are many short ones.
_SLICE_SECONDS: Final = 0.25
_PAUSE_SECONDS: Final = 0.01
_COMPANIONS: Final = ("", "-wal", "-shm", "-journal")
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MISSING: Final = "A job that is missing goes on at the service: take it up by its id with session.job(id)."


def open_file(home: Path, busy_seconds: float) -> tuple[sqlite3.Connection, str | None]:
    """A connection to the ledger of `home`, and what there is to say about it.

    Waits `busy_seconds` for other kernels. Raises OSError, sqlite3.Error, filelock.Timeout or NewerLedger.
    """
    home.mkdir(parents=True, exist_ok=True)
    path = home / FILE_NAME
    # One at a time: of two kernels that find the file damaged or new, the second finds the first one's work.
    with acquire(FileLock(home / "ledger.lock"), busy_seconds):
        if path.is_file() and path.stat().st_size == 0:
            return _after_emptying(path, busy_seconds)
        try:
            return patiently(lambda: _ready(path), busy_seconds), None
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
        return _after_damage(path, busy_seconds)


def open_memory() -> sqlite3.Connection:
    """An empty ledger that ends with the process."""
    connection = _connect(":memory:", 0)
    migrate(connection)
    return connection


def patiently(attempt: Callable[[], T], busy_seconds: float) -> T:
    """The result of `attempt`, which is done again for `busy_seconds` where other programs lock the file."""
    countdown = Countdown(busy_seconds)
    while True:
        pause = countdown.next_pause(_PAUSE_SECONDS)
        try:
            return attempt()
        except sqlite3.Error as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY or not pause:
                raise
        time.sleep(pause)  # SQLite doesn't wait by itself where two would wait for each other


def is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file itself is broken."""
    return primary_code(error) in _DAMAGE


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its details; 0 where the error is Python's own."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def suspicion(path: Path) -> Path:
    """The file that a kernel leaves which met damage in use: the next one looks through the whole ledger."""
    return path.with_name("ledger.suspect")


def _ready(path: Path) -> sqlite3.Connection:
    if not path.exists():
        _make_new(path)
    # Not opened and closed again: that would end the locks that SQLite holds on it in this process.
    elif path.is_file():
        with contextlib.suppress(OSError):  # some network folders have no modes
            path.chmod(0o600)
    connection = _at_newest_schema(path)
    try:
        _look_through(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_new(path: Path) -> None:
    unfinished = path.with_name("ledger.new.db")
    _remove(unfinished)  # of a kernel that was killed here
    # SQLite gives its companions the mode of the file, so that has to be right before there are any.
    os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    _at_newest_schema(unfinished).close()
    unfinished.rename(path)
    _remove(unfinished)  # a journal that was emptied and left


def _remove(path: Path) -> None:
    for ending in _COMPANIONS:
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _at_newest_schema(path: Path) -> sqlite3.Connection:
    connection = _connect(str(path), _SLICE_SECONDS)
    try:
        connection.execute(f"PRAGMA journal_mode={'TRUNCATE' if on_network(path.parent) else 'WAL'}")
        connection.execute("PRAGMA synchronous=FULL")
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _after_damage(path: Path, busy_seconds: float) -> tuple[sqlite3.Connection, str]:
    kept = _moved_aside(path)
    suspicion(path).unlink(missing_ok=True)
    connection = patiently(lambda: _ready(path), busy_seconds)
    return connection, (
        f"The ledger was damaged. {_jobs(_saved(kept, connection))} could be read and went into a "
        f"new one; the damaged file is kept as {kept}. {_MISSING}"
    )


def _after_emptying(path: Path, busy_seconds: float) -> tuple[sqlite3.Connection, str]:
    earlier = sorted(path.parent.glob("ledger.damaged-*.db"), reverse=True)
    kept = _moved_aside(path)
    connection = patiently(lambda: _ready(path), busy_seconds)
    said = f"The ledger was empty: {path} had 0 bytes, and what it knew of jobs and money is gone from it. "
    for copy in earlier:
        if saved := _saved(copy, connection):
            # The lost ledger may have known that it was sent since.
            connection.execute("UPDATE entries SET left_unsent = 0")
            said += f"{_jobs(saved)} could be read from an earlier one, {copy}, and went into a new one. "
            break
    else:
        said += "A new one was begun. "
    return connection, (
        f"{said}The empty file is kept as {kept}. A spending limit counts only what is in the new one: "
        f"session.balance() says what is left. {_MISSING}"
    )


def _saved(copy: Path, connection: sqlite3.Connection) -> int:
    with contextlib.suppress(sqlite3.Error), _reading_damaged(copy) as broken:
        return rescue(broken, connection)
    return 0


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def _connect(database: str, busy_seconds: float, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        database, timeout=busy_seconds, isolation_level=None, check_same_thread=False, uri=uri
    )
    connection.row_factory = sqlite3.Row
    return connection


def _look_through(connection: sqlite3.Connection, path: Path) -> None:
    # It reads the whole file, too long to do at each start: a broken head or a missing tail shows itself.
    if suspicion(path).exists():
        found = connection.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            error = sqlite3.DatabaseError(found)
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
        suspicion(path).unlink(missing_ok=True)


def _moved_aside(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    kept = path.with_name(f"ledger.damaged-{stamp}.db")
    count = 1
    while kept.exists():
        count += 1
        kept = path.with_name(f"ledger.damaged-{stamp}-{count}.db")
    for ending in _COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{ending}").rename(f"{kept}{ending}")
    return kept


@contextlib.contextmanager
def _reading_damaged(path: Path) -> Iterator[sqlite3.Connection]:
    # Read-only, or closing it would write the journal into the file whose bytes are to be kept.
    connection = _connect(f"{path.resolve().as_uri()}?mode=ro", 0, uri=True)
    try:
        connection.execute("PRAGMA writable_schema=ON")  # the only way into a file that was cut short
        yield connection
    finally:
        connection.close()
