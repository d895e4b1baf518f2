"""Where the disk fails in use."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from filelock import FileLock
from ledger.doubles import KEY, SERVICE, Clock, Kernel, fox, heard, tell

from reelbook import deadlines
from reelbook.client.transport import READ_SECONDS
from reelbook.ledger import Account, Ledger, store
from reelbook.ledger.ledger import BUSY_SECONDS
from reelbook.ledger.migrations import MIGRATIONS, migrate
from reelbook.ledger.request_log import Instant
from reelbook.ledger.store import on_network

# The file-size limit of the process makes its writes fail as a full disk does.
FULL = """
import resource
first = ledger.intend(account, fox(prompt="before")).entry
size = (Path(sys.argv[1]) / "ledger.db-wal").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 400_000, size + 400_000))
count = 0
while ledger.trouble is None:
    last = ledger.intend(account, fox(prompt=f"after {count}")).entry
    count += 1
ledger.sending(last.id)
ledger.accepted(last.id, "req-last")
ledger.sending(first.id)
kept = len(ledger.find(account=account, limit=1000))
state, reserved = ledger.by_request_id(account, "req-last").state, ledger.spend(account).reserved_usd
print(count, kept, state, reserved, ledger.trouble, sep="|", flush=True)
wait()
"""


def test_a_disk_that_fills_up_ends_nothing(ledger: Ledger, account: Account, kernel: Kernel) -> None:
    """The kernel goes on in memory with all it knew and says so; what it had noted before is on the disk."""
    writer = kernel(FULL)
    count, kept, state, reserved, trouble = heard(writer).split("|")
    assert int(kept) == int(count) + 1 > 5
    assert (state, float(reserved)) == ("pending", 0.25 * int(kept))
    assert "can't be used any more" in trouble
    assert "noted in memory" in trouble
    assert ledger.trouble is None
    assert len(ledger.find(account=account, limit=1000)) == int(count)


def test_what_a_kernel_left_that_lost_its_disk_is_uncertain(
    ledger: Ledger, account: Account, kernel: Kernel
) -> None:
    """Its rows say "intended", but it may have sent them since: nobody says that they were never sent."""
    writer = kernel(FULL)
    heard(writer)
    assert {entry.state for entry in ledger.find(account=account)} == {"intended"}
    writer.kill()
    writer.wait()
    assert {entry.state for entry in ledger.recover(account)} == {"uncertain"}


def test_a_file_that_stays_locked_is_left(folder: Path) -> None:
    """Another program holds the lock for too long: the write is done in memory, with all before."""
    ledger = Ledger.open(folder, busy_seconds=0.05)
    account = ledger.account(SERVICE, KEY)
    first = ledger.intend(account, fox()).entry
    holder = sqlite3.connect(folder / "ledger.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    second = ledger.intend(account, fox()).entry
    assert "another program has locked it" in (ledger.trouble or "")
    assert [entry.id for entry in ledger.find()] == [second.id, first.id]
    assert ledger.account(SERVICE, KEY) == account
    holder.execute("ROLLBACK")
    holder.close()
    ledger.close()


def test_stop_ends_the_wait_for_a_locked_file(folder: Path) -> None:
    """Stop is heard while another program holds the lock: nothing is written, and the disk isn't left."""
    ledger = Ledger.open(folder, busy_seconds=60)
    account = ledger.account(SERVICE, KEY)
    holder = sqlite3.connect(folder / "ledger.db", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    stop = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT])
    too_late = threading.Timer(30, holder.rollback)

    def wait_until_stopped() -> None:
        too_late.start()
        stop.start()
        ledger.intend(account, fox())

    with pytest.raises(KeyboardInterrupt):
        wait_until_stopped()
    still_locked = holder.in_transaction
    too_late.cancel()
    too_late.join()
    holder.rollback()
    holder.close()
    assert still_locked
    assert ledger.trouble is None
    assert ledger.find() == []
    ledger.close()


