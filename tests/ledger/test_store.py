"""A disk that fails in use."""

import errno
import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from filelock import FileLock
from ledger.doubles import (
    KEY,
    SERVICE,
    Kernel,
    find,
    fox,
    heard,
    intend,
    intend_many,
    known,
    left_open,
    opened,
    tell,
)
from support.ledgers import locked, read_only

from reelbook.errors import InvalidInput, LedgerLocked, LedgerUnavailable
from reelbook.ledger import Ledger, Marks, store
from reelbook.ledger.schema import NUMBER

# The file-size limit of the process makes its writes fail as a full disk does, until it is lifted.
FULL = """
import resource
from reelbook.errors import LedgerUnavailable
sent = intend(ledger, fox(prompt="before")).entry
ledger.sending(sent.id)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
size = (Path(sys.argv[1]) / "ledger.db-wal").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100_000, most))
count, said = 0, ""
while not said:
    try:
        last = intend(ledger, fox(prompt=f"after {count}")).entry
        count += 1
    except LedgerUnavailable as error:
        said = str(error)
ledger.accepted(sent.id, "req-sent")
try:
    ledger.sending(last.id)
except LedgerUnavailable:
    said += " Twice."
known, kept = ledger.by_request_id("req-sent"), len(find(ledger, limit=1000))
say(f"{count}|{kept}|{known.state}|{said}")
wait()
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
while ledger.store.trouble is not None:
    time.sleep(0.05)
say(ledger.sending(last.id))
wait()
"""


def test_on_a_full_disk_nothing_is_intended_and_what_is_learnt_is_kept(
    ledger: Ledger, kernel: Kernel
) -> None:
    """An id that arrives is known at once, and on the disk by itself as soon as that takes it."""
    writer = kernel(FULL)
    count, kept, state, said = heard(writer).split("|")
    assert int(kept) == int(count) + 1 > 3
    assert state == "pending"
    assert said.startswith("Nothing was sent. The ledger can't be written: ")
    assert str(ledger.store.path) in said
    assert said.endswith(" Twice.")
    assert [each.state for each in find(ledger, text="before")] == ["sending"]
    assert len(find(ledger, limit=1000)) == int(kept)
    tell(writer)
    assert heard(writer) == "True"
    assert [(each.state, each.request_id) for each in find(ledger, text="before")] == [
        ("pending", "req-sent")
    ]


def test_half_a_character_is_refused_and_stands_in_nobodys_way(ledger: Ledger) -> None:
    """Whether the disk takes writes or not: the ledger returns to it without that text."""
    entry = intend(ledger, fox()).entry
    half = "\ud83d"
    with pytest.raises(InvalidInput, match="half a character"):
        find(ledger, experiment=half)
    with read_only(ledger):
        for note in ("before", half, "after"):
            with pytest.raises(InvalidInput) if note == half else nullcontext():
                ledger.mark(entry.id, Marks(note=note))
    with pytest.raises(InvalidInput, match="Nothing was kept"):
        ledger.mark(entry.id, Marks(note=half))
    assert (known(ledger, entry.id).marks.note, ledger.store.trouble) == ("after", None)


