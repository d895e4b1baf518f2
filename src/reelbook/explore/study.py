"""A study: which of several clips people prefer, asked about two at a time, and how certain that is.

The ledger keeps the votes by pairs of clips, so a study of the same clips goes on where an earlier kernel
left off. `ranking` computes what they amount to.
"""

import hashlib
import itertools
import os
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from ..account.limits import caller_warner
from ..errors import InvalidInput, NotAVideo
from ..formatting import count
from ..ledger import KeptVote, Ledger
from ..ledger.votes import QUESTION, Votes
from ..requests import options
from ..secret import quotable
from ..session import Clip, Job, Session, connect, display
from ..session.clip import as_clip
from .axes import numbered, value_words
from .designs import library
from .ranking import MANY, Odds, Ranking, Vote, next_pair
from .run import SweepRun

Answer = Literal["left", "right", "neither"]
_PAIRWISE: Final = 4  # on an axis of more values, each is compared with all the others
_OTHERS: Final = "the others"


class Pair(NamedTuple):
    """Two clips to choose from, in the order in which they are shown."""

    left: Clip
    right: Clip


@dataclass(frozen=True)
class Standing:
    """A clip's standing: its odds against the others' average, and how many it `won` of `shown` votes."""

    clip: Clip
    label: str
    odds: Odds
    won: int
    shown: int


@dataclass(frozen=True)
class Comparison:
    """What the votes say about the clips with one value of an axis against those with another."""

    better: str
    worse: str
    odds: Odds

    @property
    def verb(self) -> str:
        return "and" if self.odds.more else "beats"

    @property
    def said(self) -> str:
        """What is known about them, or how many votes are missing."""
        if self.odds.more:
            return not_enough(self.odds.more)
        votes = count(self.odds.votes, "vote")
        return f"{percent(self.odds)}, 90 % interval {interval(self.odds)}, {votes}"

    def __str__(self) -> str:
        return f"{self.better} {self.verb} {self.worse}: {self.said}"


@dataclass(frozen=True)
class StudyResult:
    """What a study's votes amount to.

    `standing` has the clips, strongest first. `lead` says what is known about the first two, `findings` about
    each two values of a sweep's axes. `more` is about how many votes a `winner` still takes.
    """

    question: str
    votes: int
    standing: tuple[Standing, ...]
    lead: Comparison
    findings: tuple[Comparison, ...]

    @property
    def more(self) -> int:
        return self.lead.odds.more

    @property
    def winner(self) -> Clip | None:
        """The first clip; None while that may be chance."""
        return None if self.more else self.standing[0].clip

    def __str__(self) -> str:
        clips = count(len(self.standing), "clip")
        lines = [f"{self.question} {count(self.votes, 'vote')} · {clips}"]
        wide = max(len(each.label) for each in self.standing)
        for place, each in enumerate(self.standing, 1):
            odds = f"{percent(each.odds):>5}  {interval(each.odds):>6}" if each.shown else " " * 13
            lines.append(f"{place:2}  {each.label:{wide}}  {odds}  {each.won} of {each.shown}")
        return "\n".join([*lines, str(self.lead), *map(str, self.findings)])

    __repr__ = __str__


