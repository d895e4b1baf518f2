"""What a panel's last action came to: one line that a thread may leave, drawn by `_outcome.js`."""

from __future__ import annotations

import traitlets

from .base import Panel


class TellsOutcome(Panel):
    """Says what the last action came to. What works on a thread leaves it in `_news`."""

    outcome = traitlets.Unicode(help="What the last action said.").tag(sync=True)
    good = traitlets.Bool(help="Whether the last action went well.").tag(sync=True)

    _news: tuple[str, bool] | None = None  # what it said, and whether it went well

    def _show_news(self) -> None:
        """Puts on the page what was left since the last time; for `update`."""
        if self._news is not None:
            (self.outcome, self.good), self._news = self._news, None