def test_stop_in_the_wait_for_the_lock_leaves_no_transaction_open(
    ledger: Ledger, account: Account, folder: Path
) -> None:
    """SQLite hears Stop when it has got the lock: both ledgers of the home can still write, on the disk."""

    def stopped(stop: threading.Timer) -> None:
        stop.start()
        ledger.intend(account, fox())
        time.sleep(5)

    with Ledger.open(folder, busy_seconds=2) as other:
        for number in range(3):
            holder = sqlite3.connect(folder / "ledger.db", isolation_level=None, check_same_thread=False)
            holder.execute("BEGIN IMMEDIATE")
            stop = threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGINT])
            free = threading.Timer(0.1, holder.rollback)
            free.start()
            with pytest.raises(KeyboardInterrupt):
                stopped(stop)
            free.join()
            holder.close()
            assert ledger.intend(account, fox(prompt=f"here {number}")).new
            assert other.intend(account, fox(prompt=f"there {number}")).new
        assert ledger.trouble is None
        assert other.trouble is None
        assert {entry.prompt for entry in other.find()} == {entry.prompt for entry in ledger.find()}


def test_a_transaction_that_was_left_open_is_healed_by_the_next_write(
    ledger: Ledger, account: Account
) -> None:
    """Whatever left it open, what is submitted next is on the disk."""
    ledger._store._connection.execute("BEGIN IMMEDIATE")
    intended = ledger.intend(account, fox())
    assert not ledger._store._connection.in_transaction
    assert ledger.find() == [intended.entry]


def test_the_ledger_is_waited_for_less_long_than_an_answer() -> None:
    """The session's thread waits for both: an answer that came meanwhile must not be taken for lost."""
    assert BUSY_SECONDS < READ_SECONDS


def test_a_write_that_fails_for_another_reason_is_taken_back_and_raised(
    ledger: Ledger, account: Account
) -> None:
    """A mistake of ours is no trouble of the disk: the transaction is undone and the ledger stays."""

    def work(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM accounts")
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        ledger._store.write(work)
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        ledger._store.write(lambda connection: connection.execute("INSERT INTO nowhere VALUES (1)"))
    assert ledger.trouble is None
    assert ledger.account(SERVICE, KEY) == account


def test_money_is_flushed_and_requests_are_not(ledger: Ledger, account: Account) -> None:
    """A submission waits for the disk, a request of the budget doesn't, the next submission does again."""
    levels: list[int] = []

    def look(connection: sqlite3.Connection) -> None:
        levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])

    ledger._store.write(look)
    ledger._store.write(look, flush=False)
    assert ledger.requests.enter(account, Instant.now(), lambda *_: True)
    ledger._store.write(look)
    assert levels == [2, 1, 2]


def test_many_threads_write_through_one_ledger(ledger: Ledger, account: Account) -> None:
    """The session's thread and the cells' don't disturb each other: nothing is lost or written twice."""
    with ThreadPoolExecutor(4) as threads:
        written = list(threads.map(lambda _: ledger.intend(account, fox()).entry.id, range(80)))
    assert sorted(written) == list(range(1, 81))
    assert ledger.trouble is None


def test_a_closed_kernel_leaves_no_sign(kernel: Kernel) -> None:
    """A closed ledger leaves no file of its process behind."""
    other = kernel("say('ready')\nwait()\nledger.close()\nsay(os.listdir(Path(sys.argv[1]) / 'kernels'))")
    assert heard(other) == "ready"
    tell(other)
    assert heard(other) == "[]"


def filled(folder: Path, count: int = 300) -> None:
    """A closed ledger with that many accepted jobs."""
    with Ledger.open(folder) as ledger:
        account = ledger.account(SERVICE, KEY)
        intended = ledger.intend_many(account, [fox(prompt=f"fox {number} " * 20) for number in range(count)])
        for entry, _ in intended:
            ledger.accepted(entry.id, f"req-{entry.id}")


def works(ledger: Ledger) -> bool:
    """Whether a submission can be noted and found."""
    account = ledger.account(SERVICE, KEY)
    entry = ledger.intend(account, fox(prompt="afterwards")).entry
    return [each.id for each in ledger.find(account=account, text="afterwards")] == [entry.id]


