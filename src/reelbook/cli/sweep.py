"""`reelbook sweep`: a prompt with one thing or several varied; planned, bought and resumed."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from ..errors import InvalidInput
from ..formatting import count, dollars, plain, terminal_line
from .console import moving_line, require_yes, say, say_json, stoppable, waiting_notice, with_commands
from .options import AsJson, Group, Home, Service, Which, Yes, command_line, open_session, option, with_fields

if TYPE_CHECKING:
    from ..explore import SweepRun
    from ..ledger import SweepRecord

LOOK_SECONDS: Final = 0.1
NAME_CHARACTERS: Final = 40
PLAN: Final = "plan"  # the command that is meant where none is named


class SweepCommands(TyperGroup):
    """The commands of the group; `plan` is meant if the first word names none."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        named = args[0] in self.commands
        return super().resolve_command(ctx, args if named else [PLAN, *args])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and args[0] not in ("-h", "--help"):
            args = [PLAN, *args]
        return super().parse_args(ctx, args)


commands = Group(
    cls=SweepCommands,
    short_help="Vary a prompt: plan, make, resume.",
    help="Vary a prompt: plan the clips, see what they cost, make them, go on where it stopped.\n\n\b\n"
    "  reelbook sweep 'a {animal} runs' --axis animal=fox,heron --seed 1-3\n"
    "  reelbook sweep plan.toml",
)


@commands.command(PLAN, short_help='Plan a sweep and make its clips ("plan" may be omitted).')
@with_fields(several=True)
def plan(
    *,
    template: Annotated[
        str,
        typer.Argument(
            metavar="PLAN", help="A TOML file, or the prompt itself with its {slots} and {one|other} choices."
        ),
    ],
    axis: Annotated[
        list[str] | None,
        option("What fills a slot: animal=fox,heron. May be given several times.", metavar="NAME=VALUES"),
    ] = None,
    asked: dict[str, Any],
    design: Annotated[
        str | None,
        option("Which cells are made: grid (the default), one-at-a-time, sample, pairs, latin-hypercube."),
    ] = None,
    sample: Annotated[int | None, option("This many cells, chosen at random.", metavar="NUMBER")] = None,
    wildcards: Annotated[Path | None, option("Text files for __wildcards__.", file_okay=False)] = None,
    name: Annotated[str | None, option("What it is called in lists and receipts.")] = None,
    dry_run: Annotated[bool, option("Only say what it would cost.", "--dry-run")] = False,
    service: Which = "auto",
    yes: Yes = False,
    home: Home = None,
) -> None:
    """Plan a sweep and make its clips.

    It says how many clips there are, what they cost and how long they take, and asks before it buys more than
    $1.00, or anything at a live service. Ctrl-C buys nothing more; what was sent goes on.

    VALUES may be several, as in --seed 1-4 --ratio 16:9,1:1. A plan as a file:

    \b
        template = "a {animal} in {place}"
        duration_seconds = 2
        [axes]
        animal = ["red fox", "heron"]
        seed = "1-3"
    """
    from ..explore import Sweep, SweepRun
    from ..explore.axes import axis_options

    given: dict[str, Any] = _file(Path(template)) if template.endswith(".toml") else {"template": template}
    options = {"design": design, "sample": sample, "wildcards": wildcards, "name": name}
    given |= {each: value for each, value in options.items() if value is not None}
    sweep = Sweep(**{**given, **axis_options(axis or ()), **asked})
    with open_session(service, home) as session:
        run = SweepRun(session, sweep)
        if not _agreed(run, yes=yes, dry_run=dry_run):
            return
        run.start(confirm=True)
        _follow(run, service, home)


@commands.command(short_help="Go on with the clips that are missing.")
def resume(
    sweep_id: Annotated[str, typer.Argument(metavar="ID", help="The sweep's number in the list.")],
    service: Which = "auto",
    yes: Yes = False,
    home: Home = None,
) -> None:
    """Go on with a sweep: buy exactly the clips that are missing, and wait for the rest.

    What was sent and never answered isn't bought again.
    """
    from ..explore import Sweep

    with open_session(service, home) as session:
        run = Sweep.open(session, sweep_id)
        if run.plan().clips and not _agreed(run, yes=yes, dry_run=False):
            return
        run.resume()
        _follow(run, service, home)


@commands.command(short_help="Buy nothing more of it.")
def stop(
    sweep_id: Annotated[str, typer.Argument(metavar="ID", help="The sweep's number in the list.")],
    service: Which = "auto",
    home: Home = None,
) -> None:
    """Buy nothing more of a sweep, and stop mentioning it. What was sent goes on; `resume` still works."""
    from ..explore import Sweep

    with open_session(service, home) as session:
        Sweep.open(session, sweep_id).stop()
    say("Stopped: nothing more is bought.")


