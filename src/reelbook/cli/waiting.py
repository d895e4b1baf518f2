"""A job on the terminal: a bar where a person watches, plain lines where a file or a program reads.

The words are the panels' own (`widgets.words`); what Ctrl-C means is said in `carrying`.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from .. import text as words
from .. import wire
from ..errors import NotFound, WaitTimeout
from ..formatting import terminal_line
from ..session import (
    Clip,
    Job,
    JobView,
    Session,
)
from .interrupts import CtrlC
from .output import say

LOOK_SECONDS = 0.1
SAY_AGAIN_SECONDS = 10.0

Show = Callable[[Job], None]


def wait(job: Job, ctrl_c: CtrlC) -> Clip:
    """Waits for the clip and shows how far it is. Raises what `Job.result` raises, and KeyboardInterrupt."""
    taken_up = job.request is None
    with _bar() if sys.stderr.isatty() else _lines() as show:
        while True:
            ctrl_c.check()
            show(job)
            with contextlib.suppress(WaitTimeout):
                return job.result(LOOK_SECONDS)
            if taken_up and job.status is None and isinstance(job.error, NotFound):
                # The watch would go on for minutes; an id that was never known is more likely a misspelt one.
                raise job.error


def state_word(job: Job, view: JobView) -> str:
    """The state as the cards name it."""
    face = words.job_face(
        view, job.request, request_id=job.request_id, clip=None, service=Session.of(job).service
    )
    return terminal_line(face["word"])


def figures(job: Job, view: JobView) -> str:
    """What is known of the time: "62 % · 14 s so far · about 9 s left"."""
    # When the service was asked last is for a card, which has a line for it.
    view, limit = replace(view, asked_seconds_ago=None), Session.of(job).facts.requests_limit
    return " · ".join(words.plain(line) for line in words.job_lines(view, None, requests_limit=limit))


def share(view: JobView) -> float | None:
    """How full the bar is, from 0 to 1; None while there is no figure."""
    return view.download if view.state == wire.COMPLETED else view.progress


@contextmanager
def _bar() -> Iterator[Show]:
    from rich.progress import BarColumn, Progress, TextColumn

    from .screen import Screen

    console = Screen(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(24),
        TextColumn("{task.fields[figures]}", markup=False),
    )
    said = _Said(lambda text: console.print(text))
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task("Sending", total=None, figures="")
    with progress:

        def show(job: Job) -> None:
            view = job.view()
            said.news(job, view)
            full = share(view)
            progress.update(
                task,
                description=state_word(job, view),
                figures=figures(job, view),
                total=None if full is None else 1.0,
                completed=full or 0.0,
            )

        yield show


@contextmanager
def _lines() -> Iterator[Show]:
    said = _Said(lambda text: say(text, err=True))
    last = ("", float("-inf"))

    def show(job: Job) -> None:
        nonlocal last
        view, now = job.view(), time.monotonic()
        said.news(job, view)
        word = state_word(job, view)
        if word != last[0] or now - last[1] >= SAY_AGAIN_SECONDS:
            last = (word, now)
            known = figures(job, view)
            say(f"{word}: {known}" if known else word, err=True)

    yield show


class _Said:
    """What is said once: the id as soon as there is one, and each trouble on the way."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._id: str | None = None
        self._error: str | None = None

    def news(self, job: Job, view: JobView) -> None:
        if job.request_id != self._id:
            self._id = job.request_id
            self._say(f"The job's id: {terminal_line(self._id or '')}")
        # The error that ends the waiting is said at the end, by whoever asked.
        passing = view.watched and view.state not in words.FINAL
        if passing and view.error is not None and view.error != self._error:
            self._say(terminal_line(view.error))
        self._error = view.error
