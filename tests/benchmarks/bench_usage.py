"""Usage day by day from a real sandbox with 90 uneven days: is it the truth, for how many requests?

Both readings of `days`, costs posted at once and an hour late; a first opening and one the next day. With
`--real-minutes` once more with ten requests a minute enforced and clips submitted meanwhile.

    PYTHONPATH=src:tests python -m benchmarks.bench_usage
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import reelbook as rb
from reelbook.account.usage import DAY_SECONDS, UsageSpan
from reelbook.account.usage_history import UsageHistory
from reelbook.ledger import LedgerFile
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.limits import Admission, Limits
from reelbook.sandbox.protocol import UsageDays

FIRST_PICTURE = 8
_LINE = "{:>4} {:8} {:12} | first opening: {:>8} {:>5} {:>8} | next day: {:>5} {:>8} {}"
Truth = list[tuple[float, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--real-minutes", action="store_true", help="also with the limit enforced")
    options = parser.parse_args()
    print(
        _LINE.format(
            "days", "reading", "posted", "pictures", "wrong", "requests", "wrong", "requests", "reading"
        )
    )
    for days in (30, 90):
        for reading in get_args(UsageDays):
            for late in (0, 3600):
                print(_openings(days, reading, late, options.seed))
    if options.real_minutes:
        print(_beside_work(options.seed))


def _openings(days: int, reading: UsageDays, late: float, seed: int) -> str:
    """Opened, then a clip made three hours later, then opened again after 18 hours."""
    with _service(reading, late) as (sandbox, session):
        truth = _planted(sandbox, seed)
        wrong: list[int] = []
        history = session.usage_history(days)
        history.subscribe(lambda: wrong.append(_wrong(history, truth, reading, late)))
        history.wait(600)
        assert history.spans, history.trouble
        first = history.asked
        pictures, wrong_first = len(wrong), sum(wrong) + _wrong(history, truth, reading, late)
        with _later(3 * 3600):
            clip = session.text_to_video("a fox", duration_seconds=1)
            clip.result(60)
            truth.append((time.time(), 0.05))
        with _later(18 * 3600):
            history.refresh()
            history.wait(600)
            again = _wrong(history, truth, reading, late)
        posted = "an hour late" if late else "at once"
        told = history.reading or "not known"
        return _LINE.format(days, reading, posted, pictures, wrong_first, first, again, history.asked, told)


def _beside_work(seed: int) -> str:
    """The chart refines itself while six clips are made, on a key with ten requests a minute."""
    refused: list[bool] = []
    take = Limits.take

    def counted(*args: Any) -> Admission:
        verdict = take(*args)
        refused.append(not verdict.allowed)
        return verdict

    with mock.patch.object(Limits, "take", counted), _service("rolling", 0) as (sandbox, session):
        truth = _planted(sandbox, seed)
        sandbox.settings(rate_limiting=True)
        began = time.monotonic()
        history = session.usage_history(30)
        moments: dict[int, float] = {}
        history.subscribe(lambda: moments.setdefault(history.asked, time.monotonic() - began))
        jobs = [session.text_to_video(f"a fox, {number}", duration_seconds=1) for number in range(6)]
        for job in jobs:
            job.result(300)
        clips = time.monotonic() - began
        history.wait(1200)
        whole = time.monotonic() - began
        wrong = _wrong(history, truth, "rolling", 0, own=0.3)
        return (
            f"limit enforced, 30 days, 6 clips meanwhile: clips home after {clips:.0f} s, {FIRST_PICTURE} "
            f"answers after {moments[FIRST_PICTURE]:.0f} s, the last day after {whole:.0f} s with "
            f"{history.asked} requests; spans wrong {wrong}, refused {sum(refused)} of {len(refused)}"
        )


@contextmanager
def _service(reading: UsageDays, late: float) -> Iterator[tuple[Sandbox, rb.Session]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        os.environ["REELBOOK_HOME"] = str(home)
        # The ledger holds on to the function itself, which `_later` replaces.
        following = mock.patch.dict(LedgerFile.open.__kwdefaults__, clock=lambda: time.time())
        with following, server.in_thread(home, pace=0, executor=ThreadPoolExecutor(1)) as sandbox:
            sandbox.settings(rate_limiting=False, usage_days=reading, posts_after_seconds=late)
            with rb.connect("sandbox") as session:
                yield sandbox, session


@contextmanager
def _later(seconds: float) -> Iterator[None]:
    """So much later, for the sandbox and the session alike."""
    real = time.time

    def later() -> float:
        return real() + seconds

    with mock.patch("time.time", later):
        yield


def _planted(sandbox: Sandbox, seed: int) -> Truth:
    """90 days, a third of them busy in runs of one to four, several clips on each: (moment, USD)."""
    chance = random.Random(seed)
    chosen: set[int] = set()
    while len(chosen) < 30:
        begins = chance.randrange(90)
        chosen.update(range(begins, min(90, begins + chance.randint(1, 4))))
    now = time.time()
    past: list[dict[str, float]] = [
        {
            "days_ago": max(0.1, day + chance.uniform(0.02, 0.98)),
            "seconds": (seconds := chance.randint(1, 60)),
            "requests": chance.randint(1, 9),
            "usd": seconds / 20,
        }
        for day in sorted(chosen)
        for _ in range(chance.randint(1, 4))
    ]
    sandbox.plant_history(past)
    return [(now - each["days_ago"] * DAY_SECONDS, each["usd"]) for each in past]


def _wrong(history: UsageHistory, truth: Truth, reading: UsageDays, late: float, own: float = 0.0) -> int:
    """How many spans don't tell what was used in them; `own` is what was spent in the last one meanwhile.

    While the reading isn't known the spans are drawn as days back from now and stand for the service's days.
    """
    spans = history.spans
    now = spans[-1].to_at if spans else 0.0

    def edge(at: float) -> float:
        known = history.reading or reading == "rolling" or at == now
        return at if known else (at // DAY_SECONDS + 1) * DAY_SECONDS

    def right(span: UsageSpan) -> bool:
        begin, end = edge(span.from_at), min(edge(span.to_at), time.time() - late)
        used = sum(usd for at, usd in truth if begin < at <= end) + (own if span is spans[-1] else 0.0)
        return abs(span.usd - used) < 1e-6

    return sum(not right(span) for span in spans)


if __name__ == "__main__":
    main()
