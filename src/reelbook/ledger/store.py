"""The ledger's one connection: one transaction at a time, on a disk that may fail and come back.

An interrupt (Stop, Ctrl-C) reaches only the main thread. So that one waits while another carries out its
call: an interrupt ends the waiting and never lands in a transaction.

Every read and write is a function of the connection, so it can be repeated. If the disk takes no writes,
`write` raises LedgerUnavailable: what is to be paid for must be on the disk first. What was learnt can't be
refused: `keep` writes it to a copy in memory, and to the disk as soon as that works. Until then reads see the
copy, and `trouble` says what happened.
"""

import contextlib
import errno
import logging
import os
import re
import sqlite3
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from filelock import FileLock, Timeout

from ..deadlines import Countdown, acquire
from ..errors import InvalidInput, LedgerLocked, LedgerUnavailable, SessionClosed
from ..event_thread import CLOSED, uninterrupted
from ..formatting import count
from ..listeners import Listeners
from .kernels import Kernel
from .schema import NewerLedger, migrate, rescue

_log = logging.getLogger(__name__)

T = TypeVar("T")

FILE_NAME: Final = "ledger.db"
# SQLite retries often only early in a wait and can't be stopped meanwhile, so a long wait is many short ones.
_SLICE_SECONDS: Final = 0.1
_PAUSE_SECONDS: Final = 0.01
_OPENING_SECONDS: Final = 20.0  # long enough for many kernels on a slow disk
# The session's thread waits here too, with all its jobs; and a person should hear of it within a second.
_IN_USE_SECONDS: Final = 0.5
_RETURN_SECONDS: Final = 0.5
_CLOSING_SECONDS: Final = 3.0  # Jupyter kills a kernel 5 s after asking it to end
_COMPANIONS: Final = ("", "-wal", "-shm", "-journal")
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MISSING: Final = "A job that is missing goes on at the service: take it up by its id with session.job(id)."


def open_file(home: Path) -> tuple[sqlite3.Connection, str | None]:
    """A connection to the ledger of `home`, and what there is to say about it. Waits for other kernels.

    Raises OSError, sqlite3.Error, filelock.Timeout or NewerLedger.
    """
    home.mkdir(parents=True, exist_ok=True)
    path = home / FILE_NAME
    # One at a time: if two kernels find the file damaged or missing, the second finds the first one's work.
    with acquire(FileLock(home / "ledger.lock"), _OPENING_SECONDS):
        if path.is_file() and path.stat().st_size == 0:
            return _recreated(path, "empty")
        try:
            return patiently(lambda: _ready(path), _OPENING_SECONDS), None
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
        return _recreated(path, "damaged")


def open_memory() -> sqlite3.Connection:
    """An empty ledger that ends with the process."""
    connection = _connect(":memory:")
    migrate(connection)
    return connection


def patiently(
    attempt: Callable[[], T],
    seconds: float,
    *,
    pause_seconds: float = _PAUSE_SECONDS,
    passes: Callable[[sqlite3.Error], bool] = lambda error: _is_lock(error),
) -> T:
    """The result of `attempt`, repeated for so long while its error `passes`; by default, a lock.

    Within an attempt SQLite itself waits for a slice, except where two would wait for each other.
    """
    countdown = Countdown(seconds)
    while True:
        pause = countdown.next_pause(max(_SLICE_SECONDS, pause_seconds))
        try:
            return attempt()
        except sqlite3.Error as error:
            if not pause or not passes(error):
                raise
        time.sleep(min(pause, pause_seconds))


def is_damage(error: sqlite3.Error) -> bool:
    return primary_code(error) in _DAMAGE