def test_a_closing_ledger_waits_a_moment_for_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id that arrived meanwhile is on the disk then."""
    closed = left_open(folder)
    sent = intend(closed, fox()).entry.id
    closed.sending(sent)
    disk = closed.store._connection
    read_only(closed).__enter__()
    closed.accepted(sent, "req-late")
    mended = SimpleNamespace(sleep=lambda _: disk.execute("PRAGMA query_only=0"))
    monkeypatch.setattr(store, "time", mended)
    assert closed.file.close() is None
    with opened(folder) as ledger:
        assert [entry.request_id for entry in find(ledger)] == ["req-late"]


def test_a_ledger_closed_with_a_full_disk_leaves_rows_that_can_be_believed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a kill: what was never marked as sent is left unsent, and isn't called uncertain.

    An id that arrived while the disk was full before isn't called lost.
    """
    monkeypatch.setattr(store, "_CLOSING_SECONDS", 0)
    closed = left_open(folder)
    accepted = intend(closed, fox(prompt="accepted")).entry.id
    with read_only(closed):
        closed.accepted(accepted, "req-written")
    closed.sending(intend(closed, fox(prompt="sent")).entry.id)
    intend(closed, fox(prompt="not sent"))
    read_only(closed).__enter__()
    said = str(closed.file.close())
    assert re.match(r"The ledger can't be written: .* It was closed all the same", said)
    assert "req-written" not in said
    with opened(folder) as ledger:
        states = {entry.prompt: entry.state for entry in find(ledger)}
        assert states == {"accepted": "pending", "sent": "uncertain", "not sent": "cancelled"}
        assert [entry.prompt for entry in ledger.left_unsent()] == ["not sent"]


def test_a_file_that_stays_locked_is_returned_to(folder: Path) -> None:
    """A lock that is held for long is said, and what was learnt is written later."""
    with opened(folder) as ledger:
        first = intend(ledger, fox()).entry
        with locked(folder):
            with pytest.raises(LedgerLocked, match=r"Nothing was sent.* another program has locked it"):
                intend(ledger, fox())
            ledger.accepted(first.id, "req-first")
            assert [entry.request_id for entry in find(ledger)] == ["req-first"]
        assert intend(ledger, fox(prompt="afterwards")).new
        assert ledger.store.trouble is None
    with opened(folder) as again:
        assert [entry.request_id for entry in find(again)] == [None, "req-first"]


@pytest.mark.parametrize("another", [False, True])
def test_nothing_is_bought_by_a_ledger_that_is_not_the_homes_any_more(folder: Path, another: bool) -> None:
    """It was deleted, or another one has its place: nobody would find the clip, and a limit wouldn't hold."""
    ledger = left_open(folder)
    sent = intend(ledger, fox()).entry
    ledger.sending(sent.id)
    aside = folder.rename(folder.with_name("aside"))
    if another:
        left_open(folder).file.close()
    with pytest.raises(LedgerUnavailable, match=r"Nothing was sent\..*(No such file|moved, replaced or del)"):
        intend(ledger, fox())
    ledger.accepted(sent.id, "req-late")
    assert "Put it back, or restart" in str(ledger.store.trouble)
    if another:
        assert "req-late" in str(ledger.file.close())
        return
    aside.rename(folder)
    assert intend(ledger, fox(prompt="afterwards")).new
    assert known(ledger, sent.id).request_id == "req-late"
    assert ledger.file.close() is None


