"""The clips that agent tools bought, once it is known what they cost.

Which clips those are is known from `tool_calls`: one that was bought elsewhere is no spending of this home.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from .entries import Account, micro
from .store import Store
from .tool_calls import bought_by


@dataclass(frozen=True)
class ToolJob:
    """A finished clip that a tool's call bought: between `called_at` and `answered_at`, for `cost_usd`.

    `ended_at` is when its end was noticed; `kernel` noticed it. Times are epoch seconds. `seconds` is the
    clip's length, None where the service didn't say.
    """

    account_id: int
    request_id: str
    kernel: str
    prompt: str
    called_at: float
    answered_at: float
    ended_at: float
    seconds: float | None
    cost_usd: float


class ToolJobs:
    """The clips of a home that tools bought."""

    def __init__(self, store: Store, kernel: str, clock: Callable[[], float]) -> None:
        self._store = store
        self._kernel = kernel
        self._clock = clock

    def ended(self, account: Account, request_id: str, *, seconds: float | None, cost_usd: float) -> None:
        """Keeps what a clip cost, once, if a call of this home bought it and no entry counts it."""
        now = self._clock()

        def work(connection: sqlite3.Connection) -> None:
            counted = connection.execute(
                "SELECT 1 FROM entries WHERE request_id = ? AND account = ?", (request_id, account.id)
            ).fetchone()
            call = None if counted else bought_by(connection, request_id)
            if call is None:
                return
            connection.execute(
                "INSERT OR IGNORE INTO tool_jobs (account, request_id, kernel, prompt, called_at, "
                "answered_at, ended_at, seconds, cost_micro) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    account.id,
                    request_id,
                    self._kernel,
                    call.prompt,
                    call.at,
                    call.at + call.took_seconds,
                    now,
                    seconds,
                    micro(cost_usd),
                ),
            )

        self._store.write(work)

    def list(
        self, account: Account | None, *, since: float | None = None, until: float | None = None
    ) -> list[ToolJob]:
        """The clips that were bought from `since` on and before `until` (epoch seconds), oldest first.

        Those of every account where that is None.
        """
        rows = self._store.read(
            lambda connection: connection.execute(
                "SELECT account AS account_id, request_id, kernel, prompt, called_at, answered_at, ended_at, "
                "seconds, cost_micro / 1e6 AS cost_usd FROM tool_jobs WHERE coalesce(account = ?, 1) "
                "AND called_at >= ? AND called_at < ? ORDER BY called_at",
                (
                    None if account is None else account.id,
                    float("-inf") if since is None else since,
                    float("inf") if until is None else until,
                ),
            ).fetchall()
        )
        return [ToolJob(**dict(row)) for row in rows]