def primary_code(error: Exception) -> int:
    """SQLite's result code without its details; 0 where the error isn't SQLite's."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def suspicion(path: Path) -> Path:
    """The file that a kernel leaves when it meets damage, so that the next one checks the whole ledger."""
    return path.with_name("ledger.suspect")


def _ready(path: Path) -> sqlite3.Connection:
    if not path.exists():
        _make_new(path)
    # Without opening it: closing it again would release the locks that SQLite holds on it in this process.
    elif path.is_file():
        with contextlib.suppress(OSError):  # some network folders have no modes
            path.chmod(0o600)
    return _at_newest_schema(path)


def _make_new(path: Path) -> tuple[Path, int]:
    """Makes a new ledger with what can be read of a lost one, if there is one at `path`.

    Returns where that is kept now, and how many entries could be read. The new one gets its name when it is
    whole: a kernel that is killed before leaves all to the next one.
    """
    unfinished = path.with_name("ledger.new.db")
    _remove(unfinished)  # of a kernel that was killed here
    # SQLite gives its companion files the mode of this one, which has to be right before there are any.
    os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with contextlib.closing(_at_newest_schema(unfinished)) as connection:
        saved = _rescued(path, connection)
    kept = _move_aside(path)  # also a deleted one's journal, which would be played into the new one
    unfinished.rename(path)
    _remove(unfinished)  # a journal that was emptied and left
    return kept, saved


def _remove(path: Path) -> None:
    for ending in _COMPANIONS:
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _at_newest_schema(path: Path) -> sqlite3.Connection:
    connection = _connect(str(path))
    try:
        connection.execute(f"PRAGMA journal_mode={'TRUNCATE' if on_network(path.parent) else 'WAL'}")
        connection.execute("PRAGMA synchronous=FULL")
        migrate(connection)
        # This reads the whole file, too slow for every start; a broken head or missing tail shows by itself.
        if suspicion(path).exists():
            found = connection.execute("PRAGMA quick_check").fetchone()[0]
            if found != "ok":
                raise _sqlite_error(sqlite3.SQLITE_CORRUPT, found)
            suspicion(path).unlink(missing_ok=True)
    except BaseException:
        connection.close()
        raise
    return connection


def _recreated(path: Path, damage: str) -> tuple[sqlite3.Connection, str]:
    """A new ledger in place of a damaged or empty one, with what can be read of it, or of an earlier one."""
    earlier = sorted(path.parent.glob("ledger.damaged-*.db"), reverse=True)
    kept, saved = _make_new(path)
    suspicion(path).unlink(missing_ok=True)
    connection = patiently(lambda: _ready(path), _OPENING_SECONDS)
    copy = kept
    while not saved and earlier:
        copy = earlier.pop(0)
        saved = _rescued(copy, connection)
    source = ""
    if saved and copy != kept:
        source = f" from an earlier one, {copy},"
        # The lost ledger may have known that it was sent since.
        connection.execute("UPDATE entries SET left_unsent = 0")
    return connection, (
        f"The ledger was {damage}. {count(saved, 'job')} could be read{source} and went into a new one; the "
        f"{damage} file is kept as {kept}. A spending limit counts only what is in the new one: "
        f"session.balance() says what is left. {_MISSING}"
    )


def _rescued(path: Path, connection: sqlite3.Connection) -> int:
    """How many entries of a damaged file could be saved."""
    # Read-only, because closing it would write the journal into the file, which must stay as it is.
    as_it_is = f"{path.resolve().as_uri()}?mode=ro"
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_connect(as_it_is, uri=True)) as broken:
        broken.execute("PRAGMA writable_schema=ON")  # the only way into a file that was cut short
        return rescue(broken, connection)
    return 0


def _connect(database: str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        database, timeout=_SLICE_SECONDS, isolation_level=None, check_same_thread=False, uri=uri
    )
    connection.row_factory = sqlite3.Row
    return connection


def _move_aside(path: Path) -> Path:
    kept = path.with_name(f"ledger.damaged-{datetime.now():%Y%m%d-%H%M%S-%f}.db")
    for ending in _COMPANIONS:
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{ending}").rename(f"{kept}{ending}")
    return kept


Work = Callable[[sqlite3.Connection], T]

# Errors that a disk or another program can cause; any other is our own.
_DISK: Final = frozenset(
    getattr(sqlite3, f"SQLITE_{name}")
    for name in ("BUSY", "LOCKED", "PROTOCOL", "FULL", "IOERR", "READONLY", "PERM", "CANTOPEN")
) | {*_DAMAGE}


class Withdrawn(Exception):
    """Nobody waits for this write any more, and it hadn't begun, so nothing was written."""


