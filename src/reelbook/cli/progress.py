"""Jobs on their way, followed on the terminal until each has a clip or an error.

Where a person watches there are bars that move in place; elsewhere there are plain lines, one for each
change. The words are those of the panels (`reelbook.text`).
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from ..errors import NotFound, ReelbookError, WaitTimeout
from ..formatting import dollars, file_size, plain, terminal_line
from ..session import Clip, Job, JobView, Session
from ..states import state
from ..text.card import job_face, job_lines, share_done
from .console import CtrlC, say

LOOK_SECONDS = 0.1
SAY_AGAIN_SECONDS = 10.0
ROWS = 12
PROMPT_CHARACTERS = 20
ONE_BAR_CHARACTERS, ROW_BAR_CHARACTERS = 24, 10
OLD_SECONDS = 60.0
UNKNOWN_SECONDS = 8.0  # time for a few answers

ShowJob = Callable[[Job], None]
DescribeEnd = Callable[[Job, Clip | None, Exception | None], tuple[str, bool]]


def wait_for_clip(job: Job, ctrl_c: CtrlC) -> Clip:
    """Waits for one job's clip. Raises what `Job.result` raises, and KeyboardInterrupt after Ctrl-C."""
    taken_up = job.request is None
    with _one_bar() if sys.stderr.isatty() else _one_in_lines() as show:
        while True:
            ctrl_c.check()
            show(job)
            with contextlib.suppress(WaitTimeout):
                return job.result(LOOK_SECONDS)
            if taken_up and job.status is None and isinstance(job.error, NotFound):
                # The watch would go on for minutes, but an id that was never known is probably mistyped.
                raise job.error


def wait_for_jobs(jobs: Sequence[Job], ctrl_c: CtrlC, *, describe_end: DescribeEnd) -> int:
    """Waits for several jobs. Returns how many ended without a clip.

    `describe_end` gives the line to print about a job that ended, and whether it goes to standard error.
    Raises KeyboardInterrupt after Ctrl-C.
    """
    running, idle, failed = list(jobs), set[Job](), 0
    unknown_since: dict[Job, float] = {}
    with _rows() if sys.stderr.isatty() else _rows_in_lines() as display:
        while running:
            ctrl_c.check()
            display.show(running)
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
                    line, is_error = describe_end(job, clip, error)
                    display.say(line, err=is_error)
            if running:
                time.sleep(LOOK_SECONDS)
    return failed


def _outcome(
    job: Job, *, seen_idle: bool, unknown_since: float | None
) -> tuple[Clip | None, Exception | None] | None:
    """The clip or the error of a job that ended, None while it is on its way."""
    if job.running:
        # A watch asks for minutes about a job that the service doesn't know. An old one won't turn up any
        # more, and running the command again asks again.
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


def state_word(job: Job, view: JobView) -> str:
    """The state as the cards name it."""
    return terminal_line(job_face(view, job.request, request_id=job.request_id)["word"])


def progress_figures(job: Job, view: JobView) -> str:
    """How far it is and how long it takes: "62 % · about 9 s left · 14 s so far"."""
    # When the service was asked last is for a card, which has a line for it.
    view, limit = replace(view, asked_seconds_ago=None), Session.of(job).facts.requests_limit
    return " · ".join(plain(line) for line in job_lines(view, None, requests_limit=limit))


def clip_figures(clip: Clip) -> str:
    """What there is to say of a clip in the end: length, size in pixels and bytes, cost."""
    figures = [
        f"{clip.duration_seconds:.1f} s",
        f"{clip.width} × {clip.height}",
        file_size(clip.info.size_bytes),
    ]
    if clip.cost_usd is not None:
        figures.append(dollars(clip.cost_usd))
    if clip.sandbox:
        figures.append("sandbox")
    return ", ".join(figures)


@contextmanager
def _one_bar() -> Iterator[ShowJob]:
    from rich.progress import BarColumn, Progress, TextColumn

    from .screen import Screen

    screen = Screen(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(ONE_BAR_CHARACTERS),
        TextColumn("{task.fields[figures]}", markup=False),
    )
    news = _News(lambda line: screen.print(line))
    progress = Progress(*columns, console=screen, transient=True)
    task = progress.add_task("Sending", total=None, figures="")
    with progress:

        def show(job: Job) -> None:
            view = job.view()
            news.say(job, view)
            share = share_done(view)
            progress.update(
                task,
                description=state_word(job, view),
                figures=progress_figures(job, view),
                total=None if share is None else 1.0,
                completed=share or 0.0,
            )

        yield show


