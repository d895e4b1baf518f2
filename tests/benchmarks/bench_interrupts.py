"""Interrupts the main thread at random moments of everything a session does, and prints what was lost by it.

`PYTHONPATH=src:tests python -m benchmarks.bench_interrupts --times 200`, about a minute. Another kernel
writes to the same ledger meanwhile, and keeps its lock for a while now and then. `--seed` repeats what is
done and how long after its beginning the interrupt comes. Nothing may be lost, stranded or bought twice.
"""

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import options_of, sandbox_process, verdict, with_seed
from support.jumping_time import JumpingLoop
from support.ledgers import forget_requests, ledger_in, rows

import reelbook as rb
from reelbook import timing, wire
from reelbook.errors import WaitTimeout
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.places import Places
from reelbook.states import CANCELLED

WAIT_SECONDS = 60.0
# Interrupts come between these two moments of an action, at each order of magnitude as often.
SOONEST_SECONDS, LATEST_SECONDS = 0.00003, 0.3
SHAPE: Any = {"duration_seconds": 1, "aspect_ratio": "1:1", "seed": 7}

NEIGHBOUR = """
import random, sqlite3, sys, threading, time
from pathlib import Path
from reelbook.ledger import LedgerFile, Submission
from reelbook.requests import JobRequest
from reelbook.secret import Secret
rng, home = random.Random(int(sys.argv[2])), Path(sys.argv[1])
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
with LedgerFile.open(home) as file:
    ledger = file.ledger("https://neighbour.example", Secret("sk-neighbour"))
    lock = sqlite3.connect(home / "ledger.db", isolation_level=None, timeout=20)
    written = 0
    while not ended.is_set():
        theirs = Submission.of(JobRequest.from_text("theirs", duration_seconds=1))
        ((entry, _),) = ledger.intend([theirs])
        ledger.cancelled(entry.id)
        written += 1
        if rng.random() < 0.2:
            lock.execute("BEGIN IMMEDIATE")
            time.sleep(rng.uniform(0, 0.2))
            lock.execute("ROLLBACK")
        time.sleep(rng.uniform(0, 0.02))
    lock.close()
    print(written, len(ledger.find(limit=10**6)), ledger.store.trouble)
"""


class Interrupted:
    """A person who does one thing after the other, and presses Stop within each."""

    def __init__(self, home: Path, rng: random.Random) -> None:
        self.home = home
        self.rng = rng
        self.session = rb.connect("sandbox", home=home)
        self.session.balance()
        self.prompts: list[str] = []
        self.done: Counter[str] = Counter()
        self.slowest_seconds = 0.0

    def once(self) -> None:
        """Does something, is interrupted, and does what a person does next: runs the same again."""
        name = self.rng.choice(("submit", "batch", "result", "spending", "jobs", "connect", "close"))
        action: Callable[[], object] = getattr(self, f"_{name}")
        prompts = [f"clip {len(self.prompts)}-{number}" for number in range(3 if name == "batch" else 1)]
        buys = name in ("submit", "batch")
        if buys:
            self.prompts += prompts
        after = SOONEST_SECONDS * (LATEST_SECONDS / SOONEST_SECONDS) ** self.rng.random()
        until = time.monotonic() + after
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            action(*([prompts] if buys else []))
            while time.monotonic() < until + 1:
                # What was quicker than the interrupt is followed by looks.
                rb.connect("sandbox", home=self.home).spending()
        except KeyboardInterrupt:
            self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - until)
            self.done[name] += 1
        self.session = self._connected()
        if buys:
            self._submit(prompts)
        else:
            self.session.spending()

    def settle(self) -> None:
        """Waits until all is over, as a person does who wants the clips: while one after the other comes."""
        left, deadline = -1, 0.0
        while left != len(self.session.running) or time.monotonic() < deadline:
            if left != len(self.session.running):
                left, deadline = len(self.session.running), time.monotonic() + WAIT_SECONDS
            forget_requests(self.home)
            self.session.resume(unsent=True)  # what close() was quicker with
            for job in self.session.running:
                with contextlib.suppress(WaitTimeout):
                    job.result(1)
            if self.session.spending().of_key.reserved_usd == 0:
                return

    def _connected(self) -> rb.Session:
        session = rb.connect("sandbox", home=self.home)
        if session is not self.session:
            forget_requests(self.home)
            session.balance()
        return session

    def _submit(self, prompts: Sequence[str]) -> None:
        for prompt in prompts:
            self.session.text_to_video(prompt, once=prompt, **SHAPE)

    def _batch(self, prompts: Sequence[str]) -> None:
        # One by one: a batch is one step, and its requests would have one label.
        for prompt in prompts:
            self.session.submit_many([prompt], once=prompt, **SHAPE)

    def _result(self) -> None:
        for job in self.session.running:
            job.result(WAIT_SECONDS)

    def _spending(self) -> None:
        self.session.spending()

    def _jobs(self) -> None:
        for job in self.session.jobs(limit=20):
            job.mark(picked=True)

    def _connect(self) -> None:
        self.session.close()
        rb.connect("sandbox", home=self.home)

    def _close(self) -> None:
        self.session.close()


