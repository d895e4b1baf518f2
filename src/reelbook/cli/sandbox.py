"""`reelbook sandbox`: the local service in the foreground, and what runs of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from .. import settings, wire
from ..formatting import dollars
from .console import say
from .options import Home

commands = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The sandbox: the service, on this machine."
)


@commands.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Default: the last one, or a free one.",
            min=1,
            max=65535,
            show_default=False,
        ),
    ] = None,
    pace: Annotated[
        str, typer.Option(help="How long jobs take: at once, brisk, lifelike, or seconds.")
    ] = "brisk",
    idle_minutes: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            help="End after so many minutes without use. Default: never.",
            min=0,
            show_default=False,
        ),
    ] = 0,
    workers: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="How many processes draw.", min=1, show_default=False)
    ] = None,
    rate_limit: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            help="Requests a minute of the notebook's key, when it is made.",
            min=1,
            max=wire.MAX_REQUESTS_PER_MINUTE,
        ),
    ] = wire.DEFAULT_REQUESTS_PER_MINUTE,
    balance: Annotated[
        float | None,
        typer.Option(metavar="USD", help="Set the balance. Default: it stays.", min=0, show_default=False),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(metavar="tcp://…", help="Draw on this Dask cluster.", show_default=False),
    ] = None,
    when_dask_is_lost: Annotated[
        Literal["draw-here", "fail"],
        typer.Option(
            help="What becomes of clips when its scheduler is lost, and not back after 30 s "
            "(Dask's setting distributed.comm.timeouts.connect)."
        ),
    ] = "draw-here",
    home: Home = None,
) -> None:
    """Serve the sandbox until Ctrl-C."""
    from ..sandbox.serving import serve as serve_sandbox

    serve_sandbox(
        settings.home(home),
        host=host,
        port=port,
        pace=_pace(pace),
        idle_minutes=idle_minutes or None,
        workers=workers,
        rate_limit=rate_limit,
        balance_usd=balance,
        dask=dask,
        when_dask_is_lost=when_dask_is_lost,
    )


@commands.command()
def status(home: Home = None) -> None:
    """Say whether a sandbox runs, and what it does."""
    from ..sandbox import server

    running = server.find(settings.home(home))
    if running is None:
        say("No sandbox runs. It starts by itself when a session needs it.")
        return
    state = running.state()
    pace, jobs = state["pace"], state["jobs_under_way"]
    say(f"The sandbox runs at {running.url} (process {running.pid}).")
    say(f"Agent tools: {running.mcp_url}. The user id they ask for is in {running.access_file}.")
    say(
        f"Pace: {pace if isinstance(pace, str) else f'{pace:g} s'}. Jobs under way: {jobs}. "
        f"Balance: {dollars(state['balance_usd'])}. Unused for {state['idle_seconds']:.0f} s."
    )
    if state.get("dask"):
        say(_dask_line(state["dask"]))


@commands.command()
def stop(home: Home = None) -> None:
    """End the sandbox. Unfinished jobs go on when it is started again."""
    from ..sandbox import server

    say("Stopped." if server.stop(settings.home(home)) else "No sandbox runs.")


def _dask_line(dask: Mapping[str, Any]) -> str:
    empty = f"The Dask cluster of {dask['address']} has no workers"
    lost = f"The Dask scheduler at {dask['address']} is lost"
    meanwhile = "are drawn here" if dask["when_lost"] == "draw-here" else "fail"
    if dask["connection"] == "connected":
        if not dask["workers"]:
            return f"{empty}. Clips wait for them for half a minute."
        return f"Drawn on the Dask cluster of {dask['address']}. Workers there: {dask['workers']}."
    if dask["connection"] == "reconnecting":
        return f"{lost}. Clips wait while it is looked for."
    if dask["connection"] == "without workers":
        return f"{empty}. Until it has some, clips {meanwhile}."
    return f"{lost}. Until it is back, clips {meanwhile}."


def _pace(text: str) -> str | float:
    from ..sandbox.jobs import checked_pace

    try:
        seconds = float(text)
    except ValueError:
        seconds = None
    try:
        return checked_pace(text if seconds is None else seconds)
    except ValueError as error:
        raise typer.BadParameter(f"The {error}.", param_hint="--pace") from None
