"""The agent tools of a server, and beneath them what was taken up from a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets
import traitlets

from reelbook.client.tool_values import Tool, ToolResult
from reelbook.session import Job, Session
from reelbook.session.tools import Tools

from .base import Still, only_known, session_of
from .card import JobCard
from .player import Player
from .tool_panel import ResultCallback, ToolPanel
from .tool_source import SessionSource


class ToolExplorer(Still, ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """The agent tools of a server: a form for each, and results shown for what they are.

    `ToolExplorer(session)`; without a session `reelbook.connect()`; `ToolExplorer(reelbook.connect_tools())`
    does without a key of the service. Needs `pip install 'reelbook[agents]'`. Listing and calling go to the
    tool server, with the user id, and each call is kept in the ledger; a call may be billed. A job or a clip
    that a result speaks of is taken up by a button: `taken` is the JobCard or the Player beneath.

    Observe or link `selected` (the tool whose form is shown; set it to show another) and `state`: "" before
    anything is known, "listing", "ready", "calling" or "trouble". `on_result(callback)` calls
    `callback(tool, result)` for every ToolResult; `result` is the last one, `tools` what was listed.

        explorer = rb.ToolExplorer(session)
        told = ipywidgets.HTML()
        explorer.on_result(lambda tool, result: setattr(told, "value", f"{tool.name} answered"))
        ipywidgets.VBox([explorer, told])
    """

    selected = traitlets.Unicode("", help="The name of the tool whose form is shown.")
    state = traitlets.Unicode("", read_only=True, help="What it does at the moment.")

    def __init__(self, session: Session | Tools | None = None, **traits: Any) -> None:
        only_known(self, traits)
        self.session = session if isinstance(session, Tools) else session_of(self, session)
        self.panel = ToolPanel(SessionSource(self.session), self._show)
        self.taken: JobCard | Player | None = None
        super().__init__([self.panel], **traits)
        self.add_class("reelbook-tools")
        self.panel.when_left = self.keep_still
        traitlets.link((self, "selected"), (self.panel, "selected"))
        self.panel.observe(lambda change: self.set_trait("state", change["new"]), "state")

    @property
    def result(self) -> ToolResult | None:
        """What the last call gave, None before and while one goes on."""
        return self.panel.result

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools as last listed."""
        return self.panel.tools

    def on_result(self, callback: ResultCallback) -> None:
        """`callback(tool, result)` is called for every result."""
        self.panel.callbacks.append(callback)

    def still(self) -> tuple[str, str]:
        """The last result, and what was taken up."""
        stills = [panel.still() for panel in (self.panel, self.taken) if panel is not None]
        return f"<div>{''.join(page for page, _ in stills)}</div>", " · ".join(text for _, text in stills)

    def close(self) -> None:
        """Ends the explorer and a call under way."""
        if not hasattr(self, "panel"):
            return  # it was refused before there was anything to end
        self.panel.close()
        if self.taken is not None:
            self.taken.close()
        super().close()

    def _show(self, taken: Job | Path) -> None:
        if isinstance(taken, Job) and isinstance(self.taken, JobCard):
            self.taken.job = taken
            return
        former = self.taken
        self.taken = JobCard(taken) if isinstance(taken, Job) else Player(taken)
        self.children = [self.panel, self.taken]
        if former is not None:
            former.close()
