"""Jobs on their way, followed on the terminal until each has a clip or an error.

A person gets bars that move in place, a program a line for each change. The words are `reelbook.text`'s.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import NotFound, ReelbookError, WaitTimeout
from ..formatting import dollars, file_size, plain, terminal_line
from ..session import Clip, Job, JobView, Session
from ..states import SENDING, state
from ..text.card import ShownJob, job_face, job_lines, share_done
from .console import SAY_AGAIN_SECONDS, CtrlC, say, with_commands

if TYPE_CHECKING:
    from rich.live import Live

LOOK_SECONDS = 0.1
PROMPT_CHARACTERS = 20
BAR_CHARACTERS = 10
OLD_SECONDS = 60.0
UNKNOWN_SECONDS = 8.0  # time for a few answers


def wait_for_clip(job: Job, ctrl_c: CtrlC) -> Clip:
    """Waits for one job's clip. Raises what `Job.result` raises, and KeyboardInterrupt after Ctrl-C.

    The job's id is said as soon as there is one, and so is each trouble on the way.
    """
    taken_up, said_id, said_error = job.request is None, None, None
    with _display(one=True) as display:
        while True:
            ctrl_c.check()
            view = job.view()
            if job.request_id != said_id:
                said_id = job.request_id
                display.say(f"The job's id: {terminal_line(said_id or '')}", err=True)
            # The error that ends the waiting is said at the end, by the command.
            passing = view.watched and not state(view.state).final
            if passing and view.error is not None and view.error != said_error:
                display.say(with_commands(terminal_line(f"{view.error} Reelbook asks again.")), err=True)
            said_error = view.error
            display.show([job])
            with contextlib.suppress(WaitTimeout):
                return job.result(LOOK_SECONDS)
            if taken_up and job.status is None and isinstance(job.error, NotFound):
                # The watch would go on for minutes, but an id that was never known is probably mistyped.
                raise job.error


def wait_for_jobs(jobs: Sequence[Job], ctrl_c: CtrlC) -> int:
    """Waits for several jobs and says what becomes of each. Returns how many ended without a clip.

    Raises KeyboardInterrupt after Ctrl-C.
    """
    running, failed = list(jobs), 0
    known_at = dict.fromkeys(jobs, time.monotonic())
    with _display() as display:
        while running:
            ctrl_c.check()
            display.show(running)
            for job in tuple(running):
                if not isinstance(job.error, NotFound):
                    known_at[job] = time.monotonic()
                ended = _ended(job, unknown_seconds=time.monotonic() - known_at[job])
                if ended is not None:
                    line, without_clip = ended
                    running.remove(job)
                    failed += without_clip
                    display.say(line, err=without_clip)
            if running:
                time.sleep(LOOK_SECONDS)
    return failed


def _ended(job: Job, *, unknown_seconds: float) -> tuple[str, bool] | None:
    """What to say of a job that ended, and whether that was without a clip; None while it is on its way."""
    name = _name(job)
    try:
        clip = job.result(0)
    except WaitTimeout:
        # A watch asks for minutes about a job that the service doesn't know. An old one won't turn up any
        # more, and running the command again asks again.
        if unknown_seconds < UNKNOWN_SECONDS or job.view().elapsed_seconds < OLD_SECONDS:
            return None
        error = job.error
        job.stop_watching()
        return with_commands(f"{name}: {error}"), True
    except (ReelbookError, OSError) as trouble:
        return with_commands(f"{name}: {trouble}"), True
    return f"{clip.path}: {clip_figures(clip)}", False


def _name(job: Job) -> str:
    return terminal_line(job.request_id or f"#{job.entry_id}")


def state_word(job: Job, view: JobView) -> str:
    return terminal_line(job_face(ShownJob(view, job.request, job.request_id))["word"])


def progress_figures(job: Job, view: JobView) -> str:
    """How far it is and how long it takes: "62 % · about 9 s left · 14 s so far"."""
    if view.state == SENDING and view.waiting_seconds is None:
        return ""  # which is all that its word says
    # When the service was asked last is for a card, which has a line for it.
    view, limit = replace(view, asked_seconds_ago=None), Session.of(job).facts.requests_limit
    return " · ".join(plain(line) for line in job_lines(view, requests_limit=limit))


def clip_figures(clip: Clip) -> str:
    """The facts of a fetched clip: length, size in pixels and bytes, cost."""
    size, mark = file_size(clip.info.size_bytes), "sandbox" if clip.sandbox else ""
    cost = "" if clip.cost_usd is None else dollars(clip.cost_usd)
    shape = f"{clip.width} × {clip.height}"
    return ", ".join(filter(None, [f"{clip.duration_seconds:.1f} s", shape, size, cost, mark]))


@contextmanager
def _display(*, one: bool = False) -> Iterator[_Bars | _Lines]:
    """Bars for a person, else lines; those don't say which job it is if there is only `one`."""
    if not sys.stderr.isatty():
        yield _Lines(one)
        return
    from .screen import in_place

    with in_place() as live:
        yield _Bars(live)


class _Bars:
    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, running: Sequence[Job]) -> None:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        from .screen import one_line

        table = Table.grid(padding=(0, 1), expand=True)
        for ratio in (None, None, None, 1):  # the figures are cut to the room that the others leave
            table.add_column(no_wrap=True, ratio=ratio)
        for job in running:
            view, name = job.view(), job.request.prompt if job.request else job.request_id or ""
            share = share_done(view)
            table.add_row(
                terminal_line(name, min(PROMPT_CHARACTERS, self._live.console.width // 4)),
                state_word(job, view),
                ProgressBar(None if share is None else 1.0, share or 0.0, BAR_CHARACTERS),
                one_line(progress_figures(job, view)),
            )
        self._live.update(table)

    def say(self, line: str, *, err: bool) -> None:
        if err or sys.stdout.isatty():
            self._live.console.print(line, soft_wrap=True)  # which makes room for it above the bars
        else:
            say(line)


class _Lines:
    def __init__(self, one: bool) -> None:
        self._one = one
        self._words: dict[Job, str] = {}
        self._said_at = time.monotonic()

    def show(self, running: Sequence[Job]) -> None:
        again = time.monotonic() - self._said_at >= SAY_AGAIN_SECONDS
        for job in running:
            view = job.view()
            word = state_word(job, view)
            if self._words.get(job) != word or (self._one and again):
                self._words[job] = word
                name = "" if self._one else f"{_name(job)}: "
                figures = progress_figures(job, view)
                say(f"{name}{word}{f': {figures}' if figures else ''}", err=True)
        if again:
            self._said_at = time.monotonic()
            if not self._one:
                say(f"{len(running)} still on the way.", err=True)

    def say(self, line: str, *, err: bool) -> None:
        say(line, err=err)
