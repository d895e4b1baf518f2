"""What `reelbook jobs receipt` prints and writes; what stands in it is the session's `Receipt`."""

from __future__ import annotations

from pathlib import Path

from ..account.receipt import Receipt, receipt_of
from ..errors import InvalidInput
from ..formatting import terminal_line
from ..ledger.account_ledger import ALL_ENTRIES
from .lookup import KnownJobs, known_jobs
from .options import Service
from .output import say, say_data

STDOUT = "-"
NAMED = 5


def show(
    experiment: str | None, csv: Path | None, service: Service, home: Path | None, *, force: bool
) -> None:
    """Prints the receipt, or writes it as CSV. Raises InvalidInput and OSError."""
    if csv is not None and str(csv) != STDOUT and csv.exists() and not force:
        raise InvalidInput(f"{csv} is there already. --force replaces it.")
    with known_jobs(home, service) as known:
        receipt = Receipt((), experiment) if known is None else _receipt(known, experiment)
        if experiment is not None and not receipt.rows:
            said = f"Nothing was bought in an experiment called “{experiment}”."
            raise InvalidInput(said + ("" if known is None else _others(known)))
    if csv is None:
        say(str(receipt))
    elif str(csv) == STDOUT:
        say_data(receipt.to_csv())
    else:
        receipt.to_csv(csv)
        say(f"{csv}: {receipt.summary}")


def _receipt(known: KnownJobs, experiment: str | None) -> Receipt:
    entries = known.find(experiment=experiment, limit=ALL_ENTRIES)
    return receipt_of(entries, known.names, experiment, [] if experiment is not None else known.by_tools())


def _others(known: KnownJobs) -> str:
    names = [name for account in known.accounts for name in known.ledger.annotations.experiments(account)]
    listed = ", ".join(f"“{terminal_line(name)}”" for name in list(dict.fromkeys(names))[:NAMED])
    return f" The last ones are {listed}." if listed else ""