class Store:
    """The file of one home; any thread may use it. Raises LedgerUnavailable if the file can't be used.

    `notice` is what there was to say when it was opened, `trouble` why the disk takes no writes now;
    `troubled` tells, on any thread, when that begins or ends. With `in_memory`, a notice, it needs no
    file and ends with the process. `kernel` is the one that uses it, `clock` gives epoch seconds.
    """

    def __init__(
        self, home: Path, *, clock: Callable[[], float] = time.time, in_memory: str | None = None
    ) -> None:
        self.path = home / FILE_NAME
        self.kernel = Kernel(home)
        self.clock = clock
        self.in_memory = in_memory is not None
        self.trouble: str | None = None
        self._one_call = threading.RLock()  # a call within a call is part of it
        self._closed = False

        def open_it() -> tuple[sqlite3.Connection, str | None]:
            if in_memory is not None:
                return open_memory(), in_memory
            self.kernel.begin()
            return open_file(home)

        try:
            self._connection, self.notice = uninterrupted(open_it)
            self._opened = None if self.in_memory or on_network(home) else self.path.stat()
        except (OSError, NotImplementedError, sqlite3.Error, NewerLedger) as error:
            self.kernel.end()
            raise _unusable(error, self.path) from error
        self._copy: sqlite3.Connection | None = None  # of the ledger, while the disk takes no writes
        self._owed: deque[Work[Any]] = deque()  # still to be written, in order
        self._locked = False
        self._damaged = False
        self._refused = ""
        self.troubled: Listeners[[]] = Listeners()

    def read(self, work: Work[T]) -> T:
        """The result of `work`, which only reads."""

        def read() -> T:
            if self._copy is not None:
                return work(self._copy)
            try:
                return patiently(lambda: work(self._connection), _IN_USE_SECONDS)
            except sqlite3.Error as error:
                return work(self._switch_to_copy(error))

        return self._call(read)

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        return self.read(lambda connection: connection.execute(query, values).fetchall())

    def row(self, query: str, *values: object) -> sqlite3.Row | None:
        """The first row that a query gives; None where it gives none."""
        return next(iter(self.rows(query, *values)), None)

    def write(self, work: Work[T], *, withdrawn: Callable[[], bool] = lambda: False) -> T:
        """The result of `work`, done in a transaction of its own, all of it or nothing.

        It is on the disk when this returns, even if the power fails then. `work` may be done twice. While it
        waits for the file, an interrupt of the caller or `withdrawn` ends it, with Withdrawn. Raises
        LedgerUnavailable if the disk doesn't take it.
        """
        interrupted = False

        def wanted(connection: sqlite3.Connection) -> T:
            if interrupted or withdrawn():
                raise Withdrawn
            return work(connection)

        def write() -> T:
            if self._copy is not None and not self._back_on_disk():
                raise self._refusal()
            try:
                return self._on_disk(wanted)
            except sqlite3.Error as error:
                self._switch_to_copy(error)
                raise self._refusal() from error

        try:
            return self._call(write)
        except BaseException:
            interrupted = True
            raise

    def prove_writable(self) -> None:
        """Raises LedgerUnavailable if nothing can be written."""
        self.write(_touch)

    def keep(self, work: Work[T], *, flush: bool = True, lasting: bool = True) -> T:
        """The result of `work`, as in `write`; if the disk doesn't take it, done in memory until it does.

        Without `flush` it survives the end of the process, but not a power failure. What isn't `lasting` only
        matters now, so it isn't written to the disk later.
        """

        def keep() -> T:
            if self._copy is None or self._back_on_disk():
                try:
                    return self._on_disk(work, flush)
                except sqlite3.Error as error:
                    self._switch_to_copy(error)
            assert self._copy is not None
            kept = _transaction(self._copy, work)
            if lasting:
                self._owed.append(work)
            return kept

        return self._call(keep)

    def close(self) -> bool:
        """Closes the file and ends the kernel's sign of life. Returns False if something is lost.

        Waits briefly for a disk that takes no writes: what it lacks may be ids of paid clips.
        """

        def passes(error: sqlite3.Error) -> bool:
            return not self._damaged and not _is_moved(error)

        def close() -> bool:
            written = self._closed = True
            if self._copy is not None:
                try:
                    patiently(self._catch_up, _CLOSING_SECONDS, pause_seconds=_RETURN_SECONDS, passes=passes)
                except sqlite3.Error:
                    written = False
                self._copy.close()
            self._connection.close()
            self.kernel.end(settled=written)
            return written

        with contextlib.suppress(SessionClosed):
            return self._call(close)
        return True

    def _call(self, call: Callable[[], T]) -> T:
        """The result of `call`, alone at the file. An interrupt ends only the waiting."""

        def alone() -> T:
            with self._one_call:
                if self._closed:
                    raise SessionClosed(CLOSED)
                return call()

        try:
            in_main = threading.current_thread() is threading.main_thread()
            return uninterrupted(alone) if in_main else alone()
        except UnicodeEncodeError:
            raise InvalidInput(
                "A text holds half a character, such as half an emoji. Remove it. Nothing was kept."
            ) from None

    def _on_disk(self, work: Work[T], flush: bool = True) -> T:
        return patiently(lambda: self._committed(work, flush), _IN_USE_SECONDS)

    def _committed(self, work: Work[T], flush: bool = True) -> T:
        self._check_in_place()
        return _transaction(self._connection, work, flush)

    def _check_in_place(self) -> None:
        """Raises sqlite3.Error if the ledger's name leads elsewhere: nobody would find what is kept here."""
        with contextlib.suppress(OSError):
            if self._opened is None or os.path.samestat(self.path.stat(), self._opened):
                return
        raise _sqlite_error(sqlite3.SQLITE_READONLY_DBMOVED, "moved")  # as SQLite says where there is no WAL

    def _switch_to_copy(self, error: sqlite3.Error) -> sqlite3.Connection:
        """Goes on in memory, with what can be read from the disk. Re-raises what isn't the disk's fault."""
        if self.in_memory or primary_code(error) not in _DISK:
            raise error
        if is_damage(error):
            self._damaged = True
            with contextlib.suppress(OSError):
                suspicion(self.path).touch()
        self._locked = _is_lock(error)
        if self._copy is None:
            copy = open_memory()
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("PRAGMA busy_timeout=0")  # what is locked was waited for already
            rescue(self._connection, copy)
            self._copy = copy
            self._retry_later()
        why, remedy = f"The ledger can't be written: {_reason(error, self.path)}.", _remedy(error, self.path)
        self._refused = f"Nothing was sent. {why} {remedy}"
        self._tell(f"{why} {_MEANWHILE} {remedy}")
        return self._copy

    def _back_on_disk(self) -> bool:
        """Tries the disk again: writes what it lacks, and uses it from then on."""
        try:
            self._catch_up()
        except sqlite3.Error as error:
            self._switch_to_copy(error)
            return False
        assert self._copy is not None
        self._copy.close()
        self._copy = None
        self._connection.execute(f"PRAGMA busy_timeout={int(_SLICE_SECONDS * 1000)}")
        self._tell(None)
        return True

    def _catch_up(self) -> None:
        self._check_in_place()  # what the disk says of a folder that is gone would help nobody
        # On a nearly full disk one write may fit and the next may not, so there has to be some room.
        if not self._locked and (reason := _disk_reason(self.path.parent)):
            raise _sqlite_error(sqlite3.SQLITE_IOERR, reason)
        self._committed(_touch)
        while self._owed:
            try:
                self._committed(self._owed[0])
            except sqlite3.Error as error:
                if primary_code(error) in _DISK:
                    raise
                _log.exception("what was learnt meanwhile couldn't be written down")
            self._owed.popleft()
        if self._damaged:
            raise _sqlite_error(sqlite3.SQLITE_CORRUPT, "it was damaged before")

    def _retry_later(self) -> None:
        """Has the disk tried again soon, even if nobody has anything to write."""
        myself = weakref.ref(self)

        def look() -> None:
            if (store := myself()) is not None:
                with contextlib.suppress(SessionClosed):
                    store._call(store._retry)

        timer = threading.Timer(_RETURN_SECONDS, look)
        timer.daemon = True
        timer.start()

    def _retry(self) -> None:
        if self._copy is not None and not self._back_on_disk():
            self._retry_later()

    def _tell(self, trouble: str | None) -> None:
        if trouble != self.trouble:
            self.trouble = trouble
            self.troubled.tell()

    def _refusal(self) -> LedgerUnavailable:
        kind = LedgerLocked if self._locked else LedgerUnavailable
        return kind(self._refused)


