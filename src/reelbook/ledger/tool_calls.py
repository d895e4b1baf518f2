"""The calls of a tool server's tools, written down before they are sent, because they may cost money; and the
clips that they bought, once it is known what those cost.

A user id is in none of them: it is masked in the arguments, and kept as a salted fingerprint.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from .. import wire
from ..secret import Secret
from .records import fingerprint, micro, origin
from .store import Store

# "failed" was answered with an error, "unsent" never arrived, "uncertain" was sent and never answered.
Outcome = Literal["done", "tool error", "failed", "unsent", "uncertain", "cancelled"]

MAX_STRING: Final = 1000
MAX_ARGUMENTS: Final = 20_000
MAX_ERROR: Final = 1000
MAX_DEPTH: Final = 30
KEPT: Final = 2000
_HIDDEN: Final = ("password", "secret", "token", "api_key", "apikey", "authorization", "credential")


@dataclass(frozen=True)
class ToolCall:
    """A call. `outcome` is None while it runs, and for good if the kernel ended before it did.

    `at` is epoch seconds, `origin` the server's scheme, host and port. `whole` is False where long or secret
    arguments were left out of `arguments`. `request_ids` are those of the jobs that the result spoke of.
    """

    id: int
    at: float
    origin: str
    tool: str
    arguments: Mapping[str, Any]
    whole: bool
    outcome: Outcome | None
    took_seconds: float | None
    request_ids: tuple[str, ...]
    error: str | None


class ToolCalls:
    """The tool calls of a home. The newest are kept, 2,000 of them."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def add(self, mcp_url: str, user_id: Secret, tool: str, arguments: Mapping[str, Any]) -> int:
        """Writes down a call that is sent next, and returns its number."""
        kept, whole = _kept_arguments(arguments, user_id)
        at = self._clock()

        def work(connection: sqlite3.Connection) -> int:
            user = fingerprint(connection, user_id)
            number = connection.execute(
                "INSERT INTO tool_calls (at, origin, user, tool, arguments, whole) VALUES (?, ?, ?, ?, ?, ?)",
                (at, origin(mcp_url), user, tool[:MAX_STRING], kept, int(whole)),
            ).lastrowid
            assert number is not None
            connection.execute("DELETE FROM tool_calls WHERE id <= ?", (number - KEPT,))
            return number

        return self._store.write(work)

    def ended(
        self,
        number: int,
        outcome: Outcome,
        *,
        took_seconds: float,
        request_ids: tuple[str, ...] = (),
        error: str | None = None,
    ) -> None:
        """What became of a call."""
        values = (outcome, took_seconds, json.dumps(request_ids), error and error[:MAX_ERROR], number)
        self._store.keep(
            lambda connection: connection.execute(
                "UPDATE tool_calls SET outcome = ?, took_seconds = ?, request_ids = ?, error = ? "
                "WHERE id = ?",
                values,
            )
        )

    def prompt_of(self, request_id: str) -> str | None:
        """The prompt that a job was asked for with, where a call spoke of that job alone and had a prompt."""
        call = self._store.read(lambda connection: _bought_by(connection, request_id))
        return None if call is None else call.prompt

    def recent(self, limit: int = 20) -> list[ToolCall]:
        """The newest calls of all servers and users, the newest first."""
        rows = self._store.read(
            lambda connection: connection.execute(
                "SELECT * FROM tool_calls ORDER BY id DESC LIMIT ?", (limit,)
            ).fetchall()
        )
        return [_tool_call(dict(row)) for row in rows]


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
    """The account's clips that tools bought."""

    def __init__(self, store: Store, account: int, kernel: str, clock: Callable[[], float]) -> None:
        self._store = store
        self._account = account
        self._kernel = kernel
        self._clock = clock

    def ended(self, request_id: str, *, seconds: float | None, cost_usd: float | None) -> None:
        """Keeps what a clip cost, once, if a call of this home bought it and no entry counts it.

        Its price is worked out where the service doesn't say it.
        """
        if cost_usd is None:
            can_be_meant = seconds is not None and 0 < seconds <= 2 * wire.MAX_SECONDS
            cost_usd = wire.cost_usd(seconds if seconds and can_be_meant else wire.DEFAULT_SECONDS)
        cost_micro = micro(cost_usd)
        now = self._clock()

        def work(connection: sqlite3.Connection) -> None:
            counted = connection.execute(
                "SELECT 1 FROM entries WHERE request_id = ? AND account = ?", (request_id, self._account)
            ).fetchone()
            call = None if counted else _bought_by(connection, request_id)
            if call is None:
                return
            connection.execute(
                "INSERT OR IGNORE INTO tool_jobs (account, request_id, kernel, prompt, called_at, "
                "answered_at, ended_at, seconds, cost_micro) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(self._account, request_id, self._kernel, call.prompt, call.at),
                    *(call.at + call.took_seconds, now, seconds, cost_micro),
                ),
            )

        self._store.keep(work)

    def list(self, *, since: float | None = None, until: float | None = None) -> list[ToolJob]:
        """The clips that were bought from `since` on and before `until` (epoch seconds), oldest first."""
        rows = self._store.read(
            lambda connection: connection.execute(
                "SELECT account AS account_id, request_id, kernel, prompt, called_at, answered_at, ended_at, "
                "seconds, cost_micro / 1e6 AS cost_usd FROM tool_jobs WHERE account = ? "
                "AND called_at >= ? AND called_at < ? ORDER BY called_at",
                (
                    self._account,
                    float("-inf") if since is None else since,
                    float("inf") if until is None else until,
                ),
            ).fetchall()
        )
        return [ToolJob(**dict(row)) for row in rows]


