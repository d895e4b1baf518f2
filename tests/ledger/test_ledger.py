"""A submission's life in the ledger."""

import os
import stat
import time
from collections import Counter
from pathlib import Path

import pytest
from ledger.doubles import (
    KEY,
    SERVICE,
    Clock,
    Kernel,
    find,
    fox,
    heard,
    intend,
    known,
    left_open,
    opened,
    submitted,
    tell,
    uncertain,
)
from support.ledgers import told

from reelbook import states
from reelbook.ledger import Entry, Ledger, Marks
from reelbook.ledger.kernels import KEPT_SECONDS
from reelbook.secret import Secret
from reelbook.wire import DAY_SECONDS


def test_a_submission_is_kept_from_its_intent_to_its_clip(ledger: Ledger, clock: Clock, folder: Path) -> None:
    """All that was asked for and answered is there when the file is opened again."""
    began = clock.now
    wanted = fox(experiment="winter", seed=2**70)
    entry = intend(ledger, wanted).entry
    assert (entry.state, entry.estimated_cost_usd, entry.request) == ("intended", 0.25, wanted.request)
    clock.now += 1
    assert ledger.sending(entry.id)
    clock.now += 1
    ledger.accepted(entry.id, "req-1", estimated_cost_usd=0.26, estimated_duration_seconds=40)
    ledger.status(entry.id, told("processing"), progress=30)
    clock.now += 58
    ledger.status(
        entry.id, told("completed", video_url="https://cdn/1.mp4", duration_seconds=5.04, cost_usd=0.252)
    )
    ledger.downloaded(entry.id, folder / "req-1.mp4")
    with opened(folder) as again:
        assert again.store.trouble is None
        kept = again.by_request_id("req-1")
    assert kept == Entry(
        id=entry.id,
        account_id=ledger.account.id,
        state="completed",
        mode="text-to-video",
        prompt=wanted.request.prompt,
        duration_seconds=5,
        record=wanted.request.record(),
        sameness=wanted.sameness,
        experiment="winter",
        place=None,
        kernel=entry.kernel,
        intended_at=began,
        sent_at=began + 1,
        accepted_at=began + 2,
        ended_at=began + 60,
        downloaded_at=began + 60,
        abandoned_at=None,
        request_id="req-1",
        estimated_cost_usd=0.26,
        cost_usd=0.252,
        estimated_duration_seconds=40,
        actual_seconds=5.04,
        took_seconds=58,
        progress=30,
        video_url="https://cdn/1.mp4",
        clip_path=str(folder / "req-1.mp4"),
        error=None,
        marks=Marks(),
    )
    assert (kept.charge, kept.request) == ("spent", wanted.request)


def test_what_was_taken_back_is_not_sent(ledger: Ledger) -> None:
    """Whether it is sent or taken back first, the second attempt is told; after a 429 both are possible."""
    first, second = (intend(ledger, fox()).entry.id for _ in range(2))
    assert ledger.cancelled(first)
    assert not ledger.sending(first)
    assert ledger.sending(second)
    assert not ledger.cancelled(second)
    assert [known(ledger, each).state for each in (first, second)] == ["cancelled", "sending"]
    ledger.unsent(second)
    assert known(ledger, second).state == "intended"
    assert ledger.sending(second)


def test_a_late_answer_does_not_undo_the_end(ledger: Ledger) -> None:
    """A job that one kernel knows as completed stays so when another still hears "processing"."""
    entry_id = submitted(ledger)
    ledger.status(entry_id, told("completed", video_url="https://cdn/1.mp4", cost_usd=0.25))
    ledger.status(entry_id, told("processing"), progress=90)
    ledger.status(entry_id, told("completed", video_url="https://cdn/fresh.mp4"))
    entry = known(ledger, entry_id)
    assert (entry.state, entry.progress, entry.video_url) == ("completed", None, "https://cdn/fresh.mp4")


@pytest.mark.parametrize(("accepted", "state"), [(True, "lost"), (False, "not accepted")])
def test_an_uncertain_one_is_settled_by_what_is_found_out(ledger: Ledger, accepted: bool, state: str) -> None:
    """It was accepted, or it wasn't. A late verdict changes nothing about what isn't uncertain any more."""
    entry_id, refused = uncertain(ledger), intend(ledger, fox()).entry.id
    ledger.ended(refused, states.REFUSED, "402")
    for each in (entry_id, refused):
        ledger.settle(each, accepted=accepted)
    assert (known(ledger, entry_id).state, known(ledger, refused).state) == (state, "refused")


def test_unfinished_are_the_accepted_ones_without_a_clip(ledger: Ledger) -> None:
    """Pending, completed and given up ones are; failed, downloaded, refused and unsent ones aren't."""
    ids = {name: submitted(ledger, request_id=name) for name in ("a", "b", "c", "d", "e")}
    ledger.status(ids["b"], told("completed", video_url="https://cdn/b.mp4"))
    ledger.status(ids["c"], told("failed", error="policy"))
    ledger.downloaded(ids["d"], "d.mp4")
    ledger.abandoned(ids["e"], "404")
    ledger.ended(intend(ledger, fox()).entry.id, states.REFUSED, "400")
    intend(ledger, fox())
    assert [entry.request_id for entry in ledger.unfinished()] == ["a", "b", "e"]


