"""Reelbook: explore, teach and prototype with an asynchronous video generation service, in a notebook.

    import reelbook as rb

    rb.Studio()                                             # everything in one cell
    session = rb.connect("sandbox")                         # or "live"
    job = session.text_to_video("a red fox in the snow")    # shown in a cell: a live card
    clip = await job                                        # or job.result() in code that can't await

Begin:          connect, join, Studio; allow_nested_loops where a course calls asyncio.run in a cell
Submit, wait:   Session, Job, JobRequest, JobView, Batch, Clip
Explore:        Sweep, SweepForm, Matrix, Styles; Study, Judge: which clips are better, by votes
Hand over:      hand_over, a page of clips for others; passport, Passport: what made an exported clip
Panels:         PromptForm, ImagePicker, JobCard, JobBoard, Player, Compare, Gallery
Money:          UsageChart, Facts, Spending, Receipt; Reconciliation, Verdict for answers that were lost
Keys:           KeyManager, Rotation, ConnectionPanel; ClassroomPanel for teachers
Agent tools:    ToolExplorer, connect_tools, Tools, ToolServer
No notebook:    AsyncClient, for code that has an event loop; errors, the tree of all that is raised

help(reelbook.Session) and so on tell the rest. The names are loaded when they are first used; importing
reelbook imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import VERSION

if TYPE_CHECKING:
    from . import errors
    from .account import Facts, Receipt, Rotation, Spending
    from .agent_tools.server import ToolServer
    from .client import AsyncClient
    from .explore import Study, Styles, Sweep
    from .session import (
        Batch,
        Clip,
        Job,
        JobRequest,
        JobView,
        Passport,
        Reconciliation,
        Session,
        Tools,
        Verdict,
        allow_nested_loops,
        connect,
        connect_tools,
        join,
        passport,
    )
    from .widgets.classroom_panel import ClassroomPanel
    from .widgets.compare import Compare
    from .widgets.connection_panel import ConnectionPanel
    from .widgets.gallery import Gallery
    from .widgets.handing_over import hand_over
    from .widgets.image_picker import ImagePicker
    from .widgets.job_board import JobBoard
    from .widgets.job_card import JobCard
    from .widgets.judge import Judge
    from .widgets.key_manager import KeyManager
    from .widgets.matrix import Matrix
    from .widgets.player import Player
    from .widgets.prompt_form import PromptForm
    from .widgets.studio import Studio
    from .widgets.sweep_form import SweepForm
    from .widgets.tool_explorer import ToolExplorer
    from .widgets.usage_chart import UsageChart

__version__ = VERSION

__all__ = [
    "AsyncClient",
    "Batch",
    "ClassroomPanel",
    "Clip",
    "Compare",
    "ConnectionPanel",
    "Facts",
    "Gallery",
    "ImagePicker",
    "Job",
    "JobBoard",
    "JobCard",
    "JobRequest",
    "JobView",
    "Judge",
    "KeyManager",
    "Matrix",
    "Passport",
    "Player",
    "PromptForm",
    "Receipt",
    "Reconciliation",
    "Rotation",
    "Session",
    "Spending",
    "Studio",
    "Study",
    "Styles",
    "Sweep",
    "SweepForm",
    "ToolExplorer",
    "ToolServer",
    "Tools",
    "UsageChart",
    "Verdict",
    "allow_nested_loops",
    "connect",
    "connect_tools",
    "errors",
    "hand_over",
    "join",
    "passport",
]

_FLOORS = ("client", "agent_tools", "account", "session", "explore", "widgets")  # none needs one after it


def __getattr__(name: str) -> Any:
    if name not in __all__:
        from . import errors
        from .suggestions import attribute_error

        offered = [*__all__, *(f"errors.{each}" for each in vars(errors) if each[0].isupper())]
        raise attribute_error(f"module {__name__!r}", name, offered)
    if name == "errors":
        return import_module(".errors", __name__)
    floors = (import_module(f".{each}", __name__) for each in _FLOORS)
    value = globals()[name] = getattr(next(each for each in floors if hasattr(each, name)), name)
    return value


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext reelbook`: adds the cell magic `%%video`."""
    import_module(".magics", __name__).load(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
