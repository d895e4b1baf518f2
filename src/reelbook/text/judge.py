"""What the Judge panel says: nothing about the clips while they are judged, then what the votes amount to."""

from collections.abc import Mapping
from typing import Any, Final

from ..explore.ranking import MANY
from ..explore.study import StudyResult, interval, not_enough, percent
from ..formatting import count, shortened_inside
from ..session import Clip

LABEL_CHARACTERS: Final = 160
HIDDEN: Final = "prompts, seeds and notes stay hidden until you stop"
ENOUGH: Final = "Enough votes: press Stop to see what they say"
LEGEND: Final = "bar: how often a clip wins over the others; line: 90 % interval"


def progress(votes: int, more: int) -> tuple[str, str]:
    """How far the voting is, and a remark on it. It never tells how a clip stands."""
    if not more:
        return count(votes, "vote"), ENOUGH
    known = more < MANY
    return f"{votes} of about {votes + more} votes" if known else count(votes, "vote"), not_enough(more)


def result(found: StudyResult, facts: Mapping[str, str], keys: Mapping[Clip, str]) -> dict[str, Any]:
    """What the page draws after Stop. `facts` are what was measured in the clips, by their keys."""
    rows = []
    for each in found.standing:
        key, odds = keys[each.clip], each.odds
        rows.append(
            {
                "key": key,
                "label": shortened_inside(each.label, LABEL_CHARACTERS),
                "facts": facts.get(key, ""),
                "bar": [round(part, 3) for part in (odds.chance, odds.low, odds.high)] if each.shown else [],
                "chance": percent(odds) if each.shown else "",
                "interval": interval(odds) if each.shown else "",
                "won": f"{each.won} of {each.shown}",
            }
        )
    return {
        "said": f"{count(found.votes, 'vote')} · {count(len(rows), 'clip')} · {LEGEND}",
        "rows": rows,
        "findings": [
            [each.better, each.verb, each.worse, each.said] for each in (found.lead, *found.findings)
        ],
    }


def voters(votes: Mapping[str, int], everybody: str) -> list[list[str]]:
    """Whose votes can be looked at: name and label; `everybody` stands for all; none where only one voted."""
    if len(votes) < 2:
        return []
    named = [[name, f"{name or 'No name'} · {number}"] for name, number in sorted(votes.items())]
    return [[everybody, f"All · {sum(votes.values())}"], *named]
