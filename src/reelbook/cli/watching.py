"""Several jobs on the terminal: a row for each where a person watches, plain lines where nobody does."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from ..errors import NotFound, ReelbookError, WaitTimeout
from ..formatting import terminal_line
from ..session import Clip, Job
from .interrupts import CtrlC
from .lookup import cut
from .output import say
from .waiting import (
    LOOK_SECONDS,
    SAY_AGAIN_SECONDS,
    figures,
    share,
    state_word,
)

ROWS = 12
PROMPT_CHARACTERS = 20
BAR_CHARACTERS = 10
OLD_SECONDS = 60.0
UNKNOWN_SECONDS = 8.0  # a few answers

Ended = Callable[[Job, Clip | None, Exception | None], tuple[str, bool]]


class _Screen(Protocol):
    def look(self, running: Sequence[Job]) -> None:
        """Shows how far those are that still run."""

    def say(self, line: str, *, error: bool) -> None:
        """Prints a line that stays."""


def watch(jobs: Sequence[Job], ctrl_c: CtrlC, *, ended: Ended) -> int:
    """Waits for all of them; how many have no clip in the end.

    `ended` gives the line to print of a job that ended, and whether it goes to standard error. Raises
    KeyboardInterrupt after Ctrl-C.
    """
    running, idle, failed = list(jobs), set[Job](), 0
    unknown_since: dict[Job, float] = {}
    with _rows() if sys.stderr.isatty() else _lines() as screen:
        while running:
            ctrl_c.check()
            screen.look(running)
            for job in tuple(running):
                if isinstance(job.error, NotFound):
                    unknown_since.setdefault(job, time.monotonic())
                else:
                    unknown_since.pop(job, None)
                outcome = _outcome(job, seen_idle=job in idle, unknown_since=unknown_since.get(job))
                idle = idle - {job} if job.running else idle | {job}
                if outcome is not None:
                    clip, error = outcome
                    running.remove(job)
                    failed += clip is None
                    line, is_error = ended(job, clip, error)
                    screen.say(line, error=is_error)
            if running:
                time.sleep(LOOK_SECONDS)
    return failed


def _outcome(
    job: Job, *, seen_idle: bool, unknown_since: float | None
) -> tuple[Clip | None, Exception | None] | None:
    """The clip or the error of a job that ended, None while it is on its way."""
    if job.running:
        # A watch asks for minutes about a job that the service doesn't know. This one isn't new, and the same
        # command asks again.
        unknown = unknown_since is not None and time.monotonic() - unknown_since >= UNKNOWN_SECONDS
        if not unknown or job.view().elapsed_seconds < OLD_SECONDS:
            return None
        error = job.error
        job.stop_watching()
        return None, error
    if job.clip is None and not seen_idle:
        return None  # its watch is about to begin, or about to say how it ended
    try:
        return job.result(0), None
    except WaitTimeout:
        return None
    except (ReelbookError, OSError) as error:
        return None, error


@contextmanager
def _rows() -> Iterator[_Screen]:
    from rich.progress import BarColumn, Progress, TaskID, TextColumn
    from rich.table import Column

    from .screen import Screen

    console = Screen(stderr=True)
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[word]}", markup=False),
        BarColumn(BAR_CHARACTERS),
        TextColumn(
            "{task.fields[figures]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")
        ),
        console=console,
        transient=True,
        redirect_stdout=False,
    )
    tasks: dict[Job, TaskID] = {}
    rest = progress.add_task("", total=None, word="", figures="", visible=False)

    class Rows:
        def look(self, running: Sequence[Job]) -> None:
            shown = running[:ROWS]
            for gone in tasks.keys() - set(shown):
                progress.remove_task(tasks.pop(gone))
            for job in shown:
                view = job.view()
                full = share(view)
                if job not in tasks:
                    name = cut(job.request.prompt if job.request else job.request_id or "", PROMPT_CHARACTERS)
                    tasks[job] = progress.add_task(name, total=None, word="", figures="")
                progress.update(
                    tasks[job],
                    word=state_word(job, view),
                    figures=figures(job, view),
                    total=None if full is None else 1.0,
                    completed=full or 0.0,
                )
            more = len(running) - len(shown)
            progress.update(rest, description=f"and {more} more", visible=more > 0)

        def say(self, line: str, *, error: bool) -> None:
            if error or sys.stdout.isatty():
                # Through the rows' own console, which makes room for it.
                console.print(line, soft_wrap=True)
            else:
                say(line)

    with progress:
        yield Rows()


@contextmanager
def _lines() -> Iterator[_Screen]:
    words: dict[Job, str] = {}
    said_at = time.monotonic()

    class Lines:
        def look(self, running: Sequence[Job]) -> None:
            nonlocal said_at
            now = time.monotonic()
            for job in running:
                view = job.view()
                word = state_word(job, view)
                if words.get(job) != word:
                    words[job] = word
                    known = figures(job, view)
                    name = terminal_line(job.request_id or "")
                    say(f"{name}: {word}{f': {known}' if known else ''}", err=True)
            if now - said_at >= SAY_AGAIN_SECONDS:
                said_at = now
                say(f"{len(running)} still on the way.", err=True)

        def say(self, line: str, *, error: bool) -> None:
            say(line, err=error)

    yield Lines()
