"""What the board says: of each job in a row, of an experiment in its heading, and of all jobs at the top."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from reelbook import wire
from reelbook.account import Facts
from reelbook.ledger import Spend
from reelbook.session import Clip, JobView

from ..formatting import LITTLE_USD, Line, count, counting, dollars, seconds
from ..states import SENDING, STATES, Charge, state
from .card import ALMOST_DONE, ShownJob, almost_done, asked_words, bar_share, job_face

# A row's prompt is two short lines; the open row has all of it.
PROMPT_BYTES = 150

NOT_WATCHED: Final = "not watched"
# What the top counts, in this order: jobs in progress, nearest to their end first, then ended ones.
_UNDER_WAY = [row.word for row in reversed(STATES.values()) if not row.final]
_KINDS = dict.fromkeys([*_UNDER_WAY, NOT_WATCHED, *(row.word for row in STATES.values() if row.final)])


def board_row(job: ShownJob) -> dict[str, Any]:
    """A job's row. `wait`: it waits for the rate limit, which the page shows once for all such rows."""
    face, view = job_face(job), job.view
    unsent = view.state == SENDING and view.waiting_seconds is not None
    return {
        "prompt": _cut(face["prompt"]),
        "about": " · ".join(filter(None, ["★ Picked" if job.picked else "", asked_words(job.request)])),
        "word": face["word"],
        "tone": face["tone"],
        "bar": bar_share(face, view),
        "time": [] if unsent else _time(view, job.clip),
        "wait": unsent,
        "money": face["money"],
    }


def kind(view: JobView) -> str:
    """What the job is counted as at the top; one in progress that nobody watches as "not watched"."""
    row = state(view.state)
    return row.word if row.final or view.watched else NOT_WATCHED


def kind_words(views: Iterable[JobView]) -> str:
    """How many are in which state: "2 running · 1 waiting · 8 done · 1 failed"."""
    counts = Counter(map(kind, views))
    return " · ".join(f"{counts[each]} {each}" for each in _KINDS if counts[each])


def sum_words(views: Iterable[JobView]) -> str:
    """What they cost: "$0.75", or "spent $0.25 of about $0.75, $0.25 not certain" while some is open."""
    usd: dict[Charge, float] = {"spent": 0.0, "reserved": 0.0, "uncertain": 0.0, "none": 0.0}
    for view in views:
        usd[view.charge] += view.price_usd or 0.0
    spent, reserved, uncertain = usd["spent"], usd["reserved"], usd["uncertain"]
    said, doubt = dollars(spent), _uncertain_words(uncertain)
    if reserved:
        total = f"about {dollars(spent + reserved)}"
        said = f"spent {said} of {total}" if spent else total
    elif doubt and not spent:
        return doubt
    return ", ".join(filter(None, [said, doubt]))


def heading_words(name: str, views: Sequence[JobView]) -> list[str]:
    """An experiment's heading: its name, its jobs and their cost. No name: jobs without an experiment."""
    return [name or "Without an experiment", f"{count(len(views), 'clip')} · {sum_words(views)}"]


def spent_words(spend: Spend, max_spend_usd: float | None) -> str:
    """What the key has cost: "spent $2.40 of $5.00, $0.25 not certain"."""
    said = f"spent {dollars(spend.spent_usd)}"
    if max_spend_usd is not None:
        said += f" of {dollars(max_spend_usd)}"
    return ", ".join(filter(None, [said, _uncertain_words(spend.uncertain_usd)]))


def _uncertain_words(usd: float) -> str:
    return f"{dollars(usd)} not certain" if usd >= LITTLE_USD else ""


def requests_words(facts: Facts) -> Line:
    """The key's requests this minute, and when more come."""
    said = f"{facts.requests_left:,} of {facts.requests_limit:,} requests left"
    if facts.requests_back_in_seconds is None:
        return [said]
    return [f"{said}, more in ", counting(facts.requests_back_in_seconds, -1)]


def wait_words(facts: Facts) -> Line:
    """Why a job hasn't been sent yet."""
    if facts.requests_back_in_seconds is None:
        return []
    return ["waiting for the rate limit, ", counting(facts.requests_back_in_seconds, -1)]


# With a form to begin with, the button that begins; otherwise what to write in a cell.
CREATE: Final = "Make your first clip"
IN_CODE: Final = 'In a cell: session.text_to_video("a red fox runs through snow").'


def empty_words(*, whole_session: bool, can_create: bool) -> str:
    """The words of a board without jobs. `can_create`: a button below makes the first clip."""
    if not whole_session:
        return "No clips in this list."
    said = "No clips yet. They appear here as soon as you ask for them."
    return said if can_create else f"{said} {IN_CODE}"


def _time(view: JobView, clip: Clip | None) -> Line:
    if view.state == wire.COMPLETED and clip is None:
        if view.error or not view.watched:
            return ["not on this disk"]
        return ["waits to be fetched" if view.download is None else f"fetching {int(view.download * 100)} %"]
    if state(view.state).final:
        took = view.took_seconds if clip is None else clip.took_seconds
        return [] if took is None or view.state != wire.COMPLETED else [f"took {seconds(took)}"]
    if not view.watched:
        return [NOT_WATCHED]
    if view.state == SENDING:
        return ["being sent"]
    if view.remaining_seconds is not None:
        return [counting(view.remaining_seconds, -1), " left"]
    if view.ahead is not None:
        return [f"{view.ahead} ahead"]
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