def test_a_ledger_with_nothing_to_settle_is_closed_without_a_word(folder: Path) -> None:
    """A script's home may be deleted before its session is closed."""
    ledger = left_open(folder)
    ledger.ended(intend(ledger, fox()).entry.id, "refused", "402")
    folder.rename(folder.with_name("aside"))
    assert (ledger.file.close(), ledger.store.trouble) == (None, None)


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "disk is full"), (errno.EDQUOT, "disk is full"), (errno.EROFS, "read-only")],
)
def test_the_systems_reason_is_told(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    """SQLite calls most of what a disk refuses "disk I/O error"; a person is told what to change."""
    failure = sqlite3.OperationalError("disk I/O error")
    failure.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
    with monkeypatch.context() as broken:
        broken.setattr("tempfile.NamedTemporaryFile", Mock(side_effect=OSError(number, "refused")))
        with pytest.raises(LedgerUnavailable, match=said):
            ledger.store.write(Mock(side_effect=failure))


def test_a_write_that_fails_for_another_reason_is_taken_back_and_raised(ledger: Ledger) -> None:
    """A mistake of our own isn't the disk's: the transaction is undone and the ledger stays in use. One that
    was left open, whatever did that, is healed by the next write.
    """

    def work(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM accounts")
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        ledger.store.write(work)
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        ledger.store.write(lambda connection: connection.execute("INSERT INTO nowhere VALUES (1)"))
    assert ledger.store.trouble is None
    ledger.store._connection.execute("BEGIN IMMEDIATE")
    assert ledger.file.ledger(SERVICE, KEY).account == ledger.account
    intended = intend(ledger, fox())
    assert not ledger.store._connection.in_transaction
    assert find(ledger) == [intended.entry]


def test_money_is_flushed_and_requests_are_not(ledger: Ledger) -> None:
    """A submission waits for the disk, a request of the budget doesn't, the next submission does again. What
    is of use for the moment, as that request, isn't written when the disk is back, either.
    """
    levels: list[int] = []

    def look(connection: sqlite3.Connection) -> None:
        levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])

    ledger.store.write(look)
    ledger.store.keep(look, flush=False)
    ledger.store.write(look)
    assert levels == [2, 1, 2]
    with read_only(ledger):
        number = ledger.requests.enter(0.0, lambda *_: True)
        assert number is not None
        ledger.requests.answered(number, 10)
    ledger.store.prove_writable()
    assert ledger.store.read(lambda db: db.execute("SELECT count(*) FROM requests").fetchone()[0]) == 0


def test_many_threads_write_through_one_ledger(ledger: Ledger) -> None:
    """The session's thread and the cells' don't disturb each other: nothing is lost or written twice."""
    with ThreadPoolExecutor(4) as threads:
        written = list(threads.map(lambda _: intend(ledger, fox()).entry.id, range(80)))
    assert sorted(written) == list(range(1, 81))
    assert ledger.store.trouble is None


def filled(folder: Path, count: int = 300) -> None:
    """A closed ledger with that many accepted jobs."""
    with opened(folder) as ledger:
        intended = intend_many(ledger, [fox(prompt=f"fox {number} " * 20) for number in range(count)])
        for entry, _ in intended:
            ledger.accepted(entry.id, f"req-{entry.id}")


def works(ledger: Ledger) -> bool:
    """Whether a submission can be recorded and found."""
    entry = intend(ledger, fox(prompt="afterwards")).entry
    return [each.id for each in find(ledger, text="afterwards")] == [entry.id]


def damaged_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("ledger.damaged-*.db"))


@pytest.mark.parametrize("earlier", [0, 3])
@pytest.mark.parametrize("lost", ["damaged", "empty"])
def test_a_lost_file_is_kept_and_a_new_one_begun(folder: Path, lost: str, earlier: int) -> None:
    """With what an earlier lost one has. The message names both, and says what a limit counts now."""
    folder.mkdir()
    said = f"The ledger was {lost}. {earlier} jobs could be read"
    if earlier:
        filled(folder, earlier)
        copy = (folder / "ledger.db").rename(folder / "ledger.damaged-20260101-120000.db")
        (folder / "ledger.damaged-20260102-120000.db").touch()
        said += f" from an earlier one, {copy},"
    content = b"no database at all " * 500 if lost == "damaged" else b""
    (folder / "ledger.db").write_bytes(content)
    with opened(folder) as ledger:
        kept = damaged_files(folder)[-1]
        notice = ledger.store.notice or ""
        assert notice.startswith(f"{said} and went into a new one; the {lost} file is kept as {kept}. ")
        assert "A spending limit counts only what is in the new one" in notice
        assert not ledger.store.in_memory
        assert ledger.spend().reserved_usd == earlier * 0.25
        assert works(ledger)
    assert kept.read_bytes() == content
    with opened(folder) as again:
        assert again.store.notice is None
        assert len(find(again)) == earlier + 1


