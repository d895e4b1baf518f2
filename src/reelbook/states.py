"""What each state of a job means: one row for each state, the only place where that is written down.

The interface names four (section "Job states"). The others are Reelbook's own, for before the service
answers or where it never takes the job. A service may also use words of its own.
"""

from dataclasses import dataclass
from typing import Final, Literal

from . import wire

Charge = Literal["spent", "reserved", "uncertain", "none"]
"""How sure it is that a clip's price has to be paid."""
Tone = Literal["wait", "run", "done", "fail", "odd", "off"]
"""The colour of a state's dot and word; "wait" and "run" may still change."""
Group = Literal["under way", "completed", "failed", "uncertain", "taken back"]
"""What a person looks for by it."""

INTENDED: Final = "intended"  # recorded, not sent; shown as "sending"
SENDING: Final = "sending"  # the request may be on its way
REFUSED: Final = "refused"  # the service said no
UNCERTAIN: Final = "uncertain"  # sent, never answered
LOST: Final = "lost"  # was uncertain: accepted and billed, but its id never arrived
NOT_ACCEPTED: Final = "not accepted"  # was uncertain: the service never took it
CANCELLED: Final = "cancelled"  # taken back before it was sent, or its kernel ended before that

# The interface doesn't name them, so a service that uses one of these words means something of its own.
OWN: Final = frozenset({INTENDED, SENDING, REFUSED, UNCERTAIN, LOST, NOT_ACCEPTED, CANCELLED})

# The states of a sweep's cell besides those of its job.
PLANNED: Final = "planned"  # not bought, or taken back before it was sent
LEFT_OUT: Final = "left out"

BEFORE_AMOUNT: Final[dict[Charge, str]] = {
    "spent": "",
    "reserved": "about ",
    "uncertain": "maybe ",
    "none": "",
}


@dataclass(frozen=True)
class State:
    """One state of a job. `title` is on a card, `word` in a count ("2 running"). `final`: it won't change.

    `charge` is what its price counts as while no cost is known, see `charge_of`.
    """

    name: str
    title: str
    word: str
    tone: Tone
    group: Group
    charge: Charge
    final: bool

    @property
    def missing(self) -> bool:
        """Whether it ended without a clip: a sweep still lacks it, and may send it again."""
        return self.final and self.group != "completed"


# In the order in which they are listed. Whether a failed job is charged isn't stated (interface,
# "Transitions"), so its price is uncertain until its cost is known.
_ROWS: Final = (
    State(INTENDED,        "Sending",      "waiting",      "wait", "under way",  "reserved",  False),
    State(SENDING,         "Sending",      "waiting",      "wait", "under way",  "reserved",  False),
    State(wire.PENDING,    "Pending",      "running",      "wait", "under way",  "reserved",  False),
    State(wire.PROCESSING, "Processing",   "running",      "run",  "under way",  "reserved",  False),
    State(wire.COMPLETED,  "Completed",    "done",         "done", "completed",  "spent",     True),
    State(wire.FAILED,     "Failed",       "failed",       "fail", "failed",     "uncertain", True),
    State(REFUSED,         "Refused",      "refused",      "fail", "failed",     "none",      True),
    State(UNCERTAIN,       "Not certain",  "not certain",  "odd",  "uncertain",  "uncertain", True),
    State(LOST,            "Lost",         "lost",         "fail", "uncertain",  "spent",     True),
    State(NOT_ACCEPTED,    "Not accepted", "not accepted", "off",  "uncertain",  "none",      True),
    State(CANCELLED,       "Not sent",     "not sent",     "off",  "taken back", "none",      True),
)  # fmt: skip

STATES: Final = {row.name: row for row in _ROWS}


def state(name: str) -> State:
    """The row of that state; for a service's own word a row that only repeats it."""
    return STATES.get(name) or State(name, name, "running", "odd", "under way", "reserved", False)


def charge_of(name: str, *, cost_known: bool = False, abandoned: bool = False) -> Charge:
    """What a clip's price counts as. `abandoned`: it was given up, as the service doesn't know it."""
    charge = state(name).charge
    if cost_known and charge != "none":
        return "spent"
    return "uncertain" if abandoned and charge == "reserved" else charge


def listed() -> str:
    """The words by which a person names them: "sending, pending, …"."""
    return ", ".join(row.name.replace(" ", "-") for row in _ROWS if row.name != INTENDED)


def names(**where: object) -> tuple[str, ...]:
    """The states with these properties: `names(final=True, charge="none")`."""
    return tuple(row.name for row in _ROWS if all(getattr(row, key) == value for key, value in where.items()))
