"""What benchmarks on the command line have in common: their options, and the verdict in the end."""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox


def options_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser that shows the module's docstring as it is."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def with_seed(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The same parser with `--seed`, which is random where it isn't given."""
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    return parser


@contextmanager
def sandbox_process(**settings: Any) -> Iterator[Sandbox]:
    """A sandbox in a process of its own, whose home lies in a folder alone; it limits no rate by itself."""
    with tempfile.TemporaryDirectory(prefix="reelbook-") as folder:
        home = Path(folder, "home")
        sandbox = server.ensure(home)
        try:
            sandbox.settings(**{"rate_limiting": False, **settings})
            yield sandbox
        finally:
            server.stop(home)


def verdict(broken: Sequence[str], began: float) -> int:
    """Prints each promise that was broken, and how long it took since `began`, by `time.monotonic`.

    1 if one was broken, as the process ends with it.
    """
    print("\n".join(["broken promises:", *broken]) if broken else "broken promises: none")
    print(f"{time.monotonic() - began:.0f} s")
    return 1 if broken else 0
