"""What the board says of each job in a row, of an experiment in its heading, and of all jobs at the top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypedDict

from reelbook import wire

from ..formatting import Line, count, counting, dollars, seconds
from .card import ALMOST_DONE, FINAL, almost_done, job_face

if TYPE_CHECKING:
    from reelbook.account import Facts
    from reelbook.session import Clip, JobRequest, JobView

# A row's prompt is two short lines; the open row has all of it.
PROMPT_BYTES = 150

# What is counted on top, in this order.
_KINDS = (
    *("running", "waiting", "not watched", "done"),
    *("failed", "refused", "lost", "not certain", "not accepted", "taken back"),
)
_BY_STATE = {
    wire.COMPLETED: "done",
    wire.FAILED: "failed",
    "refused": "refused",
    "lost": "lost",
    "uncertain": "not certain",
    "cancelled": "taken back",
    "not accepted": "not accepted",
}
_UNPAID = {wire.FAILED, "refused", "cancelled", "not accepted"}


class Row(TypedDict):
    """A job in a line; the page draws it as it is."""

    prompt: str
    about: str
    word: str
    tone: str
    bar: float | None  # 0 to 1; -1: running with no figure; None: no bar
    time: Line
    wait: bool  # it waits for the rate limit, which the page shows for all such rows at once
    money: str


@dataclass(frozen=True)
class Tally:
    """What a job adds to the sums: its kind, what was paid, and what it may still cost, in USD."""

    kind: str
    paid_usd: float
    open_usd: float


def board_row(
    view: JobView,
    request: JobRequest | None,
    *,
    request_id: str | None,
    clip: Clip | None,
    prompt: str | None = None,
) -> Row:
    """A job's row; `prompt` is shown if there is no request."""
    face = job_face(view, request, request_id=request_id, clip=clip, service="", prompt=prompt)
    unsent = view.state == "sending" and view.waiting_seconds is not None
    share = view.download if view.state == wire.COMPLETED else view.progress
    bar = None if not face["bar"] else -1.0 if face["bar"] == "open" else round(share or 0.0, 2)
    return Row(
        prompt=_cut(face["prompt"]),
        about=_about(request),
        word=face["word"],
        tone=face["tone"],
        bar=bar,
        time=[] if unsent else _time(view, clip),
        wait=unsent,
        money=face["money"],
    )


def tally(view: JobView) -> Tally:
    """What the job adds to the sums."""
    kind = _BY_STATE.get(view.state, "waiting" if view.state == "sending" else "running")
    if view.state not in FINAL and not view.watched:
        kind = "not watched"
    if view.cost_usd is not None:
        return Tally(kind, view.cost_usd, 0.0)
    owed = 0.0 if view.state in _UNPAID else view.estimated_cost_usd or 0.0
    return Tally(kind, 0.0, owed)


def count_words(tallies: Sequence[Tally]) -> str:
    """How many there are: "12 clips"."""
    return count(len(tallies), "clip")


def kind_words(tallies: Iterable[Tally]) -> str:
    """How many are in which state: "2 running · 1 waiting · 8 done · 1 failed"."""
    counts = Counter(each.kind for each in tallies)
    return " · ".join(f"{counts[kind]} {kind}" for kind in _KINDS if counts[kind])


def sum_words(tallies: Iterable[Tally]) -> str:
    """What they cost: "$0.75", "spent $0.25 of about $0.75" while some cost isn't final."""
    tallies = list(tallies)
    paid, owed = sum(each.paid_usd for each in tallies), sum(each.open_usd for each in tallies)
    if owed < 1e-9:
        return dollars(paid)
    return f"about {dollars(owed)}" if not paid else f"spent {dollars(paid)} of about {dollars(paid + owed)}"


def heading_words(name: str, tallies: Sequence[Tally]) -> list[str]:
    """An experiment's heading: its name, its jobs and their cost. No name: jobs without an experiment."""
    return [name or "Without an experiment", f"{count_words(tallies)} · {sum_words(tallies)}"]


def spent_words(spent_usd: float, uncertain_usd: float, max_spend_usd: float | None) -> str:
    """What the key has cost: "spent $2.40 of $5.00"."""
    said = f"spent {dollars(spent_usd)}"
    if max_spend_usd is not None:
        said += f" of {dollars(max_spend_usd)}"
    return said + (f", {dollars(uncertain_usd)} not certain" if uncertain_usd > 0.004 else "")


def requests_words(facts: Facts) -> Line:
    """The key's requests this minute, and when more come."""
    left = max(0, min(facts.requests_left, facts.requests_limit))
    said = f"{left} of {facts.requests_limit} requests left"
    if facts.requests_back_in_seconds is None:
        return [said]
    return [f"{said}, more in ", counting(facts.requests_back_in_seconds, -1)]


def wait_words(facts: Facts) -> Line:
    """Why a job hasn't been sent yet."""
    if facts.requests_back_in_seconds is None:
        return []
    return ["waiting for the rate limit, ", counting(facts.requests_back_in_seconds, -1)]


# The button that begins, where there is a form to begin with; otherwise what to write in a cell.
CREATE: Final = "Make your first clip"
IN_CODE: Final = 'In a cell: session.text_to_video("a red fox runs through snow").'


def empty_words(*, whole_session: bool, can_create: bool) -> str:
    """A board without jobs. `can_create`: a button that begins stands below."""
    if not whole_session:
        return "No clips in this list."
    said = "No clips yet. They appear here as soon as you ask for them."
    return said if can_create else f"{said} {IN_CODE}"


def _about(request: JobRequest | None) -> str:
    if request is None:
        return ""
    if request.mode == "image-to-video":
        start = "from an image"
    else:
        start = "random seed" if request.seed in (None, wire.RANDOM_SEED) else f"seed {request.seed}"
    return " · ".join(filter(None, [start, f"{request.duration_seconds} s", request.aspect_ratio]))


def _time(view: JobView, clip: Clip | None) -> Line:
    if view.state == wire.COMPLETED and clip is None:
        if view.error:
            return ["not on this disk"]
        return ["waits to be fetched" if view.download is None else f"fetching {int(view.download * 100)} %"]
    if view.state in FINAL:
        took = view.took_seconds if clip is None else clip.took_seconds
        return [] if took is None or view.state != wire.COMPLETED else [f"took {seconds(took)}"]
    if not view.watched:
        return ["not watched"]
    if view.state == "sending":
        return ["being sent"]
    if view.remaining_seconds is not None:
        return [counting(view.remaining_seconds, -1), " left"]
    if almost_done(view):
        return [ALMOST_DONE]
    if view.progress is not None:
        return [f"{int(view.progress * 100)} %"]
    return [counting(view.elapsed_seconds, 1), " so far"]


def _cut(prompt: str) -> str:
    data = prompt.encode()
    if len(data) <= PROMPT_BYTES:
        return prompt
    return data[:PROMPT_BYTES].decode(errors="ignore").rstrip() + "…"