class Study(display.Shown):
    """Finds out by votes which clips are better. Shown in a notebook, it is the panel that asks.

        study = rb.Study([first, second])         # clips, jobs and files, or a sweep's run
        pair = study.pair()
        study.vote(pair, "left")                  # "right"; "neither": can't say
        print(study.result())

    Of a run it takes the clips that exist; a warning names those that are damaged. The `session`'s ledger
    keeps the votes; by default it is the session of the run or the jobs, else `reelbook.connect()`. `voter`
    tells several voters apart. Earlier votes on the same `question` count if both clips are in this study.
    Raises InvalidInput for fewer than two clips, NotAVideo for a file that isn't a video, ConfigurationError
    if choix isn't installed.
    """

    def __init__(
        self,
        clips: SweepRun | Iterable[Clip | Job | str | os.PathLike[str]],
        session: Session | None = None,
        *,
        question: str = QUESTION,
        voter: str = "",
    ) -> None:
        if isinstance(clips, str | Clip | Job) or not isinstance(clips, SweepRun | Iterable):
            raise InvalidInput(
                f"Study takes a sweep's run or a list of clips, not {type(clips).__name__}: "
                "Study([first, second])."
            )
        self.question = _text(question, "question")
        self.voter = _text(voter, "voter")
        library("choix", "A study")  # without it the votes couldn't be counted
        given = [cell.job for cell in clips.cells if cell.job] if isinstance(clips, SweepRun) else [*clips]
        own = (Session.of(each) for each in given if isinstance(each, Job))
        self.session = session or next(own, None) or connect()
        named = {_name(clip): clip for clip in map(_clip, given) if clip is not None}
        if len(named) < 2:
            raise InvalidInput(f"A study takes two clips or more; {len(named) or 'none'} of these is here.")
        self.clips = tuple(named.values())
        self.labels = _labels(self.clips)
        self._names = tuple(named)
        self._axes = _axes(clips, self._names) if isinstance(clips, SweepRun) else []
        self._draw = random.Random()  # noqa: S311 - it keeps nothing secret

    def pair(self, pending: Iterable[Pair] = ()) -> Pair:
        """The pair to ask about next: the one that teaches most. Which clip is on the left is random.

        `pending` pairs are being shown to somebody already, and count as answered.
        """
        waiting = [Vote(*self._places(pair), tied=True) for pair in pending]
        one, other = next_pair(len(self.clips), [*self._votes(), *waiting], self._draw)
        return Pair(self.clips[one], self.clips[other])

    def vote(self, pair: Pair, answer: Answer, *, voter: str | None = None) -> None:
        """Records which of the pair is better: "left", "right", or "neither" for "can't say".

        Raises InvalidInput for any other answer and for clips that aren't in this study.
        """
        if answer not in ("left", "right", "neither"):
            raise InvalidInput('An answer is "left", "right" or "neither". Nothing was kept.')
        left, right = (self._names[place] for place in self._places(pair))
        better = {"left": left, "right": right}.get(answer)
        who = _text(self.voter if voter is None else voter, "voter").strip()
        self._kept.add(KeptVote(time.time(), self.question, left, right, better, who))

    def take_back(self) -> Pair | None:
        """Takes back this `voter`'s last vote; returns its pair as it was shown, None without a vote."""
        gone = self._kept.take_back(self._names, self.question, self.voter.strip())
        if gone is None:
            return None
        left, right = (self.clips[self._names.index(each)] for each in (gone.shown_left, gone.shown_right))
        return Pair(left, right)

    @property
    def voters(self) -> Mapping[str, int]:
        """How many votes each voter gave; "" for those without a name."""
        return Counter(each.voter for each in self._kept.among(self._names, self.question))

    def result(self, voter: str | None = None) -> StudyResult:
        """What the votes amount to: all of them, or those of one `voter`."""
        ranking = self.ranking(voter)
        order = ranking.order()
        compared = [each for axis in self._axes for each in _comparisons(axis)]
        return StudyResult(
            self.question,
            len(ranking.votes),
            tuple(
                Standing(
                    self.clips[place],
                    self.labels[place],
                    ranking.against_the_others(place),
                    *ranking.won(place),
                )
                for place in order
            ),
            Comparison(
                self.labels[order[0]],
                self.labels[order[1]],
                ranking.between(order[:1], order[1:2], comparisons=len(order) - 1),
            ),
            tuple(_finding(ranking, ones, others, len(compared)) for ones, others in compared),
        )

    def ranking(self, voter: str | None = None) -> Ranking:
        """The strengths behind the result, for further questions; clips are numbered as in `clips`."""
        return Ranking(len(self.clips), self._votes(voter))

    def table(self, voter: str | None = None) -> list[dict[str, Any]]:
        """A row for each clip, best first: `pandas.DataFrame(study.table())`.

        The rows also have facts measured in the files (see `Clip.checks`), which don't affect the ranking.
        """
        return [
            {
                "place": place,
                "clip": each.label,
                "chance": round(each.odds.chance, 4),
                "low": round(each.odds.low, 4),
                "high": round(each.odds.high, 4),
                "won": each.won,
                "shown": each.shown,
                "black_seconds": each.clip.checks.black_seconds,
                "frozen_seconds": each.clip.checks.frozen_seconds,
                "cuts": len(each.clip.checks.cuts),
                "loop_gap": each.clip.checks.loop_gap,
                "still_gap": each.clip.checks.still_gap,
                "id": each.clip.request_id or None,
                "file": str(each.clip.path),
            }
            for place, each in enumerate(self.result(voter).standing, 1)
        ]

    def __repr__(self) -> str:
        votes = count(sum(self.voters.values()), "vote")
        return f"<Study “{self.question}” of {count(len(self.clips), 'clip')}: {votes}>"

    @property
    def _kept(self) -> Votes:
        return self.session._ledger.votes

    def _places(self, pair: Pair) -> tuple[int, int]:
        try:
            left, right = (self.clips.index(each) for each in pair)
        except ValueError:
            raise InvalidInput("These clips aren't in this study. Nothing was kept.") from None
        return left, right

    def _votes(self, voter: str | None = None) -> list[Vote]:
        place = {name: number for number, name in enumerate(self._names)}
        who = None if voter is None else _text(voter, "voter").strip()
        found = []
        for each in self._kept.among(self._names, self.question):
            if who in (None, each.voter):
                shown = (each.shown_left, each.shown_right)
                better, worse = shown[::-1] if each.better == each.shown_right else shown
                found.append(Vote(place[better], place[worse], tied=each.better is None))
        return found


