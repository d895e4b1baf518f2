"""`reelbook generate`: one clip from the terminal, from its cost to its file.

Sending and Ctrl-C are in `carrying`, how the waiting looks in `waiting`, where the file goes in `saving`.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from .. import wire
from ..errors import InvalidInput
from .options import Home, Service
from .output import say

if TYPE_CHECKING:
    from ..session import JobRequest, Session
    from .saving import Target


def generate(
    prompt: Annotated[
        str | None,
        typer.Argument(
            help="What is seen and how it moves. With --image: how the picture moves.", show_default=False
        ),
    ] = None,
    image: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A still to move, instead of text alone.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write. Default: named by prompt and seed.",
            show_default=False,
        ),
    ] = None,
    duration: Annotated[
        int, typer.Option(metavar="SECONDS", help="Length in seconds, 1 to 10.")
    ] = wire.DEFAULT_SECONDS,
    ratio: Annotated[
        str | None,
        typer.Option(metavar="SHAPE", help="16:9 (the default), 9:16 or 1:1.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="The same seed makes the same clip. Default: random.", show_default=False
        ),
    ] = None,
    service: Annotated[
        Service, typer.Option(help="auto: live where a key and an address are configured, else the sandbox.")
    ] = Service.auto,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Send to a live service without being asked.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    resume: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Take up a job that was sent before.", show_default=False),
    ] = None,
    home: Home = None,
) -> None:
    """Make a clip and write it to a file.

    From text, or with --image from a still. The cost is shown before anything is sent; a live service is
    sent to only after a yes. Ctrl-C ends the waiting, not the job, and says how to take it up again.
    """
    from ..session import connect
    from ..session.clip import clip_file_name
    from .carrying import carry
    from .saving import Target, figures

    if (prompt is None) == (resume is None):
        both = "" if prompt is None else ", not both"
        raise typer.BadParameter(f"Give a prompt, or --resume with the id of a job{both}.")
    request = None if prompt is None else _request(prompt, image, duration, ratio, seed)
    if resume is not None and (image, ratio, seed) != (None, None, None):
        raise typer.BadParameter("--resume takes up a job as it was sent: no --image, --ratio or --seed.")
    target = Target.checked(output, clip_file_name(request, resume or ""), force=force)
    with connect(service.value, home=home) as session:
        if request is not None:
            _tell_cost(session, request)
            if session.service == "live" and not yes:
                _ask_consent()
        clip = carry(session, request or resume or "", resuming=_resuming(target, service, home))
    target.save(clip.path)
    say(f"{target.path}: {figures(clip)}")


def _request(
    prompt: str, image: Path | None, duration: int, ratio: str | None, seed: int | None
) -> JobRequest:
    """What was asked for, checked before anything is started or sent. Raises InvalidInput."""
    from ..requests import JobRequest

    if image is None:
        return JobRequest.from_text(
            prompt,
            duration_seconds=duration,
            aspect_ratio=ratio or wire.DEFAULT_ASPECT_RATIO,
            seed=wire.RANDOM_SEED if seed is None else seed,
        )
    if ratio is not None or seed is not None:
        raise InvalidInput("A clip from an image has no --ratio and no --seed: the service takes none.")
    request = JobRequest.from_image(image, prompt, duration_seconds=duration)
    if request.image is not None and request.image.notes:
        say(f"{image.name}: {', '.join(request.image.notes)}", err=True)
    return request


def _tell_cost(session: Session, request: JobRequest) -> None:
    where = "sandbox"
    if session.service == "live":
        where = f"live service at {urlsplit(session.base_url).netloc}"
    price, cost = wire.PRICE_USD_PER_SECOND, request.estimated_cost_usd
    say(f"{request.duration_seconds} s × ${price:.2f} = about ${cost:.2f}, {where}", err=True)
    for note in session._spending_notes(cost):
        say(note, err=True)


def _ask_consent() -> None:
    if not sys.stdin.isatty():
        raise InvalidInput(
            "This costs money, and nobody is here to be asked. Nothing was sent. --yes sends it unasked."
        )
    if not typer.confirm("Send it?", default=False, err=True):
        say("Nothing was sent.", err=True)
        raise typer.Exit(1)


def _resuming(target: Target, service: Service, home: Path | None) -> str:
    """The command that takes a job up again, all but the id at its end."""
    words = ["reelbook", "generate", "-o", str(target.path)]
    if target.force:
        words.append("--force")
    if service is not Service.auto:
        words += ["--service", service.value]
    if home is not None:
        words += ["--home", str(home)]
    return f"{shlex.join(words)} --resume"
