"""Errors for mistyped names that say which name was probably meant.

Python guesses where a script ends, but a notebook shows only the error's own text.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

ALIKE = 0.65  # "duration" and "duration_seconds" are alike, "poster" and "note" aren't


def attribute_error(owner: str, name: str, offered: Iterable[str]) -> AttributeError:
    """The error for an attribute that `owner` ("module 'x'") doesn't have, with the nearest one offered."""
    # Tools ask for many names with underscores.
    near = [] if name.startswith("_") else nearest(name, [each for each in offered if each[0] != "_"])
    meant = f". Did you mean {near[0]!r}?" if near else ""
    # Without an object to look at, Python doesn't add a guess of its own.
    return AttributeError(f"{owner} has no attribute {name!r}{meant}", name=name, obj=None)


class SuggestsNames:
    """A base for classes that people use by hand: a mistyped attribute's error suggests the nearest one."""

    if not TYPE_CHECKING:  # a type checker would take every name for known

        def __getattr__(self, name: str) -> Any:
            __tracebackhide__ = True
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # a property that failed: its error, not ours
            raise attribute_error(f"{type(self).__name__!r} object", name, dir(type(self)))


def by_name(call: Callable[P, R]) -> Callable[P, R]:
    """Decorates a method: a TypeError for unknown arguments says which it does take."""
    parameters = inspect.signature(call).parameters.values()
    placed = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    named = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    offered, called = [*placed[1:], *named], f"{call.__name__}()"

    @functools.wraps(call)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        listed = f"It takes: {', '.join(offered)}."
        if unknown := [name for name in kwargs if name not in offered]:
            near = dict.fromkeys(near for name in unknown for near in nearest(name, offered))
            meant = f" Did you mean {' and '.join(near)}?" if near else ""
            raise TypeError(f"{called} doesn't take {', '.join(unknown)}.{meant} {listed}")
        if len(args) > len(placed):
            raise TypeError(f"{called} takes what follows {placed[-1]} by name, as {named[0]}=…. {listed}")
        return call(*args, **kwargs)

    return checked


def nearest(name: str, offered: Iterable[str]) -> list[str]:
    """The offered name that is most like `name`, or that contains it; none where none does."""
    from difflib import get_close_matches

    known = list(offered)
    within = [each for each in known if len(name) > 3 and name.lower() in each.lower()]
    get = functools.partial(get_close_matches, possibilities=known, n=1, cutoff=ALIKE)
    return get(name) or get(name.lower()) or within[:1]
