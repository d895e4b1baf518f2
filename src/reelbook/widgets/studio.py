"""The whole app in one cell: the line on top, the form at the left, the latest clip at the right."""

from __future__ import annotations

from typing import Any

import ipywidgets
import traitlets

from reelbook.session import Job, Session

from .assets import module, style
from .base import Panel, Still, only_known
from .card import JobCard
from .form import PromptForm
from .live import Live
from .words import facts_words


class StatusLine(Panel):
    """Which service, what is left of the balance and of the key's requests."""

    _esm = module("line")
    _css = style("line")

    facts = traitlets.Dict(help="What the page draws.").tag(sync=True)

    def __init__(self, session: Session, **traits: Any) -> None:
        self.session = session
        super().__init__(facts=facts_words(session.service, session.facts), **traits)
        self._live = Live(self.refresh)
        self._endings = (self._live.close, session.subscribe(self._live.changed))
        self._live.changed()

    def update(self) -> None:
        facts = self.session.facts
        self.facts = facts_words(self.session.service, facts)
        self.live = facts.requests_left < facts.requests_limit
        if self.live:
            # Requests come back by time alone, and nobody tells.
            self._live.changed_in(facts.requests_back_in_seconds or 3.0)


class Studio(Still, ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """Everything in one cell: write a prompt, press Generate, watch it, play it.

    `form` is a PromptForm, `card` the JobCard of the latest clip. Without a session `reelbook.connect()`.
    """

    _panels: tuple[Panel, ...] = ()

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        only_known(self, traits)
        self.form = PromptForm(session, layout=ipywidgets.Layout(flex="1 1 400px"))
        self.session = self.form.session
        self.card = JobCard(layout=ipywidgets.Layout(flex="999 1 400px"))
        self.line = StatusLine(self.session)
        self._panels = (self.form, self.card, self.line)
        panes = ipywidgets.Box(
            [self.form, self.card], layout=ipywidgets.Layout(display="flex", flex_flow="row wrap")
        )
        panes.add_class("reelbook-panes")
        super().__init__([self.line, panes], **traits)
        self.add_class("reelbook-studio")
        self.form.on_job(self._take)

    def still(self) -> tuple[str, str]:
        """The latest clip."""
        return self.card.still()

    def close(self) -> None:
        """Ends the Studio and its panels."""
        for panel in self._panels:
            panel.close()
        super().close()

    def _take(self, job: Job) -> None:
        self.card.job = job
