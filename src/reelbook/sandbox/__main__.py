"""Serves the sandbox in this process: `python -m reelbook.sandbox`, and `serve` for the terminal command."""

from __future__ import annotations

import argparse
import asyncio
import functools
import logging
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from filelock import Timeout

from .. import wire
from ..errors import SandboxError
from .jobs import BRISK, Pace, checked_pace
from .notice import last_port, put_up, read_notice, running_lock, take_down
from .places import Places
from .renders import WorkerPool, dask_executor
from .service import IDLE_MINUTES, Service, version
from .serving import LOOPBACK, LOOPBACK_NAMES, bound_socket, local_url, make_server

# An older one of the same home may be on its way out.
WAIT_FOR_OLDER_SECONDS = 10.0


def serve(
    home: Path,
    *,
    host: str = LOOPBACK,
    port: int | None = None,
    pace: Pace = BRISK,
    idle_minutes: float | None = None,
    workers: int | None = None,
    rate_limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE,
    balance_usd: float | None = None,
    dask: str | None = None,
    foreground: bool = True,
) -> None:
    """Serve the sandbox of `home` until it is stopped. In the `foreground` it says where it is.

    `port` None is the one used last or a free one; `idle_minutes` None never ends by itself; `workers` is the
    number of drawing processes; `rate_limit` (requests a minute) is that of a new notebook key; `balance_usd`
    None keeps the balance. Raises SandboxError.
    """
    places = Places.under(home)
    places.create()
    try:
        lock = running_lock(places, 0 if foreground else WAIT_FOR_OLDER_SECONDS).acquire()
    except Timeout:
        notice = read_notice(places)
        where = f" at {notice.url}" if notice else ""
        raise SandboxError(f"A sandbox of this folder already runs{where}. It was left as it is.") from None
    with lock:
        executor = dask_executor(dask) if dask else None
        service = Service(
            home,
            pace=pace,
            make_executor=(lambda: executor) if executor else functools.partial(WorkerPool, workers),
            rate_limit=rate_limit,
            balance_usd=balance_usd,
            idle_minutes=idle_minutes,
        )
        listening = _listening(host, port, places)
        url = local_url(listening)

        def on_started() -> None:
            put_up(places, url=url, version=version(), instance=service.instance)
            if foreground:
                _introduce(url, host, places)

        server = make_server(service, host=host, on_started=on_started)
        for number in (signal.SIGINT, signal.SIGTERM):
            # uvicorn sends itself the signal again when it is done; by default that would be the end, uncleaned.
            signal.signal(number, lambda *_: service.end())
        try:
            asyncio.run(server.serve(sockets=[listening]))
        finally:
            take_down(places, service.instance)


def main(arguments: Sequence[str] | None = None) -> int:
    """The program: 0 when it was stopped, 1 when it could not start."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.WARNING if options.foreground else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    idle_minutes = options.idle_minutes
    if idle_minutes is None and not options.foreground:
        idle_minutes = IDLE_MINUTES
    try:
        serve(
            options.home,
            host=options.host,
            port=options.port,
            pace=options.pace,
            idle_minutes=idle_minutes or None,
            workers=options.workers,
            rate_limit=options.rate_limit,
            balance_usd=options.balance,
            dask=options.dask,
            foreground=options.foreground,
        )
    except SandboxError as exc:
        print(exc, file=sys.stderr)  # noqa: T201  # the program's own way to speak
        return 1
    return 0


def _listening(host: str, port: int | None, places: Places) -> socket.socket:
    ports = [port] if port else [*filter(None, [last_port(places)]), 0]
    try:
        return bound_socket(host, *ports)
    except OSError as exc:
        raise SandboxError(
            f"The sandbox can't listen on {host}{f':{port}' if port else ''}: {exc.strerror or exc}. "
            "Nothing was started. Choose another --port or --host."
        ) from None


def _introduce(url: str, host: str, places: Places) -> None:
    lines = [
        f"The sandbox serves at {url}",
        f"Its API key is in {places.access} (readable by you only).",
        "In a notebook: reelbook.connect(service='sandbox'). Ctrl-C stops it.",
    ]
    if host not in LOOPBACK_NAMES:
        lines.append(
            f"It listens on {host} in plain HTTP: anyone on this network can read what is sent, "
            "and whoever has a key can use it."
        )
    print("\n".join(lines), flush=True)  # noqa: T201  # a person started it on a terminal


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reelbook.sandbox", description="Serve Reelbook's sandbox.")
    parser.add_argument("--home", type=Path, required=True, help="the folder that holds the sandbox's state")
    parser.add_argument("--host", default=LOOPBACK)
    parser.add_argument("--port", type=int, help="by default the one used last, or a free one")
    parser.add_argument("--pace", type=_pace, default=BRISK, help="at once, brisk, lifelike, or seconds")
    parser.add_argument("--idle-minutes", type=float, help="end after so long without use; 0 is never")
    parser.add_argument("--workers", type=int, help="drawing processes")
    parser.add_argument("--rate-limit", type=int, default=wire.DEFAULT_REQUESTS_PER_MINUTE)
    parser.add_argument("--balance", type=float, help="set the balance, in USD")
    parser.add_argument("--dask", metavar="tcp://…", help="draw on this Dask cluster")
    parser.add_argument("--foreground", action="store_true", help="say where it is; stay until Ctrl-C")
    return parser


def _pace(text: str) -> Pace:
    try:
        return checked_pace(float(text))
    except ValueError:
        return checked_pace(text)


if __name__ == "__main__":
    sys.exit(main())
