"""`reelbook jobs`: the clips that were asked for, what is known of each, and taking up the unfinished ones.

All but `resume` read the ledger alone (`job_lookup`). A person at a terminal gets tables and sentences; a
program gets JSON, or a line for each job whose fields and order never change.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from .. import settings, states, wire
from ..errors import InvalidInput
from ..formatting import count, dollars, file_size, iso_time, price, seconds, terminal_line
from ..lazy_module import LazyModule
from ..requests import options
from .console import say, say_data, say_json, shell_word, stoppable, with_commands
from .options import AsJson, Force, Group, Home, Service, option

if TYPE_CHECKING:
    from rich.table import Table

    from ..ledger import Entry
    from ..session import Job, Session
    from ..widgets.handing_over import Handed
    from . import job_lookup
    from .job_lookup import JobLookup
else:  # help and bad usage don't load the ledger
    job_lookup = LazyModule("reelbook.cli.job_lookup")

ID_CHARACTERS = 10
EXPERIMENT_CHARACTERS = 14
LABEL_CHARACTERS = 13
WIDE_ENOUGH_FOR_TIMES, WIDE_ENOUGH_FOR_LENGTHS, WIDE_ENOUGH_FOR_BOTH = 60, 72, 90
EXPERIMENTS_NAMED = 5
COLOURS: Final = {"done": "green", "fail": "red", "odd": "yellow"}
_TIMES: Final = {
    "written down": "intended_at",
    "sent": "sent_at",
    "accepted": "accepted_at",
    "ended": "ended_at",
    "fetched": "downloaded_at",
    "given up": "abandoned_at",
}
JSON_FIELDS: Final = (
    *("experiment", "estimated_cost_usd", "cost_usd"),
    *_TIMES.values(),
    *("took_seconds", "actual_seconds", "clip_path", "error", "progress", "video_url", "image_digest"),
)
# A row's fields, which never change, and what a job's document calls them.
ROW_FIELDS: Final = {
    "number": "number",
    "when": "intended_at",
    "state": "state",
    "seconds": "duration_seconds",
    "cost_usd": "cost_usd",
    "estimate_usd": "estimated_cost_usd",
    "id": "id",
    "service": "service",
    "experiment": "experiment",
    "prompt": "prompt",
}

commands = Group(no_args_is_help=False, invoke_without_command=True)

Which = Annotated[Service, typer.Option(help="auto: every service that this home knows.")]


@commands.callback()
def jobs(
    ctx: typer.Context,
    text: Annotated[
        str | None, option("Only prompts with words that begin like these.", metavar="WORDS")
    ] = None,
    state: Annotated[
        list[str] | None,
        # Named: typer 0.27 would write it as its metavar.
        option(
            f"Only in this state: {states.listed()}. May be given several times.", "--state", metavar="STATE"
        ),
    ] = None,
    since: Annotated[
        str | None, option("From this time on: 2026-11-21, or how long ago: 2h, 3d.", metavar="TIME")
    ] = None,
    until: Annotated[str | None, option("Before this time, written as for --since.", metavar="TIME")] = None,
    min_cost: Annotated[float | None, option("Only what cost at least this much.", metavar="USD")] = None,
    max_cost: Annotated[float | None, option("Only what cost at most this much.", metavar="USD")] = None,
    experiment: Annotated[str | None, option("Only of this experiment.", metavar="NAME")] = None,
    picked: Annotated[bool, option("Only the picked ones.", "--picked")] = False,
    limit: Annotated[int, option("How many at most, newest first. Default: 20.", min=1, max=10**9)] = 20,
    service: Which = "auto",
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List the clips that were asked for, and what they cost.

    It reads the ledger on this machine: no service is asked, and no key is needed. On a terminal it is a
    table, elsewhere one line a job with tabs between its fields.
    """
    if ctx.invoked_subcommand is not None:
        _refuse_filters(ctx)
        ctx.default_map = {ctx.invoked_subcommand: {"home": home}}
        return
    filters: dict[str, Any] = {
        "text": text,
        "since": None if since is None else job_lookup.parse_time(since),
        "until": None if until is None else job_lookup.parse_time(until),
        "min_cost_usd": min_cost,
        "max_cost_usd": max_cost,
        "experiment": experiment,
        "picked": picked or None,
    }
    from ..ledger.search import named_states

    with job_lookup.open_lookup(home, service) as lookup:
        filters["state"] = named_states(state, lookup.file) if state else None
        _print_list(lookup, filters, limit, as_json=as_json)


