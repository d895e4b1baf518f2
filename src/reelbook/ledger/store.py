"""The ledger's one connection: transactions one at a time, and memory where the disk can't be used.

It is used on a thread of its own, for which the caller waits: an interrupt (Stop, Ctrl-C) ends the waiting
and never falls into a transaction.

Every read and write is a function of the connection, so that one that met a full or broken disk can be done
again in memory. `trouble` then says what happened; nothing is raised, or a submission would break by it.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from filelock import Timeout

from ..futures import Future
from . import opening
from .migrations import NewerLedger
from .rescue import rescue

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_DISK: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
    }
)


class Withdrawn(Exception):
    """Nobody waits for this write any more, and it had not begun: nothing was written."""


class Store:
    """The file of one home, or memory. Any thread may use it."""

    def __init__(
        self,
        thread: _Thread,
        connection: sqlite3.Connection,
        path: Path,
        *,
        in_memory: bool,
        trouble: str | None,
        busy_seconds: float = 0,
    ) -> None:
        self.path = path
        self.in_memory = in_memory
        self.trouble = trouble
        self._thread = thread
        self._connection = connection
        self._busy_seconds = busy_seconds
        self._fell: list[Callable[[], None]] = []

    @classmethod
    def open(cls, home: Path, busy_seconds: float) -> Store:
        """The store of `home`; in memory, with `trouble` set, where its file can't be used. Never raises."""
        path = home / opening.FILE_NAME
        thread = _Thread()
        try:
            connection, trouble = thread.call(lambda: opening.open_file(home, busy_seconds))
        except (OSError, NotImplementedError, sqlite3.Error, NewerLedger) as error:
            memory = thread.call(opening.open_memory)
            return cls(thread, memory, path, in_memory=True, trouble=_at_opening(error, path))
        return cls(thread, connection, path, in_memory=False, trouble=trouble, busy_seconds=busy_seconds)

    def leave_disk(self, error: Exception) -> None:
        """Leaves the disk for memory at the opening, where it turns out to be unusable after all."""
        self._thread.call(lambda: self._fall(_at_opening(error, self.path)))

    def on_fall(self, callback: Callable[[], None]) -> None:
        """`callback` is called when the store leaves the disk for memory, before it is used there."""
        self._fell.append(callback)

    def read(self, work: Work[T]) -> T:
        """The result of `work`, which only reads."""

        def read() -> T:
            try:
                return opening.patiently(lambda: work(self._connection), self._busy_seconds)
            except sqlite3.Error as error:
                self._go_on_in_memory(error)
                return work(self._connection)

        return self._thread.call(read)

    def write(self, work: Work[T], *, flush: bool = True, withdrawn: Callable[[], bool] = lambda: False) -> T:
        """The result of `work`, done in a transaction of its own: all of it or nothing.

        With `flush` it is on the disk when this returns, also if the power fails then; without, it survives
        the end of the process. It must be possible to do `work` twice. While it waits for the file it is
        given up, with Withdrawn, once the caller was interrupted or `withdrawn` says so.
        """
        interrupted = False

        def given_up() -> bool:
            return interrupted or withdrawn()

        def write() -> T:
            try:
                return opening.patiently(lambda: self._transaction(work, flush, given_up), self._busy_seconds)
            except sqlite3.Error as error:
                self._go_on_in_memory(error)
                return self._transaction(work, flush, given_up)

        try:
            return self._thread.call(write)
        except BaseException:
            interrupted = True
            raise

    def close(self) -> None:
        """Closes the file; what was written is in it."""
        self._thread.call(self._connection.close)
        self._thread.end()

    def _transaction(self, work: Work[T], flush: bool, given_up: Callable[[], bool]) -> T:
        connection = self._connection
        connection.rollback()  # whatever broke off before, the next write begins anew
        _refuse(given_up)
        # The connection stays at FULL, so that forgetting to ask for it can't lose money.
        if not flush:
            connection.execute("PRAGMA synchronous=NORMAL")
        try:
            connection.execute("BEGIN IMMEDIATE")
            _refuse(given_up)  # that may have waited
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            # After a full disk SQLite may have taken it back already.
            with contextlib.suppress(sqlite3.Error):
                connection.rollback()
            raise
        finally:
            if not flush:
                connection.execute("PRAGMA synchronous=FULL")
        return result

    def _go_on_in_memory(self, error: sqlite3.Error) -> None:
        if self.in_memory or opening.primary_code(error) not in _DISK:
            raise error
        if opening.is_damage(error):
            with contextlib.suppress(OSError):
                opening.suspicion(self.path).touch()
        self._fall(_later(error, self.path))

    def _fall(self, trouble: str) -> None:
        memory = opening.open_memory()
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("PRAGMA busy_timeout=0")  # what is locked was waited for already
        rescue(self._connection, memory)
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        self._connection, self.in_memory = memory, True
        self.trouble = trouble
        for callback in self._fell:
            callback()


