"""The panels: what a person at a notebook sees and presses. Loaded when the first thing is shown.

`base` is what all share, `live` brings changes to the page, `words` says everything, `static/` draws it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reelbook.session import Batch, Clip, Job, display

if TYPE_CHECKING:
    from .board import JobBoard
    from .card import JobCard
    from .classroom import ClassroomPanel
    from .compare import Compare
    from .connection import ConnectionPanel
    from .form import PromptForm
    from .gallery import Gallery
    from .keys import KeyManager
    from .picker import ImagePicker
    from .player import Player
    from .studio import Studio
    from .tools import ToolExplorer
    from .usage import UsageChart

__all__ = [
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
]

_MODULES = {
    "ClassroomPanel": "classroom",
    "Compare": "compare",
    "ConnectionPanel": "connection",
    "Gallery": "gallery",
    "ImagePicker": "picker",
    "JobBoard": "board",
    "JobCard": "card",
    "KeyManager": "keys",
    "Player": "player",
    "PromptForm": "form",
    "Studio": "studio",
    "ToolExplorer": "tools",
    "UsageChart": "usage",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _board(batch: Batch) -> Any:
    return import_module(".board", __name__).JobBoard(jobs=batch)


def _card(job: Job) -> Any:
    return import_module(".card", __name__).JobCard(job)


def _player(clip: Clip) -> Any:
    return import_module(".player", __name__).Player(clip)


display.register(Batch, _board)
display.register(Job, _card)
display.register(Clip, _player)
