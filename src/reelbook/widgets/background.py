"""Work that a press starts and that takes a while: it runs beside the panel and keeps the kernel free."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .base import Panel, Tone, problem_text

Step: TypeAlias = Callable[[], str | None]


@dataclass(frozen=True, eq=False)
class StartedWork:
    """Steps that are taken in order, each of them even if the one before it failed."""

    doing: str  # as in "Making the key"
    steps: tuple[Step, ...]


class WorksInBackground(Panel):
    """Runs work on threads of its own, one piece of work of each name at a time.

    The page is told when work begins and when it ends, and what it came to stands under the panel. Work that
    is still under way when the panel is closed ends in silence.
    """

    def __init__(self, **traits: Any) -> None:
        self._work: dict[Hashable, StartedWork] = {}
        super().__init__(**traits)

    def close(self) -> None:
        """Closes the panel. Work under way isn't stopped, but no longer touches the panel."""
        self._work = {}  # not cleared: ipywidgets also closes panels that were refused before they had it
        super().close()

    @property
    def _busy(self) -> bool:
        return bool(self._work)

    def _doing(self, name: Hashable = "") -> str:
        """What the work of that name does at the moment; empty if there is none."""
        work = self._work.get(name)
        return "" if work is None else work.doing

    def _start_work(self, doing: str, *steps: Step, name: Hashable = "") -> bool:
        """Starts a thread that takes the steps; False if work of that name is under way already.

        The texts that the steps return, and their errors, become the message under the panel.
        """
        work = StartedWork(doing, steps)
        try:
            if self._work.setdefault(name, work) is not work:
                return False
            self.say("")
            threading.Thread(
                target=self._run_work, args=(name, work), name="reelbook-panel", daemon=True
            ).start()
        except BaseException:  # an interrupt must not leave the panel busy for ever
            if self._work.get(name) is work:
                del self._work[name]
            raise
        self.refresh()
        return True

    def _forget_work(self) -> None:
        """Whatever is under way ends in silence."""
        self._work = {}

    def _work_ended(self, name: Hashable) -> None:
        """Called on the work's thread before the page is told of the end; for panels that follow up on it."""

    def _run_work(self, name: Hashable, work: StartedWork) -> None:
        texts: list[str] = []
        tone: Tone = "info"
        for step in work.steps:
            try:
                texts.append(step() or "")
            except concurrent.futures.CancelledError:
                pass  # its session was closed
            except Exception as error:
                texts.append(problem_text(error, work.doing))
                tone = "problem"
        with self._sending:  # so that nobody sees the work ended and its message missing
            if self._work.get(name) is not work:
                return
            del self._work[name]
            text = " ".join(filter(None, texts))
            # A success doesn't hide a problem that was shown meanwhile, such as a failed callback's.
            if text and (tone == "problem" or self.message["tone"] != "problem"):
                self.say(text, tone)
            self._work_ended(name)
            self.refresh()
