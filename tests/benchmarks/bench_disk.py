"""Lets the disk under a session's home fail in mid-session, and prints what was lost or bought twice.

`PYTHONPATH=src:tests python -m benchmarks.bench_disk`, as root (it mounts), about 6 minutes on two cores.

- full: the home is a tmpfs, which another file fills to the last byte for 2 s
- locked: another process holds SQLite's lock for writing for 24 s
- read-only: the home is an ext4 in a file; all of it is made immutable (chattr +i) for 6 s. A remount is
  refused while a ledger is open, and this reaches open files too.

Each with a sweep of 18 clips, with 18 labels of `once=` and with `max_spend` for 10 of 36 clips, in two
kernels in a row: the first is killed or closed 1.5 s after the fault began, or killed after it was over; the
second asks for the same again. The sandbox has a home of its own, and its records say what was bought. To the
kernels it is a live service, as play money may be spent without a ledger. Each POST takes 0.1 s.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import disk_kernel
from benchmarks.command import options_of, sandbox_process, verdict
from benchmarks.disk_kernel import LIMIT, ONCE, SWEEP, Order
from support.ledgers import locked_by_process, rows
from support.waiting import until

import reelbook as rb
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.places import Places

CLIPS = 18
LIMIT_USD = 0.50
POST_SECONDS = 0.1
BOUGHT_BEFORE = 4  # ids that the first kernel has when the fault begins
DURING_SECONDS, AFTER_SECONDS = 1.5, 2.5
WAIT_SECONDS = 240.0
SAID_SECONDS = 1.0
AT_A_TIME = 3

KILLED, CLOSED, LATER = "killed during it", "closed during it", "killed after it"


@dataclass(frozen=True)
class Fault:
    """A home on a disk of its own: `home` gives it, `breaking` breaks it for its block, both for real."""

    name: str
    seconds: float
    home: Callable[[Path], contextlib.AbstractContextManager[None]]
    breaking: Callable[[Path], contextlib.AbstractContextManager[object]]


@contextlib.contextmanager
def tmpfs(home: Path) -> Iterator[None]:
    _run("mount", "-t", "tmpfs", "-o", "size=32m,mode=700", "reelbook", home)
    try:
        yield
    finally:
        _run("umount", "--lazy", home)


@contextlib.contextmanager
def ext4(home: Path) -> Iterator[None]:
    image = home.with_suffix(".ext4")
    with image.open("wb") as file:
        file.truncate(64 * 2**20)
    _run("mkfs.ext4", "-q", "-F", image)
    _run("mount", "-o", "loop", image, home)
    (home / "lost+found").rmdir()
    try:
        yield
    finally:
        _run("umount", "--lazy", home)


@contextlib.contextmanager
def filled(home: Path) -> Iterator[None]:
    filler = home / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    yield
    filler.unlink()


@contextlib.contextmanager
def immutable(home: Path) -> Iterator[None]:
    # Not the index of the journal, which is shared memory: the system would kill whoever writes there.
    everything = ("find", home, "-not", "-name", "*-shm", "-exec", "chattr")
    _run(*everything, "+i", "{}", "+")
    yield
    _run(*everything, "-i", "{}", "+")


FAULTS = (
    Fault("full", 2.0, tmpfs, filled),
    Fault("locked", 24.0, tmpfs, locked_by_process),
    Fault("read-only", 6.0, ext4, immutable),
)


def _run(*command: str | Path) -> None:
    subprocess.run([str(each) for each in command], check=True, capture_output=True)


class Kernel:
    """A process that carries out an order, and all that it said."""

    def __init__(self, sandbox: Sandbox, order: Order) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("REELBOOK_")}
        environment |= {"REELBOOK_API_KEY": sandbox.api_key.reveal(), "REELBOOK_BASE_URL": sandbox.url}
        folders = [str(Path(str(each.__file__)).parents[1]) for each in (rb, disk_kernel)]
        environment["PYTHONPATH"] = os.pathsep.join(folders)
        self.events: list[dict[str, Any]] = []
        self.said: list[tuple[float, str]] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.disk_kernel", order.as_json()],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._readers = [threading.Thread(target=each) for each in (self._read_events, self._read_said)]
        for each in self._readers:
            each.start()

    def _read_events(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.events.append(json.loads(line))

    def _read_said(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.said.append((time.monotonic(), line))

    def happened(self, event: str) -> bool:
        """Whether it said so. It must not have broken down."""
        assert not self._process.poll(), "".join(line for _, line in self.said)
        return any(each["event"] == event for each in self.events)

    def end(self, *, kill: bool = False) -> None:
        """Kills it, or lets it close its session, and waits for its end."""
        if kill:
            self._process.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(WAIT_SECONDS)
        for each in self._readers:
            each.join()


@dataclass(frozen=True)
class Found:
    """One round: what the kernels received, what the service made and what is on the disk at the end."""

    fault: str
    work: str
    ending: str
    made: dict[str, str]  # the prompt by the id
    cost_usd: float
    received: frozenset[str]
    entries: list[tuple[str, str, str | None, bool]]  # prompt, state, id and whether its clip is there
    said: str
    said_seconds: float | None
    shown_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def twice(self) -> int:
        """Clips that were bought and that nobody asked for."""
        return sum(bought - 1 for bought in Counter(self.made.values()).values())

    @property
    def on_disk(self) -> frozenset[str]:
        return frozenset(each[2] for each in self.entries if each[2] is not None)

    @property
    def named(self) -> frozenset[str]:
        """Ids that standard error names and the disk doesn't have."""
        return frozenset(each for each in self.received - self.on_disk if each in self.said)

    @property
    def gone(self) -> frozenset[str]:
        """Ids that the first kernel took with it."""
        return self.received - self.on_disk - self.named

    @property
    def uncertain(self) -> list[str]:
        return [prompt for prompt, state, _, _ in self.entries if state == "uncertain"]

    @property
    def unexplained(self) -> int:
        """Clips that were bought, and for which the disk has neither id nor uncertain entry."""
        unknown = Counter(prompt for each, prompt in self.made.items() if each not in self.on_disk)
        return (unknown - Counter(self.uncertain)).total()

    def faults(self) -> list[str]:
        """Each promise that doesn't hold."""
        slow = {name: each for name, each in self.shown_seconds.items() if each > SAID_SECONDS}
        promises = {
            f"bought twice: {self.twice}": not self.twice,
            f"the limit is {LIMIT_USD}, it cost {self.cost_usd:.2f}": self.work != LIMIT
            or self.cost_usd <= LIMIT_USD,
            # A kernel that is killed takes with it what it learnt since the disk failed.
            f"ids lost: {len(self.gone)}": not self.gone or self.ending == KILLED,
            f"bought, and the disk knows nothing of it: {self.unexplained}": not self.unexplained,
            f"standard error: {_seconds(self.said_seconds)}": self.said_seconds is not None
            and self.said_seconds <= SAID_SECONDS,
            f"panels: {slow}": self.shown_seconds and not slow,
        }
        return [said for said, holds in promises.items() if not holds]