def test_what_was_given_up_stays_unfinished_for_a_week(ledger: Ledger, clock: Clock) -> None:
    """Counted from the first time, however often it was asked about; and longer once the service knows it."""
    entry_id = submitted(ledger, request_id="a")
    ledger.abandoned(entry_id, "404")
    clock.now += 6 * 86_400
    ledger.abandoned(entry_id, "404 again")
    assert [entry.error for entry in ledger.unfinished()] == ["404 again"]
    clock.now += 2 * 86_400
    assert ledger.unfinished() == []
    ledger.status(entry_id, told("pending"))
    assert [(entry.request_id, entry.error) for entry in ledger.unfinished()] == [("a", None)]


def test_a_kernels_jobs_are_taken_up_by_one_other_once_it_is_gone(ledger: Ledger, kernel: Kernel) -> None:
    """As long as it lives they are left to it; afterwards the first that takes one up has it."""
    other = kernel("""
submitted(ledger)
say("accepted")
wait()
""")
    assert heard(other) == "accepted"
    assert ledger.unfinished() == []
    assert len(ledger.unfinished(watched_elsewhere=True)) == 1
    other.kill()
    other.wait()
    (left,) = ledger.unfinished()
    assert ledger.take_up(left)
    assert not ledger.take_up(left)
    assert known(ledger, left.id).kernel != left.kernel


def test_what_shows_that_a_kernel_lived_goes_long_after_it_was_killed(
    ledger: Ledger, folder: Path, kernel: Kernel
) -> None:
    """Never while the kernel lives, however long that is, nor soon after it ended."""
    kernels = [kernel("say('here')\nwait()") for _ in range(3)]
    assert [heard(each) for each in kernels] == ["here"] * 3
    old, young, living = ({*(folder / "kernels").glob(f"{each.pid}-*")} for each in kernels)
    for ended in kernels[:2]:
        ended.kill()
        ended.wait()
    long_ago = time.time() - 2 * KEPT_SECONDS
    for file in old | living:
        os.utime(file, (long_ago, long_ago))
    ledger.recover()
    left = {*(folder / "kernels").iterdir()}
    assert (left & old, left >= young | living, len(left)) == (set(), True, 3)


def test_how_long_jobs_took_is_learnt_only_from_watched_ones(
    ledger: Ledger, clock: Clock, folder: Path
) -> None:
    """A forecast learns nothing from one that another kernel took up.

    Of one that was seen running the interval is kept in which it ended; a person is shown its end, though
    somebody has set the clock meanwhile. A kernel that looks for unfinished jobs finds its own, which it has
    been watching all the time.
    """
    seen, handed = (submitted(ledger) for _ in range(2))
    clock.now += 30
    assert [entry.id for entry in ledger.left_over()] == [seen, handed]
    clock.now -= 365 * DAY_SECONDS
    ledger.status(seen, told("completed"), took=(22.5, 29.5))
    with opened(folder, clock=clock) as other:
        assert other.take_up(known(ledger, handed))
        other.status(handed, told("completed"))
    took = [(22.5, 29.5, 40)]
    assert known(ledger, seen).took_seconds == 29.5
    longer = fox(duration_seconds=6).request
    assert ledger.took_seconds(fox().request) == took
    assert (ledger.took_seconds(longer), ledger.took_seconds(longer, alike=True)) == ([], took)
    assert ledger.took_seconds(fox(image=b"png").request, alike=True) == []


def test_what_jobs_took_is_told_in_the_order_in_which_they_were_submitted(
    ledger: Ledger, clock: Clock
) -> None:
    """The long ones of a batch end last, which doesn't mean that the service has become slower."""
    jobs = [submitted(ledger) for _ in range(3)]
    for number in (1, 2, 0):
        clock.now += 10
        ledger.status(jobs[number], told("completed"))
    assert [at_most for _, at_most, _ in ledger.took_seconds(fox().request)] == [30, 10, 20]


def test_accounts_are_told_apart_by_origin_and_key(ledger: Ledger) -> None:
    """The path of the address doesn't matter, nor does a default port; each key has rows of its own.

    What is no address is taken as it is.
    """
    assert ledger.file.ledger("https://SERVICE.example:443", KEY).account == ledger.account
    for name in (" sandbox ", "http://a.example:port"):
        assert ledger.file.ledger(name, KEY).account.origin == name.strip()
    with_port = ledger.file.ledger("http://a.example:8000/base", KEY).account
    assert with_port.origin == "http://a.example:8000"
    others = {
        ledger.file.ledger("http://service.example", KEY).account.id,
        ledger.file.ledger(SERVICE, Secret("sk-another")).account.id,
        ledger.file.ledger("sandbox", KEY).account.id,
    }
    assert len(others | {ledger.account.id}) == 4
    assert {ledger.account.id, *others} < {each.id for each in ledger.file.accounts()}
    intend(ledger, fox())
    assert find(ledger.file.ledger("sandbox", KEY)) == []