def won_votes(ledger: Ledger, clip: Clip) -> str:
    """A clip's votes, as said when it is handed over: "won 18 of 24 votes"; empty without votes."""
    won, shown = ledger.votes.won(_name(clip))
    return f"won {won} of {count(shown, 'vote')}" if shown else ""


def not_enough(more: int) -> str:
    """What is said instead of a winner while there are too few votes."""
    if more < MANY:
        return f"Not enough votes yet: about {more} more"
    return f"Too close to tell yet: it may take over {MANY} more"


def percent(odds: Odds) -> str:
    """The chance to win: "74 %"."""
    return f"{100 * odds.chance:.0f} %"


def interval(odds: Odds) -> str:
    """The 90 % interval in percent: "61–85"."""
    return f"{100 * odds.low:.0f}–{100 * odds.high:.0f}"


def _text(given: str, what: str) -> str:
    if not isinstance(given, str):
        raise InvalidInput(f"A study's {what} must be text, not {quotable(given)}.")
    return given


def _clip(given: Clip | Job | str | os.PathLike[str]) -> Clip | None:
    """The clip on this machine's disk; None for a job without one, and for a damaged one, which is said."""
    if isinstance(given, Job):
        if given.clip is None or not given.clip.path.exists():
            return None
        given = given.clip
    if not isinstance(given, Clip | str | os.PathLike):
        raise InvalidInput(f"Study takes clips, jobs and files, not {type(given).__name__}.")
    clip = as_clip(given)
    try:
        _ = clip.info  # raises here, not in the page, for a file that isn't a video
    except NotAVideo as damaged:
        if not clip.request_id:
            raise
        caller_warner()(UserWarning(f"A clip is left out: {damaged}"))
        return None
    return clip


def _name(clip: Clip) -> str:
    """The name that its votes are kept under: its file may be renamed or moved."""
    if clip.request_id:
        return clip.request_id
    try:
        return f"sha256:{hashlib.sha256(clip.path.read_bytes()).hexdigest()}"
    except OSError as error:
        raise NotAVideo(f"{clip.path.name} can't be read: {error.strerror or error}.") from error


def _labels(clips: Sequence[Clip]) -> tuple[str, ...]:
    """What tells the clips apart: their prompts or names; if those are alike, what else was asked for."""
    labels = [each.request.prompt if each.request else each.path.name for each in clips]
    for name, about in options().items():
        values = [getattr(each.request, name, None) for each in clips]
        if len({*labels}) < len(labels) and len({*values}) > 1:
            words = [value_words(name, about.words(value)) for value in values]
            labels = [f"{label} · {word}" for label, word in zip(labels, words, strict=True)]
    return tuple(numbered(labels))


Group = tuple[str, frozenset[int]]  # a value, and the places of the clips that have it


def _axes(run: SweepRun, names: Sequence[str]) -> list[list[Group]]:
    at = {cell.job.request_id: cell.cell.place for cell in run.cells if cell.job is not None}
    found = []
    for number, axis in enumerate(run.sweep.axes):
        groups = [
            (
                value_words(axis.name, label),
                frozenset(p for p, name in enumerate(names) if at[name][number] == value),
            )
            for value, label in enumerate(axis.labels)
        ]
        if len(some := [each for each in groups if each[1]]) > 1:
            found.append(some)
    return found


def _comparisons(axis: list[Group]) -> Iterable[tuple[Group, Group]]:
    if len(axis) <= _PAIRWISE:
        return itertools.combinations(axis, 2)
    every = frozenset[int]().union(*(places for _, places in axis))
    return [(each, (_OTHERS, every - each[1])) for each in axis]


def _finding(ranking: Ranking, one: Group, other: Group, comparisons: int) -> Comparison:
    odds = ranking.between(one[1], other[1], comparisons=comparisons)
    if odds.chance < 0.5:
        return _finding(ranking, other, one, comparisons)
    return Comparison(one[0], other[0], odds)
