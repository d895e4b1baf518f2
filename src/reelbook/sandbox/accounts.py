"""The account behind the sandbox: API keys, the prepaid balance and usage (interface, Resources).

Money is counted in whole millionths of a dollar, so that no sum drifts. Keys are kept as SHA-256 digests,
which is enough for 32 random bytes. How a period is counted, which the interface leaves open, is a setting.
"""

import secrets
import sqlite3
from dataclasses import dataclass
from typing import Any, Final

from .. import wire
from ..secret import Secret
from ..web.database import SqliteFile, key_digest
from ..web.payloads import Parameter
from ..web.refusals import NoMoney, Refused
from ..wire import DAY_SECONDS, MICRO
from .clock import Clock, iso
from .places import new_api_key
from .protocol import UsageDays

START_BALANCE_USD: Final = 25.0
MAX_PLANTED: Final = 5000


@dataclass(frozen=True)
class Key:
    """An active API key, without the key itself."""

    key_id: str
    rate_limit: int


class Accounts:
    """Keys, balance and usage. Methods that write wait for the disk: call those from a thread."""

    def __init__(self, store: SqliteFile, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        with store.transaction() as db:
            db.execute("INSERT OR IGNORE INTO account VALUES (1, ?, 0)", (micro(START_BALANCE_USD),))
        self._last_used: dict[str, float] = {}  # by the key's id, of the keys used since the start
        self._uses_saved = True

    def authenticate(self, secret: str) -> Key | None:
        """The active key with this secret, None if there is none."""
        rows = self._store.read(
            "SELECT key_id, rate_limit FROM keys WHERE digest = ? AND is_active", (key_digest(secret),)
        )
        return Key(*rows[0]) if rows else None

    def note_use(self, key: Key) -> None:
        """Note that `key` was used now; `save_uses` writes it to the disk."""
        self._last_used[key.key_id] = self._clock.now()
        self._uses_saved = False

    def save_uses(self) -> None:
        if self._uses_saved:
            return
        self._uses_saved = True
        uses = list(self._last_used.items())  # a copy: another thread may note one
        with self._store.transaction() as db:
            db.executemany("UPDATE keys SET last_used = ?2 WHERE key_id = ?1", uses)

    def create_key(self, name: str, rate_limit: int) -> dict[str, Any]:
        """Make a key and answer as POST /api/v1/keys does: the only time that its secret is shown."""
        secret = new_api_key()
        return {**self.register(secret, name, rate_limit), "api_key": secret.reveal()}

    def register(self, secret: Secret, name: str, rate_limit: int) -> dict[str, Any]:
        """Make `secret` a key of the account, and return what describes it."""
        key_id, now, value = f"key_{secrets.token_hex(8)}", self._clock.now(), secret.reveal()
        with self._store.transaction() as db:
            db.execute(
                "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, NULL, 1)",
                (key_id, key_digest(value), name, f"sk-sandbox-…{value[-4:]}", rate_limit, now),
            )
        return {"key_id": key_id, "name": name, "rate_limit": rate_limit, "created_at": iso(now)}

    def revoke(self, key_id: str) -> bool:
        """Make the key useless; it stays listed. False if there is no such key."""
        with self._store.transaction() as db:
            return bool(db.execute("UPDATE keys SET is_active = 0 WHERE key_id = ?", (key_id,)).rowcount)

    def knows(self, secret: Secret) -> bool:
        """Whether `secret` was ever registered, revoked or not."""
        return bool(self._store.read("SELECT 1 FROM keys WHERE digest = ?", (key_digest(secret.reveal()),)))

    def listed(self) -> list[dict[str, Any]]:
        """All keys as GET /api/v1/keys lists them, oldest first."""
        keys = self._store.read("SELECT * FROM keys ORDER BY rowid")
        used = {row["key_id"]: self._last_used.get(row["key_id"], row["last_used"]) for row in keys}
        return [
            {
                "key_id": row["key_id"],
                "name": row["name"],
                "is_active": bool(row["is_active"]),
                "created_at": iso(row["created_at"]),
                "last_used": (at := used[row["key_id"]]) and iso(at),
                "key_preview": row["preview"],
                "rate_limit": row["rate_limit"],
            }
            for row in keys
        ]

    def balance(self) -> dict[str, float]:
        """The answer of GET /api/v1/billing/balance, in USD."""
        row = self._store.read("SELECT * FROM account")[0]
        return {"balance_usd": row["balance_micro"] / MICRO, "total_spent_usd": row["spent_micro"] / MICRO}

    def set_balance(self, balance_usd: float) -> None:
        """Set what is left to spend, in USD; what was spent stays."""
        with self._store.transaction() as db:
            db.execute("UPDATE account SET balance_micro = ?", (micro(balance_usd),))

    def top_up(self, amount_usd: float) -> None:
        with self._store.transaction() as db:
            db.execute("UPDATE account SET balance_micro = balance_micro + ?", (micro(amount_usd),))

    def usage(self, days: int, usage_days: UsageDays) -> dict[str, Any]:
        """The answer of GET /api/v1/billing/usage for the last `days` days."""
        now = self._clock.now()
        since = now - days * DAY_SECONDS
        if usage_days == "calendar":
            since = (now // DAY_SECONDS - days + 1) * DAY_SECONDS
        (used,) = self._store.read(
            "SELECT coalesce(sum(requests), 0) AS requests, total(seconds) AS seconds, total(cost) AS cost"
            " FROM ("
            " SELECT accepted_at AS at, 1 AS requests, 0 AS seconds, 0 AS cost FROM jobs"
            " UNION ALL SELECT finished_at, 0, rendered_seconds, cost_micro FROM jobs"
            " UNION ALL SELECT at, requests, seconds, cost_micro FROM history"
            ") WHERE at >= ?",
            (since,),
        )
        balance = self.balance()
        return {
            "period_days": days,
            "total_requests": used["requests"],
            "total_seconds": round(used["seconds"], 3),
            "total_cost_usd": used["cost"] / MICRO,
            "current_balance_usd": balance["balance_usd"],
            "total_spent_usd": balance["total_spent_usd"],
        }

    def plant_history(self, history: object) -> None:
        """Give the account a past: a list of objects with days_ago, seconds, requests and usd.

        It counts as spent and isn't taken from the balance. Raises Refused for anything else.
        """
        if not isinstance(history, list) or not 0 < len(history) <= MAX_PLANTED:
            raise Refused(400, f"history must be a list of 1 to {MAX_PLANTED} objects")
        now = self._clock.now()
        rows = []
        for past in history:
            if not isinstance(past, dict):
                raise Refused(400, "each of history must be an object")
            days_ago, seconds, usd, requests = (field.read(past) for field in _PAST)
            rows.append((now - days_ago * DAY_SECONDS, seconds, requests, micro(usd)))
        with self._store.transaction() as db:
            db.executemany("INSERT INTO history VALUES (?, ?, ?, ?)", rows)
            db.execute("UPDATE account SET spent_micro = spent_micro + ?", (sum(row[-1] for row in rows),))


def require_funds(db: sqlite3.Connection, required_micro: int) -> None:
    """Raise Refused (402) unless the balance less what jobs under way will cost covers `required_micro`."""
    row = db.execute(
        "SELECT balance_micro - (SELECT coalesce(sum(json_extract(request, '$.duration_seconds')), 0) * ?"
        " FROM jobs WHERE finished_at IS NULL) AS free FROM account",
        (micro(wire.PRICE_USD_PER_SECOND),),
    ).fetchone()
    if row["free"] < required_micro:
        raise NoMoney(max(0, row["free"]) / MICRO, required_micro / MICRO)


def charge(db: sqlite3.Connection, cost_micro: int) -> None:
    db.execute(
        "UPDATE account SET balance_micro = balance_micro - :cost, spent_micro = spent_micro + :cost",
        {"cost": cost_micro},
    )


def micro(amount_usd: float) -> int:
    return round(amount_usd * MICRO)


_PAST: Final = [
    *(Parameter(name, "number", "", None, 0, 1e6) for name in ("days_ago", "seconds", "usd")),
    Parameter("requests", "integer", "", None, 0, 1e6),
]
