"""Ctrl-C as something to look for, so that it can't fall between an order and the id it gets."""

from __future__ import annotations

import signal
from typing import Self


class CtrlC:
    """While entered, Ctrl-C is only counted; `check` raises KeyboardInterrupt where stopping is safe."""

    presses = 0

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is not signal.SIG_IGN:  # as for a program in the background of a shell
            signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def check(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed."""
        if self.presses:
            raise KeyboardInterrupt

    def _press(self, *_: object) -> None:
        self.presses += 1
