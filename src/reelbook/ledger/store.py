"""The ledger's one connection: transactions one at a time, and memory where the disk can't be used.

It is used on a thread of its own, for which the caller waits: an interrupt (Stop, Ctrl-C) ends the waiting
and never falls into a transaction.

Every read and write is a function of the connection, so that one that met a full or broken disk can be done
again in memory. `trouble` then says what happened; nothing is raised, or a submission would break by it.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from filelock import FileLock, Timeout

from ..deadlines import Countdown, acquire
from ..errors import SessionClosed
from ..event_thread import CLOSED, Future
from ..formatting import count
from .migrations import NewerLedger, migrate
from .recovery import rescue

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
    file = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        # Until it has its name nothing can be lost: it is brought to the disk once, not after each step.
        _at_newest_schema(unfinished, synchronous="OFF").close()
        os.fsync(file)
    finally:
        os.close(file)
    unfinished.rename(path)
    _remove(unfinished)  # a journal that was emptied and left


def _remove(path: Path) -> None:
    for ending in _COMPANIONS:
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _at_newest_schema(path: Path, synchronous: str = "FULL") -> sqlite3.Connection:
    connection = _connect(str(path), _SLICE_SECONDS)
    try:
        connection.execute(f"PRAGMA journal_mode={'TRUNCATE' if on_network(path.parent) else 'WAL'}")
        connection.execute(f"PRAGMA synchronous={synchronous}")
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
        f"The ledger was damaged. {count(_saved(kept, connection), 'job')} could be read and went into a "
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
            said += (
                f"{count(saved, 'job')} could be read from an earlier one, {copy}, and went into a new one. "
            )
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
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"ledger.damaged-{stamp}-{number}.db")
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
        path = home / FILE_NAME
        thread = _Thread()
        try:
            connection, trouble = thread.call(lambda: open_file(home, busy_seconds))
        except (OSError, NotImplementedError, sqlite3.Error, NewerLedger) as error:
            memory = thread.call(open_memory)
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
                return patiently(lambda: work(self._connection), self._busy_seconds)
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
                return patiently(lambda: self._transaction(work, flush, given_up), self._busy_seconds)
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
        self._thread.end(self._connection.close)

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
        if self.in_memory or primary_code(error) not in _DISK:
            raise error
        if is_damage(error):
            with contextlib.suppress(OSError):
                suspicion(self.path).touch()
        self._fall(_later(error, self.path))

    def _fall(self, trouble: str) -> None:
        memory = open_memory()
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
            raise SessionClosed(CLOSED)
        try:
            return future.result()
        finally:
            del future  # or an error would hold itself, by its traceback

    def end(self, last: Callable[[], object]) -> None:
        """Carries out the calls so far, then `last`, and ends. A later call raises SessionClosed."""
        ended: Future[Any] = Future()
        with self._door:
            if self._ended:
                return
            self._ended = True
            self._calls.put((last, ended))
            self._calls.put(None)
        ended.result()


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
    return f"{what} {_ONLY_HERE} {mended if is_damage(error) else _NEXT}"


def _reason(error: Exception) -> str:
    if isinstance(error, sqlite3.Error):
        code = primary_code(error)
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


MOUNTS = Path("/proc/mounts")

# Every FUSE is taken for a network (Drive, sshfs, rclone), but for those that are known to be local disks.
_NETWORK = (
    *("nfs", "cifs", "smb", "ncpfs", "afs", "9p"),
    *("ceph", "gluster", "lustre", "davfs", "virtiofs", "vboxsf"),
)
_OCTAL = re.compile(r"\\([0-7]{3})")  # how that file writes spaces and tabs
_LOCAL_FUSE = ("fuseblk", "fuse.fuse-overlayfs", "fuse.ntfs", "fuse.exfat")


def on_network(folder: Path, mounts: str | None = None) -> bool:
    """Whether `folder` lies on a network or FUSE mount, such as a mounted Drive.

    `mounts` is the text of /proc/mounts, read where it isn't given. False where the system has none and the
    folder is no Windows share.
    """
    if str(folder).startswith(("\\\\", "//")) and os.name == "nt":
        return True
    if mounts is None:
        try:
            mounts = MOUNTS.read_text(errors="replace")
        except OSError:
            return False
    kind, depth = "", -1
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[1]))
        # A later mount hides an earlier one at the same place.
        if folder.is_relative_to(mount) and len(mount.parts) >= depth:
            kind, depth = fields[2], len(mount.parts)
    if kind.startswith("fuse"):
        return not kind.startswith(_LOCAL_FUSE)
    return kind.startswith(_NETWORK)
