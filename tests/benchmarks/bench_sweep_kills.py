"""Kills kernels in the middle of sweeps on a service that loses answers, and times a batch of ten.

`PYTHONPATH=src:tests python -m benchmarks.bench_sweep_kills`, about 6 minutes on two cores. With the `src` of
an earlier version in PYTHONPATH it prints that one's figures, at the same moments with the same `--seed`.

Seven sweeps of 18 cells, each carried on by kernel after kernel, 26 of which are killed: up to 0.3 s after
their first POST arrived, or after 2 s where they have nothing left to send. Then 26 sweeps with one kill
each. Each POST takes 0.1 s, and the answer to every twelfth is lost. What is uncertain in the end is compared
with what the service made.
"""

from __future__ import annotations

import contextlib
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench_disk import CLIPS, POST_SECONDS, Kernel, rows
from benchmarks.command import options_of, with_seed
from benchmarks.disk_kernel import SWEEP, Order
from support.waiting import until

import reelbook as rb
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.places import Places

# How often each sweep's kernel is killed. In the second lot each kill finds a sweep that has much to send.
LOTS = ((4, 4, 4, 4, 4, 3, 3), (1,) * 26)
LATEST_SECONDS, IDLE_SECONDS = 0.3, 2.0
ANSWERED = 11  # then one answer is lost
BATCHES, BATCH = 8, 10  # without its limit the sandbox is taken for one of 100 requests a minute


@dataclass(frozen=True)
class Swept:
    """One sweep: the states of its cells in the end, how many each kill left unanswered, what was made."""

    states: Counter[str]
    in_the_air: list[int]
    made: Counter[str]
    unexplained: int


def swept(folder: Path, sandbox: Sandbox, kills: int, rng: random.Random) -> Swept:
    """A sweep whose kernel is killed so often, and then carried through."""
    home = Path(tempfile.mkdtemp(prefix="home-", dir=folder))
    prompts = [f"{home.name} clip {each} of a red fox" for each in range(CLIPS)]
    order = Order(SWEEP, prompts, str(home), str(home.with_suffix(".ids")), None)
    in_the_air = []
    for _ in range(kills):
        posts = _posts(sandbox)
        kernel = Kernel(sandbox, order)
        until(lambda: kernel.happened("connected"))  # noqa: B023 - called at once
        end = time.monotonic() + IDLE_SECONDS
        while _posts(sandbox) == posts and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, LATEST_SECONDS))
        before = _count(home, "uncertain")
        kernel.end(kill=True)
        in_the_air.append(_count(home, "sending") + _count(home, "uncertain") - before)
    last = Kernel(sandbox, order)
    until(lambda: last.happened("over"), seconds=240)
    last.end()
    made = rows(
        Places(sandbox.home).database,
        "SELECT json_extract(request, '$.prompt') AS prompt, request_id FROM jobs WHERE prompt LIKE ?",
        f"{home.name} %",
    )
    # A cell that was bought again after a refusal has several entries: its last one tells.
    entries = rows(home / "ledger.db", "SELECT prompt, state, request_id FROM entries ORDER BY id")
    known = {each[2] for each in entries}
    unknown = Counter(prompt for prompt, request_id in made if request_id not in known)
    uncertain = Counter(prompt for prompt, state, _ in entries if state == "uncertain")
    return Swept(
        Counter({prompt: state for prompt, state, _ in entries}.values()),
        in_the_air,
        Counter(prompt for prompt, _ in made),
        (unknown - uncertain).total(),
    )


def _posts(sandbox: Sandbox) -> int:
    return int(sandbox.state()["requests"].get("text-to-video", 0))


def _count(home: Path, state: str) -> int:
    return int(rows(home / "ledger.db", "SELECT count(*) FROM entries WHERE state = ?", state)[0][0])


def kills(folder: Path, sandbox: Sandbox, lot: Sequence[int], seed: int) -> int:
    """Prints what became of the cells; how many promises were broken."""
    sandbox.clear_faults()
    for _ in range(60):
        sandbox.fault("stall", endpoint="generate", times=ANSWERED, seconds=POST_SECONDS)
        sandbox.fault("answer_lost", endpoint="generate")
    rng = random.Random(seed)
    found = []
    for number, each in enumerate(lot, 1):
        found.append(swept(folder, sandbox, each, rng))
        print(f"sweep {number}: {dict(found[-1].states)}, in the air {found[-1].in_the_air}", flush=True)
    lost = sum(each["happened"] for each in sandbox.faults() if each["kind"] == "answer_lost")
    states = sum((each.states for each in found), Counter[str]())
    in_the_air = [count for each in found for count in each.in_the_air]
    hit = [count for count in in_the_air if count]
    made = sum((each.made for each in found), Counter[str]())
    twice = made.total() - len(made)
    unexplained = sum(each.unexplained for each in found)
    print(
        f"{sum(lot)} kills in {len(lot)} sweeps of {CLIPS} cells, {lost} answers lost besides: "
        f"{states['completed']} completed, {states['uncertain']} uncertain, "
        f"{states.total() - states['completed'] - states['uncertain']} other; {made.total()} bought, "
        f"{twice} twice, {unexplained} unexplained\n"
        f"{len(hit)} kills fell among submissions and left {max(hit, default=0)} without an answer at most, "
        f"{statistics.fmean(hit or [0]):.1f} in the mean"
    )
    return twice + unexplained


def batches(folder: Path, sandbox: Sandbox) -> None:
    """Prints how long it takes until the last of ten submissions has its id."""
    sandbox.clear_faults()
    sandbox.fault("stall", endpoint="generate", times=10**6, seconds=POST_SECONDS)
    took = []
    with contextlib.closing(
        rb.connect(api_key=sandbox.api_key, base_url=sandbox.url, home=folder / "batches")
    ) as session:
        session.balance()  # its answer says that the limit is lifted
        for number in range(BATCHES):
            began = time.perf_counter()
            batch = session.submit_many([f"batch {number}, clip {each}" for each in range(BATCH)])
            until(lambda: all(job.request_id for job in batch))  # noqa: B023 - called at once
            took.append(time.perf_counter() - began)
            for job in batch:
                job.stop_watching()
    print(
        f"a batch of {BATCH}, each POST {POST_SECONDS:g} s: all ids after {statistics.median(took):.2f} s in "
        f"the median of {BATCHES} ({min(took):.2f} to {max(took):.2f} s)"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints, and returns 1 if something was bought twice or isn't known."""
    parser = with_seed(options_of(__doc__))
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}, reelbook of {Path(rb.__file__).parents[2].name}")
    with tempfile.TemporaryDirectory(prefix="reelbook-sweeps-") as name:
        folder = Path(name)
        sandbox = server.ensure(folder / "sandbox-home")
        try:
            sandbox.settings(pace=0, rate_limiting=False, balance_usd=100_000)
            broken = sum(kills(folder, sandbox, lot, options.seed) for lot in LOTS)
            batches(folder, sandbox)
        finally:
            server.stop(folder / "sandbox-home")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
