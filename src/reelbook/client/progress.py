"""How far a job is: pure, from what the service says.

The bounds of `progress` aren't stated, so it is read with care: a figure never goes backwards, never over
full, and is absent where none is known.
"""

from __future__ import annotations

ALMOST = 0.99  # full is said by `completed`, not by a figure


class Progress:
    """One job's progress, fed with the service's figures."""

    def __init__(self) -> None:
        self.fraction: float | None = None
        self._per_unit = 100.0

    def tell(self, raw: float | None) -> None:
        """The service said `raw`."""
        if raw is None or raw < 0:
            return
        if 0 < raw < 1:  # whole numbers count percent, so this service counts to one
            self._per_unit = 1.0
        fraction = min(raw / self._per_unit if raw <= 1 or self._per_unit == 100.0 else raw / 100.0, ALMOST)
        self.fraction = max(fraction, self.fraction or 0.0)