@commands.command(short_help="Show all that is known of one job.")
def show(
    wanted: Annotated[
        str, typer.Argument(metavar="ID", help="The job's id, the beginning of it, or its number: '#12'.")
    ],
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show all that is known of one job: what was asked for, its times, costs, clip and error."""
    with job_lookup.open_lookup(home, "auto") as lookup:
        entry = lookup.one(wanted)
        if as_json:
            say_json(_job_fields(lookup, entry))
        else:
            _print_job(lookup, entry)


@commands.command()
def receipt(
    experiment: Annotated[
        str | None, typer.Argument(help="The experiment. Default: all clips of this home.")
    ] = None,
    csv: Annotated[
        Path | None,
        option("Write it to this file, for a spreadsheet; “-” prints it.", dir_okay=False, allow_dash=True),
    ] = None,
    force: Force = False,
    service: Which = "auto",
    home: Home = None,
) -> None:
    """Say what an experiment's clips cost, one by one and in all.

    It reads the ledger on this machine. What was refused or taken back cost nothing and isn't in it.
    """
    from ..account.receipt import receipt_of
    from ..ledger.search import ALL_ENTRIES
    from ..saved_files import target_file

    if csv is not None and str(csv) != "-":
        target_file(csv, csv.name, remedy="--force replaces it", overwrite=force)
    with job_lookup.open_lookup(home, service) as lookup:
        entries = lookup.find(experiment=experiment, limit=ALL_ENTRIES)
        by_tools = [] if experiment is not None else lookup.everywhere(lambda each: each.tool_jobs.list())
        bought = receipt_of(entries, lookup.services, experiment, by_tools)
        if experiment is not None and not bought.rows:
            names = dict.fromkeys(lookup.everywhere(lambda each: each.experiments()))
            listed = ", ".join(f"“{terminal_line(name)}”" for name in list(names)[:EXPERIMENTS_NAMED])
            others = f" The last ones are {listed}." if listed else ""
            raise InvalidInput(f"Nothing was bought in an experiment called “{experiment}”.{others}")
    if csv is None:
        say(str(bought))
    elif str(csv) == "-":
        say_data(bought.to_csv())
    else:
        bought.to_csv(csv)
        say(f"{csv}: {bought.summary}")


@commands.command(short_help="Hand clips over: one page that plays from the disk.")
def export(
    file: Annotated[Path, typer.Argument(help="The page (.html), or a zip of it with the clips (.zip).")],
    wanted: Annotated[
        list[str] | None, typer.Argument(help="The clips. Default: the picked ones.", metavar="ID")
    ] = None,
    title: Annotated[str, option("The page's title. Default: what the prompts have in common.")] = "",
    no_prompts: Annotated[bool, option("Leave the prompts out.", "--no-prompts")] = False,
    no_seeds: Annotated[bool, option("Leave the seeds out.", "--no-seeds")] = False,
    no_notes: Annotated[bool, option("Leave the notes out.", "--no-notes")] = False,
    force: Force = False,
    service: Which = "auto",
    home: Home = None,
) -> None:
    """Hand clips over: write them into one page that plays from the disk, without a network.

    It reads the ledger on this machine. Neither key, account nor price is in the page.
    """
    from ..widgets.handing_over import hand_over

    with job_lookup.open_lookup(home, service) as lookup:
        here = _handed(lookup, wanted)
    if not here:
        raise InvalidInput("No clip is picked. Name the clips: reelbook jobs lists their ids.")
    hand_over(
        here,
        file,
        title=title,
        prompts=not no_prompts,
        seeds=not no_seeds,
        notes=not no_notes,
        overwrite=force,
    )
    say(f"{file}: {count(len(here), 'clip')}, {file_size(file.stat().st_size)}.")


@commands.command()
def resume(
    wanted: Annotated[
        list[str] | None, typer.Argument(help="The jobs. Default: all unfinished ones.", metavar="ID")
    ] = None,
    find_out: Annotated[
        bool, option("Then ask for the balance, to find out what became of uncertain ones.", "--find-out")
    ] = False,
    alone: Annotated[
        bool, option("With --find-out: nobody else used the account meanwhile.", "--alone")
    ] = False,
    unsent: Annotated[
        bool, option("Send, and pay for, what a program that ended had submitted and not sent.", "--unsent")
    ] = False,
    service: Which = "auto",
    home: Home = None,
) -> None:
    """Watch unfinished jobs until they end, and fetch their clips.

    Without --unsent nothing is submitted and nothing is paid: it asks about jobs that were accepted, and goes
    on with downloads that broke off. Ctrl-C ends the waiting, not the jobs. The exit code is 0 if every clip
    was fetched, else 1.
    """
    if alone and not find_out:
        raise typer.BadParameter("It only makes sense with --find-out.", param_hint="--alone")
    if unsent and wanted:
        raise typer.BadParameter("It sends all of them: leave the ids out.", param_hint="--unsent")
    with job_lookup.open_lookup(home, service) as lookup, ExitStack() as stack:
        left = _chosen(lookup, wanted) if wanted else lookup.unfinished()
        left += (to_send := lookup.left_unsent() if unsent else [])
        doubtful = lookup.uncertain() if find_out else []
        sessions = _sessions(lookup, [*left, *doubtful], home, stack)
        jobs: list[Job] = []
        for account_id, session in sessions.items():
            if wanted:
                jobs += [session.job(each.request_id or "") for each in left if each.account_id == account_id]
            else:
                jobs += _resumed(session, [each for each in to_send if each.account_id == account_id])
        left = [entry for entry in left if entry.account_id not in sessions]
        sent = sum(entry.account_id in sessions for entry in to_send)
        failed = _wait_for_all(jobs, lookup.resume_command, sent=sent) if jobs else 0
        if not jobs and not left:
            say("There is nothing to fetch.", err=True)
        for account_id in sessions.keys() & {entry.account_id for entry in doubtful}:
            say(with_commands(str(sessions[account_id].reconcile(alone=alone))))
        left += [entry for entry in doubtful if entry.account_id not in sessions]
        _say_unreached(lookup, left)
        if elsewhere := lookup.watched_elsewhere():
            say(f"{count(elsewhere, 'clip')} left to another running program, which fetches them.", err=True)
        for line in _open_lines(lookup, find_out=find_out):
            say(line, err=True)
    raise typer.Exit(1 if failed or left else 0)


def _handed(lookup: JobLookup, wanted: list[str] | None) -> list[Handed]:
    from ..explore.study import won_votes
    from ..session.job import clip_of
    from ..widgets.handing_over import Handed

    here = []
    for entry in [lookup.one(each) for each in wanted or ()] or lookup.picked():
        clip = clip_of(entry, sandbox=lookup.service_of(entry) == job_lookup.SANDBOX)
        if clip is not None:
            here.append(Handed(clip, entry.marks.note, won_votes(lookup.ledgers[entry.account_id], clip)))
        elif wanted:
            raise InvalidInput(f"Job {entry.request_id or f'#{entry.id}'} has no clip on this disk.")
    return here


def _refuse_filters(ctx: typer.Context) -> None:
    sources = {name: ctx.get_parameter_source(name) for name in ctx.params if name != "home"}
    given = [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    if given:
        option = given[0].removeprefix("as_").replace("_", "-")
        raise typer.BadParameter(
            f"It is an option of the list. For those of {ctx.invoked_subcommand}: "
            f"reelbook jobs {ctx.invoked_subcommand} -h",
            param_hint=f"--{option}",
        )


def _print_list(lookup: JobLookup, filters: Mapping[str, Any], limit: int, *, as_json: bool) -> None:
    """Prints the jobs to standard output. If a program reads it, the sums go to standard error."""
    found = lookup.find(limit=limit + 1, **filters)
    entries = found[:limit]
    if as_json:
        spend = {
            name: {each: getattr(spent, each) for each in ("spent_usd", "reserved_usd", "uncertain_usd")}
            for name, spent in lookup.spend().items()
        }
        say_json({"jobs": [_job_fields(lookup, each) for each in entries], "spend": spend})
        return
    person = sys.stdout.isatty()
    if not person:
        rows = [_job_row(lookup, entry) for entry in entries]
        say("\n".join(["\t".join(ROW_FIELDS), *rows]))
    elif entries:
        from .screen import Screen

        screen = Screen()
        screen.print(job_table(lookup, entries, screen.width))
    if entries:
        lines = [f"There are older ones: --limit {2 * limit} shows more."] if len(found) > limit else []
        lines += _summary(lookup)
    elif lookup.anything():
        lines = ["No job matches. Without the filters there are some.", *_summary(lookup)]
    else:
        lines = ['No jobs yet. The first one: reelbook generate "a red fox runs through snow"']
    for line in lines:
        say(line, err=not person)


def job_table(lookup: JobLookup, entries: Sequence[Entry], width: int) -> Table:
    """The list as a table for a terminal of `width` characters; a narrow one gets fewer columns."""
    from .screen import Column, table

    several = len(lookup.accounts) > 1
    named = any(entry.experiment for entry in entries)
    lengths = width >= (WIDE_ENOUGH_FOR_BOTH if several or named else WIDE_ENOUGH_FOR_LENGTHS)
    times = width >= WIDE_ENOUGH_FOR_TIMES
    id_characters = _distinct_length(entries) if times else 0  # its number is shorter, and names it as well
    columns = [
        *([Column("When", lambda entry: _short_time(entry.intended_at))] if times else []),
        Column(
            "State",
            lambda entry: entry.shown_state,
            lambda entry: COLOURS.get(states.state(entry.state).tone, ""),
        ),
        Column("Prompt", lambda entry: "★ " * entry.marks.picked + entry.prompt, wide=True),
        *([Column("Length", lambda entry: f"{entry.duration_seconds} s", right=True)] if lengths else []),
        Column("Cost", lambda entry: price(entry.price_usd, entry.charge), right=True),
        Column("Id", lambda entry: (entry.request_id or "")[:id_characters] or f"#{entry.id}"),
    ]
    if several and times:
        columns.append(Column("Service", lookup.service_of))
    if named and times:
        columns.append(
            Column("Experiment", lambda entry: terminal_line(entry.experiment or "", EXPERIMENT_CHARACTERS))
        )
    return table(columns, entries)


def _distinct_length(entries: Sequence[Entry]) -> int:
    """How many characters tell all ids apart, so that what is shown can be copied."""
    ids = {entry.request_id for entry in entries if entry.request_id}
    longest = max(map(len, ids), default=ID_CHARACTERS)
    lengths = range(ID_CHARACTERS, longest)
    return next((each for each in lengths if len({id_[:each] for id_ in ids}) == len(ids)), longest)


def _short_time(epoch_seconds: float) -> str:
    moment = datetime.fromtimestamp(epoch_seconds)
    this_year = moment.year == datetime.now().year
    return moment.strftime("%b %d %H:%M" if this_year else "%b %d  %Y")


def _summary(lookup: JobLookup) -> list[str]:
    """The money of each service, and what is still to be done."""
    lines = []
    sums = lookup.spend()
    for name, spend in sums.items():
        if not spend.committed_usd and len(sums) > 1:
            continue  # a key that was tried and bought nothing
        tools = f" ({dollars(spend.tools_usd)} through agent tools)" if spend.tools_usd else ""
        money = f"{dollars(spend.spent_usd)} spent{tools} · {dollars(spend.reserved_usd)} reserved"
        doubt = " (unanswered, failed or underpriced)" if spend.uncertain_usd else ""
        lines.append(f"{terminal_line(name)}: {money} · {dollars(spend.uncertain_usd)} uncertain{doubt}")
    if unfinished := lookup.unfinished():
        lines.append(
            f"{count(len(unfinished), 'clip')} not here yet. To get what is missing:\n"
            f"  {lookup.resume_command}"
        )
    if elsewhere := lookup.watched_elsewhere():
        lines.append(f"{count(elsewhere, 'clip')} on the way in another running program.")
    return [*lines, *_open_lines(lookup)]


def _open_lines(lookup: JobLookup, *, find_out: bool = False) -> list[str]:
    """What to say of jobs that weren't sent or answered; `find_out` leaves out the unanswered ones."""
    lines = []
    if unsent := lookup.left_unsent():
        lines.append(
            f"{count(len(unsent), 'clip')} not sent before the program ended; nothing was paid. To send what "
            f"is left, for {_estimate(unsent)}:\n  {lookup.resume_command} --unsent"
        )
    if not find_out and (uncertain := lookup.uncertain()):
        lines.append(
            f"{count(len(uncertain), 'clip')} sent, never answered, perhaps billed: "
            f"{_estimate(uncertain)}.\nTo find out from the balance:\n  {lookup.resume_command} --find-out"
        )
    return lines


def _estimate(entries: Sequence[Entry]) -> str:
    return f"about {dollars(sum(entry.estimated_cost_usd for entry in entries))}"


def _print_job(lookup: JobLookup, entry: Entry) -> None:
    say(terminal_line(entry.prompt))
    for label, fact in _facts(lookup, entry):
        if fact:
            say(f"{label:<{LABEL_CHARACTERS}}{terminal_line(fact)}")
    if entry.state == states.UNCERTAIN:
        say(f"It was not sent again. To find out from the balance:\n  {lookup.resume_command} --find-out")
    elif entry.request_id and not states.state(entry.state).missing and _clip_bytes(entry) is None:
        say(f"To get its clip:\n  {lookup.resume_command} {shell_word(entry.request_id)}")


def _facts(lookup: JobLookup, entry: Entry) -> list[tuple[str, str | None]]:
    running = entry.ended_at is None and entry.progress is not None
    progress_now = f", {int((entry.progress or 0) * 100)} %" if running else ""
    ended = "no answer" if states.state(entry.state).group == "uncertain" else "ended"
    labels = [ended if name == "ended_at" else label for label, name in _TIMES.items()]
    moments = zip(labels, (getattr(entry, name) for name in _TIMES.values()), strict=True)
    return [
        ("id", entry.request_id or "none: the service never answered with one"),
        ("number", f"#{entry.id} in this home"),
        ("service", lookup.service_of(entry)),
        ("state", entry.shown_state + progress_now),
        ("error", entry.error and with_commands(entry.error)),
        ("still", entry.image_digest and f"its SHA-256 begins {entry.image_digest[:12]}"),
        *(
            (about.label.lower(), about.words(value))
            for name, about in options().items()
            if (value := entry.record.get(name)) is not None
        ),
        ("made length", None if entry.actual_seconds is None else f"{entry.actual_seconds:g} s"),
        ("cost", _cost_words(entry)),
        *((label, f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M:%S}") for label, at in moments if at),
        ("took", None if entry.took_seconds is None else seconds(entry.took_seconds)),
        ("experiment", entry.experiment),
        ("clip", _clip(entry)),
        ("link", entry.video_url),
    ]


def _cost_words(entry: Entry) -> str:
    if entry.charge == "none":
        return "nothing"
    doubt = {
        states.UNCERTAIN: ", if it was accepted",
        states.LOST: ", billed",
        wire.FAILED: ", if failed jobs are billed: that isn't documented",
    }
    cost = price(entry.price_usd, entry.charge)
    return cost if entry.cost_usd is not None else cost + doubt.get(entry.state, "")


def _clip(entry: Entry) -> str | None:
    if entry.clip_path is None:
        return "not fetched" if entry.state == wire.COMPLETED else None
    size = _clip_bytes(entry)
    return f"{entry.clip_path}" + (": not there any more" if size is None else f" ({file_size(size)})")


def _clip_bytes(entry: Entry) -> int | None:
    try:
        return None if entry.clip_path is None else Path(entry.clip_path).stat().st_size
    except OSError:
        return None


def _job_fields(lookup: JobLookup, entry: Entry) -> dict[str, Any]:
    """All of a job for a program: names and units as in the ledger, times in ISO 8601."""
    kept = {name: getattr(entry, name) for name in JSON_FIELDS}
    size = _clip_bytes(entry)
    return {
        "number": entry.id,
        "id": entry.request_id,
        "service": lookup.service_of(entry),
        "state": entry.shown_state,
        **{name: entry.record.get(name) for name in ("mode", "prompt", *options())},
        **{name: iso_time(value) if name.endswith("_at") else value for name, value in kept.items()},
        "cell": None if entry.place is None else entry.place.cell,
        "nth_in_cell": None if entry.place is None else entry.place.nth,
        "picked": entry.marks.picked,
        "clip_exists": size is not None,
        "clip_bytes": size,
    }


def _job_row(lookup: JobLookup, entry: Entry) -> str:
    fields = _job_fields(lookup, entry) | {"number": f"#{entry.id}"}
    values = (fields[name] for name in ROW_FIELDS.values())
    cells = (f"{each:.4f}" if isinstance(each, float) else str(each or "") for each in values)
    return "\t".join(map(terminal_line, cells))


def _resumed(session: Session, to_send: Sequence[Entry]) -> tuple[Job, ...]:
    """The unfinished jobs of a session, and those that are sent only now; their cost is said first."""
    from ..account.limits import without_spend_warnings

    if to_send:
        say(f"Sending {count(len(to_send), 'clip')} for {_estimate(to_send)}.", err=True)
    with without_spend_warnings():  # beside the cost
        return session.resume(unsent=bool(to_send))


def _chosen(lookup: JobLookup, wanted: Sequence[str]) -> list[Entry]:
    entries = {entry.id: entry for entry in map(lookup.one, wanted)}
    for entry in entries.values():
        if entry.request_id is None:
            raise InvalidInput(
                f"Job #{entry.id} is {terminal_line(entry.state)} and has no id at the service, so nothing "
                f"can be fetched. reelbook jobs show '#{entry.id}' says more."
            )
    return list(entries.values())


def _sessions(
    lookup: JobLookup, entries: Sequence[Entry], home: Path | None, stack: ExitStack
) -> dict[int, Session]:
    """A session for each account that has one of the jobs and is configured."""
    from ..session.connector import connect, connect_own_sandbox

    account_ids = {entry.account_id for entry in entries}
    origins = {account.origin for account in lookup.file.accounts() if account.id in account_ids}
    sessions = []
    if job_lookup.SANDBOX in origins:
        sessions.append(stack.enter_context(connect_own_sandbox(home)))
    key, address = settings.find(settings.API_KEY), settings.find(settings.BASE_URL)
    if key is not None and address is not None and wire.origin(address.value.reveal()) in origins:
        sessions.append(stack.enter_context(connect("live", home=home)))
    return {session._ledger.account.id: session for session in sessions}


def _wait_for_all(jobs: Sequence[Job], again: str, *, sent: int) -> int:
    from .progress import wait_for_jobs

    said = f"{sent} of them sent only now" if sent else "Nothing is submitted"
    say(f"Watching {count(len(jobs), 'job')}. {said}.", err=True)
    stopped = (
        "Stopped waiting; nothing is lost. What runs goes on at the service and is billed. "
        f"To get what is missing:\n  {again}"
    )
    with stoppable(stopped) as ctrl_c:
        failed = wait_for_jobs(jobs, ctrl_c)
    if len(jobs) > 1:
        lost = f", {failed} failed" if failed else ""
        say(f"{count(len(jobs) - failed, 'clip')} fetched{lost}.", err=True)
    return failed


def _say_unreached(lookup: JobLookup, left: Sequence[Entry]) -> None:
    for name, number in Counter(map(lookup.service_of, left)).items():
        say(
            f"{count(number, 'job')} of {terminal_line(name)} left as before: the key that paid isn't "
            f"configured in this terminal. Set {settings.API_KEY} and {settings.BASE_URL}, then run this "
            "again.",
            err=True,
        )
