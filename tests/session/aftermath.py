"""What a killed kernel left behind, and whether anything was lost by it. Pure; `killing.py` collects it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from reelbook import wire
from reelbook.ledger import Spend
from reelbook.states import INTENDED, SENDING, UNCERTAIN

UNSENT = "before the first POST"
SUBMITTING = "between intent and answer"
WATCHING = "answered, watching"
FETCHING = "in downloads"
OVER = "after the end"
PHASES = (UNSENT, SUBMITTING, WATCHING, FETCHING, OVER)

MICRO = 1_000_000


@dataclass(frozen=True)
class Written:
    """One line of the ledger. `whole`: its clip is on the disk; after the resume also the service's bytes."""

    prompt: str
    state: str
    request_id: str | None
    whole: bool = False


@dataclass(frozen=True)
class Made:
    """One job as the service has it. `cost_micro` is what it billed, in micro-USD."""

    prompt: str
    request_id: str
    cost_micro: int


@dataclass(frozen=True)
class Aftermath:
    """One kill: what the kernel received and had written down, and all that is known after the resume.

    `posts` is how many submissions reached the service, from the batch's beginning to the end of the resume.
    """

    at_seconds: float
    received: frozenset[str]
    left: Sequence[Written]
    parts: int
    resumed: int
    after: Sequence[Written]
    made: Sequence[Made]
    posts: int
    spend: Spend
    jobs: int

    @property
    def phase(self) -> str:
        """Where in the batch the kill fell, by what was on the disk at that moment."""
        states = [each.state for each in self.left]
        if all(state == INTENDED for state in states):
            return UNSENT
        if len(states) < self.jobs or INTENDED in states or SENDING in states:
            return SUBMITTING
        if all(each.whole for each in self.left):
            return OVER
        return FETCHING if wire.COMPLETED in states else WATCHING

    @property
    def lost(self) -> frozenset[str]:
        """Ids that the killed kernel had, and that no job has after the resume."""
        return self.received - {each.request_id for each in self.after}

    @property
    def unknown(self) -> list[Made]:
        """Jobs of the service whose id no entry has."""
        known = {each.request_id for each in self.after}
        return [each for each in self.made if each.request_id not in known]

    @property
    def uncertain(self) -> list[Written]:
        """What was sent and never answered."""
        return [each for each in self.after if each.state == UNCERTAIN]

    @property
    def unexplained(self) -> list[Made]:
        """Unknown jobs for which there is no uncertain entry of their own."""
        covers = Counter(each.prompt for each in self.uncertain)
        covers.subtract(each.prompt for each in self.unknown)
        return [each for each in self.unknown if covers[each.prompt] < 0]

    @property
    def most_for_one(self) -> int:
        """The most jobs that the service has for one submission."""
        return max(Counter(each.prompt for each in self.made).values(), default=0)

    @property
    def broken(self) -> list[Written]:
        """Known jobs whose clip isn't on the disk as the service has it."""
        return [each for each in self.after if each.request_id is not None and not each.whole]

    @property
    def billed_usd(self) -> float:
        """What the service billed for the batch."""
        return sum(each.cost_micro for each in self.made) / MICRO

    def faults(self) -> list[str]:
        """Each promise that doesn't hold, in words; none if nothing was lost."""
        unknown = sum(each.cost_micro for each in self.unknown)
        known = sum(each.cost_micro for each in self.made) - unknown
        spent, uncertain = round(self.spend.spent_usd * MICRO), round(self.spend.uncertain_usd * MICRO)
        sent = [each for each in self.after if each.request_id is not None or each.state == UNCERTAIN]
        promises = {
            f"ids lost: {sorted(self.lost)}": not self.lost,
            f"accepted, unknown and not among the uncertain: {self.unexplained}": not self.unexplained,
            f"jobs for one submission: {self.most_for_one}": self.most_for_one <= 1,
            f"POSTs {self.posts}, submissions that may have been sent {len(sent)}": self.posts <= len(sent),
            f"clips not whole: {self.broken}": not self.broken,
            f"spent {spent}, billed for known jobs {known} micro-USD": spent == known,
            f"uncertain {uncertain}, billed for unknown jobs {unknown} micro-USD": uncertain >= unknown,
            f"still reserved: {self.spend.reserved_usd}": self.spend.reserved_usd == 0,
        }
        return [said for said, holds in promises.items() if not holds]
