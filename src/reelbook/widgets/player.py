"""A clip that plays in the page, from a Clip or from a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import traitlets

from reelbook.session import Clip

from . import words
from .assets import module, style
from .media import ServesClip
from .still import card_html, card_text, small_poster


class Player(ServesClip):
    """Plays a clip: muted, looping, loaded when it is seen.

    `Player(clip)` or `Player("clip.mp4")`. Observe or link `time` (seconds) and `playing`; setting them
    seeks, plays and pauses. `autoplay=False` waits for a press (so does a page that asks for less motion).
    Raises NotAVideo for a file that isn't one.
    """

    _esm = module("player")
    _css = style("player")

    time = traitlets.Float(0.0, min=0.0, help="Where it is, in seconds.").tag(sync=True)
    playing = traitlets.Bool(help="Whether it plays.").tag(sync=True)
    autoplay = traitlets.Bool(True, help="Whether it starts by itself when seen.").tag(sync=True)
    tells_time = traitlets.Bool(help="Whether the page reports `time` as it plays.").tag(sync=True)
    progress = traitlets.Float(None, allow_none=True).tag(sync=True)
    face = traitlets.Dict(help="What the page draws.").tag(sync=True)
    figures: traitlets.List[Any] = traitlets.List(help="The lines under the clip.").tag(sync=True)

    def __init__(self, clip: Clip | str | os.PathLike[str], **traits: Any) -> None:
        self.clip = clip if isinstance(clip, Clip) else Clip(path=Path(clip), request_id="")
        super().__init__(
            face=dict(words.clip_face(self.clip)),
            figures=words.clip_lines(self.clip),
            poster=small_poster(self.clip.poster()),
            **traits,
        )

    def observe(
        self,
        handler: Any,
        names: Any = traitlets.All,
        type: str = "change",  # noqa: A002 - the name that traitlets gave it
    ) -> None:
        """As traitlets' `observe`. The page reports `time` only once somebody asks for it: a message every
        quarter of a second would keep the kernel's light flickering.
        """
        super().observe(handler, names, type)
        if names is traitlets.All or names == "time" or (isinstance(names, list | tuple) and "time" in names):
            self.tells_time = True

    def clip_path(self, key: str = "") -> Path:
        return self.clip.path

    def still(self) -> tuple[str, str]:
        face: Any = self.face
        return card_html(face, self.figures, self.poster), card_text(face, self.figures)