def _tool_call(row: dict[str, Any]) -> ToolCall:
    del row["user"]
    read = {"arguments": json.loads(row["arguments"]), "request_ids": tuple(json.loads(row["request_ids"]))}
    return ToolCall(**{**row, **read, "whole": bool(row["whole"])})


class _BuyingCall(NamedTuple):
    """The call that a job was asked for with: when (epoch seconds), for how long, and the prompt."""

    at: float
    took_seconds: float
    prompt: str


def _bought_by(connection: sqlite3.Connection, request_id: str) -> _BuyingCall | None:
    """The first call that spoke of that job alone and had a prompt; None where there is none."""
    rows = connection.execute(
        "SELECT at, took_seconds, arguments FROM tool_calls WHERE request_ids = ? ORDER BY id",
        (json.dumps([request_id]),),
    )
    for row in rows:
        prompt = json.loads(row["arguments"]).get("prompt")
        if isinstance(prompt, str) and prompt:
            return _BuyingCall(row["at"], row["took_seconds"] or 0.0, prompt)
    return None


def _kept_arguments(arguments: Mapping[str, Any], user_id: Secret) -> tuple[str, bool]:
    """Arguments as they are written down, as JSON, and whether they are whole."""
    kept = {name: _kept(name, value, user_id) for name, value in arguments.items()}
    text = json.dumps(kept, ensure_ascii=False)
    if len(text) > MAX_ARGUMENTS:
        text = json.dumps(dict.fromkeys(list(kept)[:100], "…"), ensure_ascii=False)
        text = text if len(text) <= MAX_ARGUMENTS else "{}"
    return text, text == json.dumps(dict(arguments), ensure_ascii=False)


def _kept(name: str, value: Any, user_id: Secret, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        return "…"
    if isinstance(value, str):
        if any(word in name.lower() for word in _HIDDEN):
            return "***"
        value = user_id.masked(value)
        return value if len(value) <= MAX_STRING else f"{value[:100]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        return {key: _kept(key, each, user_id, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_kept(name, each, user_id, depth + 1) for each in value]
    return value
