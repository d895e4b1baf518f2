"""Callbacks that panels and people's own code subscribe to news."""

import logging
import threading
from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")

_log = logging.getLogger(__name__)


def call_in_thread(callback: Callable[P, object], *news: P.args, **named: P.kwargs) -> None:
    """Calls it on a thread of its own, where it may wait; a script's end waits for it. Errors are logged."""

    def call() -> None:
        try:
            callback(*news, **named)
        except Exception:
            _log.exception("The callback %r failed. Nothing else is affected.", callback)

    threading.Thread(target=call, name="reelbook-callback").start()


class Listeners(Generic[P]):
    """The callbacks for one kind of news. True while there are any."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[P, object]] = []

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def subscribe(self, callback: Callable[P, object]) -> Callable[[], None]:
        """Calls `callback` with all news from now on. Returns a function that ends that."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    def tell(self, *news: P.args, **named: P.kwargs) -> None:
        """Calls each of them. An error in one is only logged: a job mustn't fail because of it."""
        for callback in tuple(self._callbacks):
            try:
                callback(*news, **named)
            except Exception:
                _log.exception("A callback that was subscribed failed. Nothing else is affected.")
