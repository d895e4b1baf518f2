"""A class's room under load: fairness, floods, the service's requests, kills. It only prints.

`PYTHONPATH=src:tests python -m benchmarks.bench_room fairness`; the others are `flood`, `budget` and
`kills`. Each takes up to three minutes on two cores in the sizes that it has by itself; `--help` tells them.
The room and the service behind it are processes of their own; the students are in this one.
"""

import asyncio
import contextlib
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from benchmarks.command import options_of, sandbox_process, with_seed
from classroom.room.killable import CODE, Killable, books, bought, broken, kill_at_random
from support.ledgers import rows

from reelbook import wire
from reelbook.client import AsyncClient
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.web.limits import Admission, Limits

SECONDS = 5  # of a clip
POLL_SECONDS = 1.0  # of somebody without Reelbook


@dataclass
class Order:
    """A student's clip: when it was ordered and known to be done, by this process's clock."""

    student: str
    number: int
    ordered_at: float
    request_id: str = ""
    known_at: float = 0.0

    @property
    def waited(self) -> float:
        """From the order to the notice, in seconds."""
        return self.known_at - self.ordered_at


@dataclass
class Class:
    """Everybody who orders, and what they ordered. `key_of` gives the key of a name."""

    url: str
    orders: list[Order] = field(default_factory=list)

    async def student(self, name: str, key: str, clips: int, seconds: int = SECONDS) -> None:
        """Orders all at once with our client, and waits for each."""
        async with AsyncClient(key, self.url, offers=wire.OFFERS) as client:

            async def one(number: int) -> None:
                order = Order(name, number, time.time())
                self.orders.append(order)
                accepted = await client.text_to_video(f"{name} {number}", duration_seconds=seconds)
                order.request_id = accepted.request_id
                await client.wait(accepted.request_id)
                order.known_at = time.time()

            await asyncio.gather(*(one(number) for number in range(clips)))

    async def flooder(self, name: str, key: str, clips: int) -> None:
        """Orders all at once with plain httpx, and asks once a second for the one that isn't done."""
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(base_url=self.url, headers=headers, timeout=60, trust_env=False) as http:
            answers = await asyncio.gather(
                *(
                    http.post(wire.TEXT_TO_VIDEO, json={"prompt": f"{name} {n}", "duration_seconds": SECONDS})
                    for n in range(clips)
                )
            )
            for answer in answers:
                while answer.status_code == 200:
                    told = await http.get(wire.path_of(wire.STATUS, answer.json()["request_id"]))
                    if told.status_code == 200 and told.json()["status"] in (wire.COMPLETED, wire.FAILED):
                        break
                    await asyncio.sleep(POLL_SECONDS)

    def order(self, students: int, clips: int, seconds: int = SECONDS) -> float:
        """So many join and order so many each, all at once; the seconds until all is there."""

        async def go() -> None:
            names = [f"Student {number}" for number in range(students)]
            keys = [await joined(self.url, name) for name in names]
            await asyncio.gather(
                *(self.student(name, key, clips, seconds) for name, key in zip(names, keys, strict=True))
            )

        begun = time.time()
        asyncio.run(go())
        return time.time() - begun

    def mean_waits(self) -> list[float]:
        """How long each waited for a clip, on average."""
        waits: dict[str, list[float]] = {}
        for order in self.orders:
            waits.setdefault(order.student, []).append(order.waited)
        return [statistics.fmean(each) for each in waits.values()]

    def firsts(self) -> dict[str, float]:
        """How long each waited for the first of their clips."""
        waits: dict[str, float] = {}
        for order in self.orders:
            waits[order.student] = min(order.waited, waits.get(order.student, order.waited))
        return waits


async def joined(url: str, name: str) -> str:
    """A key of the room's."""
    async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as http:
        answer = await http.post(wire.ROOM_JOIN, json={"code": CODE, "name": name})
        key: str = answer.json()["api_key"]
        return key


def jain(values: Sequence[float]) -> float:
    """Jain's index: 1 where all are equal, 1/n where one has everything."""
    return sum(values) ** 2 / (len(values) * sum(value * value for value in values))


@contextlib.contextmanager
def served(pace: float | str = "brisk", **options: Any) -> Iterator[tuple[Killable, Sandbox]]:
    """A room in a process of its own, on a sandbox in another one."""
    with sandbox_process(pace=pace, balance_usd=10_000) as sandbox:
        with Killable(sandbox.home, sandbox.home.parent, **options) as room:
            room.start()
            yield room, sandbox


def ended_at(home: Path) -> dict[str, float]:
    """When each clip was there, by the room's file."""
    file = home / "rooms" / "FOX234" / "room.db"
    return dict(map(tuple, rows(file, "SELECT request_id, ended_at FROM jobs WHERE state = 'completed'")))


