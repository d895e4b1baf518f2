"""Where the disk fails in use."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ledger.doubles import KEY, SERVICE, Kernel, fox, heard, tell

from reelbook.client.transport import READ_SECONDS
from reelbook.ledger import Account, Ledger
from reelbook.ledger.ledger import BUSY_SECONDS
from reelbook.ledger.requests import Instant

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
