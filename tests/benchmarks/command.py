"""What benchmarks on the command line have in common: their options, and the verdict in the end."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence


def options_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser that shows the module's docstring as it is."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def with_seed(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The same parser with `--seed`, which is random where it isn't given."""
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    return parser


def verdict(broken: Sequence[str]) -> int:
    """Prints each promise that was broken; 1 if there is one, as the process ends with it."""
    print("\n".join(["broken promises:", *broken]) if broken else "broken promises: none")
    return 1 if broken else 0
