"""The sandbox as a program: `python -m reelbook.sandbox --home FOLDER`, which server.py starts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from .. import wire
from ..errors import SandboxError
from .cluster import WhenDaskIsLost
from .jobs import BRISK, Pace, checked_pace
from .service import IDLE_MINUTES
from .serving import LOOPBACK, serve


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped: 0 then, 1 when it could not start."""
    options = _parser().parse_args(arguments)
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
            when_dask_is_lost=options.when_dask_is_lost,
            foreground=options.foreground,
        )
    except SandboxError as exc:
        print(exc, file=sys.stderr)  # noqa: T201  # the program's own way to speak
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m reelbook.sandbox", description="Serve Reelbook's sandbox.")
    parser.add_argument("--home", type=Path, required=True, help="the folder that holds the sandbox's state")
    parser.add_argument("--host", default=LOOPBACK)
    parser.add_argument("--port", type=int, help="by default the one used last, or a free one")
    parser.add_argument("--pace", type=_pace, default=BRISK, help="'at once', brisk, lifelike, or seconds")
    parser.add_argument("--idle-minutes", type=float, help="end after so long without use; 0 is never")
    parser.add_argument("--workers", type=int, help="drawing processes")
    parser.add_argument("--rate-limit", type=int, default=wire.DEFAULT_REQUESTS_PER_MINUTE)
    parser.add_argument("--balance", type=float, help="set the balance, in USD")
    parser.add_argument("--dask", metavar="tcp://…", help="draw on this Dask cluster")
    parser.add_argument(
        "--when-dask-is-lost",
        choices=get_args(WhenDaskIsLost),
        default="draw-here",
        help="while its scheduler can't be reached",
    )
    parser.add_argument("--foreground", action="store_true", help="say where it is; stay until Ctrl-C")
    return parser


def _pace(text: str) -> Pace:
    try:
        return checked_pace(float(text))
    except ValueError:
        return checked_pace(text)


if __name__ == "__main__":
    sys.exit(main())
