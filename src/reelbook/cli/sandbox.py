"""`reelbook sandbox`: the local service in the foreground, its state, and its end."""

from contextlib import suppress
from typing import Annotated

import typer

from .. import settings, wire
from ..formatting import dollars
from .console import say
from .options import MOST_USD, Group, Home, command_line, option

commands = Group(help="The sandbox: the service, on this machine.")


@commands.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int | None, option("Default: the last one, or a free one.", min=1, max=65535)] = None,
    pace: Annotated[
        str, typer.Option(help="How long jobs take: at once, brisk, lifelike, or seconds.")
    ] = "brisk",
    idle_minutes: Annotated[
        float, option("Stop after this many minutes without use. Default: never.", min=0)
    ] = 0,
    workers: Annotated[int | None, option("How many processes draw.", min=1)] = None,
    rate_limit: Annotated[
        int,
        option(
            "Requests a minute of a new notebook key. Default: 10.", min=1, max=wire.MAX_REQUESTS_PER_MINUTE
        ),
    ] = wire.DEFAULT_REQUESTS_PER_MINUTE,
    balance: Annotated[
        float | None, option("Set the balance. Default: it stays.", metavar="USD", min=0, max=MOST_USD)
    ] = None,
    dask: Annotated[str | None, option("Draw on this Dask cluster.", metavar="tcp://…")] = None,
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
        stop_command=command_line("sandbox", "stop", service="auto", home=home),
    )


@commands.command()
def status(home: Home = None) -> None:
    """Say whether a sandbox is running, and what it is doing."""
    from ..sandbox import server

    running = server.find(settings.home(home))
    if running is None:
        say("No sandbox runs. It starts by itself when a session needs it.")
        return
    state = running.state()
    pace, jobs = state["pace"], state["jobs_under_way"]
    say(f"The sandbox runs at {running.url} (process {running.pid}).")
    say(f"Its page: {running.url}/. The token to sign in with is control_token in {running.access_file}.")
    say(f"Agent tools: {running.mcp_url}. The user id they ask for is in {running.access_file}.")
    say(
        f"Pace: {pace if isinstance(pace, str) else f'{pace:g} s'}. Jobs under way: {jobs}. "
        f"Balance: {dollars(state['balance_usd'])}. Unused for {state['idle_seconds']:.0f} s."
    )
    if dask := state["dask"]:
        where = dask["address"]
        connections = {
            "connected": f"Drawn on the Dask cluster of {where}. Workers there: {dask['workers']}.",
            "without workers": f"The cluster of {where} has no workers. Until it has, clips are drawn here.",
            "lost": f"The Dask scheduler at {where} is lost. Until it is back, clips are drawn here.",
        }
        say(connections[dask["connection"]])


@commands.command()
def stop(home: Home = None) -> None:
    """End the sandbox. Unfinished jobs go on when it is started again."""
    from ..sandbox import server

    say("Stopped." if server.stop(settings.home(home)) else "No sandbox runs.")


def _pace(text: str) -> str | float:
    from ..sandbox.protocol import PACE_IS, is_pace

    given: str | float = text
    with suppress(ValueError):
        given = float(text)
    if not is_pace(given):
        raise typer.BadParameter(f"The {PACE_IS}.", param_hint="--pace")
    return given
