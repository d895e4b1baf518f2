"""A key that takes the place of another: the rows stay the account's, the requests are the key's own."""

from collections.abc import Sequence
from pathlib import Path

from ledger.doubles import KEY, SERVICE, find, fox, intend, opened

from reelbook.ledger import Ledger
from reelbook.secret import Secret

LATER, THIRD = Secret("sk-planted-later"), Secret("sk-planted-third")


def test_jobs_and_spend_go_on_under_later_keys(ledger: Ledger, folder: Path) -> None:
    """What the former key bought is the account's, whichever key asks; the next kernel knows all of them."""
    entry, spend = intend(ledger, fox()).entry, ledger.spend()
    accounts = {KEY: ledger.account}
    for key in (LATER, THIRD):
        ledger.use_key(ledger.add_key(key))
        accounts[key] = ledger.account
    assert ([each.id for each in find(ledger)], ledger.spend().reserved_usd) == ([entry.id], 0.25)
    assert spend == ledger.spend()
    assert len({each.fingerprint for each in accounts.values()}) == 3
    with opened(folder) as again:
        assert {key: again.file.ledger(SERVICE, key).account for key in accounts} == accounts
        assert again.file.ledger("https://elsewhere.example.com", LATER).account.id != ledger.account.id
        assert len(again.file.accounts()) == 2
    for file in filter(Path.is_file, folder.rglob("*")):
        assert b"planted-later" not in file.read_bytes()


def test_requests_of_the_two_keys_are_counted_apart(ledger: Ledger, folder: Path) -> None:
    """A rate limit is a key's own: another kernel on the former key doesn't see the later one's requests."""
    ledger.use_key(ledger.add_key(LATER))
    ledger.requests.enter(0.0, lambda *_: True)
    seen: list[int] = []

    def fits(moments: Sequence[float], limit: int | None) -> bool:
        seen.append(len(moments))
        return True

    with opened(folder) as other:
        for key in (KEY, LATER):
            other.file.ledger(SERVICE, key).requests.enter(0.0, fits)
    assert seen == [0, 1]