def round_of(folder: Path, sandbox: Sandbox, fault: Fault, work: str, ending: str) -> Found:
    """One fault, met by two kernels."""
    home = Path(tempfile.mkdtemp(prefix="home-", dir=folder))
    notes = home.with_suffix(".ids")
    notes.touch()

    def kernel(number: int) -> Kernel:
        # A limit is shown by other clips: of equal ones nobody would see that they were bought again.
        which = number if work == LIMIT else 1
        prompts = [f"{home.name} clip {which}-{each} of a red fox" for each in range(CLIPS)]
        limit = LIMIT_USD if work == LIMIT else None
        return Kernel(sandbox, Order(work, prompts, str(home), str(notes), limit))

    with fault.home(home):
        first = kernel(1)
        until(
            lambda: first.happened("connected") and len(notes.read_text().split()) >= BOUGHT_BEFORE,
            WAIT_SECONDS,
        )
        with contextlib.ExitStack() as breaking:
            breaking.enter_context(fault.breaking(home))
            broke_at = time.monotonic()
            mending = threading.Timer(fault.seconds, breaking.close)
            mending.start()
            time.sleep(DURING_SECONDS if ending != LATER else fault.seconds + AFTER_SECONDS)
            first.end(kill=ending != CLOSED)
            second = kernel(2)
            until(lambda: second.happened("over"), WAIT_SECONDS)
            second.end()
            mending.join()
        made = rows(
            Places(sandbox.home).database,
            "SELECT request_id, json_extract(request, '$.prompt') AS prompt, cost_micro FROM jobs"
            " WHERE prompt LIKE ?",
            f"{home.name} %",
        )
        entries = rows(home / "ledger.db", "SELECT prompt, state, request_id, clip_path FROM entries")
        said = [at for at, line in first.said if "ledger" in line]
        shown = [each for each in first.events if each["event"] == "shown"]
        return Found(
            *(fault.name, work, ending),
            made={request_id: prompt for request_id, prompt, _ in made},
            cost_usd=round(sum(cost or 0 for *_, cost in made) / 1e6, 6),
            received=frozenset(notes.read_text().split()),
            entries=[(*each, bool(path) and Path(path).exists()) for *each, path in entries],
            said="".join(line for _, line in first.said + second.said),
            said_seconds=said[0] - broke_at if said else None,
            shown_seconds={each["where"]: each["at"] - broke_at for each in shown},
        )