def test_the_files_are_their_owners_and_the_key_is_not_in_them(
    ledger: Ledger, folder: Path, tmp_path: Path
) -> None:
    """No file of the home holds the key, and another ledger has another fingerprint for it. Only the owner
    can read the ledger and its companions, even if the file had another mode before.
    """
    intend(ledger, fox())
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert ledger.account.origin.encode() in written
    assert ledger.account.fingerprint.encode() in written
    assert KEY.reveal().encode() not in written
    with opened(tmp_path / "another") as another:
        assert another.account.fingerprint != ledger.account.fingerprint
    assert KEY.fingerprint.encode() not in written
    (folder / "ledger.db").chmod(0o644)
    with opened(folder):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.glob("ledger.db*")}
    assert modes == dict.fromkeys(("ledger.db", "ledger.db-wal", "ledger.db-shm"), 0o600)


def test_a_killed_kernel_loses_nothing_that_was_acknowledged(ledger: Ledger, kernel: Kernel) -> None:
    """Two kernels are killed in the middle of writing: every id they had reported is in the ledger."""
    code = """
for number in range(100_000):
    try:
        entry = intend(ledger, fox()).entry
        ledger.sending(entry.id)
    except LedgerLocked:
        continue  # the other writer held it for long: nothing would be sent
    ledger.accepted(entry.id, f"{os.getpid()}-{number}")
    say(f"{os.getpid()}-{number}")
"""
    writers = [kernel(code), kernel(code)]
    reported = [heard(writer) for _ in range(15) for writer in writers]
    for writer in writers:
        writer.kill()
        assert writer.stdout is not None
        reported += writer.stdout.read().split("\n")[:-1]
    assert {each for each in reported if ledger.by_request_id(each) is None} == set()
    assert len(set(reported)) == len(reported) >= 30
    assert ledger.store.trouble is None


def test_what_a_killed_kernel_left_half_done_is_settled(
    ledger: Ledger, kernel: Kernel, clock: Clock, folder: Path
) -> None:
    """What it was sending is uncertain, what it had only written down is cancelled; a living one's stays."""
    code = """
ledger.sending(intend(ledger, fox()).entry.id)
intend(ledger, fox(prompt="written down"))
say("ready")
wait()
"""
    killed = kernel(code)
    assert heard(killed) == "ready"
    assert heard(kernel(code)) == "ready"
    killed.kill()
    killed.wait()
    ledger.recover()
    assert Counter(entry.state for entry in find(ledger)) == dict.fromkeys(
        ("uncertain", "cancelled", "sending", "intended"), 1
    )
    assert known(ledger, 1).ended_at == clock.now
    assert len(list((folder / "kernels").iterdir())) == 2  # of the living


def test_closing_settles_what_was_not_sent(folder: Path, ledger: Ledger) -> None:
    """A session that is closed in the middle of things leaves nothing reserved for ever. The rows of a kernel
    that left no trace may not be its last word: it may have lost its disk, and sent them all the same.
    """
    other, lost = left_open(folder), left_open(folder)
    sent, unsent = (intend(other, fox()).entry.id for _ in range(2))
    other.sending(sent)
    ledger.recover()  # leaves a living kernel's alone
    other.file.close()
    assert [known(ledger, each).state for each in (sent, unsent)] == ["uncertain", "cancelled"]
    entry = intend(lost, fox()).entry
    assert len(list((folder / "kernels").iterdir())) == 2
    (folder / "kernels" / f"{entry.kernel}.lock").unlink()
    ledger.recover()
    assert known(ledger, entry.id).state == "uncertain"
    lost.file.close()


def test_two_kernels_begin_a_ledger_together(folder: Path, kernel: Kernel) -> None:
    """Four processes that open a home without a ledger at the same moment share one, without trouble."""
    code = "intend(ledger, fox())\nsay(ledger.store.trouble, ledger.account.id)\nwait()"
    kernels = [kernel(code) for _ in range(4)]
    assert [heard(each) for each in kernels] == ["None 1"] * 4
    with opened(folder) as ledger:
        assert len(find(ledger)) == 4
    for each in kernels:
        tell(each)
        assert each.wait() == 0


def test_ids_are_found_by_their_beginning_in_every_account(ledger: Ledger) -> None:
    """Newest first; a character that means something to SQL is a plain character here."""
    ids = ["req_a1", "req_a2", "req%a3", "req_b1"]
    for owner, request_id in zip([ledger, ledger.file.ledger("sandbox", KEY)] * 2, ids, strict=True):
        ledger.accepted(intend(owner, fox()).entry.id, request_id)
    intend(ledger, fox())

    def found(beginning: str, limit: int = 10) -> list[str | None]:
        return [entry.request_id for entry in ledger.file.beginning_with(beginning, limit=limit)]

    assert found("req_a") == ["req_a2", "req_a1"]
    assert found("req_a", limit=1) == ["req_a2"]
    assert found("req%") == ["req%a3"]
    assert found("req_b1") == ["req_b1"]
    assert found("req_b12") == []
