"""Two clips side by side, unlabelled, and the question which is better; after Stop, the votes' result."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import traitlets

from reelbook.errors import NotAVideo
from reelbook.explore.run import SweepRun
from reelbook.explore.study import Pair, Study
from reelbook.session import Clip, Job, Session
from reelbook.session.session import job_of

from ..formatting import count
from ..text import judge as words
from .base import Callbacks
from .bundle import packed
from .clip_serving import Plays, ServesClips
from .static_html import picture_html, small_poster, table_html, text_html

EVERYBODY = "*"


class Judge(Plays, ServesClips):
    """Asks which of two clips is better, pair after pair, and says what the votes amount to.

    `Judge(study)`; a sweep's run or a list of clips makes a study of its own, with `session` as in `Study`. ←
    and → choose, ↓ is for "can't say". Prompts, seeds, prices, notes and the standing aren't in the page
    before Stop. `voter` says who votes, if several do; it and the clock, `time`, `playing` and `speed` as in
    Compare, can be given, observed, linked and set.

    `study` is the Study, `votes` how many there are. `on_hand_over(callback)` says what happens at "Hand
    over", which is offered after Stop::

        judge = rb.Judge([first, second])
        judge.on_hand_over(lambda clips: print([clip.path for clip in clips]))
        judge
    """

    _esm = packed("judge")

    on_hand_over = Callbacks[[tuple[Clip, ...]]]("`callback(clips)` is called when Hand over is pressed.")

    voter = traitlets.Unicode(help="Who votes.").tag(sync=True)
    votes = traitlets.Int(help="How many votes there are.").tag(sync=True)
    pair = traitlets.Dict(help="Which two clips are shown, by their keys.").tag(sync=True)
    upcoming: Any = traitlets.List(help="The keys of the pair after that.").tag(sync=True)
    clips: Any = traitlets.List(help="Shape, length and codec of each clip.").tag(sync=True)
    face = traitlets.Dict(help="What the page says while it asks.").tag(sync=True)
    result = traitlets.Dict(help="What the votes say; empty while it asks.").tag(sync=True)

    def __init__(
        self,
        study: Study | SweepRun | Iterable[Clip | Job | str | os.PathLike[str]],
        session: Session | None = None,
        **traits: Any,
    ) -> None:
        self.study = study if isinstance(study, Study) else Study(study, session)
        self.session = self.study.session
        self._shown: Pair | None = None
        self._next: Pair | None = None
        self._counted: tuple[int, int] | None = None  # votes, and how many are missing
        self._stopped = False
        self._of = EVERYBODY
        self._best: tuple[Job, ...] = ()  # the first two that the ledger knows, once it is stopped
        self._facts: dict[str, str] = {}
        self._keys: dict[Clip, str] = {clip: str(place) for place, clip in enumerate(self.study.clips)}
        traits.setdefault("voter", self.study.voter)
        about = attrgetter("width", "height", "duration_seconds", "frames_per_second", "codec")
        super().__init__(clips=[list(about(clip.info)) for clip in self.study.clips], **traits)
        self._endings += (self.session.subscribe(self._session_changed),)
        self._show(self.study.pair())
        self.refresh()

    @property
    def _in_sandbox(self) -> bool:
        return all(clip.sandbox for clip in self.study.clips)

    def update(self) -> None:
        if self.session.closed:
            return
        voters = self.study.voters
        votes = sum(voters.values())
        if self._counted is None or self._counted[0] != votes:
            self._counted = (votes, self.study.result().more)
        said, note = words.progress(*self._counted)
        told: dict[str, Any] = {}
        if self._stopped:
            found = self.study.result(None if self._of == EVERYBODY else self._of)
            told = words.result(found, self._facts, self._keys)
            told |= {"voters": words.voters(voters, EVERYBODY), "of": self._of}
        with self.hold_sync():
            self.votes = votes
            self.face = {
                "question": self.study.question,
                "about": f"{count(len(self.clips), 'clip')} · {words.HIDDEN}",
                "said": said,
                "note": note,
                "can_take_back": bool(voters.get(self.study.voter)),
                "hands_over": bool(self.on_hand_over),
                "picks": any(not job.picked for job in self._best),
            }
            self.result = told

    def clip_of(self, key: str) -> Clip | None:
        return next((clip for clip, known in self._keys.items() if known == key), None)

    def still(self) -> tuple[str, str]:
        """After Stop the standing with posters; before it only how many votes there are."""
        found = self.result
        if not found:
            text = f"Judge: {self.study.question} {self.face.get('said', '')}."
            return text_html(text), text
        rows = []
        for place, row in enumerate(found["rows"], 1):
            poster = self.clip_poster(row["key"]) if place <= 12 else b""
            small = small_poster(poster, max_side=160, max_bytes=1_800)
            told = [row["label"], row["facts"], row["chance"], row["interval"], row["won"]]
            rows.append([str(place), picture_html(small, 'width="96"'), *map(text_html, told)])
        findings = [f"{one} {verb} {other}: {said}" for one, verb, other, said in found["findings"]]
        page = text_html(self.study.question, found["said"]) + table_html(rows) + text_html(*findings)
        return page, f"Judge: {self.study.question} {' | '.join(findings)}"

    @traitlets.observe("voter")
    def _another_voter(self, change: Any) -> None:
        self.study.voter = change["new"].strip()
        if self._endings:
            self.refresh()

    def _show(self, pair: Pair) -> None:
        """Shows a pair, and only then looks for the next one, which may take a moment."""
        self._shown = pair
        left, right = [self._keys[clip] for clip in pair]
        self.pair = {"n": self.pair.get("n", 0) + 1, "left": left, "right": right}
        self._next = self.study.pair([pair])
        self.upcoming = [self._keys[clip] for clip in self._next]

    def _on_vote(self, n: int, answer: Any) -> None:
        """An answer to the pair with that number; a second one to the same pair doesn't count."""
        if n != self.pair["n"] or self._shown is None or self._next is None or self._stopped:
            return
        self.study.vote(self._shown, answer)
        self._show(self._next)

    def _on_take_back(self) -> None:
        if (pair := self.study.take_back()) is not None:
            self._show(pair)

    def _on_stop(self) -> None:
        self.playing = False
        self._stopped = True
        first = (job_of(each.clip) for each in self.study.result().standing[:2])
        self._best = tuple(job for job in first if job is not None)
        if len(self._facts) < len(self.clips):
            self._start_work("Looking at the clips", self._look)

    def _on_pick(self) -> None:
        for job in self._best:
            self.session.pick(job)

    def _on_go_on(self) -> None:
        self._stopped = False

    def _on_of(self, voter: str) -> None:
        self._of = voter

    def _on_hand_over(self) -> None:
        self.on_hand_over.tell(tuple(each.clip for each in self.study.result().standing))

    def _look(self) -> None:
        """Measures the clips, each once. One that can't be read any more has no facts."""
        for clip, key in self._keys.items():
            with contextlib.suppress(NotAVideo):
                self._facts[key] = str(clip.checks)
