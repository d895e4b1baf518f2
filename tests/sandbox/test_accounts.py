"""Keys, money and usage, as they lie on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox.doubles import NOON

from reelbook.sandbox.accounts import Accounts, BalanceTooLow, charge, micro, require_funds
from reelbook.sandbox.clock import Clock
from reelbook.sandbox.store import Store
from reelbook.secret import Secret


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty database."""
    store = Store(tmp_path / "sandbox.db")
    yield store
    store.close()


def test_the_account_starts_with_25_dollars_once(store: Store) -> None:
    """Opened again, the balance is what it was left at."""
    Accounts(store, Clock(NOON)).set_balance(1.5)
    assert Accounts(store, Clock(NOON)).balance() == {"balance_usd": 1.5, "total_spent_usd": 0.0}


def test_no_amount_drifts(store: Store) -> None:
    """A thousand clips of 5 cents are 50 dollars, to the last digit."""
    accounts = Accounts(store, Clock(NOON))
    accounts.set_balance(100)
    with store.transaction() as db:
        for _ in range(1000):
            charge(db, micro(0.05))
    assert accounts.balance() == {"balance_usd": 50.0, "total_spent_usd": 50.0}


def test_what_is_required_may_be_all_that_there_is(store: Store) -> None:
    """Equal is enough, a millionth less isn't."""
    Accounts(store, Clock(NOON)).set_balance(0.25)
    with store.transaction() as db:
        require_funds(db, 250_000)
        with pytest.raises(BalanceTooLow) as caught:
            require_funds(db, 250_001)
    assert (caught.value.free_micro, caught.value.required_micro) == (250_000, 250_001)


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    """What was written before the error is taken back."""
    accounts = Accounts(store, Clock(NOON))

    def failing() -> None:
        with store.transaction() as db:
            charge(db, micro(1))
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        failing()
    assert accounts.balance()["balance_usd"] == 25.0


def test_keys_outlive_the_process_as_digests(store: Store, tmp_path: Path) -> None:
    """A key is recognised after a restart, and its text is nowhere in the files."""
    first = Accounts(store, Clock(NOON))
    made = first.create_key("laptop", 5)
    key = first.authenticate(made["api_key"])
    assert key is not None
    first.note_use(key)
    first.save_uses()

    again = Accounts(store, Clock(NOON + 60))
    assert again.listed() == first.listed()
    assert again.authenticate(made["api_key"]) == first.authenticate(made["api_key"])
    assert not [file for file in tmp_path.iterdir() if made["api_key"].encode() in file.read_bytes()]


def test_a_revoked_key_stays_known_but_lets_nobody_in(store: Store) -> None:
    """Also after a restart."""
    accounts = Accounts(store, Clock(NOON))
    secret = Secret("sk-sandbox-planted")
    accounts.revoke(accounts.register(secret, "laptop", 5).key_id)
    again = Accounts(store, Clock(NOON))
    assert again.authenticate(secret.reveal()) is None
    assert again.knows(secret)
    assert not accounts.revoke("key_unknown")


def test_no_two_keys_are_alike(store: Store) -> None:
    """Each has 32 random bytes of its own."""
    accounts = Accounts(store, Clock(NOON))
    secrets = {accounts.create_key("x", 1)["api_key"] for _ in range(20)}
    assert len(secrets) == 20
    assert all(secret.startswith("sk-sandbox-") and len(secret) >= 54 for secret in secrets)
