"""The class's vote: students see two clips at a time, on their own page, and say which is better.

The answers are in the ledger of the room's session, where `rb.Study` counts them with any others.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ...formatting import count
from ...ledger import KeptVote
from ...web.html import Html, joined
from .app import CLIPS, Room
from .report import SITE
from .store import RoomJob, Student

MOST_CLIPS: Final = 24  # the newest: of more, each would get too few votes to say anything
Pair = tuple[RoomJob, RoomJob]
_one_vote = threading.Lock()  # two taps at once would both find their pair unanswered


@dataclass(frozen=True)
class ClassVote:
    """The current vote, or the last one: its clips by their ids at the service, and its answers."""

    question: str
    goes_on: bool
    clips: Mapping[str, RoomJob]
    votes: Sequence[KeptVote]

    @classmethod
    def of(cls, room: Room) -> ClassVote | None:
        """The current vote, on the clips that existed when it began; None without one."""
        settings = room.store.settings()
        if settings.question is None or settings.asked_at is None:
            return None
        newest = room.store.newest_clips(MOST_CLIPS, until=settings.asked_at)
        clips = {job.service_id: job for job in newest if job.service_id is not None}
        votes = room.session._ledger.votes.among(clips, settings.question)
        goes_on = settings.voting and settings.open(room.store.clock())
        return cls(settings.question, goes_on, clips, votes)

    def of_student(self, student: Student) -> list[KeptVote]:
        return [vote for vote in self.votes if vote.voter == student.name]

    def pairs(self, student: Student) -> list[Pair]:
        """What the student may still vote on: none of their own clips, and no pair twice."""
        seen = {frozenset((vote.shown_left, vote.shown_right)) for vote in self.of_student(student)}
        others = [name for name, job in self.clips.items() if job.student != student.id]
        return [
            (self.clips[one], self.clips[other])
            for one, other in itertools.combinations(others, 2)
            if frozenset((one, other)) not in seen
        ]

    def pair(self, student: Student) -> Pair | None:
        """The next two clips, of those with few votes; the sides are drawn by lot."""
        shown, pairs = self._shown(), self.pairs(student)
        random.shuffle(pairs)
        pair = min(pairs, key=lambda pair: sum(shown[job.service_id] for job in pair), default=None)
        return pair and random.choice((pair, pair[::-1]))  # noqa: S311 - it keeps nothing secret

    def standing(self) -> list[tuple[RoomJob, int, int]]:
        """The clips with the votes they won and took part in, the largest share first."""
        shown = self._shown()
        won = Counter(vote.better for vote in self.votes)
        rows = [(job, won[name], shown[name]) for name, job in self.clips.items()]
        return sorted(rows, key=lambda row: (-row[1] / max(1, row[2]), -row[2]))

    def _shown(self) -> Counter[str | None]:
        return Counter(name for vote in self.votes for name in (vote.shown_left, vote.shown_right))


def voted(room: Room, request: Request, form: Mapping[str, str], student: Student) -> Response:
    """Records "left", "right" or "neither" about two clips by their addresses, and leads to the next pair.

    About a pair that the student isn't asked, or has answered before, nothing is recorded.
    """
    left, right, answer = (form.get(name) for name in ("left", "right", "answer"))
    with _one_vote:
        asked = ClassVote.of(room)
        if asked is not None and asked.goes_on and answer in ("left", "right", "neither"):
            for pair in asked.pairs(student):
                names = {job.clip: job.service_id or "" for job in pair}
                if names.keys() == {left, right}:
                    shown = names[left], names[right]
                    better = {"left": names[left], "right": names[right]}.get(answer)
                    kept = KeptVote(time.time(), asked.question, *shown, better, voter=student.name)
                    room.session._ledger.votes.add(kept)
    return RedirectResponse("/vote", 303)


def page(room: Room, request: Request, form: Mapping[str, str], student: Student) -> Response:
    """The next pair; leads to the student's own page if no vote goes on."""
    asked = ClassVote.of(room)
    if asked is None or not asked.goes_on:
        return RedirectResponse("/mine", 303)
    button = Html('<button class="plain" name="answer" value="{}">{}</button>')
    if (pair := asked.pair(student)) is None:
        shown = Html('<p role="status">That is all there is to vote on. Thank you.</p>')
    else:
        films = joined(
            Html(
                '<div class="clip"><video autoplay loop muted playsinline src="{}/{}.mp4"></video>'
                '<div class="in">{}<input type="hidden" name="{}" value="{}"></div></div>'
            ).format(CLIPS, job.clip, button.format(side, f"{letter} is better"), side, job.clip)
            for job, side, letter in zip(pair, ("left", "right"), "AB", strict=True)
        )
        shown = Html('<form class="pair" method="post" action="/vote">{}{}</form>').format(
            films, button.format("neither", "Can't say")
        )
    given = count(len(asked.of_student(student)), "vote")
    body = SITE.filled("vote.html", name=student.name, given=given, question=asked.question, pair=shown)
    return SITE.page(asked.question, body)
