"""`reelbook generate`: one clip from the terminal, from its cost to its file.

The request is checked and the file chosen before anything is sent; `progress` shows the waiting. Ctrl-C takes
a job back that wasn't sent yet, and otherwise waits for its id, by which a paid job can be found again.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

import typer

from .. import states, wire
from ..errors import InvalidInput, ReelbookError
from ..formatting import dollars
from ..requests import FIELDS, JobRequest
from .console import STOPPED, CtrlC, require_yes, say, shell_word
from .options import Force, Home, Which, Yes, command_line, open_session, option, with_fields

if TYPE_CHECKING:
    from ..session import Clip, Job, Session

ID_SECONDS = 60.0
LOOK_SECONDS = 0.05
# What programs would take for another kind of file.
OTHER_ENDINGS: Final = frozenset({".avi", ".gif", ".jpeg", ".jpg", ".mkv", ".png", ".webm", ".webp"})


@with_fields()
def generate(
    *,
    prompt: Annotated[
        str | None, typer.Argument(help="What is seen and how it moves. With --image: how the picture moves.")
    ] = None,
    asked: dict[str, Any],
    output: Annotated[
        Path | None,
        option("The file to write. Default: named by prompt and seed.", "--output", "-o", metavar="FILE"),
    ] = None,
    service: Which = "auto",
    yes: Yes = False,
    force: Force = False,
    resume: Annotated[str | None, option("Watch a job that was sent before.", metavar="ID")] = None,
    home: Home = None,
) -> None:
    """Make a clip and write it to a file.

    From text, or with --image from a still. The cost is shown before anything is sent; nothing goes
    to a live service before a yes. Ctrl-C ends the waiting, not the job, and says how to watch it again.
    """
    from ..session.clip import clip_file_name
    from .progress import clip_figures

    if (prompt is None) == (resume is None):
        both = "" if prompt is None else ", not both"
        raise typer.BadParameter(f"Give a prompt, or --resume with the id of a job{both}.")
    request = None if prompt is None else _request(prompt, asked)
    if resume is not None and asked:
        option = FIELDS[next(iter(asked))].option
        raise typer.BadParameter(f"--resume watches a job as it was sent: leave --{option} out.")
    file = _output_file(output, clip_file_name(request, resume or ""), force=force)
    with open_session(service, home) as session:
        if request is not None:
            _say_cost(session, request)
            if session.service == "live":
                require_yes("Send it?", yes=yes)
        forced = ["--force"] if force else []
        again = command_line("generate", "-o", str(file), *forced, service=service, home=home)
        find_out = command_line("jobs", "resume", "--find-out", service=service, home=home)
        wanted = request or resume or ""
        clip = _make_clip(session, wanted, resume_command=f"{again} --resume", find_out_command=find_out)
    try:
        clip.save(file, overwrite=force)
    except InvalidInput as error:  # a file that is in the way by now
        error.add_note(f"The clip itself is kept: {clip.path}")
        raise
    say(f"{file}: {clip_figures(clip)}")


def _request(prompt: str, asked: dict[str, Any]) -> JobRequest:
    if "image" not in asked:
        return JobRequest.from_text(prompt, **asked)
    request = JobRequest.from_image(prompt=prompt, **asked)
    if request.image is not None and request.image.notes:
        say(f"{asked['image'].name}: {', '.join(request.image.notes)}", err=True)
    return request


def _say_cost(session: Session, request: JobRequest) -> None:
    where = "sandbox"
    if session.service == "live":
        where = f"live service at {urlsplit(session.base_url).netloc}"
    price, cost = wire.PRICE_USD_PER_SECOND, request.estimated_cost_usd
    say(f"{request.duration_seconds} s × {dollars(price)} = about {dollars(cost)}, {where}", err=True)
    for note in session._spending_notes(cost):
        say(note, err=True)


def _make_clip(
    session: Session, wanted: JobRequest | str, *, resume_command: str, find_out_command: str
) -> Clip:
    """Sends a request, or watches the job of an id, and waits for its clip. Ctrl-C ends in typer's Exit(130).

    Wherever the job may go on without us, one of the commands is said: the one that takes it up by its id, or
    the one that finds out what became of it.
    """
    from ..account.limits import without_spend_warnings
    from .progress import wait_for_clip

    def next_step(job: Job) -> str:
        if job.request_id is not None and job.state != wire.FAILED:
            return f"To get its clip:\n  {resume_command} {shell_word(job.request_id)}"
        if job.state in (states.SENDING, states.UNCERTAIN):
            return f"To find out from the balance:\n  {find_out_command}"
        return ""

    job: Job | None = None
    with CtrlC() as ctrl_c:
        try:
            with without_spend_warnings():  # beside the cost
                job = session.job(wanted) if isinstance(wanted, str) else session.submit(wanted)
            return wait_for_clip(job, ctrl_c)
        except KeyboardInterrupt:
            if job is None:
                raise
            if job.cancel():
                say("Taken back before it was sent. Nothing was paid.", err=True)
            else:
                _wait_for_id(job, ctrl_c)
                say(f"{_farewell(job)} {next_step(job)}".rstrip(), err=True)
            raise typer.Exit(STOPPED) from None
        except (ReelbookError, OSError) as error:
            if job is not None and not isinstance(wanted, str) and (command := next_step(job)):
                error.add_note(command)
            raise


def _wait_for_id(job: Job, ctrl_c: CtrlC) -> None:
    """Waits until the service has named the job, or for another Ctrl-C: without its id a paid job is lost."""
    from ..deadlines import Countdown

    presses, countdown = ctrl_c.presses, Countdown(ID_SECONDS)
    if job.request_id is None and job.error is None:
        say("Just sent. Waiting for its id; Ctrl-C again gives up on that.", err=True)
    while job.request_id is None and job.error is None and ctrl_c.presses == presses:
        if not (pause := countdown.next_pause(LOOK_SECONDS)):
            return
        time.sleep(pause)


def _farewell(job: Job) -> str:
    if job.error is not None and (job.request_id is None or job.state == wire.FAILED):
        return str(job.error)
    if job.request_id is None:
        cost = dollars(job.view().estimated_cost_usd or 0.0)
        return (
            f"It was sent and not answered yet. The service may be making this clip, and may bill {cost}. "
            "Its id isn't known, so it can't be watched."
        )
    if job.state == wire.COMPLETED:
        return "The job is completed."
    return "Stopped waiting. The job goes on at the service and is billed."


def _output_file(output: Path | None, default_name: str, *, force: bool) -> Path:
    """The file that a clip goes to. Raises InvalidInput, before it is paid for, if it can't be written."""
    from ..saved_files import target_file

    remedy = "Choose another --output, or --force to replace it"
    path = target_file(output or Path(), default_name, remedy=remedy, overwrite=force)
    if path.suffix.lower() in OTHER_ENDINGS:
        raise InvalidInput(f"A clip is an MP4 file. Name it {path.with_suffix('.mp4')}, not {path.name}.")
    if not os.access(folder := path.absolute().parent, os.W_OK):
        raise InvalidInput(f"The folder {folder} can't be written to. Choose another --output.")
    return path
