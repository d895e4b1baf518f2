"""All that is known of one job, as lines for a person or as JSON."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from .. import wire
from ..formatting import terminal_line
from ..ledger import LOST, UNCERTAIN, Entry
from ..text import seconds
from .lookup import KnownJobs, state_of
from .output import say, say_json, word
from .records import (
    UNPAID,
    cost,
    fields,
    iso,
)

LABEL_WIDTH = 13


def show(known: KnownJobs, entry: Entry, *, as_json: bool, resuming: str) -> None:
    """Prints the job. `resuming` is the command that takes jobs up, without the id at its end."""
    if as_json:
        size = clip_bytes(entry)
        more = {
            "abandoned_at": iso(entry.abandoned_at),
            "progress": entry.progress,
            "video_url": entry.video_url,
            "image_digest": entry.image_digest,
            "cell": None if entry.place is None else entry.place.cell,
            "nth_in_cell": None if entry.place is None else entry.place.nth,
            "starred": entry.starred,
            "clip_exists": size is not None,
            "clip_bytes": size,
        }
        say_json({**fields(known, entry), **more})
        return
    say(terminal_line(entry.prompt))
    for label, said in _facts(known, entry):
        if said:
            say(f"{label:<{LABEL_WIDTH}}{terminal_line(said)}")
    if advice := _advice(entry, resuming):
        say(advice)


def clip_bytes(entry: Entry) -> int | None:
    """The size of the clip's file, None where there is none."""
    try:
        return None if entry.clip_path is None else Path(entry.clip_path).stat().st_size
    except OSError:
        return None


def as_time(epoch_seconds: float | None) -> str | None:
    """A time for a person, on this machine's clock."""
    if epoch_seconds is None:
        return None
    return datetime.fromtimestamp(epoch_seconds).strftime("%Y-%m-%d %H:%M:%S")


def _facts(known: KnownJobs, entry: Entry) -> list[tuple[str, str | None]]:
    running = entry.ended_at is None and entry.progress is not None
    return [
        ("id", entry.request_id or "none: the service never answered with one"),
        ("number", f"#{entry.id} in this home"),
        ("service", known.names[entry.account_id]),
        ("state", state_of(entry) + (f", {int((entry.progress or 0) * 100)} %" if running else "")),
        ("error", entry.error),
        ("made from", _made_from(entry)),
        ("length", _length(entry)),
        ("shape", entry.aspect_ratio),
        ("seed", _seed(entry)),
        ("cost", _cost(entry)),
        ("written down", as_time(entry.intended_at)),
        ("sent", as_time(entry.sent_at)),
        ("accepted", as_time(entry.accepted_at)),
        ("ended", as_time(entry.ended_at)),
        ("fetched", as_time(entry.downloaded_at)),
        ("given up", as_time(entry.abandoned_at)),
        ("took", None if entry.took_seconds is None else seconds(entry.took_seconds)),
        ("experiment", entry.experiment),
        ("cell", _cell(entry)),
        ("clip", _clip(entry)),
        ("link", entry.video_url),
    ]


def _made_from(entry: Entry) -> str:
    if entry.image_digest is None:
        return "text"
    return f"text and a still (its SHA-256 begins {entry.image_digest[:12]})"


def _length(entry: Entry) -> str:
    asked = f"{entry.duration_seconds} s"
    if entry.actual_seconds in (None, entry.duration_seconds):
        return asked
    return f"{entry.actual_seconds:g} s, asked for {asked}"


def _seed(entry: Entry) -> str | None:
    return "random" if entry.seed == wire.RANDOM_SEED else None if entry.seed is None else str(entry.seed)


def _cost(entry: Entry) -> str:
    if entry.state in UNPAID:
        return "nothing"
    doubt = {
        UNCERTAIN: ", if it was accepted",
        LOST: ", billed",
        wire.FAILED: ", if failed jobs are billed: that isn't documented",
    }
    return cost(entry) + ("" if entry.cost_usd is not None else doubt.get(entry.state, ""))


def _cell(entry: Entry) -> str | None:
    if entry.place is None:
        return None
    if entry.place.label is not None:
        return f"once={entry.place.label!r}"
    return f"{entry.place.cell[:12]}, equal submission {entry.place.nth} of it"


def _clip(entry: Entry) -> str | None:
    if entry.clip_path is None:
        return "not fetched" if entry.state == wire.COMPLETED else None
    size = clip_bytes(entry)
    if size is None:
        return f"{entry.clip_path}: not there any more"
    return (
        f"{entry.clip_path} ({size / 1e6:.1f} MB)"
        if size >= 1e6
        else f"{entry.clip_path} ({size / 1e3:.0f} kB)"
    )


def _advice(entry: Entry, resuming: str) -> str | None:
    if entry.state == UNCERTAIN:
        return f"It was not sent again. To find out from the balance:\n  {resuming} --find-out"
    open_ended = entry.state not in (wire.FAILED, LOST, *UNPAID)
    if entry.request_id is not None and open_ended and clip_bytes(entry) is None:
        return f"To get its clip:\n  {resuming} {word(entry.request_id)}"
    return None
