"""A cache of posters: a frame is decoded once, however often the page scrolls past it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

KEPT = 600


class PosterCache:
    """The last `KEPT` posters by file. A replaced file gets a new poster."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[tuple[str, float], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, path: Path | None, draw: Callable[[], bytes]) -> bytes:
        """The poster of the clip at `path`, made by `draw` the first time; empty without a file."""
        if path is None or not path.exists():
            return b""
        name = (str(path), path.stat().st_mtime)
        with self._lock:
            if name not in self._drawn:
                self._drawn[name] = draw()
            self._drawn.move_to_end(name)
            while len(self._drawn) > KEPT:
                self._drawn.popitem(last=False)
            return self._drawn[name]
