"""A home's ledger looked at without a key: whose rows there are, and ids by their beginning."""

from __future__ import annotations

from ledger.doubles import KEY, SERVICE, fox

from reelbook.ledger import Account, Ledger
from reelbook.secret import Secret


def test_all_accounts_are_named_without_a_key(ledger: Ledger, account: Account) -> None:
    """Each key at each service is an account of its own, in the order of their first use."""
    others = [ledger.account("sandbox", KEY), ledger.account(SERVICE, Secret("sk-another"))]
    assert ledger.overview.accounts() == [account, *others]


def test_ids_are_found_by_their_beginning_in_every_account(ledger: Ledger, account: Account) -> None:
    """Newest first; a sign that means something to SQL is only a sign here."""
    ids = ["req_a1", "req_a2", "req%a3", "req_b1"]
    for owner, request_id in zip([account, ledger.account("sandbox", KEY)] * 2, ids, strict=True):
        ledger.accepted(ledger.intend(owner, fox()).entry.id, request_id)
    ledger.intend(account, fox())

    def found(beginning: str, limit: int = 10) -> list[str | None]:
        return [entry.request_id for entry in ledger.overview.beginning_with(beginning, limit=limit)]

    assert found("req_a") == ["req_a2", "req_a1"]
    assert found("req_a", limit=1) == ["req_a2"]
    assert found("req%") == ["req%a3"]
    assert found("req_b1") == ["req_b1"]
    assert found("req_b12") == []
