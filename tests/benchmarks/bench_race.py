"""Four jobs of a minute on a key of ten requests a minute, in real time over a socket.

`PYTHONPATH=src:tests python -m benchmarks.bench_race [--jobs 4] [--seconds 60]`

The sandbox enforces the limit and tells it in its X-RateLimit headers only. Everybody has a key of their own
and starts at the same moment: AsyncClient with and without the progress that the service reports, AsyncClient
with ten lines in the place of its scheduler's decisions (`polling_runs.ten_lines`), and the loops that other
clients publish, which ask about each job at a steady pace and end at a 429. The bound is the
last job's end: four submissions and four questions fit into one window. Prints figures, asserts none.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from benchmarks.command import options_of, sandbox_process
from benchmarks.polling_runs import ten_lines

from reelbook import models, wire
from reelbook.client import AsyncClient
from reelbook.client.scheduling.budget import Purpose
from reelbook.client.scheduling.polling import Decision
from reelbook.client.scheduling.scheduler import Scheduler
from reelbook.sandbox.handle import Sandbox
from reelbook.secret import Secret

LOOPS = [(0.1, 0.0), (0.5, 0.0), (1.0, 0.0), (5.0, 0.0), (6.0, 1.5), (10.0, 0.0)]
STARTING_SECONDS = 1.0


class Blind(AsyncClient):
    """Doesn't see the progress that the sandbox reports."""

    async def _status(self, *args: Any, **options: Any) -> models.JobStatus:
        status = await super()._status(*args, **options)
        return status.model_copy(update={"progress": None}) if hasattr(status, "progress") else status


class _TenLines(Scheduler):
    def _decide(self, now: float) -> Decision:
        waiting = sum(turn.purpose is Purpose.SUBMIT for turn in self._waiting)
        return ten_lines(self._beliefs, waiting, self.budget, now)


class Simple(AsyncClient):
    """Asks as ten lines say."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._scheduler = _TenLines()


class Racer:
    """Counts what one client sends and gets."""

    def __init__(self) -> None:
        self.requests = self.refused = 0
        self.home: list[float] = []

    async def counted(self, response: httpx.Response) -> None:
        self.requests += 1
        self.refused += response.status_code == 429


async def ours(kind: type[AsyncClient], racer: Racer, url: str, key: Secret, jobs: int) -> None:
    async with kind(key, url) as client:
        for connection in ("fresh", "kept"):
            client._transport._client(connection).event_hooks["response"] = [racer.counted]

        async def one(number: int) -> None:
            accepted = await client.text_to_video(f"boat {number}", duration_seconds=1, aspect_ratio="1:1")
            await client.wait(accepted.request_id)
            racer.home.append(time.monotonic())

        await asyncio.gather(*(one(number) for number in range(jobs)))


async def loop(seconds: float, jitter: float, racer: Racer, url: str, key: Secret, jobs: int) -> None:
    headers = {"Authorization": f"Bearer {key.reveal()}"}
    hooks = {"response": [racer.counted]}
    async with httpx.AsyncClient(base_url=url, headers=headers, event_hooks=hooks) as client:

        async def one(number: int) -> None:
            body = {"prompt": f"boat {number}", "duration_seconds": 1, "aspect_ratio": "1:1"}
            answer = await client.post(wire.TEXT_TO_VIDEO, json=body)
            while answer.status_code == 200 and answer.json()["status"] != wire.COMPLETED:
                await asyncio.sleep(seconds + random.uniform(-jitter, jitter))
                answer = await client.get(wire.path_of(wire.STATUS, answer.json()["request_id"]))
            if answer.status_code == 200:
                racer.home.append(time.monotonic())

        await asyncio.gather(*(one(number) for number in range(jobs)))


async def race(sandbox: Sandbox, jobs: int, seconds: float) -> None:
    names: list[tuple[str, Callable[[Racer, str, Secret, int], Awaitable[None]]]] = [
        ("AsyncClient", lambda *a: ours(AsyncClient, *a)),
        ("AsyncClient, no progress", lambda *a: ours(Blind, *a)),
        ("AsyncClient, ten lines", lambda *a: ours(Simple, *a)),
        *(
            (
                f"every {pause:g}{f' ± {jitter:g}' if jitter else ''} s",
                lambda *a, pause=pause, jitter=jitter: loop(pause, jitter, *a),
            )
            for pause, jitter in LOOPS
        ),
    ]
    async with AsyncClient(sandbox.api_key, sandbox.url) as teacher:
        keys = [(await teacher.create_key(name, rate_limit=10)).api_key for name, _ in names]
    await asyncio.sleep(STARTING_SECONDS)
    racers = [Racer() for _ in names]
    began = time.monotonic()
    await asyncio.gather(
        *(
            run(racer, sandbox.url, key, jobs)
            for (_, run), racer, key in zip(names, racers, keys, strict=True)
        )
    )
    print(
        f"{jobs} jobs of {seconds:g} s, 10 requests a minute. Home, and when over the bound; requests; 429s"
    )
    for (name, _), racer in zip(names, racers, strict=True):
        home = (
            f"{max(racer.home) - began:5.1f} s {(max(racer.home) - began) / seconds:6.3f}"
            if racer.home
            else ""
        )
        print(
            f"{name:26} {len(racer.home)} of {jobs} {home:15} {racer.requests:6} {racer.refused:4}",
            flush=True,
        )


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    with sandbox_process(pace=given.seconds, rate_limiting=True, balance_usd=10_000) as sandbox:
        asyncio.run(race(sandbox, given.jobs, given.seconds))


if __name__ == "__main__":
    main()
