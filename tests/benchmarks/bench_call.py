"""A call's overhead: AsyncClient against the same request with bare httpx, in turn, on one sandbox.

`PYTHONPATH=src:tests python -m benchmarks.bench_call`
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

import httpx
from benchmarks.command import sandbox_process

from reelbook import wire
from reelbook.client import AsyncClient
from reelbook.sandbox.handle import Sandbox

ROUNDS = 300


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began


async def measure(sandbox: Sandbox) -> None:
    headers = {"Authorization": f"Bearer {sandbox.api_key.reveal()}"}
    async with (
        AsyncClient(sandbox.api_key, sandbox.url) as client,
        httpx.AsyncClient(headers=headers) as bare,
    ):

        async def with_httpx() -> None:
            (await bare.get(sandbox.url + wire.BALANCE)).raise_for_status().json()

        ours, theirs = [], []  # type: tuple[list[float], list[float]]
        for _ in range(ROUNDS):
            theirs.append(await timed(with_httpx))
            ours.append(await timed(client.balance))
    a, b = statistics.median(ours), statistics.median(theirs)
    print(f"AsyncClient {1000 * a:.2f} ms, bare httpx {1000 * b:.2f} ms, ratio {a / b:.2f} (goal 1.2)")


def main() -> None:
    with sandbox_process() as sandbox:
        asyncio.run(measure(sandbox))


if __name__ == "__main__":
    main()