def _seconds(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.2f} s"


COLUMNS: dict[str, Callable[[Found], object]] = {
    "bought": lambda each: len(each.made),
    "twice": lambda each: each.twice,
    "cost": lambda each: f"${each.cost_usd:.2f}",
    "limit": lambda each: f"${LIMIT_USD:.2f}" if each.work == LIMIT else "-",
    "ids": lambda each: len(each.received),
    "on disk": lambda each: len(each.received & each.on_disk),
    "said only": lambda each: len(each.named),
    "uncertain": lambda each: len(each.uncertain),
    "unexplained": lambda each: each.unexplained,
    "clips": lambda each: sum(whole for *_, whole in each.entries),
    "stderr": lambda each: _seconds(each.said_seconds),
    "facts": lambda each: _seconds(each.shown_seconds.get("facts")),
    "form": lambda each: _seconds(each.shown_seconds.get("form")),
    "card": lambda each: _seconds(each.shown_seconds.get("card")),
    "matrix": lambda each: _seconds(each.shown_seconds.get("matrix")) if each.work == SWEEP else "-",
}


def line(found: Found | None) -> str:
    """A line of the table; its head without a round."""
    head = ("fault", "with", "first kernel") if found is None else (found.fault, found.work, found.ending)
    cells = [(name, name if found is None else str(cell(found))) for name, cell in COLUMNS.items()]
    return f"{head[0]:<10} {head[1]:<10}{head[2]:<17}" + "".join(
        f"{cell:>{max(len(name), 6) + 2}}" for name, cell in cells
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Breaks, prints, and returns 1 if a promise was broken."""
    parser = options_of(__doc__)
    parser.add_argument("--faults", nargs="*", default=[each.name for each in FAULTS], help="only these")
    options = parser.parse_args(arguments)
    if os.geteuid() != 0:
        print("This mounts file systems, so it has to run as root. Nothing was done.", file=sys.stderr)
        return 2
    began = time.monotonic()
    faults = [each for each in FAULTS if each.name in options.faults]
    rounds = list(itertools.product(faults, (SWEEP, ONCE, LIMIT), (KILLED, CLOSED, LATER)))
    found: list[Found] = []
    with sandbox_process(pace=0, balance_usd=100_000) as sandbox, ThreadPoolExecutor(AT_A_TIME) as pool:
        sandbox.fault("stall", endpoint="generate", times=10**6, seconds=POST_SECONDS)
        print(line(None))
        for each in pool.map(lambda each: round_of(sandbox.home.parent, sandbox, *each), rounds):
            found.append(each)
            print(line(each), flush=True)
    broken = [
        f"{each.fault}, {each.work}, {each.ending}: {fault}" for each in found for fault in each.faults()
    ]
    return verdict(broken, began)


if __name__ == "__main__":
    sys.exit(main())
