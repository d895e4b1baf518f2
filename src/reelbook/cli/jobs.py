"""`reelbook jobs`: the clips that were asked for, what is known of each, and taking up the unfinished ones.

Listing and showing read the ledger alone (`lookup`); how that looks is in `listing` and `describing`.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InvalidInput
from .options import Home, Service

commands = typer.Typer(rich_markup_mode=None, invoke_without_command=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for a program to read.")]


@commands.callback()
def jobs(
    ctx: typer.Context,
    text: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS", help="Only where each begins a word of the prompt.", show_default=False
        ),
    ] = None,
    state: Annotated[
        list[str] | None,
        typer.Option(
            help="Only in this state: sending, pending, processing, completed, failed, refused, uncertain, "
            "lost, not-accepted or cancelled. May be given several times.",
            metavar="STATE",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="From this time on: 2026-11-21, or so long ago: 2h, 3d.", show_default=False),
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Before this time, written as for --since.", show_default=False)
    ] = None,
    min_cost: Annotated[
        float | None, typer.Option(metavar="USD", help="At least so much.", show_default=False)
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(metavar="USD", help="At most so much.", show_default=False)
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(help="Only of this experiment.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="At most so many, the newest.", min=1)] = 20,
    service: Annotated[
        Service, typer.Option(help="auto: every service that this home knows.")
    ] = Service.auto,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List the clips that were asked for, and what they cost.

    It reads the ledger on this machine: no service is asked, and no key is needed. On a terminal it is a
    table, elsewhere one line a job with tabs between its fields.
    """
    if ctx.invoked_subcommand is not None:
        _refuse_filters(ctx)
        return
    from .listing import Asked, show
    from .lookup import known_jobs, moment, states_named

    filters: dict[str, Any] = {
        "text": text,
        "since": None if since is None else moment(since),
        "until": None if until is None else moment(until),
        "min_cost_usd": min_cost,
        "max_cost_usd": max_cost,
        "experiment": experiment,
    }
    with known_jobs(home, service) as known:
        filters["state"] = states_named(known, state or [])
        asked = Asked(filters, limit, resuming=resuming_command(service, home))
        show(known, asked, as_json=as_json)


@commands.command("show", short_help="Show all that is known of one job.")
def show_one(
    ctx: typer.Context,
    wanted: Annotated[
        str, typer.Argument(metavar="ID", help="The job's id, the beginning of it, or its number: '#12'.")
    ],
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show all that is known of one job: what was asked for, its times, costs, clip and error."""
    from .describing import show
    from .lookup import known_jobs

    home = home or _home_before(ctx)
    with known_jobs(home, Service.auto) as known:
        if known is None:
            raise InvalidInput("No job was ever sent from this home.")
        show(known, known.one(wanted), as_json=as_json, resuming=resuming_command(Service.auto, home))


@commands.command()
def receipt(
    ctx: typer.Context,
    experiment: Annotated[
        str | None, typer.Argument(help="Which. Default: all clips of this home.", show_default=False)
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            help="Write it to this file, for a spreadsheet; “-” prints it.",
            show_default=False,
            dir_okay=False,
            allow_dash=True,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    service: Annotated[
        Service, typer.Option(help="auto: every service that this home knows.")
    ] = Service.auto,
    home: Home = None,
) -> None:
    """Say what an experiment's clips cost, one by one and in all.

    It reads the ledger on this machine. What was refused or taken back cost nothing and isn't in it.
    """
    from .receipt import show as show_receipt

    show_receipt(experiment, csv, service, home or _home_before(ctx), force=force)


@commands.command()
def resume(
    ctx: typer.Context,
    wanted: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Which. Default: all unfinished ones.", show_default=False),
    ] = None,
    find_out: Annotated[
        bool,
        typer.Option("--find-out", help="Then ask for the balance, to tell what became of uncertain ones."),
    ] = False,
    alone: Annotated[
        bool,
        typer.Option("--alone", help="With --find-out: nobody else used the account meanwhile."),
    ] = False,
    unsent: Annotated[
        bool,
        typer.Option(
            "--unsent", help="Send, and pay for, what a program that ended had submitted and not sent."
        ),
    ] = False,
    service: Annotated[
        Service, typer.Option(help="auto: every service that has unfinished jobs.")
    ] = Service.auto,
    home: Home = None,
) -> None:
    """Take up unfinished jobs, wait for them and fetch their clips.

    Without --unsent nothing is submitted and nothing is paid: it asks about jobs that were accepted, and goes
    on with downloads that broke off. Ctrl-C ends the waiting, not the jobs. It ends in 0 if every clip came
    home, in 1 if not.
    """
    from .resuming import take_up

    home = home or _home_before(ctx)
    if alone and not find_out:
        raise typer.BadParameter("It says how to take what --find-out finds.", param_hint="--alone")
    if unsent and wanted:
        raise typer.BadParameter("It sends all of them: leave the ids out.", param_hint="--unsent")
    again = resuming_command(service, home)
    all_home = take_up(
        wanted or [], service, home, again=again, find_out=find_out, alone=alone, unsent=unsent
    )
    raise typer.Exit(0 if all_home else 1)


def resuming_command(service: Service, home: Path | None) -> str:
    """The command that takes up what is unfinished, for a person to copy."""
    words = ["reelbook", "jobs", "resume"]
    if service is not Service.auto:
        words += ["--service", service.value]
    if home is not None:
        words += ["--home", str(home)]
    return shlex.join(words)


def _home_before(ctx: typer.Context) -> Path | None:
    """The home that was named before the command: `reelbook jobs --home … show ID`."""
    return None if ctx.parent is None else ctx.parent.params["home"]


def _refuse_filters(ctx: typer.Context) -> None:
    given = [name for name in ctx.params if _on_the_command_line(ctx, name)]
    if names := [name for name in given if name != "home"]:
        option = names[0].removeprefix("as_").replace("_", "-")
        raise typer.BadParameter(
            f"It belongs to the list: put it after {ctx.invoked_subcommand}, or leave it out.",
            param_hint=f"--{option}",
        )


def _on_the_command_line(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