class Part:
    """What the ledger has on one subject: of one account, or of all where `account_id` is None."""

    def __init__(self, store: Store, account_id: int | None) -> None:
        self.store = store
        self._account_id = account_id


def _transaction(connection: sqlite3.Connection, work: Work[T], flush: bool = True) -> T:
    connection.rollback()  # whatever was broken off before
    # The connection stays at FULL, so that forgetting to ask for it can't lose money.
    if not flush:
        connection.execute("PRAGMA synchronous=NORMAL")
    try:
        with connection:  # commits, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            return work(connection)
    finally:
        if not flush:
            connection.execute("PRAGMA synchronous=FULL")


def _unusable(error: Exception, path: Path) -> LedgerUnavailable:
    if isinstance(error, NewerLedger):
        return LedgerUnavailable(
            f"The ledger {path} was written by a newer Reelbook, and was left as it is. Update Reelbook, "
            f"or {_ELSEWHERE}."
        )
    kind = LedgerLocked if _is_lock(error) else LedgerUnavailable
    return kind(
        f"The ledger {path} can't be used: {_reason(error, path)}. Without it a clip could be lost or paid "
        f"for twice. Fix that, or {_ELSEWHERE}; connect(…, ledger=None) does without one."
    )


def _remedy(error: sqlite3.Error, path: Path) -> str:
    said = ("It" if _is_lock(error) else "Fix that; it") + " is tried again all the time."
    if is_damage(error):
        said = "Restart the kernel: what can be read of it goes into a new one."
    elif _is_moved(error):
        said = "Put it back, or restart the kernel to begin another one."
    return f"{said} The file is {path}."


