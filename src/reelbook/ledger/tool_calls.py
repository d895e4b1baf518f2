"""The calls of agent tools, and what the clips cost that they bought.

A call is recorded before it is sent, as it may cost money. User ids are kept as salted fingerprints only.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from .. import wire
from ..secret import Secret
from .records import fingerprint, insert, read
from .search import checked_limit
from .store import Part

# "failed": answered with an error; "unsent": never arrived; "uncertain": sent and never answered.
Outcome = Literal["done", "tool error", "failed", "unsent", "uncertain", "cancelled"]

MAX_STRING: Final = 1000
MAX_ARGUMENTS: Final = 20_000
MAX_ERROR: Final = 1000
MAX_DEPTH: Final = 30
KEPT: Final = 2000
_HIDDEN: Final = ("password", "secret", "token", "api_key", "apikey", "authorization", "credential")


@dataclass(frozen=True)
class ToolCall:
    """A call. `outcome` is None while it runs, and stays so if the kernel ended before it did.

    `at` is epoch seconds, `origin` the server's scheme, host and port. `whole` is False if long or secret
    values were left out of `arguments`. `request_ids` are those of the jobs in the result.
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


class ToolCalls(Part):
    """The tool calls of a home. The newest 2,000 are kept."""

    def add(self, mcp_url: str, user_id: Secret, tool: str, arguments: Mapping[str, Any]) -> int:
        """Records a call that is about to be sent, and returns its number."""
        kept, whole = _kept_arguments(arguments, user_id)
        values = {
            "at": self.store.clock(),
            "origin": wire.origin(mcp_url),
            "tool": tool[:MAX_STRING],
            "arguments": kept,
            "whole": whole,
        }

        def work(db: sqlite3.Connection) -> int:
            number: int = insert(db, "tool_calls", {**values, "user": fingerprint(db, user_id)})["id"]
            db.execute("DELETE FROM tool_calls WHERE id <= ?", (number - KEPT,))
            return number

        return self.store.write(work)

    def ended(
        self,
        number: int,
        outcome: Outcome,
        *,
        took_seconds: float,
        request_ids: tuple[str, ...] = (),
        error: str | None = None,
    ) -> None:
        ended = "UPDATE tool_calls SET outcome = ?, took_seconds = ?, request_ids = ?, error = ? WHERE id = ?"
        values = (outcome, took_seconds, json.dumps(request_ids), error and error[:MAX_ERROR], number)
        self.store.keep(lambda db: db.execute(ended, values))

    def prompt_of(self, request_id: str) -> str | None:
        """The prompt of a job, if a call with a prompt was about that job alone."""
        call = self.store.read(lambda db: _bought_by(db, request_id))
        return None if call is None else call.arguments["prompt"]

    def recent(self, limit: int = 20) -> list[ToolCall]:
        """The last calls of all servers and users, newest first."""
        rows = self.store.rows("SELECT * FROM tool_calls ORDER BY id DESC LIMIT ?", checked_limit(limit))
        return [_tool_call(row) for row in rows]


@dataclass(frozen=True)
class ToolJob:
    """A finished clip that a tool's call bought at `called_at` (epoch seconds) for `cost_usd`.

    `seconds` is the clip's length, None where the service didn't say.
    """

    account_id: int
    request_id: str
    prompt: str
    called_at: float
    seconds: float | None
    cost_usd: float


class ToolJobs(Part):
    def ended(self, request_id: str, *, seconds: float | None, cost_usd: float | None) -> None:
        """Records once what a clip cost, if a call of this home bought it and no entry counts it.

        If the service doesn't say, the price is computed from the length.
        """
        if cost_usd is None:
            can_be_meant = seconds is not None and 0 < seconds <= 2 * wire.MAX_SECONDS
            cost_usd = wire.cost_usd(seconds if seconds and can_be_meant else wire.DEFAULT_SECONDS)
        values = {
            "account": self._account_id,
            "request_id": request_id,
            "kernel": self.store.kernel.name,
            "ended_at": self.store.clock(),
            "seconds": seconds,
            "cost_usd": cost_usd,
        }
        known = "SELECT 1 FROM {} WHERE request_id = ? AND account = ?"

        def work(db: sqlite3.Connection) -> None:
            counted = any(
                db.execute(known.format(table), (request_id, self._account_id)).fetchone()
                for table in ("entries", "tool_jobs")
            )
            if not counted and (call := _bought_by(db, request_id)) is not None:
                at, prompt = call.at, call.arguments["prompt"]
                answered_at = at + (call.took_seconds or 0.0)
                insert(
                    db,
                    "tool_jobs",
                    {**values, "prompt": prompt, "called_at": at, "answered_at": answered_at},
                )

        self.store.keep(work)

    def list(self, *, since: float | None = None, until: float | None = None) -> list[ToolJob]:
        """The clips that were bought from `since` on and before `until` (epoch seconds), oldest first."""
        rows = self.store.rows(
            "SELECT * FROM tool_jobs WHERE account = ? AND called_at >= coalesce(?, -9e99) "
            "AND called_at < coalesce(?, 9e99) ORDER BY called_at",
            *(self._account_id, since, until),
        )
        return [read(ToolJob, row, account_id=self._account_id) for row in rows]


def _tool_call(row: sqlite3.Row) -> ToolCall:
    arguments, request_ids = (json.loads(row[name]) for name in ("arguments", "request_ids"))
    whole = bool(row["whole"])
    return read(ToolCall, row, arguments=arguments, request_ids=tuple(request_ids), whole=whole)


def _bought_by(db: sqlite3.Connection, request_id: str) -> ToolCall | None:
    """The first call that was about that job alone and had a prompt."""
    of_it = "SELECT * FROM tool_calls WHERE request_ids = ? ORDER BY id"
    calls = map(_tool_call, db.execute(of_it, (json.dumps([request_id]),)))
    prompts = ((call, call.arguments.get("prompt")) for call in calls)
    return next((call for call, prompt in prompts if isinstance(prompt, str) and prompt), None)


def _kept_arguments(arguments: Mapping[str, Any], user_id: Secret) -> tuple[str, bool]:
    """Arguments as they are recorded, as JSON, and whether they are whole."""
    kept = {name: _kept(name, value, user_id) for name, value in arguments.items()}
    text = json.dumps(kept, ensure_ascii=False)
    if len(text) > MAX_ARGUMENTS:
        text = json.dumps({name[:100]: "…" for name in list(kept)[:100]}, ensure_ascii=False)
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
