"""How quickly the sandbox answers 100 clients that ask twice a second each, while it draws. It only prints.

Run: PYTHONPATH=src python tests/benchmarks/bench_sandbox.py [seconds]
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.server import ensure, stop

CLIENTS = 100
ASKS_PER_SECOND = 2
JOBS_UNDER_WAY = 4


def main(seconds: float = 15) -> None:
    """Start a sandbox, keep it drawing, and measure."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        begun = time.perf_counter()
        sandbox = ensure(home)
        print(f"from nothing to an answering sandbox: {time.perf_counter() - begun:.2f} s")
        try:
            sandbox.settings(pace=0, rate_limiting=False, balance_usd=10_000)
            measure(sandbox, seconds)
        finally:
            begun = time.perf_counter()
            stop(home)
            print(f"stopped in {time.perf_counter() - begun:.2f} s")


def measure(sandbox: Sandbox, seconds: float) -> None:
    """Ask from a process of its own, so that the asking doesn't slow the measured server's answers down."""
    asker = subprocess.run(
        [sys.executable, __file__, "ask", sandbox.url, str(seconds)],
        input=sandbox.api_key.reveal(),
        capture_output=True,
        text=True,
        check=True,
    )
    print(asker.stdout, end="")


async def ask(url: str, key: str, seconds: float) -> None:
    """Ask for the status of jobs over kept-alive connections, and submit a new job whenever one is done."""
    host, port = url.removeprefix("http://").split(":")
    drawn = 0
    errors: list[str] = []
    took: list[float] = []
    end = time.perf_counter() + seconds
    jobs: list[str] = []

    async def exchange(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, method: str, path: str, body: str = ""
    ) -> dict[str, object]:
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:")
        )
        content: dict[str, object] = json.loads(await reader.readexactly(length))
        if not head.startswith("HTTP/1.1 200"):
            errors.append(head.split("\r\n")[0])
        return content

    async def draw() -> None:
        nonlocal drawn
        streams = await asyncio.open_connection(host, int(port))
        while time.perf_counter() < end:
            body = json.dumps({"prompt": f"a red fox runs through snow {drawn}"})
            request_id = str(
                (await exchange(*streams, "POST", "/api/v1/generate/text-to-video", body))["request_id"]
            )
            jobs.append(request_id)
            while time.perf_counter() < end:
                state = (await exchange(*streams, "GET", f"/api/v1/status/{request_id}"))["status"]
                if state == "failed":
                    errors.append(request_id)
                if state in ("completed", "failed"):
                    drawn += state == "completed"
                    break
                await asyncio.sleep(0.2)
        streams[1].close()

    async def watch(number: int) -> None:
        await asyncio.sleep(number / CLIENTS / ASKS_PER_SECOND)
        streams = await asyncio.open_connection(host, int(port))
        while time.perf_counter() < end:
            begun = time.perf_counter()
            await exchange(*streams, "GET", f"/api/v1/status/{jobs[-1 - number % len(jobs)]}")
            took.append(time.perf_counter() - begun)
            await asyncio.sleep(max(0.0, 1 / ASKS_PER_SECOND - took[-1]))
        streams[1].close()

    drawers = [asyncio.create_task(draw()) for _ in range(JOBS_UNDER_WAY)]
    await asyncio.sleep(1)
    await asyncio.gather(*drawers, *(watch(number) for number in range(CLIENTS)))
    cuts = [1000 * cut for cut in statistics.quantiles(took, n=1000)]
    print(
        f"{CLIENTS} clients, {len(took)} answers in {seconds:g} s, {drawn} clips of 5 s drawn meanwhile: "
        f"median {cuts[499]:.1f} ms, p99 {cuts[989]:.1f} ms, p99.9 {cuts[998]:.1f} ms, "
        f"worst {1000 * max(took):.1f} ms, errors {len(errors)}"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        asyncio.run(ask(sys.argv[2], sys.stdin.read(), float(sys.argv[3])))
    else:
        main(*map(float, sys.argv[1:2]))