def _reason(error: Exception, path: Path) -> str:
    if _is_lock(error):
        return "another program has locked it"
    if isinstance(error, sqlite3.Error):
        if is_damage(error):
            return "it is damaged"
        if _is_moved(error):
            return "it was moved, replaced or deleted"
        # SQLite's own words are "disk I/O error" for most of what a disk can refuse.
        return _disk_reason(path.parent) or _SQLITE_SAYS.get(primary_code(error), str(error))
    return _os_reason(error)


def _disk_reason(folder: Path) -> str | None:
    """Why nothing can be written into the folder, in the system's words; None if something can."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix="ledger.probe-") as probe:
            probe.write(bytes(_PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return _os_reason(error)
    return None


def _os_reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    if number in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "it is read-only"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _is_lock(error: Exception) -> bool:
    return isinstance(error, Timeout) or primary_code(error) == sqlite3.SQLITE_BUSY


def _is_moved(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED


def _sqlite_error(code: int, said: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(said)
    error.sqlite_errorcode = code
    return error


def _touch(connection: sqlite3.Connection) -> None:
    """Rewrites what is already there, as a full disk shows only when a page is written."""
    connection.execute("UPDATE salt SET salt = salt")


_SQLITE_SAYS: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it is read-only",
}
_PROBE_BYTES: Final = 65_536
_MEANWHILE: Final = (
    "Nothing more is bought until it can be; clips under way are watched and fetched all the same."
)
_ELSEWHERE: Final = "choose another folder by home=… or REELBOOK_HOME"


MOUNTS = Path("/proc/mounts")

# Every FUSE is taken for a network (Drive, sshfs, rclone), except those known to be local disks.
_NETWORK = (
    *("nfs", "cifs", "smb", "ncpfs", "afs", "9p"),
    *("ceph", "gluster", "lustre", "davfs", "virtiofs", "vboxsf"),
)
_OCTAL = re.compile(r"\\([0-7]{3})")  # how that file writes spaces and tabs
_LOCAL_FUSE = ("fuseblk", "fuse.fuse-overlayfs", "fuse.ntfs", "fuse.exfat")


def on_network(folder: Path) -> bool:
    """Whether `folder` is known to be on a network: a FUSE mount, such as Drive's, or a Windows share."""
    if str(folder).startswith(("\\\\", "//")) and os.name == "nt":
        return True
    try:
        mounts = MOUNTS.read_text(errors="replace")
    except OSError:
        return False
    kinds: dict[Path, str] = {}  # a later mount hides an earlier one at the same place
    for line in mounts.splitlines():
        _, where, kind, *_ = (*line.split(" "), "", "")
        kinds[Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), where))] = kind
    kind = next((kinds[each] for each in (folder, *folder.parents) if each in kinds), "")
    return not kind.startswith(_LOCAL_FUSE) if kind.startswith("fuse") else kind.startswith(_NETWORK)
