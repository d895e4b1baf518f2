"""The ledger's figures: pages of 100,000 and of 5,000 jobs, commits, opening. Prints them, asserts none.

`python tests/benchmarks/bench_ledger.py`
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reelbook.ledger import Ledger, Marks, Submission
from reelbook.ledger.search import Filter
from reelbook.requests import JobRequest
from reelbook.secret import Secret

TEXT = """
red fox snow slow pan left night city rain neon boat storm sea lightning forest autumn fog bird meadow sunrise
rocket space zoom out fish underwater desert noon rivers mountains old man walking through crowded market
lanterns dust golden light camera drift macro shot raindrops leaf puppy kitten chasing butterfly
"""
WORDS = TEXT.split()
ROUNDS = 30
DAY = 86_400.0
WANTED = JobRequest("text-to-video", "a red fox runs through snow", 5, "16:9", 7)


def fill(ledger: Ledger, count: int) -> None:
    """Writes `count` jobs of the last 300 days, one in 20,000 of them with a rare word, state and cost."""
    rng = random.Random(7)
    began = time.time() - 300 * DAY
    rows = []
    for number in range(count):
        rare = number % 20_000 == 777 % count
        seconds, at = rng.randint(1, 9), began + number * (300 * DAY / count)
        state = "uncertain" if rare else rng.choices(("completed", "failed", "refused"), (90, 7, 3))[0]
        done = state == "completed"
        row = {
            "account": ledger.account.id,
            "state": state,
            "mode": "text-to-video",
            "prompt": " ".join(rng.choices(WORDS, k=14)) + (" zebra" if rare else ""),
            "duration_seconds": seconds,
            "sameness": f"{number:032x}",
            "experiment": f"experiment {number // 1000}" if number % 3 == 0 else None,
            "kernel": "1-bench",
            "intended_at": at,
            "accepted_at": at + 1,
            "ended_at": at + 60,
            "request_id": None if state == "refused" else f"req-{number:024x}",
            "estimated_cost_micro": 50_000 * (10 if rare else seconds),
            "cost_micro": 50_000 * seconds if done else None,
            "took_seconds": 59.0 if done else None,
            "video_url": f"https://cdn.example/videos/{number:024x}.mp4" if done else None,
            "clip_path": f"/home/someone/reelbook/clips/live/req-{number:024x}.mp4" if done else None,
            "starred": int(number % 500 == 0),
        }
        rows.append(row)
    columns = ", ".join(rows[0])
    values = ", ".join(f":{name}" for name in rows[0])
    insert = f"INSERT INTO entries ({columns}) VALUES ({values})"
    ledger._store.write(lambda connection: connection.executemany(insert, rows))
    for number in range(777, count, 1000):
        ledger.annotations.mark(number, Marks(note="the light is good, foxes too", tags=("keep",)))


def timed(label: str, call: Callable[[], Any], goal_ms: float | None = None) -> Any:
    result = call()
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        took.append(1000 * (time.perf_counter() - began))
    size = f"{len(result):>3} rows" if isinstance(result, list) else ""
    goal = "" if goal_ms is None else f"  (goal {goal_ms:g})"
    print(f"{statistics.median(took):8.2f} ms, worst {max(took):6.2f}  {label:<44} {size}{goal}")
    return result


def opened(home: Path) -> Ledger:
    return Ledger.open(home, "https://service.example", Secret("sk-bench"))


def page(
    ledger: Ledger, *, sort: Any = "newest", limit: int = 50, after: int | None = None, **wanted: Any
) -> int:
    """The number of the page's first entry, 0 without any."""
    found = ledger.find(Filter(**wanted), sort=sort, limit=limit, after=after)
    return found[0].id if found else 0


def pages(home: Path, count: int) -> None:
    ledger = opened(home)
    fill(ledger, count)
    began = time.perf_counter()
    page(ledger, text="zebra")
    print(f"\n{count:,} jobs; the first search, which makes the index: {time.perf_counter() - began:.2f} s")
    now = time.time()
    filters: dict[str, dict[str, Any]] = {
        "first page": {},
        "text, common": {"text": "fox"},
        "text, rare": {"text": "zebra"},
        "text, not there": {"text": "xylophone"},
        "text, common, with a rare state": {"text": "fox", "state": "uncertain"},
        "state, common": {"state": "completed"},
        "state, rare": {"state": "uncertain"},
        "a day in the middle": {"since": now - 150 * DAY, "until": now - 149 * DAY},
        "cost, rare": {"min_cost_usd": 0.5},
        "experiment": {"experiment": "experiment 3"},
        "starred, experiment and text": {"starred": True, "experiment": "experiment 3", "text": "fox"},
        "tag and text": {"tag": "keep", "text": "fox"},
        "text of a note": {"text": "light good"},
        "costliest": {"sort": "costliest"},
        "costliest, of a rare state": {"sort": "costliest", "state": "uncertain"},
        "costliest, text, common": {"sort": "costliest", "text": "fox"},
    }
    for label, chosen in filters.items():
        timed(label, lambda chosen=chosen: page(ledger, **chosen), 5)  # type: ignore[misc]
    middle = page(ledger, until=now - 150 * DAY, limit=1)
    timed("a page in the middle", lambda: page(ledger, after=middle), 5)
    timed(
        "a page in the middle of the costliest",
        lambda: page(ledger, after=middle, sort="costliest"),
        5,
    )
    timed("the same with text", lambda: page(ledger, after=middle, text="fox"), 5)
    timed("unfinished", lambda: ledger.unfinished())
    timed("spend", lambda: ledger.spend())
    timed("took_seconds", lambda: ledger.took_seconds(WANTED))
    ledger.file.close()
    size = sum(path.stat().st_size for path in home.glob("ledger.db*"))
    timed("open and close", lambda: opened(home).file.close())
    print(f"{size / count:.0f} bytes a job on the disk")


def commits(home: Path) -> None:
    ledger = opened(home)
    ledger.max_spend_usd = 1e6
    count = 300
    began = time.perf_counter()
    for number in range(count):
        ((entry, _),) = ledger.intend([Submission(WANTED)])
        ledger.sending(entry.id)
        ledger.accepted(entry.id, f"req-{number}")
    print(f"\n{3 * count / (time.perf_counter() - began):,.0f} flushed commits/s (intend, sending, accepted)")
    began = time.perf_counter()
    for _ in range(1000):
        ledger.requests.enter(0.0, lambda *_: True)
    print(f"{1000 / (time.perf_counter() - began):,.0f} noted requests/s (not flushed)")
    ledger.file.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        commits(Path(folder, "commits"))
        pages(Path(folder, "gallery"), 5_000)
        pages(Path(folder, "large"), 100_000)


if __name__ == "__main__":
    main()
