"""What is left of an account's balance: the newest answer, less what may still come off it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..states import UNCERTAIN
from .records import MICRO, Account
from .store import Store

# A clip that was accepted has ended by then. Nothing in the interface bounds it, so it is much more than any
# clip takes.
PATIENCE_SECONDS: Final = 3600.0


@dataclass(frozen=True)
class Funds:
    """The balance as it was last heard, in USD, and when (epoch seconds); at most all of it may come off."""

    heard_usd: float
    heard_at: float
    to_come_usd: float

    @property
    def left_usd(self) -> float:
        """What may be spent."""
        return round(self.heard_usd - self.to_come_usd, 6)


def funds(store: Store, account: Account, *, since: float, lives: Callable[[str], bool]) -> Funds | None:
    """What is left of the account's balance; None where nobody heard it since that time (epoch seconds).

    The balance is the newest that anybody of this home heard, from either billing endpoint. When a clip is
    charged isn't documented: when it is accepted, or at its end. So that never more is shown than can be
    left, each submission's price comes off, at most once:

    - while it is on its way, and a kernel that `lives` watches it: an earlier fall of the balance may be
      somebody else's;
    - after its end until a balance is heard that was asked for later, which holds it whenever it is charged;
    - where it was sent and never answered, until it is found out, or an hour has passed;
    - where it was accepted and nobody watches it any more, until the balance has fallen by it, or an hour has
      passed. Only what nothing else in the ledger explains counts as such a fall, since the last balance
      heard before it was sent. (Another program that spends as much just then looks the same. That is as
      good as it can be told without asking about the clip; whoever watches it knows.)
    """
    heard = store.read(lambda connection: _hearing(connection, account, after=since))
    if heard is None:
        return None
    moving = store.read(lambda connection: _moving(connection, account, heard.asked_at))
    living = {kernel: lives(kernel) for kernel in {each.kernel for each in moving if each.accepted}}
    unwatched = [each for each in moving if each.sent_at < heard.asked_at and each.unwatched(living)]
    young = [each for each in unwatched if each.sent_at > heard.asked_at - PATIENCE_SECONDS]
    uncharged = _sum(young)
    if young:
        sent_at = min(each.sent_at for each in young)
        rest = store.read(lambda connection: _unexplained(connection, account, heard, sent_at))
        uncharged = min(uncharged, max(0, -rest))
    to_come = min(_sum(moving) - _sum(unwatched) + uncharged, max(0, heard.balance))
    return Funds(heard.balance / MICRO, heard.at, to_come / MICRO)


class _Hearing(NamedTuple):
    """A balance in micro-USD, when it was asked for and when it was heard."""

    balance: int
    asked_at: float
    at: float


class _Moving(NamedTuple):
    """A submission that may be charged after a moment, in micro-USD. What isn't sent yet is sent last."""

    price: int
    sent_at: float
    ended: bool
    accepted: bool
    abandoned: bool
    kernel: str

    def unwatched(self, living: dict[str, bool]) -> bool:
        """Whether it was accepted and nobody will hear of its end."""
        return self.accepted and not self.ended and (self.abandoned or not living[self.kernel])


def _sum(moving: list[_Moving]) -> int:
    return sum(each.price for each in moving)


def _hearing(
    connection: sqlite3.Connection,
    account: Account,
    *,
    after: float = float("-inf"),
    before: float = float("inf"),
) -> _Hearing | None:
    row = connection.execute(
        "SELECT balance_micro, coalesce(asked_at, at), at FROM samples WHERE account = ? AND at >= ? "
        "AND at < ? AND balance_micro IS NOT NULL ORDER BY at DESC, id DESC LIMIT 1",
        (account.id, after, before),
    ).fetchone()
    return None if row is None else _Hearing(*row)


def _moving(connection: sqlite3.Connection, account: Account, since: float) -> list[_Moving]:
    """What hadn't ended at that moment, and what was never answered in the hour before it."""
    columns = (
        "price_micro, CASE WHEN state = 'intended' THEN 9e99 ELSE coalesce(sent_at, intended_at) END, "
        "ended_at IS NOT NULL, request_id IS NOT NULL, abandoned_at IS NOT NULL, kernel"
    )
    # Two stretches of an index: with OR it would be read whole.
    rows = connection.execute(
        f"SELECT {columns} FROM entries WHERE account = :account AND ended_at IS NULL "  # noqa: S608 - our own columns
        f"UNION ALL SELECT {columns} FROM entries WHERE account = :account AND charge <> 'none' "
        "AND ended_at >= :since - (CASE state WHEN :uncertain THEN :patience ELSE 0 END) "
        "AND ended_at >= :since - :patience",
        {"account": account.id, "since": since, "patience": PATIENCE_SECONDS, "uncertain": UNCERTAIN},
    )
    return [_Moving(*row) for row in rows]


def _unexplained(connection: sqlite3.Connection, account: Account, heard: _Hearing, sent_at: float) -> int:
    """How much the balance fell since it was heard before that time, less all that may have been charged.

    Without such a balance nothing is known of a fall: it is as if it had stayed.
    """
    before = _hearing(connection, account, before=sent_at)
    since = heard.asked_at if before is None else before.asked_at
    known = sum(each.price for each in _moving(connection, account, since) if each.sent_at < heard.at)
    tools = connection.execute(
        "SELECT coalesce(sum(cost_micro), 0) FROM tool_jobs WHERE account = ? AND ended_at >= ?",
        (account.id, since),
    ).fetchone()[0]
    fell = 0 if before is None else before.balance - heard.balance
    return int(fell - known - tools)