def fairness(students: int, clips: int) -> None:
    """Everybody orders the same, at the same time."""
    with served(short_jobs=False) as (room, _):
        those = Class(room.url)
        took = those.order(students, clips)
        ends = ended_at(room.home)
    waits = those.mean_waits()
    own: dict[str, list[float]] = {}
    for order in those.orders:
        own.setdefault(order.student, []).append(ends[order.request_id])
    firsts, thirds = [min(each) for each in own.values()], [sorted(each)[-1] for each in own.values()]
    lags = sorted(order.known_at - ends[order.request_id] for order in those.orders)
    print(
        f"{students} students × {clips} clips: {took:.1f} s in all, fairness {jain(waits):.3f}, mean wait "
        f"{statistics.fmean(waits):.1f} s; the last first clip {max(firsts) - min(thirds):+.1f} s after the "
        f"first last one; notice after a clip's end: median {statistics.median(lags):.2f} s, worst "
        f"{lags[-1]:.1f} s"
    )


def flood(others: int, clips: int, many: int) -> None:
    """One floods with plain httpx, one orders many: how much later the others have their first clip."""
    alone, beside = (statistics.fmean(_firsts(others, size, many)) for size in (0, clips))
    print(
        f"{others} who order two each: first clip after {alone:.1f} s; beside one who floods "
        f"{clips} and one who orders {many}: after {beside:.1f} s, × {beside / alone:.2f}"
    )


def _firsts(others: int, clips: int, many: int) -> list[float]:
    """How long those others waited for their first clip."""
    with served(short_jobs=False) as (room, _):
        those = Class(room.url)

        async def go() -> None:
            floods = []
            if clips:
                for name, size in (("Flooder", clips), ("Glutton", many)):
                    key = await joined(room.url, name)
                    floods.append(asyncio.create_task(those.flooder(name, key, size)))
                await asyncio.sleep(2)
            names = [f"Student {number}" for number in range(others)]
            keys = [await joined(room.url, name) for name in names]
            students = (those.student(name, key, 2) for name, key in zip(names, keys, strict=True))
            await asyncio.gather(*students)
            for each in floods:
                each.cancel()
            await asyncio.gather(*floods, return_exceptions=True)

        asyncio.run(go())
    return list(those.firsts().values())


def budget(limit: int, students: int, clips: int) -> None:
    """A service by its address whose key has so many requests a minute: refused none, and no time wasted.

    The clips are of one second: what is measured is the requests, not this machine's drawing.
    """
    refused = 0
    take = Limits.take

    def counted(*arguments: Any) -> Admission:
        nonlocal refused
        admission = take(*arguments)
        refused += not admission.allowed
        return admission

    Limits.take = counted  # type: ignore[assignment,method-assign]  # the service is in this process, to be looked at
    with tempfile.TemporaryDirectory(prefix="reelbook-") as folder:
        upstream = server.in_thread(Path(folder, "upstream"), rate_limit=limit, balance_usd=1000)
        with upstream as service:
            above = (service.api_key.reveal(), service.url)
            with Killable(Path(folder, "home"), Path(folder), upstream=above, short_jobs=False) as room:
                room.start()
                those = Class(room.url)
                took = those.order(students, clips, 1)
                asked = service.state()["requests"].get("status", 0)
    # Each clip takes a submission and at least one question, and the balance was asked for twice. What was
    # sent at once comes back at once, a window later.
    windows = math.ceil((2 * students * clips + 2) / limit) - 1
    bound = windows * wire.RATE_WINDOW_SECONDS
    print(
        f"{students} students × {clips} clips on {limit} requests a minute: {took:.0f} s, bound "
        f"{bound:.0f} s, × {took / max(bound, 1):.2f}; refused upstream {refused}; "
        f"{asked / students / clips:.2f} questions for each clip; fairness {jain(those.mean_waits()):.3f}"
    )


def kills(times: int, seed: int) -> None:
    """SIGKILL at random moments under load, with one answer in ten lost upstream."""
    with served(0.3) as (room, sandbox):
        begun = time.time()
        told = kill_at_random(room, sandbox, times, seed)
        took = time.time() - begun
        found = books(room.home)
        wrong = broken(found, bought(room.home), 50_000)
    print(
        f"{times} kills in {took:.0f} s, seed {seed}: {len(told)} ids, {dict(found.states)}; "
        f"{found.reserved} micro-USD reserved and {found.spent} spent; broken: {wrong or 'nothing'}"
    )


def main(arguments: Sequence[str]) -> None:
    """Runs one of them."""
    parser = with_seed(options_of(__doc__))
    parser.add_argument("what", choices=["fairness", "flood", "budget", "kills"])
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--clips", type=int, default=3)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--others", type=int, default=10)
    parser.add_argument("--flood", type=int, default=80)
    parser.add_argument("--many", type=int, default=60)
    parser.add_argument("--times", type=int, default=100)
    given = parser.parse_args(arguments)
    if given.what == "fairness":
        fairness(given.students, given.clips)
    elif given.what == "flood":
        flood(given.others, given.flood, given.many)
    elif given.what == "budget":
        budget(given.limit, given.students, given.clips)
    else:
        kills(given.times, given.seed)


if __name__ == "__main__":
    main(sys.argv[1:])
