"""Jobs for a program to read: JSON, or a line each with tabs. Columns and names are always the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ..formatting import terminal_line
from ..ledger import (
    CANCELLED,
    NOT_ACCEPTED,
    REFUSED,
    Entry,
)
from ..text import dollars
from .lookup import KnownJobs, state_of

UNPAID = (REFUSED, CANCELLED, NOT_ACCEPTED)
COLUMNS = (
    "number",
    "when",
    "state",
    "seconds",
    "cost_usd",
    "estimate_usd",
    "id",
    "service",
    "experiment",
    "prompt",
)


def document(known: KnownJobs | None, entries: Sequence[Entry]) -> dict[str, Any]:
    """The list as JSON: the jobs, and the sums of each service in USD."""
    if known is None:
        return {"jobs": [], "spend": {}}
    spend = {
        name: {
            "spent_usd": sums.spent_usd,
            "reserved_usd": sums.reserved_usd,
            "uncertain_usd": sums.uncertain_usd,
        }
        for name, sums in known.spend().items()
    }
    return {"jobs": [fields(known, entry) for entry in entries], "spend": spend}


def fields(known: KnownJobs, entry: Entry) -> dict[str, Any]:
    """A job for a program: names and units as in the ledger, times in ISO 8601."""
    return {
        "number": entry.id,
        "id": entry.request_id,
        "service": known.names[entry.account_id],
        "state": state_of(entry),
        "mode": entry.mode,
        "prompt": entry.prompt,
        "duration_seconds": entry.duration_seconds,
        "aspect_ratio": entry.aspect_ratio,
        "seed": entry.seed,
        "experiment": entry.experiment,
        "estimated_cost_usd": entry.estimated_cost_usd,
        "cost_usd": entry.cost_usd,
        "intended_at": iso(entry.intended_at),
        "sent_at": iso(entry.sent_at),
        "accepted_at": iso(entry.accepted_at),
        "ended_at": iso(entry.ended_at),
        "downloaded_at": iso(entry.downloaded_at),
        "took_seconds": entry.took_seconds,
        "actual_seconds": entry.actual_seconds,
        "clip_path": entry.clip_path,
        "error": entry.error,
    }


def line(known: KnownJobs, entry: Entry) -> str:
    """A job in one line, in the order of `COLUMNS`."""
    columns = [
        f"#{entry.id}",
        iso(entry.intended_at) or "",
        state_of(entry),
        str(entry.duration_seconds),
        "" if entry.cost_usd is None else f"{entry.cost_usd:.4f}",
        f"{entry.estimated_cost_usd:.4f}",
        entry.request_id or "",
        known.names[entry.account_id],
        entry.experiment or "",
        entry.prompt,
    ]
    return "\t".join(map(terminal_line, columns))


def cost(entry: Entry) -> str:
    """What it cost, or may: "$0.25", "about $0.25", or nothing where nothing was bought."""
    if entry.cost_usd is not None:
        return dollars(entry.cost_usd)
    return "" if entry.state in UNPAID else f"about {dollars(entry.estimated_cost_usd)}"


def iso(epoch_seconds: float | None) -> str | None:
    """A time as ISO 8601 with this machine's zone."""
    if epoch_seconds is None:
        return None
    return datetime.fromtimestamp(epoch_seconds).astimezone().isoformat(timespec="seconds")
