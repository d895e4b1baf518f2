"""Whether a foreign regular expression may be tried: some take longer than anybody waits, by design."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

MAX_PATTERN: Final = 500
MAX_STEPS: Final = 2_000_000

_parser: Any = importlib.import_module("re._parser")  # the tree that `re` itself compiles


@lru_cache(maxsize=256)
def _tree(pattern: str) -> Any:
    return _parser.parse(pattern)


def may_be_tried(pattern: str, text: str) -> bool:
    """Whether searching `text` for `pattern` takes a bounded number of steps, judged before it is tried."""
    if len(pattern) > MAX_PATTERN:
        return False
    try:
        # A search begins at every letter, and each way through the pattern may be walked there.
        return (len(text) + 1) * _ways(_tree(pattern), len(text)) <= MAX_STEPS
    except Exception:  # not a pattern for Python's re, or a tree this doesn't know
        return False


def _ways(items: Iterable[Any], letters: int) -> int:
    """At most so many ways through a sequence."""
    ways = 1
    for operation, about in items:
        ways = min(ways * _ways_of(str(operation), about, letters), MAX_STEPS + 1)
    return ways


def _ways_of(operation: str, about: Any, letters: int) -> int:
    if operation in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        least, most, inner = about
        least, most = min(int(least), letters + 1), min(int(most), letters + 1)
        each = _ways(inner, letters)
        if each == 1:
            return most - least + 1
        return int(min(MAX_STEPS + 1, each ** min(most, 64) * (most - least + 1)))
    if operation == "BRANCH":
        return sum(_ways(branch, letters) for branch in about[1])
    if operation == "SUBPATTERN":
        return _ways(about[-1], letters)
    if operation in {"ASSERT", "ASSERT_NOT"}:
        return _ways(about[1], letters)
    if operation in {"GROUPREF", "GROUPREF_EXISTS", "GROUPREF_IGNORE"}:
        return MAX_STEPS + 1
    if operation == "ATOMIC_GROUP":
        return _ways(about, letters)
    return 1
