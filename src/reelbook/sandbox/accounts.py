"""The account behind the sandbox: API keys, the prepaid balance and what was used (interface, Resources).

Money is counted in whole millionths of a dollar, so that no sum drifts. Keys are kept as SHA-256 digests
(enough for 32 random bytes, which nobody can guess).
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from dataclasses import asdict, dataclass, replace
from typing import Any

from .. import wire
from ..secret import Secret
from . import billing
from .access import new_api_key
from .billing import Posting
from .clock import Clock, iso
from .store import Store

MICRO = 1_000_000
START_BALANCE_USD = 25.0
PREVIEW_TAIL = 4


@dataclass(frozen=True)
class Key:
    """One API key, without the key itself. `created_at` is seconds since the epoch."""

    key_id: str
    digest: str
    name: str
    preview: str
    rate_limit: int
    created_at: float
    is_active: bool


class BalanceTooLow(Exception):
    """The job can't be paid: what is free of the balance and what the job would cost, in micro-USD."""

    def __init__(self, free_micro: int, required_micro: int) -> None:
        super().__init__(free_micro, required_micro)
        self.free_micro = free_micro
        self.required_micro = required_micro


class Accounts:
    """Keys, balance and usage. Methods that write wait for the disk: call those from a thread."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.posting = Posting()
        self._store = store
        self._clock = clock
        with store.transaction() as db:
            db.execute("INSERT OR IGNORE INTO account VALUES (1, ?, 0)", (micro(START_BALANCE_USD),))
        # All keys are held in memory: every request asks for one, and notes when it was last used.
        rows = store.read("SELECT * FROM keys ORDER BY rowid")
        self._keys = {row["digest"]: _key(row) for row in rows}
        self._last_used: dict[str, float | None] = {row["digest"]: row["last_used"] for row in rows}
        self._used: set[str] = set()

    def authenticate(self, secret: str) -> Key | None:
        """The active key that `secret` is, None if there is none."""
        digest = _digest(secret)
        key = self._keys.get(digest)
        return key if key is not None and key.is_active else None

    def note_use(self, key: Key) -> None:
        """Note that `key` was used now; `save_uses` brings it to the disk."""
        self._last_used[key.digest] = self._clock.now()
        self._used.add(key.digest)

    def save_uses(self) -> None:
        """Write down which keys were used when."""
        used = tuple(self._used)  # a copy: keys are used while this waits for the disk
        self._used.difference_update(used)
        if used:
            with self._store.transaction() as db:
                db.executemany(
                    "UPDATE keys SET last_used = ? WHERE digest = ?",
                    [(self._last_used[digest], digest) for digest in used],
                )

    def create_key(self, name: str, rate_limit: int) -> dict[str, Any]:
        """Make a key and answer as POST /api/v1/keys does: the only time that its secret is shown."""
        secret = new_api_key()
        key = self.register(secret, name, rate_limit)
        return {
            "key_id": key.key_id,
            "name": key.name,
            "api_key": secret.reveal(),
            "rate_limit": key.rate_limit,
            "created_at": iso(key.created_at),
        }

    def register(self, secret: Secret, name: str, rate_limit: int) -> Key:
        """Accept `secret` from now on."""
        value = secret.reveal()
        key = Key(
            key_id=f"key_{secrets.token_hex(8)}",
            digest=_digest(value),
            name=name,
            preview=f"sk-sandbox-…{value[-PREVIEW_TAIL:]}",
            rate_limit=rate_limit,
            created_at=self._clock.now(),
            is_active=True,
        )
        with self._store.transaction() as db:
            db.execute(
                "INSERT INTO keys (key_id, digest, name, preview, rate_limit, created_at, is_active)"
                " VALUES (:key_id, :digest, :name, :preview, :rate_limit, :created_at, :is_active)",
                asdict(key),
            )
        self._keys[key.digest] = key
        return key

    def revoke(self, key_id: str) -> bool:
        """Make the key useless; it stays listed. False if there is no such key."""
        key = next((key for key in tuple(self._keys.values()) if key.key_id == key_id), None)
        if key is None:
            return False
        with self._store.transaction() as db:
            db.execute("UPDATE keys SET is_active = 0 WHERE key_id = ?", (key_id,))
        self._keys[key.digest] = replace(key, is_active=False)
        return True

    def knows(self, secret: Secret) -> bool:
        """Whether `secret` was ever registered, revoked or not."""
        return _digest(secret.reveal()) in self._keys

    def listed(self) -> list[dict[str, Any]]:
        """All keys as GET /api/v1/keys lists them, oldest first."""
        keys = tuple(self._keys.values())  # a copy: another thread may add one
        return [
            {
                "key_id": key.key_id,
                "name": key.name,
                "is_active": key.is_active,
                "created_at": iso(key.created_at),
                "last_used": None if (used := self._last_used.get(key.digest)) is None else iso(used),
                "key_preview": key.preview,
                "rate_limit": key.rate_limit,
            }
            for key in keys
        ]

    def balance(self) -> dict[str, float]:
        """The answer of GET /api/v1/billing/balance, in USD."""
        row = self._store.read("SELECT * FROM account")[0]
        unposted = billing.unposted_micro(self._store, self.posting, self._clock.now())
        return {
            "balance_usd": usd(row["balance_micro"] + unposted),
            "total_spent_usd": usd(row["spent_micro"] - unposted),
        }

    def set_balance(self, balance_usd: float) -> None:
        """Set what is left to spend, in USD; what was spent stays."""
        with self._store.transaction() as db:
            db.execute("UPDATE account SET balance_micro = ?", (micro(balance_usd),))

    def plant_history(self, history: list[billing.Past]) -> None:
        """Let the account have used this before; the balance stays."""
        with self._store.transaction() as db:
            billing.plant(db, self._clock.now(), history)

    def usage(self, days: int) -> dict[str, Any]:
        """The answer of GET /api/v1/billing/usage for the last `days` days, as `posting` counts them."""
        used = billing.totals(self._store, self.posting, self._clock.now(), days)
        balance = self.balance()
        return {
            "period_days": days,
            "total_requests": used.requests,
            "total_seconds": used.seconds,
            "total_cost_usd": usd(used.cost_micro),
            "current_balance_usd": balance["balance_usd"],
            "total_spent_usd": balance["total_spent_usd"],
        }


def require_funds(db: sqlite3.Connection, required_micro: int) -> None:
    """Raise BalanceTooLow unless the balance less what jobs under way will cost covers `required_micro`."""
    row = db.execute(
        "SELECT balance_micro - (SELECT coalesce(sum(duration_seconds), 0) * :price FROM jobs"
        " WHERE state IN (:pending, :processing)) AS free FROM account",
        {"price": micro(wire.PRICE_USD_PER_SECOND), "pending": wire.PENDING, "processing": wire.PROCESSING},
    ).fetchone()
    if row["free"] < required_micro:
        raise BalanceTooLow(row["free"], required_micro)


def charge(db: sqlite3.Connection, cost_micro: int) -> None:
    """Take `cost_micro` from the balance."""
    db.execute(
        "UPDATE account SET balance_micro = balance_micro - :cost, spent_micro = spent_micro + :cost",
        {"cost": cost_micro},
    )


def micro(amount_usd: float) -> int:
    """USD as whole millionths."""
    return round(amount_usd * MICRO)


def usd(amount_micro: int) -> float:
    """Millionths as USD."""
    return amount_micro / MICRO


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _key(row: sqlite3.Row) -> Key:
    return Key(
        key_id=row["key_id"],
        digest=row["digest"],
        name=row["name"],
        preview=row["preview"],
        rate_limit=row["rate_limit"],
        created_at=row["created_at"],
        is_active=bool(row["is_active"]),
    )