@commands.command("list", short_help="List the sweeps of this key.")
def show_list(service: Which = "auto", as_json: AsJson = False, home: Home = None) -> None:
    """List the sweeps that were run with this key, newest first."""
    with open_session(service, home) as session:
        records = session.sweeps()
    if as_json:
        documents = [{**vars(each), "at": each.at.isoformat()} for each in records]
        say_json({"sweeps": [{name: each[name] for name in each if name != "record"} for each in documents]})
        return
    if not records:
        say("No sweep was run with this key.")
    for each in records:
        name, cost = terminal_line(each.name, NAME_CHARACTERS), dollars(each.cost_usd)
        say(f"{each.id:>4}  {each.at:%Y-%m-%d %H:%M}  {each.state:<9}  {cost:>7}  {name}  ({_counts(each)})")


def _file(path: Path) -> dict[str, Any]:
    from ..explore.axes import refuse_template

    try:
        given = tomllib.loads(path.read_text("utf-8-sig"))  # some editors begin a file with a mark
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} isn't valid TOML: {error}.") from None
    if not isinstance(given.get("template"), str):
        raise InvalidInput(f'{path} has no template. Begin it with: template = "a {{animal}} runs".')
    axes = given.pop("axes", {})
    if not isinstance(axes, dict):
        raise InvalidInput(f"{path}: axes is a table of names and values, below a line [axes].")
    refuse_template(axes)
    given |= axes
    if isinstance(given.get("wildcards"), str):
        given["wildcards"] = path.parent / given["wildcards"]
    if "image" in given:
        images = given["image"] if isinstance(given["image"], list) else [given["image"]]
        given["image"] = [path.parent / each if isinstance(each, str) else each for each in images]
    return given


def _agreed(run: SweepRun, *, yes: bool, dry_run: bool) -> bool:
    """Says the plan and returns whether to buy it. Raises InvalidInput if it can't be, or nobody answers."""
    from ..explore.plan import CONFIRM_ABOVE_USD

    with waiting_notice(run.session):
        planned = run.plan()
    live = run.session.service == "live"
    say(str(planned), err=not dry_run)
    if planned.problems:
        raise InvalidInput("Nothing was sent.")
    if dry_run:
        return False
    if planned.bought and (live or planned.cost_usd > CONFIRM_ABOVE_USD):
        cost = dollars(planned.cost_usd)
        require_yes(f"Make {count(planned.bought, 'clip')} for about {cost}?", yes=yes)
    return True


def _follow(run: SweepRun, service: Service, home: Path | None) -> None:
    """Shows how far it is until nothing more comes. Ctrl-C buys nothing more and says how to go on."""
    again = command_line("sweep", "resume", run.id or "", service=service, home=home)
    words = f"Nothing more is bought; what was sent goes on and is paid. To go on:\n  {again}"
    with stoppable(words) as ctrl_c, moving_line() as show:
        try:
            while not run.wait(LOOK_SECONDS):
                ctrl_c.check()
                show(_so_far(run))
        except KeyboardInterrupt:
            run.stop()
            raise
    _say_end(run, again)


def _say_end(run: SweepRun, again: str) -> None:
    from ..text.matrix import time_words

    for cell in run.cells:
        places = zip(run.sweep.axes, cell.cell.place, strict=True)
        label = terminal_line(", ".join(axis.labels[place] for axis, place in places if len(axis.values) > 1))
        if cell.job is not None and cell.job.clip is not None:
            say(f"{cell.number}\t{label}\t{cell.job.clip.path}")
        elif not cell.left_out:
            reason = f": {cell.job.error}" if cell.job is not None and cell.job.error is not None else ""
            say(f"{cell.number}\t{label}\t{cell.state}{with_commands(terminal_line(reason))}", err=True)
    record = next(each for each in run.session.sweeps() if each.id == run.id)
    took = time_words(record.planned_seconds, record.elapsed_seconds)
    say(f"{_counts(record)}, {dollars(record.cost_usd)}, {took}.", err=True)
    if run.trouble is not None:
        say(f"{with_commands(run.trouble)}\n  {again}", err=True)
    if record.counts.get("completed", 0) < len(run.cells) - record.counts.get("left out", 0):
        raise typer.Exit(1)


def _so_far(run: SweepRun) -> str:
    from ..text.matrix import left_line

    planned = run.planned_seconds or (0.0, 0.0, 0.0)
    left = left_line(run.remaining_seconds, planned=planned, elapsed=run.elapsed_seconds)
    return " · ".join(filter(None, [_counts(run), plain(left)]))


def _counts(sweep: SweepRun | SweepRecord) -> str:
    return ", ".join(f"{number} {state}" for state, number in sweep.counts.items())
