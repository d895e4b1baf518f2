"""The panels that a person at a notebook sees and uses. Loaded when the first of them is shown.

`base` is what all panels share, `background` runs what takes a while, `live` brings changes to the page, and
`static/` draws it. The words are in `reelbook.text`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reelbook.session import Batch, Clip, Job, display

if TYPE_CHECKING:
    from .classroom_panel import ClassroomPanel
    from .compare import Compare
    from .connection_panel import ConnectionPanel
    from .gallery import Gallery
    from .image_picker import ImagePicker
    from .job_board import JobBoard
    from .job_card import JobCard
    from .key_manager import KeyManager
    from .matrix import Matrix
    from .player import Player
    from .prompt_form import PromptForm
    from .studio import Studio
    from .sweep_form import SweepForm
    from .tool_explorer import ToolExplorer
    from .usage_chart import UsageChart

__all__ = [
    "ClassroomPanel",
    "Compare",
    "ConnectionPanel",
    "Gallery",
    "ImagePicker",
    "JobBoard",
    "JobCard",
    "KeyManager",
    "Matrix",
    "Player",
    "PromptForm",
    "Studio",
    "SweepForm",
    "ToolExplorer",
    "UsageChart",
]

_MODULES = {
    "ClassroomPanel": "classroom_panel",
    "Compare": "compare",
    "ConnectionPanel": "connection_panel",
    "Gallery": "gallery",
    "ImagePicker": "image_picker",
    "JobBoard": "job_board",
    "JobCard": "job_card",
    "KeyManager": "key_manager",
    "Matrix": "matrix",
    "Player": "player",
    "PromptForm": "prompt_form",
    "Studio": "studio",
    "SweepForm": "sweep_form",
    "ToolExplorer": "tool_explorer",
    "UsageChart": "usage_chart",
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
    return import_module(".job_board", __name__).JobBoard(jobs=batch)


def _card(job: Job) -> Any:
    return import_module(".job_card", __name__).JobCard(job)


def _player(clip: Clip) -> Any:
    return import_module(".player", __name__).Player(clip)


display.register(Batch, _board)
display.register(Job, _card)
display.register(Clip, _player)
