"""A key that takes the place of another: the rows stay the account's, the requests are the key's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ledger.doubles import KEY, SERVICE, find, fox, intend

from reelbook.ledger import Ledger, LedgerFile
from reelbook.ledger.request_log import Instant
from reelbook.secret import Secret

LATER = Secret("sk-planted-later")


def test_jobs_and_spend_go_on_under_the_later_key(ledger: Ledger) -> None:
    """What the former key bought is the account's, whichever key asks."""
    entry = intend(ledger, fox()).entry
    later = ledger.file.ledger(SERVICE, LATER, same_as=account)
    assert later.id == account.id
    assert later.fingerprint != account.fingerprint
    assert [found.id for found in find(ledger, account=later)] == [entry.id]
    assert ledger.spend(later) == ledger.spend()


def test_the_next_kernel_knows_the_later_key(ledger: Ledger, folder: Path) -> None:
    """And still knows the former one; a third one in its place is the same account too."""
    later = ledger.file.ledger(SERVICE, LATER, same_as=account)
    third = ledger.file.ledger(SERVICE, Secret("sk-planted-third"), same_as=later)
    with LedgerFile.open(folder) as again:
        assert again.file.ledger(SERVICE, LATER) == later
        assert again.file.ledger(SERVICE, KEY) == account
        assert again.file.ledger(SERVICE, Secret("sk-planted-third")) == third
        assert len({each.requests_id for each in (account, later, third)}) == 3
        assert again.file.ledger("https://elsewhere.example.com", LATER).id != account.id
        assert len(again.file.accounts()) == 2


def test_requests_of_the_two_keys_are_counted_apart(ledger: Ledger, folder: Path) -> None:
    """A rate limit is a key's own: another kernel on the former key doesn't see the later one's requests."""
    later = ledger.file.ledger(SERVICE, LATER, same_as=account)
    ledger.requests.enter(later, Instant.now(), lambda *_: True)
    seen: list[int] = []

    def fits(moments: Sequence[float], limit: int | None, fixed_windows: bool) -> bool:
        seen.append(len(moments))
        return True

    with LedgerFile.open(folder) as other:
        for each in (account, later):
            other.requests.enter(each, Instant.now(), fits)
    assert seen == [0, 1]


def test_no_key_stands_in_the_file(ledger: Ledger, folder: Path) -> None:
    """Only a salted fingerprint does."""
    ledger.file.ledger(SERVICE, LATER, same_as=account)
    for file in filter(Path.is_file, folder.rglob("*")):
        assert b"planted-later" not in file.read_bytes()
