"""The jobs of a home, found in its ledger: nothing is started, and no service is asked.

No key is needed, as there may be none in this terminal after a crash.
"""

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import typer

from .. import settings, wire
from ..errors import InvalidInput
from ..formatting import terminal_line
from ..ledger import Account, Entry, Ledger, LedgerFile, Spend
from ..ledger.search import Filter
from ..ledger.store import FILE_NAME
from ..secret import quotable, shown
from ..states import UNCERTAIN
from .console import say, with_commands
from .options import Service, command_line

SANDBOX: Final = "sandbox"  # its origin in the ledger, whatever address it has
MATCHES = 10
MATCH_CHARACTERS = 100
_AGO = re.compile(r"(\d+(?:\.\d+)?) ?([smhdw])")
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": wire.DAY_SECONDS, "w": 7 * wire.DAY_SECONDS}

T = TypeVar("T")


class JobLookup:
    """Finds jobs in a home's ledger. `services` has each account's service by its id.

    `resume_command` takes up what is unfinished.
    """

    def __init__(self, file: LedgerFile, service: Service, home: Path | None) -> None:
        self.file = file
        self.resume_command = command_line("jobs", "resume", service=service, home=home)
        everyone = file.accounts()
        self.services = _service_names(everyone)
        self.accounts = [
            each
            for each in everyone
            if service == "auto" or (each.origin == SANDBOX) == (service == "sandbox")
        ]
        # As every session does, they settle what a dead kernel was sending: it is uncertain by now.
        self.ledgers = {each.id: Ledger(file, each) for each in everyone}

    def find(self, *, limit: int, **filters: Any) -> list[Entry]:
        """The newest entries, newest first; the filters are those of `Filter`."""
        found = self.everywhere(lambda ledger: ledger.find(Filter(**filters), limit=limit))
        return sorted(found, key=lambda entry: (entry.intended_at, entry.id), reverse=True)[:limit]

    def one(self, wanted: str) -> Entry:
        """The entry of an id, the beginning of one, or a number such as `#12`. Raises InvalidInput."""
        if not self.anything():
            raise InvalidInput("No job was ever sent from this home.")
        if (exact := self.file.by_request_id(wanted)) is not None:
            return exact
        found = self.file.beginning_with(wanted, limit=MATCHES + 1) if wanted else []
        if len({entry.request_id for entry in found}) == 1:
            return found[0]
        if found:
            jobs = [f"{entry.request_id} {entry.state} {entry.prompt}" for entry in found[:MATCHES]]
            lines = [f"  {terminal_line(each, MATCH_CHARACTERS)}" for each in jobs]
            more = ["  and more"] if len(found) > MATCHES else []
            head = f"Several jobs have ids that begin with “{shown(wanted)}”:"
            raise InvalidInput("\n".join([head, *lines, *more]))
        # A shell takes an unquoted "#12" for a comment, so the number alone will do.
        digits = wanted.removeprefix("#")
        number = int(digits) if digits.isdecimal() and len(digits) < 19 else 0
        if (numbered := self.file.get(number)) is not None:
            return numbered
        raise InvalidInput(
            f"No job in this home has the id or the number “{shown(wanted)}”. reelbook jobs lists what "
            "there is; reelbook generate --resume watches one from elsewhere by its whole id."
        )

    def anything(self) -> bool:
        """Whether any job was ever sent from this home, to whichever service."""
        return bool(self.file.find(limit=1))

    def picked(self) -> list[Entry]:
        """The picked entries, in the order in which they were picked."""
        picks = self.everywhere(lambda ledger: ledger.picks())
        return sorted(picks, key=lambda entry: entry.marks.picked_at or 0.0)

    def service_of(self, entry: Entry) -> str:
        return self.services[entry.account_id]

    def everywhere(self, question: Callable[[Ledger], Iterable[T]]) -> list[T]:
        """The answers of all the services' ledgers."""
        return [each for account in self.accounts for each in question(self.ledgers[account.id])]

    def spend(self) -> dict[str, Spend]:
        """What was spent, reserved and uncertain in USD, at each service by its name."""
        return {self.services[each.id]: self.ledgers[each.id].spend() for each in self.accounts}

    def unfinished(self) -> list[Entry]:
        """Accepted jobs without a clip here that no living kernel looks after, oldest first."""
        return self.everywhere(Ledger.unfinished)

    def watched_elsewhere(self) -> int:
        """How many unfinished jobs another living kernel looks after."""
        everything = self.everywhere(lambda ledger: ledger.unfinished(watched_elsewhere=True))
        return len(everything) - len(self.unfinished())

    def left_unsent(self) -> list[Entry]:
        """What was never sent because its program ended, oldest first."""
        return self.everywhere(Ledger.left_unsent)

    def uncertain(self) -> list[Entry]:
        return self.find(limit=1000, state=UNCERTAIN)


@contextlib.contextmanager
def open_lookup(home: Path | None, service: Service) -> Iterator[JobLookup]:
    """A lookup in a home's ledger; where there is none, in an empty one, which isn't kept."""
    folder = settings.home(home)
    there = (folder / FILE_NAME).exists()
    with LedgerFile.open(folder) if there else LedgerFile.in_memory_only(folder, "") as file:
        for said in filter(None, (file.store.notice, file.store.trouble)):
            say(with_commands(said), err=True)
        yield JobLookup(file, service, home)


def parse_time(text: str) -> float:
    """Epoch seconds of an ISO date or time, or of "2h", "3d" ago. Local time unless it names a zone.

    Raises typer.BadParameter.
    """
    if ago := _AGO.fullmatch(text.strip()):
        return time.time() - float(ago[1]) * _UNIT_SECONDS[ago[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(
            f"{quotable(text)} isn't a time. Write 2026-11-21, 2026-11-21T14:30, or how long ago: "
            "30m, 2h, 3d, 1w."
        ) from None


def _service_names(accounts: list[Account]) -> dict[int, str]:
    hosts = {each.id: re.sub("^https?://|:(80|443)$", "", each.origin) for each in accounts}
    keys = Counter(hosts.values())
    return {
        each.id: f"{hosts[each.id]} key {each.fingerprint[:4]}"
        if keys[hosts[each.id]] > 1
        else hosts[each.id]
        for each in accounts
    }