def faults(home: Path, prompts: Sequence[str]) -> list[str]:
    """What doesn't hold by the service's own records and the ledger's file; none if nothing was lost."""
    jobs = rows(Places(home).database, "SELECT request_id, json_extract(request, '$.prompt') FROM jobs")
    made = dict(map(tuple, jobs))
    with ledger_in(home, "sandbox", server.ensure(home).api_key) as ledger:
        entries = ledger.find(limit=10**6)
        spend = ledger.spend()
    bought = Counter(made.values())
    known = {entry.request_id for entry in entries}
    unended = [entry for entry in entries if entry.state not in (wire.COMPLETED, CANCELLED)]
    found = {
        "accepted and not on the disk": sorted(set(made) - known),
        "bought twice": sorted(prompt for prompt, count in bought.items() if count > 1),
        "never bought": sorted(set(prompts) - set(bought)),
        "not completed": [(entry.prompt, entry.state, entry.error) for entry in unended],
        "still reserved or uncertain": spend.committed_usd - spend.spent_usd,
        "spent, and not for one of these": round(spend.spent_usd - 0.05 * len(made), 6),
    }
    return [f"{what}: {which}" for what, which in found.items() if which]


def run(home: Path, sandbox: Sandbox, times: int, seed: int) -> list[str]:
    """Interrupts so often, and gives each promise that was broken, in words."""
    neighbour = subprocess.Popen(
        [sys.executable, "-c", NEIGHBOUR, str(home), str(seed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    signal.signal(signal.SIGALRM, signal.default_int_handler)  # the system's timer: no thread has to run
    timing.use(timing.Timing(new_loop=JumpingLoop))
    person = Interrupted(home, random.Random(seed))
    while sum(person.done.values()) < times:
        person.once()
    signal.setitimer(signal.ITIMER_REAL, 0)
    person.settle()
    trouble = person.session.facts.trouble
    theirs, _ = neighbour.communicate(timeout=WAIT_SECONDS)
    written, kept, their_trouble = theirs.strip().split(" ", 2)
    person.session.close()
    print(
        f"{dict(person.done)}; heard within {1000 * person.slowest_seconds:.0f} ms. "
        f"{len(person.prompts)} clips; the neighbour wrote {written}."
    )
    broken = faults(home, person.prompts)
    if trouble is not None or their_trouble != "None" or written != kept:
        broken.append(f"the ledger: here {trouble}, at the neighbour's {their_trouble}, {kept} of {written}")
    return broken


def main(arguments: Sequence[str] | None = None) -> int:
    """Interrupts, prints, and returns 1 if a promise was broken."""
    parser = with_seed(options_of(__doc__))
    parser.add_argument("--times", type=int, default=200)
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}, {options.times} interrupts")
    began = time.monotonic()
    with sandbox_process(pace=0, balance_usd=100_000) as sandbox:
        broken = run(sandbox.home, sandbox, options.times, options.seed)
    return verdict(broken, began)


if __name__ == "__main__":
    sys.exit(main())
