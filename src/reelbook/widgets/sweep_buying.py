"""Buying a sweep from a panel: what costs much is bought at a second press, which a double click isn't."""

from __future__ import annotations

import time

import traitlets

from reelbook.explore.plan import CONFIRM_ABOVE_USD

from .base import Panel
from .job_actions import TWICE_SECONDS


class BuysSweeps(Panel):
    """For panels with a button that buys a sweep, and that asks first above `confirm_above_usd`."""

    confirm_above_usd = traitlets.Float(CONFIRM_ABOVE_USD, help="From where on it asks a second time.")

    _asked_at: float | None = None  # when it asked whether to buy; None: it doesn't ask

    @property
    def _asks_to_confirm(self) -> bool:
        return self._asked_at is not None

    def _is_confirmed(self, cost_usd: float) -> bool:
        """Whether a press on the button buys; if not, the panel asks."""
        if cost_usd <= self.confirm_above_usd:
            return True
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            return False
        return time.monotonic() - self._asked_at >= TWICE_SECONDS

    def _on_no(self) -> None:
        self._asked_at = None