class _Thread:
    """Carries out calls one after the other. Calls from within a call are a part of it."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._door = threading.Lock()  # between a call that comes and the end
        self._ended = False
        # It holds the queue alone, so that a store that nobody closes ends it too.
        self._thread = threading.Thread(
            target=_carry_out, args=(self._calls,), name="reelbook-ledger", daemon=True
        )
        self._thread.start()
        weakref.finalize(self, self._calls.put, None).atexit = False

    def call(self, call: Callable[[], T]) -> T:
        """The result of `call`, for which it waits. An interrupt ends the waiting only."""
        if threading.current_thread() is self._thread:
            return call()
        future: Future[T] = Future()
        with self._door:
            ended = self._ended
            if not ended:
                self._calls.put((call, future))
        if ended:
            return call()  # the connection is closed, and says so
        try:
            return future.result()
        finally:
            del future  # or an error would hold itself, by its traceback

    def end(self) -> None:
        """Ends when all calls are carried out."""
        with self._door:
            self._ended = True
            self._calls.put(None)


def _carry_out(calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]) -> None:
    while (given := calls.get()) is not None:
        call, future = given
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)
        del given, call, future  # nothing is kept until the next call


def _refuse(given_up: Callable[[], bool]) -> None:
    if given_up():
        raise Withdrawn


def _at_opening(error: Exception, path: Path) -> str:
    if isinstance(error, NewerLedger):
        return (
            f"The ledger {path} was written by a newer Reelbook. It was left as it is. {_ONLY_HERE} "
            "Update Reelbook to use it."
        )
    if isinstance(error, Timeout):
        return f"The ledger {path} is locked by another program. It was left as it is. {_ONLY_HERE} {_NEXT}"
    return f"The ledger {path} can't be used ({_reason(error)}). {_ONLY_HERE} {_NEXT}"


def _later(error: sqlite3.Error, path: Path) -> str:
    what = f"The ledger {path} can't be used any more ({_reason(error)}). It was left as it is."
    mended = "Restart the kernel: what can be read of it goes into a new one."
    return f"{what} {_ONLY_HERE} {mended if opening.is_damage(error) else _NEXT}"


def _reason(error: Exception) -> str:
    if isinstance(error, sqlite3.Error):
        code = opening.primary_code(error)
        return {
            sqlite3.SQLITE_BUSY: "another program has locked it",
            sqlite3.SQLITE_FULL: "the disk is full",
            sqlite3.SQLITE_READONLY: "it may only be read",
            sqlite3.SQLITE_CORRUPT: "it is damaged",
            sqlite3.SQLITE_NOTADB: "it is damaged",
        }.get(code, str(error))
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


_ONLY_HERE: Final = (
    "Jobs go on and are noted in memory: their ids are gone when this kernel ends, and a spending limit "
    "counts this kernel alone."
)
_NEXT: Final = "Set that right or set REELBOOK_HOME to another folder, then restart the kernel."
