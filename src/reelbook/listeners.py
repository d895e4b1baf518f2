"""Tells those who subscribed. An error of theirs is theirs: the job that they hear of was paid for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

_log = logging.getLogger(__name__)


def tell_all(listeners: Iterable[Callable[..., object]], *news: object) -> None:
    """Calls every one with `news`; one that raises is logged and keeps neither the others nor us from it."""
    for listener in tuple(listeners):
        try:
            listener(*news)
        except Exception:
            _log.exception("A callback that was subscribed failed. Nothing else is affected.")