def test_a_file_that_was_cut_short_gives_what_is_left_of_it(folder: Path) -> None:
    """As after a crash of the machine: the jobs in the part that is there are in the new ledger."""
    filled(folder)
    whole = (folder / "ledger.db").read_bytes()
    cut = whole[: len(whole) * 7 // 10 // 4096 * 4096]
    (folder / "ledger.db").write_bytes(cut)
    with opened(folder) as ledger:
        assert "was damaged" in (ledger.store.notice or "")
        saved = ledger.unfinished()
        assert 50 < len(saved) < 300
        assert {entry.request_id == f"req-{entry.id}" for entry in saved} == {True}
        assert works(ledger)
    (kept,) = damaged_files(folder)
    assert kept.read_bytes() == cut


def test_damage_in_the_middle_is_met_in_use_and_mended_at_the_next_start(folder: Path) -> None:
    """The kernel that meets it buys nothing more, and shows what can be read; the next begins a new file."""
    filled(folder)
    path = folder / "ledger.db"
    whole = bytearray(path.read_bytes())
    broken = whole.index(b"fox 150 ") // 4096
    whole[broken * 4096 : (broken + 1) * 4096] = b"\xff" * 4096
    path.write_bytes(whole)

    first = left_open(folder)
    assert first.store.trouble is None
    saved = len(find(first, limit=1000))
    assert "it is damaged. Nothing more is bought" in (first.store.trouble or "")
    assert "Restart the kernel" in (first.store.trouble or "")
    assert 280 < saved < 300
    with pytest.raises(LedgerUnavailable, match="it is damaged"):
        intend(first, fox())
    first.file.close()

    with opened(folder) as second:
        assert f"{saved} jobs could be read" in (second.store.notice or "")
        prompts = {entry.prompt.split()[1] for entry in find(second, limit=1000)}  # the account is as it was
        assert (len(prompts), prompts >= {"0", "299"}) == (saved, True)
        assert works(second)


@pytest.mark.parametrize("step", ["rescue", "migrate"])
def test_a_kernel_that_is_killed_while_it_makes_a_file_leaves_it_to_the_next(folder: Path, step: str) -> None:
    """A damaged file is found where it was, and it is said what could be read of it. A new one gets its name
    when it is whole, so that none is taken for a damaged one.
    """
    if step == "rescue":
        filled(folder, 3)
        with (folder / "ledger.db").open("r+b") as file:
            file.truncate(file.seek(0, 2) - 4096)
    killed = f"""
import os, pathlib
from reelbook.ledger import LedgerFile, store
store.{step} = lambda *_: os._exit(0)
LedgerFile.open(pathlib.Path({str(folder)!r}))
"""
    subprocess.run([sys.executable, "-c", killed], check=True)
    with opened(folder) as ledger:
        said = "3 jobs could be read and went into a new one"
        assert (said in (ledger.store.notice or "")) == (step == "rescue")
        assert len(find(ledger)) == (3 if step == "rescue" else 0)
        assert works(ledger)
    assert [path.name for path in folder.glob("ledger.*db") if "damaged" not in path.name] == ["ledger.db"]


def test_a_suspicion_that_is_wrong_changes_nothing(folder: Path) -> None:
    """A sound ledger that is checked stays as it is, and isn't checked again."""
    filled(folder, 3)
    suspicion = store.suspicion(folder / "ledger.db")
    suspicion.touch()
    with opened(folder) as ledger:
        assert ledger.store.trouble is None
        assert len(find(ledger)) == 3
    assert not suspicion.exists()
    assert damaged_files(folder) == []


@pytest.mark.parametrize("how", ["by SQLite", "at its opening"])
def test_a_locked_file_is_waited_for_and_not_done_without(
    folder: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """It is left as it is, and the next kernel that finds it free has all that is in it."""
    filled(folder, 3)
    monkeypatch.setattr(store, "_OPENING_SECONDS", 0.05)
    with closing(sqlite3.connect(folder / "ledger.db", isolation_level=None)) as holder:
        if how == "by SQLite":
            holder.execute("PRAGMA locking_mode=EXCLUSIVE")
            holder.execute("BEGIN EXCLUSIVE")
        with FileLock(folder / "ledger.lock") if how == "at its opening" else nullcontext():
            with pytest.raises(LedgerLocked, match=r"program has locked it.* home=… or REELBOOK_HOME"):
                left_open(folder)
    with opened(folder) as again:
        assert again.store.notice is None
        assert len(find(again)) == 3


@pytest.mark.parametrize("blocked", ["home", "ledger.db", "ledger.lock", "kernels"])
def test_what_stands_in_the_way_is_named(folder: Path, blocked: str) -> None:
    """A file where a folder must be, or the other way round: the error says what to do."""
    if blocked == "home":
        folder.write_text("a file")
    elif blocked == "kernels":
        folder.mkdir()
        (folder / blocked).write_text("a file")
    else:
        (folder / blocked).mkdir(parents=True)
    with pytest.raises(LedgerUnavailable) as raised:
        left_open(folder)
    said = str(raised.value)
    assert said.startswith(f"The ledger {folder / 'ledger.db'} can't be used: ")
    assert "choose another folder by home=… or REELBOOK_HOME; connect(…, ledger=None) does without" in said


def test_a_newer_ledger_is_left_as_it_is(folder: Path) -> None:
    """The message says to update; the file keeps its bytes."""
    filled(folder, 1)
    connection = sqlite3.connect(folder / "ledger.db", isolation_level=None)
    connection.execute("INSERT INTO migrations VALUES (?, 0)", (NUMBER + 1,))
    before = list(connection.iterdump())
    with pytest.raises(LedgerUnavailable, match="was written by a newer Reelbook, and was left as it is"):
        left_open(folder)
    assert list(connection.iterdump()) == before
    connection.close()


def test_the_journal_of_a_deleted_file_is_not_played_into_a_new_one(folder: Path, kernel: Kernel) -> None:
    """A kernel that was killed leaves one. It is kept beside the new ledger, which begins empty."""
    killed = kernel("intend_many(ledger, [fox()] * 30)\nsay('written')\nwait()")
    assert heard(killed) == "written"
    killed.kill()
    killed.wait()
    (folder / "ledger.db").unlink()
    with opened(folder) as ledger:
        assert (ledger.account.id, intend(ledger, fox()).entry.id) == (1, 1)
    assert len([*folder.glob("ledger.damaged-*.db-wal")]) == 1


@pytest.mark.parametrize(("network", "mode"), [(True, "truncate"), (False, "wal")])
def test_a_network_folder_gets_a_journal_without_shared_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch, network: bool, mode: str
) -> None:
    """TRUNCATE there and WAL elsewhere; a ledger that was moved changes, and keeps its jobs."""
    filled(folder, 3)
    monkeypatch.setattr(store, "on_network", lambda path: network)
    with opened(folder) as ledger:
        assert ledger.store._connection.execute("PRAGMA journal_mode").fetchone()[0] == mode
        assert len(find(ledger)) == 3
        assert works(ledger)
        assert (folder / "ledger.db-wal").exists() == (not network)


def test_a_second_ledger_in_one_process_leaves_the_firsts_locks(folder: Path, kernel: Kernel) -> None:
    """Another kernel that ends later doesn't take itself for the last, and leaves the journal in use."""
    with opened(folder) as first:
        assert first.account
        left_open(folder).file.close()
        assert kernel("ledger.file.close()").wait() == 0
        assert (folder / "ledger.db-wal").exists()


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
def test_a_folder_is_on_the_network_of_its_nearest_mount(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str, expected: bool
) -> None:
    """NFS, SMB, 9p and FUSE such as Drive; not a local disk's FUSE, nor a disk that hides a network."""
    monkeypatch.setattr(store, "MOUNTS", tmp_path / "mounts")
    store.MOUNTS.write_text(MOUNTS)
    assert store.on_network(Path(folder)) == expected