def damaged_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("ledger.damaged-*.db"))


def test_a_file_that_is_no_database_is_kept_and_a_new_one_begun(folder: Path) -> None:
    """Its bytes lie beside it, the message names them, and the new ledger is on the disk."""
    folder.mkdir()
    (folder / "ledger.db").write_bytes(b"no database at all " * 500)
    with Ledger.open(folder) as ledger:
        (kept,) = damaged_files(folder)
        assert ledger.trouble == (
            "The ledger was damaged. 0 jobs could be read and went into a new one; the damaged file is kept "
            f"as {kept}. A job that is missing goes on at the service: take it up by its id with "
            "session.job(id)."
        )
        assert not ledger.in_memory
        assert works(ledger)
    assert kept.read_bytes() == b"no database at all " * 500
    with Ledger.open(folder) as again:
        assert again.trouble is None
        assert len(again.find()) == 1


def test_a_file_that_was_cut_short_gives_what_is_left_of_it(folder: Path) -> None:
    """As after a crash of the machine: the jobs in the part that is there are in the new ledger."""
    filled(folder)
    whole = (folder / "ledger.db").read_bytes()
    cut = whole[: len(whole) * 7 // 10 // 4096 * 4096]
    (folder / "ledger.db").write_bytes(cut)
    with Ledger.open(folder) as ledger:
        assert "was damaged" in (ledger.trouble or "")
        saved = ledger.unfinished(ledger.account(SERVICE, KEY))
        assert 50 < len(saved) < 300
        assert {entry.request_id == f"req-{entry.id}" for entry in saved} == {True}
        assert works(ledger)
    (kept,) = damaged_files(folder)
    assert kept.read_bytes() == cut


def test_damage_in_the_middle_is_met_in_use_and_mended_at_the_next_start(folder: Path) -> None:
    """The kernel that meets it goes on in memory with what can be read; the next one begins a new file."""
    filled(folder)
    path = folder / "ledger.db"
    whole = bytearray(path.read_bytes())
    broken = whole.index(b"fox 150 ") // 4096
    whole[broken * 4096 : (broken + 1) * 4096] = b"\xff" * 4096
    path.write_bytes(whole)

    first = Ledger.open(folder)
    assert first.trouble is None
    saved = len(first.find(limit=1000))
    assert "can't be used any more (it is damaged)" in (first.trouble or "")
    assert "Restart the kernel: what can be read of it goes into a new one." in (first.trouble or "")
    assert first.in_memory
    assert 280 < saved < 300
    assert works(first)
    first.close()

    with Ledger.open(folder) as second:
        assert f"{saved} jobs could be read" in (second.trouble or "")
        assert not second.in_memory
        assert works(second)
    with Ledger.open(folder) as third:
        assert third.trouble is None
        assert len(third.find(limit=1000)) == saved + 1


def test_a_suspicion_that_is_wrong_changes_nothing(folder: Path) -> None:
    """A sound ledger that is looked through stays as it is, and isn't looked through again."""
    filled(folder, 3)
    suspicion = store.suspicion(folder / "ledger.db")
    suspicion.touch()
    with Ledger.open(folder) as ledger:
        assert ledger.trouble is None
        assert len(ledger.find()) == 3
    assert not suspicion.exists()
    assert damaged_files(folder) == []


def test_a_file_that_was_emptied_is_told_of(folder: Path) -> None:
    """All that was spent is forgotten, which a limit would count on: the message says so, once."""
    filled(folder, 3)
    os.truncate(folder / "ledger.db", 0)
    with Ledger.open(folder) as ledger:
        trouble = ledger.trouble or ""
        assert not ledger.in_memory
        assert works(ledger)
    (kept,) = damaged_files(folder)
    assert trouble.startswith(f"The ledger was empty: {folder / 'ledger.db'} had 0 bytes")
    assert f"A new one was begun. The empty file is kept as {kept}." in trouble
    assert "A spending limit counts only what is in the new one" in trouble
    with Ledger.open(folder) as again:
        assert again.trouble is None
        assert len(again.find()) == 1


def test_a_file_that_was_emptied_gives_what_an_earlier_damaged_one_holds(folder: Path) -> None:
    """The newest copy with jobs in it is taken; one that was empty itself is passed over."""
    filled(folder, 3)
    (folder / "ledger.db").rename(folder / "ledger.damaged-20260101-120000.db")
    (folder / "ledger.damaged-20260102-120000.db").touch()
    (folder / "ledger.db").touch()
    with Ledger.open(folder) as ledger:
        assert "3 jobs could be read from an earlier one" in (ledger.trouble or "")
        assert "ledger.damaged-20260101-120000.db" in (ledger.trouble or "")
        assert ledger.spend(ledger.account(SERVICE, KEY)).reserved_usd == 0.75


def test_a_kernel_that_is_killed_while_it_makes_the_file_leaves_no_empty_one(folder: Path) -> None:
    """A new ledger has no name before it is whole, so the next kernel begins it without a word."""
    killed = f"""
import os, pathlib
from reelbook.ledger import Ledger, store
store.migrate = lambda connection: os._exit(0)
Ledger.open(pathlib.Path({str(folder)!r}))
"""
    subprocess.run([sys.executable, "-c", killed], check=True)
    assert [path.name for path in folder.glob("ledger*.db")] == ["ledger.new.db"]
    with Ledger.open(folder) as ledger:
        assert ledger.trouble is None
        assert works(ledger)
    assert sorted(path.name for path in folder.glob("ledger*.db*")) == ["ledger.db"]


@pytest.mark.parametrize("locked", ["by SQLite", "at its opening"])
def test_a_locked_file_is_waited_for_and_then_done_without(folder: Path, locked: str) -> None:
    """It is left as it is, and the next kernel that finds it free has all that is in it."""
    filled(folder, 3)
    if locked == "by SQLite":
        holder = sqlite3.connect(folder / "ledger.db", isolation_level=None)
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        with Ledger.open(folder, busy_seconds=0.05) as ledger:
            assert "another program has locked it" in (ledger.trouble or "")
            assert ledger.in_memory
            assert works(ledger)
        holder.execute("ROLLBACK")
        holder.close()
    else:
        with FileLock(folder / "ledger.lock"), Ledger.open(folder, busy_seconds=0.05) as ledger:
            assert "is locked by another program" in (ledger.trouble or "")
            assert works(ledger)
    with Ledger.open(folder) as again:
        assert again.trouble is None
        assert len(again.find()) == 3


def test_a_locked_file_is_asked_for_until_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Kernels that write all the time leave gaps, found by asking often; another error is told at once.

    A sleep of the machine doesn't count: the others had no chance to end either.
    """
    monkeypatch.setattr(store, "time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr(deadlines.Countdown.__init__, "__defaults__", (clock,))
    asked: list[float] = []
    began = clock.now

    def ask(code: int, until: int) -> str:
        asked.append(clock.now - began)
        clock.now += 0.25 if len(asked) != 3 else 90
        if len(asked) > until:
            return "free"
        error = sqlite3.OperationalError("no")
        error.sqlite_errorcode = code
        raise error

    assert store.patiently(lambda: ask(sqlite3.SQLITE_BUSY, 3), 5) == "free"
    asked.clear()
    with pytest.raises(sqlite3.OperationalError):
        store.patiently(lambda: ask(sqlite3.SQLITE_BUSY_RECOVERY, 99), 5)
    assert 20 <= len(asked) <= 26
    asked.clear()
    with pytest.raises(sqlite3.OperationalError):
        store.patiently(lambda: ask(sqlite3.SQLITE_FULL, 9), 5)
    assert len(asked) == 1


@pytest.mark.parametrize("blocked", ["home", "ledger.db", "ledger.lock", "kernels"])
def test_what_stands_in_the_way_is_named_and_memory_used(folder: Path, blocked: str) -> None:
    """A file where a folder must be, or a folder where the file must be: nothing is raised."""
    if blocked == "home":
        folder.write_text("a file")
    elif blocked == "kernels":
        folder.mkdir()
        (folder / blocked).write_text("a file")
    else:
        (folder / blocked).mkdir(parents=True)
    with Ledger.open(folder) as ledger:
        assert ledger.in_memory
        trouble = ledger.trouble or ""
        assert trouble.startswith(f"The ledger {folder / 'ledger.db'} can't be used (")
        assert "noted in memory" in trouble
        assert trouble.endswith(
            "Set that right or set REELBOOK_HOME to another folder, then restart the kernel."
        )
        assert works(ledger)


def test_a_newer_ledger_is_left_as_it_is(folder: Path) -> None:
    """The message says to update; the file keeps its bytes."""
    folder.mkdir()
    connection = sqlite3.connect(folder / "ledger.db", isolation_level=None)
    migrate(connection, (*MIGRATIONS, ("CREATE TABLE later (id INTEGER)",)))
    connection.close()
    with Ledger.open(folder) as ledger:
        assert ledger.in_memory
        assert "was written by a newer Reelbook. It was left as it is." in (ledger.trouble or "")
        assert works(ledger)
    connection = sqlite3.connect(folder / "ledger.db")
    assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM entries").fetchone() == (0,)
    connection.close()


@pytest.mark.parametrize(("network", "mode"), [(True, "truncate"), (False, "wal")])
def test_a_network_folder_gets_a_journal_without_shared_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch, network: bool, mode: str
) -> None:
    """TRUNCATE there and WAL elsewhere; a ledger that was moved changes, and keeps its jobs."""
    filled(folder, 3)
    monkeypatch.setattr(store, "on_network", lambda path: network)
    with Ledger.open(folder) as ledger:
        assert ledger._store._connection.execute("PRAGMA journal_mode").fetchone()[0] == mode
        assert len(ledger.find()) == 3
        assert works(ledger)
        assert (folder / "ledger.db-wal").exists() == (not network)


def test_a_second_ledger_in_one_process_leaves_the_firsts_locks(folder: Path, kernel: Kernel) -> None:
    """Another kernel that ends after it does not take itself for the last, and leaves the journal in use."""
    with Ledger.open(folder) as first:
        first.account(SERVICE, KEY)
        Ledger.open(folder).close()
        assert kernel("ledger.close()").wait() == 0
        assert (folder / "ledger.db-wal").exists()


def test_two_ledgers_of_one_home_see_each_other(folder: Path, clock: Clock) -> None:
    """What one session notes the other reads at once."""
    with Ledger.open(folder, clock=clock) as one, Ledger.open(folder, clock=clock) as other:
        account = one.account(SERVICE, KEY)
        entry = one.intend(account, fox()).entry
        assert other.account(SERVICE, KEY) == account
        assert other.get(entry.id) == entry


MOUNTS = """\
overlay / overlay rw,relatime 0 0
proc /proc proc rw 0 0
/dev/sda1 /home ext4 rw 0 0
drive /content/drive fuse.drive rw,nosuid 0 0
server:/export /home/shared nfs4 rw 0 0
//server/share /mnt/a\\040share cifs rw 0 0
/dev/sdb1 /mnt/stick fuseblk rw 0 0
C: /mnt/c 9p rw 0 0
server:/old /srv nfs rw 0 0
/dev/sdc1 /srv ext4 rw 0 0
odd line
"""


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/root/.local/share/reelbook", False),
        ("/home/someone", False),
        ("/content/drive/MyDrive/reelbook", True),
        ("/content/driver", False),
        ("/home/shared/reelbook", True),
        ("/mnt/a share/reelbook", True),
        ("/mnt/stick", False),
        ("/mnt/c/Users", True),
        ("/srv/reelbook", False),
    ],
)
def test_a_folder_is_on_the_network_of_its_nearest_mount(folder: str, expected: bool) -> None:
    """NFS, SMB, 9p and FUSE such as Drive; not a local disk's FUSE, nor a disk that hides a network."""
    assert on_network(Path(folder), MOUNTS) == expected


def test_this_machines_mounts_can_be_read(tmp_path: Path) -> None:
    """Without a list of mounts the system's own is taken: a temporary folder is local."""
    assert not on_network(tmp_path)