@contextmanager
def _one_in_lines() -> Iterator[ShowJob]:
    news = _News(lambda line: say(line, err=True))
    last = ("", float("-inf"))

    def show(job: Job) -> None:
        nonlocal last
        view, now = job.view(), time.monotonic()
        news.say(job, view)
        word = state_word(job, view)
        if word != last[0] or now - last[1] >= SAY_AGAIN_SECONDS:
            last = (word, now)
            figures = progress_figures(job, view)
            say(f"{word}: {figures}" if figures else word, err=True)

    yield show


class _News:
    """Says once what is new of a job: its id as soon as there is one, and each trouble on the way."""

    def __init__(self, say_line: Callable[[str], None]) -> None:
        self._say_line = say_line
        self._id: str | None = None
        self._error: str | None = None

    def say(self, job: Job, view: JobView) -> None:
        if job.request_id != self._id:
            self._id = job.request_id
            self._say_line(f"The job's id: {terminal_line(self._id or '')}")
        # The error that ends the waiting is said at the end, by the command.
        passing = view.watched and not state(view.state).final
        if passing and view.error is not None and view.error != self._error:
            self._say_line(terminal_line(view.error))
        self._error = view.error


class _Display(Protocol):
    def show(self, running: Sequence[Job]) -> None:
        """Shows how far those are that still run."""

    def say(self, line: str, *, err: bool) -> None:
        """Prints a line that stays."""


@contextmanager
def _rows() -> Iterator[_Display]:
    from rich.progress import BarColumn, Progress, TaskID, TextColumn
    from rich.table import Column

    from .screen import Screen

    screen = Screen(stderr=True)
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[word]}", markup=False),
        BarColumn(ROW_BAR_CHARACTERS),
        TextColumn(
            "{task.fields[figures]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")
        ),
        console=screen,
        transient=True,
        redirect_stdout=False,
    )
    tasks: dict[Job, TaskID] = {}
    rest = progress.add_task("", total=None, word="", figures="", visible=False)

    class Rows:
        def show(self, running: Sequence[Job]) -> None:
            shown = running[:ROWS]
            for gone in tasks.keys() - set(shown):
                progress.remove_task(tasks.pop(gone))
            for job in shown:
                view = job.view()
                share = share_done(view)
                if job not in tasks:
                    name = job.request.prompt if job.request else job.request_id or ""
                    tasks[job] = progress.add_task(
                        terminal_line(name, PROMPT_CHARACTERS), total=None, word="", figures=""
                    )
                progress.update(
                    tasks[job],
                    word=state_word(job, view),
                    figures=progress_figures(job, view),
                    total=None if share is None else 1.0,
                    completed=share or 0.0,
                )
            more = len(running) - len(shown)
            progress.update(rest, description=f"and {more} more", visible=more > 0)

        def say(self, line: str, *, err: bool) -> None:
            if err or sys.stdout.isatty():
                # Through the rows' own screen, which makes room for it.
                screen.print(line, soft_wrap=True)
            else:
                say(line)

    with progress:
        yield Rows()


@contextmanager
def _rows_in_lines() -> Iterator[_Display]:
    words: dict[Job, str] = {}
    said_at = time.monotonic()

    class Lines:
        def show(self, running: Sequence[Job]) -> None:
            nonlocal said_at
            now = time.monotonic()
            for job in running:
                view = job.view()
                word = state_word(job, view)
                if words.get(job) != word:
                    words[job] = word
                    figures = progress_figures(job, view)
                    name = terminal_line(job.request_id or "")
                    say(f"{name}: {word}{f': {figures}' if figures else ''}", err=True)
            if now - said_at >= SAY_AGAIN_SECONDS:
                said_at = now
                say(f"{len(running)} still on the way.", err=True)

        def say(self, line: str, *, err: bool) -> None:
            say(line, err=err)

    yield Lines()
