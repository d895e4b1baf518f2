"""A job from the terminal: sent or taken up, waited for, and left well when Ctrl-C ends the waiting."""

from __future__ import annotations

import time
from typing import NoReturn

import typer

from .. import wire
from ..account.limits import said_elsewhere
from ..deadlines import Countdown
from ..errors import ReelbookError
from ..formatting import terminal_line
from ..session import (
    Clip,
    Job,
    JobRequest,
    Session,
)
from ..text import dollars
from .interrupts import CtrlC
from .output import say, word
from .waiting import wait

STOPPED = 130  # what a shell says of a program that Ctrl-C ended
ID_SECONDS = 60.0
LOOK_SECONDS = 0.05


def carry(session: Session, wanted: JobRequest | str, *, resuming: str) -> Clip:
    """Sends a request, or takes up the job of an id, and waits for its clip.

    `resuming` is the command that takes the job up again, without the id at its end; it is said wherever the
    job may go on without us. Ctrl-C ends in typer's Exit(130). Raises what `Job.result` raises.
    """
    job: Job | None = None
    with CtrlC() as ctrl_c:
        try:
            with said_elsewhere():  # beside the cost
                job = session.job(wanted) if isinstance(wanted, str) else session.submit(wanted)
            return wait(job, ctrl_c)
        except KeyboardInterrupt:
            if job is None:
                raise
            _stopped(job, ctrl_c, resuming)
        except (ReelbookError, OSError) as error:
            if job is None or isinstance(wanted, str):
                raise
            if job.request_id is not None and job.state != wire.FAILED:
                error.add_note(f"The job was sent. To get its clip:\n  {resuming} {word(job.request_id)}")
            raise


def _stopped(job: Job, ctrl_c: CtrlC, resuming: str) -> NoReturn:
    """Takes the job back if it wasn't sent, else says what becomes of it and how to come back."""
    if job.cancel():
        say("Taken back before it was sent. Nothing was paid.", err=True)
    else:
        _await_id(job, ctrl_c)
        say(_left(job, resuming), err=True)
    raise typer.Exit(STOPPED)


def _await_id(job: Job, ctrl_c: CtrlC) -> None:
    """Waits until the service named the job, or for another Ctrl-C: by its id a paid job is found again."""
    presses = ctrl_c.presses
    countdown = Countdown(ID_SECONDS)
    said = False
    while job.request_id is None and job.error is None and (pause := countdown.next_pause(LOOK_SECONDS)):
        if not said:
            say("Just sent. Waiting for its id; Ctrl-C again gives up on that.", err=True)
            said = True
        if ctrl_c.presses > presses:
            return
        time.sleep(pause)


def _left(job: Job, resuming: str) -> str:
    if job.request_id is None:
        if job.error is not None:
            return str(job.error)
        cost = dollars(job.view().estimated_cost_usd or 0.0)
        return (
            f"It was sent and not answered yet. The service may be making this clip, and may bill {cost}. "
            "Its id isn't known, so it can't be taken up again."
        )
    command = f"To get the clip:\n  {resuming} {word(job.request_id)}"
    if job.state in (wire.COMPLETED, wire.FAILED):
        return f"The job is {terminal_line(job.state)}. {command}"
    return f"Stopped waiting. The job goes on at the service and is billed. {command}"
