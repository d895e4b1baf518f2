"""The line on top of the Studio: the service, what is left of balance and requests, and the views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from reelbook.session import Session

from ..text.status_line import facts_words
from .base import Panel
from .bundle import added_style, packed, style


class StatusLine(Panel):
    """Shows the service, what is left of the balance and of the key's requests, and the views to choose from.

    `views` are pairs of a name and a label; those of `more` are behind one button. Observe or link `view`,
    the name of the chosen one.
    """

    _esm = packed("status_line")
    _css = style("status_line") + added_style("studio")

    facts = traitlets.Dict(help="What the page draws.").tag(sync=True)
    views: traitlets.List[Any] = traitlets.List(help="Names and labels to choose from.").tag(sync=True)
    more: traitlets.List[Any] = traitlets.List(help="Names and labels behind one button.").tag(sync=True)
    view = traitlets.Unicode(help="The chosen one's name.").tag(sync=True)

    def __init__(self, session: Session, **traits: Any) -> None:
        self.session = session
        self._callbacks: list[Callable[[], object]] = []
        super().__init__(facts=self._facts(), **traits)
        self._endings += (session.subscribe(self._live.changed),)
        self._live.changed()

    def on_left(self, callback: Callable[[], object]) -> None:
        """`callback()` is called when a person turns from the Studio to something else."""
        self._callbacks.append(callback)

    def update(self) -> None:
        facts = self.session.facts
        self.facts = self._facts()
        self.live = facts.requests_left < facts.requests_limit
        if self.live:
            # The key's requests come back with time, which nothing announces.
            self._live.changed_in(facts.requests_back_in_seconds or 3.0)

    def _on_left(self, *_: object) -> None:
        self._call_back("on_left", self._callbacks)

    def _facts(self) -> dict[str, Any]:
        spend = None if self.session.closed else self.session.spending().of_key
        running = len(self.session.running)
        return facts_words(self.session.service, self.session.facts, running=running, spend=spend)
