"""Reelbook: explore, teach and prototype with an asynchronous video generation service, in a notebook.

The public names are loaded when they are first used; importing reelbook imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import errors
    from .client import AsyncClient, ToolServer
    from .session import (
        Batch,
        Clip,
        Facts,
        Job,
        JobRequest,
        JobView,
        Picked,
        Receipt,
        Reconciliation,
        Rotation,
        Session,
        Spending,
        Tools,
        Verdict,
        allow_nested_loops,
        connect,
        connect_tools,
    )
    from .widgets import (
        ClassroomPanel,
        Compare,
        ConnectionPanel,
        Gallery,
        ImagePicker,
        JobBoard,
        JobCard,
        KeyManager,
        Player,
        PromptForm,
        Studio,
        ToolExplorer,
        UsageChart,
    )

__version__ = "0.1.0"

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
    "KeyManager",
    "Picked",
    "Player",
    "PromptForm",
    "Receipt",
    "Reconciliation",
    "Rotation",
    "Session",
    "Spending",
    "Studio",
    "ToolExplorer",
    "ToolServer",
    "Tools",
    "UsageChart",
    "Verdict",
    "allow_nested_loops",
    "connect",
    "connect_tools",
    "errors",
]

_HOMES = {
    "AsyncClient": "client",
    "ToolServer": "client",
    "errors": "",
    **dict.fromkeys(
        (
            "ClassroomPanel",
            "Compare",
            "ConnectionPanel",
            "Gallery",
            "ImagePicker",
            "JobBoard",
            "JobCard",
            "KeyManager",
            "Player",
            "PromptForm",
            "Studio",
            "ToolExplorer",
            "UsageChart",
        ),
        "widgets",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_meant(name)}")
    if name == "errors":
        return import_module(".errors", __name__)
    value = getattr(import_module("." + _HOMES.get(name, "session"), __name__), name)
    globals()[name] = value
    return value


def _meant(name: str) -> str:
    if name.startswith("_"):
        return ""  # asked by tools, not by people
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, n=1) or get_close_matches(name.lower(), __all__, n=1)
    return f". Did you mean {near[0]!r}?" if near else ""


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext reelbook`: adds the cell magic `%%video`."""
    import_module(".magics", __name__).load(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
