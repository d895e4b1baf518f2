"""Keys, money and usage, as they lie on the disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sandbox.doubles import NOON, Client

from reelbook.errors import SandboxError
from reelbook.sandbox.accounts import Accounts, charge, micro, require_funds
from reelbook.sandbox.clock import Clock
from reelbook.sandbox.store import MIGRATIONS
from reelbook.web.database import SqliteFile
from reelbook.web.refusals import Refused

# NOON of the doubles is 08:00 UTC.
PAST = [
    {"days_ago": 0.1, "seconds": 10, "requests": 2, "usd": 0.5},
    {"days_ago": 0.9, "seconds": 20, "requests": 4, "usd": 1.0},
    {"days_ago": 3.5, "seconds": 40, "requests": 9, "usd": 2.0},
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteFile]:
    """An empty database."""
    store = SqliteFile(tmp_path / "sandbox.db", MIGRATIONS)
    yield store
    store.close()


def test_the_account_starts_with_25_dollars_once(store: SqliteFile) -> None:
    """Opened again, the balance is what it was left at."""
    Accounts(store, Clock(NOON)).set_balance(1.5)
    assert Accounts(store, Clock(NOON)).balance() == {"balance_usd": 1.5, "total_spent_usd": 0.0}


def test_no_amount_drifts(store: SqliteFile) -> None:
    """A thousand clips of 5 cents are 50 dollars, to the last digit."""
    accounts = Accounts(store, Clock(NOON))
    accounts.set_balance(100)
    with store.transaction() as db:
        for _ in range(1000):
            charge(db, micro(0.05))
    assert accounts.balance() == {"balance_usd": 50.0, "total_spent_usd": 50.0}


def test_what_is_required_may_be_all_that_there_is(store: SqliteFile) -> None:
    """Equal is enough, a millionth less isn't."""
    Accounts(store, Clock(NOON)).set_balance(0.25)
    with store.transaction() as db:
        require_funds(db, 250_000)
        with pytest.raises(Refused, match=r"Current balance: \$0.25, required: \$0.25") as caught:
            require_funds(db, 250_001)
    assert caught.value.status == 402


def test_keys_outlive_the_process_as_digests(store: SqliteFile, tmp_path: Path) -> None:
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


def usage(client: Client, days: int) -> tuple[int, float, float]:
    """Requests, seconds and USD of the last `days` days."""
    body = client.get(f"/api/v1/billing/usage?days={days}").json()
    return body["total_requests"], body["total_seconds"], body["total_cost_usd"]


def test_a_planted_past_is_in_the_usage_and_not_in_the_balance(client: Client) -> None:
    """It counts as spent, day by day; what is left to spend stays."""
    client.sandbox.plant_history(PAST)
    assert [usage(client, days) for days in (1, 3, 4)] == [(6, 30, 1.5), (6, 30, 1.5), (15, 70, 3.5)]
    assert client.get("/api/v1/billing/balance").json() == {"balance_usd": 25.0, "total_spent_usd": 3.5}


def test_calendar_days_begin_at_midnight_utc(client: Client) -> None:
    """Today is the first of them: at 08:00 what was used 0.9 days ago belongs to yesterday."""
    client.sandbox.plant_history(PAST)
    client.sandbox.settings(usage_days="calendar")
    assert [usage(client, days)[2] for days in (1, 2, 3, 4, 5)] == [0.5, 1.5, 1.5, 1.5, 3.5]
    client.sandbox.advance(16 * 3600)
    assert [usage(client, days)[2] for days in (1, 2, 3)] == [0.0, 0.5, 1.5]


@pytest.mark.parametrize(
    "history",
    [
        [],
        [{"days_ago": 1}],
        [{"days_ago": -1, "seconds": 1, "requests": 1, "usd": 1}],
        [{"days_ago": 1, "seconds": 1, "requests": 1.5, "usd": 1}],
        [{"days_ago": 1, "seconds": True, "requests": 1, "usd": 1}],
    ],
)
def test_a_past_that_makes_no_sense_is_refused(client: Client, history: list[Any]) -> None:
    """Nothing of it is planted."""
    with pytest.raises(SandboxError, match="refused"):
        client.sandbox.plant_history(history)
    assert usage(client, 30) == (0, 0, 0)
