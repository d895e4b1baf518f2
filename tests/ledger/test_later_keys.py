"""A key that takes the place of another: the rows stay the account's, the requests are the key's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ledger.doubles import KEY, SERVICE, find, fox, intend, opened

from reelbook.ledger import Ledger
from reelbook.secret import Secret

LATER, THIRD = Secret("sk-planted-later"), Secret("sk-planted-third")


def test_jobs_and_spend_go_on_under_the_later_key(ledger: Ledger) -> None:
    """What the former key bought is the account's, whichever key asks."""
    entry = intend(ledger, fox()).entry
    former, spend = ledger.account, ledger.spend()
    ledger.change_key(LATER)
    assert ledger.account.id == former.id
    assert ledger.account.fingerprint != former.fingerprint
    assert [found.id for found in find(ledger)] == [entry.id]
    assert ledger.spend() == spend


def test_the_next_kernel_knows_the_later_key(ledger: Ledger, folder: Path) -> None:
    """And still knows the former one; a third one in its place is the same account too."""
    accounts = {KEY: ledger.account}
    for key in (LATER, THIRD):
        ledger.change_key(key)
        accounts[key] = ledger.account
    with opened(folder) as again:
        assert {key: again.file.ledger(SERVICE, key).account for key in accounts} == accounts
        assert again.file.ledger("https://elsewhere.example.com", LATER).account.id != ledger.account.id
        assert len(again.file.accounts()) == 2


def test_requests_of_the_two_keys_are_counted_apart(ledger: Ledger, folder: Path) -> None:
    """A rate limit is a key's own: another kernel on the former key doesn't see the later one's requests."""
    ledger.change_key(LATER)
    ledger.requests.enter(0.0, lambda *_: True)
    seen: list[int] = []

    def fits(moments: Sequence[float], limit: int | None) -> bool:
        seen.append(len(moments))
        return True

    with opened(folder) as other:
        for key in (KEY, LATER):
            other.file.ledger(SERVICE, key).requests.enter(0.0, fits)
    assert seen == [0, 1]


def test_no_key_stands_in_the_file(ledger: Ledger, folder: Path) -> None:
    """Only a salted fingerprint does."""
    ledger.change_key(LATER)
    for file in filter(Path.is_file, folder.rglob("*")):
        assert b"planted-later" not in file.read_bytes()
