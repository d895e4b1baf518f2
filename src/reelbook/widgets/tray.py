"""The tray at the Studio's lower edge: the picks of the day, and what they lead to."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import traitlets

from reelbook.explore import Plan
from reelbook.explore.plan import plan
from reelbook.formatting import count
from reelbook.requests import JobRequest
from reelbook.session import Job, Session

from ..text import tray as words
from .base import AsksForBalance, Callbacks
from .bundle import packed
from .clip_serving import ServesClips
from .compare import FEWEST, MOST
from .job_actions import ActsOnJobs

LENGTHS: Final = (5, 10)  # seconds


class Tray(AsksForBalance, ActsOnJobs, ServesClips):
    """Shows the `picks` of today, in the order of picking; hidden while there are none.

    "Compare", "Judge", "Hand over" and "Make longer…" are there if they have callbacks. "Make longer…" first
    says what it costs; its callback gets the jobs bought.
    """

    _esm = packed("tray")

    shown: Any = traitlets.List(help="Keys and prompts of the picks.").tag(sync=True)
    face = traitlets.Dict(help="What the page says of them.").tag(sync=True)
    longer = traitlets.Dict(help="The plan of longer ones; empty: it isn't open.").tag(sync=True)

    on_open = Callbacks[[Job]]("`callback(job)` is called when the poster of a pick is pressed.")
    on_compare = Callbacks[[tuple[Job, ...]]]("`callback(jobs)` is called when Compare is pressed.")
    on_judge = Callbacks[[tuple[Job, ...]]]("`callback(jobs)` is called when Judge is pressed.")
    on_hand_over = Callbacks[[tuple[Job, ...]]]("`callback(jobs)` is called when Hand over is pressed.")
    on_longer = Callbacks[[tuple[Job, ...]]]("`callback(jobs)` is called with longer clips that were bought.")

    def __init__(self, session: Session, **traits: Any) -> None:
        self.session = session
        self.picks: tuple[Job, ...] = ()
        self._seconds = 0  # how long the longer ones are; 0: their plan isn't open
        self._wanted: list[JobRequest] = []
        self._plan: Plan | None = None
        super().__init__(**traits)
        self._endings += (session.subscribe(self._live.changed),)
        self.refresh()

    def update(self) -> None:
        if not self.session.closed:
            today = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
            self.picks = tuple(job for job in self.session.picks(since=today) if job.clip is not None)
            self._plan = self._plan_longer() if self._seconds else None
        number = len(self.picks)
        offers = [
            ("compare", "Compare", self.on_compare and number >= FEWEST),
            ("judge", "Judge", self.on_judge and number >= FEWEST),
            ("hand_over", "Hand over", self.on_hand_over),
            ("longer", "Make longer…", self.on_longer),
        ]
        with self.hold_sync():
            self.shown = [[str(job.number), job.prompt or ""] for job in self.picks]
            self.face = {
                "said": count(number, "pick") if number else "",
                "offers": [[name, label] for name, label, is_offered in offers if is_offered],
                "off": f"At most {MOST} can be compared." if number > MOST else "",
            }
            longer: dict[str, Any] = {}
            if self._plan is not None and number:
                longer = {"lengths": [[each, f"{each} s"] for each in LENGTHS], "seconds": self._seconds}
                longer |= words.longer_words(self._wanted, self._seconds, self._plan)
            self.longer = longer

    def _plan_longer(self) -> Plan:
        asked = (job.request for job in self.picks)
        shorter = [each for each in asked if each and each.complete and each.duration_seconds < self._seconds]
        longer = [replace(each, duration_seconds=self._seconds) for each in shorter]
        self._wanted = [*{each.sameness: each for each in longer}.values()]
        return plan(self.session, self._wanted)

    def _on_open(self, job: Job) -> None:
        self.on_open.tell(job)

    def _on_compare(self) -> None:
        if FEWEST <= len(self.picks) <= MOST:
            self.on_compare.tell(self.picks)

    def _on_judge(self) -> None:
        self.on_judge.tell(self.picks)

    def _on_hand_over(self) -> None:
        self.on_hand_over.tell(self.picks)

    def _on_longer(self, seconds: Any) -> None:
        self._seconds = seconds if seconds in LENGTHS else 0

    def _on_buy(self) -> None:
        if self._plan is None or self._pressed_twice("buy"):
            return
        if self._plan.problems:
            self._on_balance()
            return
        there = self.session._ledger.sweeps.found(self._wanted)
        batch = self.session.submit_many([each for each in self._wanted if each.sameness not in there])
        self._seconds, self._plan = 0, None
        self.on_longer.tell(tuple(batch))

    def _job_of(self, key: object) -> Job | None:
        return next((job for job in self.picks if str(job.number) == str(key)), None)
