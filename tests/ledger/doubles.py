"""A clock that the test moves, submissions to record, and other kernels as real processes."""

import contextlib
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from support.ledgers import ledger_in

from reelbook import states
from reelbook.executions import Place
from reelbook.ledger import Entry, Ledger, LedgerFile, Submission
from reelbook.ledger.search import Filter
from reelbook.media.images import PreparedImage
from reelbook.requests import JobRequest
from reelbook.secret import Secret

SERVICE = "https://service.example/base"
KEY = Secret("sk-test-of-the-ledger")

Kernel = Callable[[str], "subprocess.Popen[str]"]

BEGINNING = """
import os, sys, time
from pathlib import Path
from ledger.doubles import KEY, SERVICE, find, fox, intend, intend_many, submitted
from reelbook.errors import LedgerLocked, SpendLimitReached
from reelbook.ledger import LedgerFile
ledger = LedgerFile.open(Path(sys.argv[1])).ledger(SERVICE, KEY)
def say(*words):
    print(*words, flush=True)
def wait():
    sys.stdin.readline()
"""


@dataclass
class Clock:
    """Epoch seconds, which only the test moves."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def fox(
    *,
    image: bytes | None = None,
    experiment: str | None = None,
    place: Place | None = None,
    repeats: int | None = None,
    **asked: Any,
) -> Submission:
    """A submission for 0.25 USD: of a red fox, or of what is `asked`; from a picture of these bytes."""
    given: dict[str, Any] = {"prompt": "a red fox runs through snow", "duration_seconds": 5}
    if image is None:
        given |= {"mode": "text-to-video", "aspect_ratio": "16:9", "seed": 7}
    else:
        given |= {"mode": "image-to-video", "image": PreparedImage(image, "PNG", 1, 1)}
    asked_for = JobRequest(**{**given, **asked})
    return Submission.of(asked_for, experiment=experiment, place=place, repeats=repeats)


def opened(folder: Path, **options: Any) -> contextlib.AbstractContextManager[Ledger]:
    """The test's account in the ledger of that home, for another kernel."""
    return ledger_in(folder, SERVICE, KEY, **options)


def left_open(folder: Path, **options: Any) -> Ledger:
    """The same; the test closes it by `file.close()`."""
    return LedgerFile.open(folder, **options).ledger(SERVICE, KEY)


class Intended(NamedTuple):
    """What became of a submission: an entry, new or of an earlier run."""

    entry: Entry
    new: bool


def intend_many(
    ledger: Ledger, batch: Sequence[Submission], *, limit_usd: float | None = None
) -> list[Intended]:
    """Records the submissions, under that limit."""
    ledger.max_spend_usd = limit_usd
    return [Intended(entry, earlier is None) for entry, earlier in ledger.intend(batch)]


def intend(
    ledger: Ledger, submission: Submission, *, again: bool = False, limit_usd: float | None = None
) -> Intended:
    """Records one submission, under that limit."""
    return intend_many(ledger, [replace(submission, again=again)], limit_usd=limit_usd)[0]


def find(
    ledger: Ledger | LedgerFile,
    *,
    sort: Any = "newest",
    limit: int = 50,
    after: int | None = None,
    **wanted: Any,
) -> list[Entry]:
    """A page of what is wanted."""
    return ledger.find(Filter(**wanted), sort=sort, limit=limit, after=after)


def heard(process: subprocess.Popen[str]) -> str:
    """The next line that a process says."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def race(kernel: Kernel, code: str) -> list[str]:
    """What two kernels say if they run the code at the same moment."""
    kernels = [kernel(f"say('ready')\nwait()\n{code}\nwait()") for _ in range(2)]
    assert [heard(each) for each in kernels] == ["ready"] * 2
    for each in kernels:
        tell(each)
    return [heard(each) for each in kernels]


def tell(process: subprocess.Popen[str]) -> None:
    """Lets a waiting process go on."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def submitted(ledger: Ledger, submission: Submission | None = None, request_id: str | None = None) -> int:
    """The number of a clip in progress, with the service's estimates."""
    entry = intend(ledger, submission or fox()).entry.id
    assert ledger.sending(entry)
    ledger.accepted(entry, request_id or f"req-{entry}", estimated_duration_seconds=40)
    return entry


def uncertain(ledger: Ledger) -> int:
    """The number of a clip that was sent and never answered."""
    entry = intend(ledger, fox()).entry.id
    ledger.sending(entry)
    ledger.ended(entry, states.UNCERTAIN, "no answer")
    return entry


def known(ledger: Ledger, entry_id: int) -> Entry:
    """What the ledger has of it."""
    entry = ledger.get(entry_id)
    assert entry is not None
    return entry
