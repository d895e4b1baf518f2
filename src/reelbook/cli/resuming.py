"""`reelbook jobs resume`: takes up what is unfinished, at every service that it belongs to.

How the waiting looks is in `watching`. Nothing is submitted, unless what was left unsent is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import typer

from .. import settings
from ..account.limits import said_elsewhere
from ..errors import InvalidInput, ReelbookError
from ..formatting import terminal_line
from ..ledger import SENDING, Account, Entry
from ..ledger.records import origin
from ..session import (
    Clip,
    Job,
    Session,
    connect,
)
from ..text import dollars
from .carrying import STOPPED
from .interrupts import CtrlC
from .listing import plural, uncertain_lines, unsent_lines
from .lookup import SANDBOX, KnownJobs, known_jobs
from .options import Service
from .output import say
from .saving import figures
from .watching import watch


def take_up(
    wanted: Sequence[str],
    service: Service,
    home: Path | None,
    *,
    again: str,
    find_out: bool = False,
    alone: bool = False,
    unsent: bool = False,
) -> bool:
    """Brings the clips of `wanted` home, of all unfinished jobs where it is empty. Whether all came.

    `again` is the command that does it once more. With `unsent` what was never sent is submitted, and paid.
    With `find_out` the balances are compared afterwards, see `Session.reconcile`, which also says what
    `alone` means. Ctrl-C ends in typer's Exit(130). Raises InvalidInput for an id that can't be taken up.
    """
    with known_jobs(home, service) as known:
        if known is None:
            if wanted:
                raise InvalidInput("No job was ever sent from this home.")
            say("No jobs yet, so nothing is unfinished.", err=True)
            return True
        left = _chosen(known, wanted) if wanted else known.unfinished()
        left += (to_send := known.left_unsent() if unsent else [])
        doubtful = known.uncertain() if find_out else []
        with ExitStack() as stack:
            sessions = _sessions(known, [*left, *doubtful], home, stack)
            jobs: list[Job] = []
            for session, account in sessions:
                ours = [entry for entry in left if entry.account_id == account.id]
                if wanted:
                    jobs += [session.job(entry.request_id or "") for entry in ours]
                else:
                    jobs += _resumed(session, [entry for entry in ours if entry in to_send])
                left = [entry for entry in left if entry not in ours]
            failed = _wait(jobs, again) if jobs else 0
            if not jobs and not left:
                say("There is nothing to fetch.", err=True)
            for session, account in sessions:
                if any(entry.account_id == account.id for entry in doubtful):
                    say(str(session.reconcile(alone=alone)))
        reached = {account.id for _, account in sessions}
        left += [entry for entry in doubtful if entry.account_id not in reached]
        _tell_unreached(known, left)
        if elsewhere := known.elsewhere():
            say(f"{plural(elsewhere, 'clip')} left to another program that runs and fetches.", err=True)
        lines = unsent_lines(known, again) + ([] if find_out else uncertain_lines(known, again))
        for line in lines:
            say(line, err=True)
        return not failed and not left


def _resumed(session: Session, to_send: Sequence[Entry]) -> tuple[Job, ...]:
    """The unfinished jobs of a session, with those that are sent only now; their cost is said before."""
    if to_send:
        cost = dollars(sum(entry.estimated_cost_usd for entry in to_send))
        say(f"Sending {plural(len(to_send), 'clip')} for about {cost}.", err=True)
    with said_elsewhere():  # beside the cost
        return session.resume(unsent=bool(to_send))


def _chosen(known: KnownJobs, wanted: Sequence[str]) -> list[Entry]:
    entries = {entry.id: entry for entry in map(known.one, wanted)}
    for entry in entries.values():
        if entry.request_id is None:
            raise InvalidInput(
                f"Job #{entry.id} is {terminal_line(entry.state)} and has no id at the service, so nothing "
                f"can be fetched. reelbook jobs show '#{entry.id}' says more."
            )
    return list(entries.values())


def _sessions(
    known: KnownJobs, entries: Sequence[Entry], home: Path | None, stack: ExitStack
) -> list[tuple[Session, Account]]:
    """A session for each service that has one of the jobs and is configured; others are left alone."""
    account_ids = {entry.account_id for entry in entries}
    origins = {account.origin for account in known.ledger.overview.accounts() if account.id in account_ids}
    sessions = []
    if SANDBOX in origins:
        session = stack.enter_context(connect("sandbox", home=home))
        assert session.sandbox is not None
        sessions.append((session, known.ledger.account(SANDBOX, session.sandbox.api_key)))
    key, address = settings.find(settings.API_KEY), settings.find(settings.BASE_URL)
    if key is not None and address is not None and origin(address.value.reveal()) in origins:
        session = stack.enter_context(connect("live", home=home))
        sessions.append((session, known.ledger.account(session.base_url, key.value)))
    return sessions


def _wait(jobs: Sequence[Job], again: str) -> int:
    """Waits for all of them and says what becomes of each. How many failed."""
    unsent = sum(job.state == SENDING for job in jobs)
    said = f"{unsent} of them sent only now" if unsent else "Nothing is submitted"
    say(f"{plural(len(jobs), 'job')} taken up. {said}.", err=True)
    with CtrlC() as ctrl_c:
        try:
            failed = watch(jobs, ctrl_c, ended=_ended)
        except KeyboardInterrupt:
            say(
                "Stopped waiting; nothing is lost. What runs goes on at the service and is billed. "
                f"To get what is missing:\n  {again}",
                err=True,
            )
            raise typer.Exit(STOPPED) from None
    if len(jobs) > 1:
        words = f"{plural(len(jobs) - failed, 'clip')} fetched"
        say(f"{words}, {failed} failed." if failed else f"{words}.", err=True)
    return failed


def _ended(job: Job, clip: Clip | None, error: Exception | None) -> tuple[str, bool]:
    """What to say of a job that ended, and whether it goes to standard error."""
    if clip is None:
        return f"{terminal_line(job.request_id or f'#{job.entry_id}')}: {error}", True
    try:
        return f"{clip.path}: {figures(clip)}", False
    except ReelbookError as unreadable:
        return f"{clip.path}: {unreadable}", True


def _tell_unreached(known: KnownJobs, left: Sequence[Entry]) -> None:
    """Says which jobs belong to a key or a service that isn't configured here."""
    for name in dict.fromkeys(known.names[entry.account_id] for entry in left):
        count = sum(known.names[entry.account_id] == name for entry in left)
        say(
            f"{plural(count, 'job')} of {terminal_line(name)} left as before: the key that bought "
            f"{'it' if count == 1 else 'them'} isn't configured in this terminal. Set {settings.API_KEY} and "
            f"{settings.BASE_URL}, then run this again.",
            err=True,
        )
