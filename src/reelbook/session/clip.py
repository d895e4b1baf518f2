"""A finished clip on this machine's disk, with what made it."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotAVideo
from ..meant import Meant
from . import display, saving

if TYPE_CHECKING:
    from PIL import Image

    from ..media.clips import ClipInfo
    from .requests import JobRequest


@dataclass(frozen=True, eq=False)
class Clip(Meant):
    """One clip: an MP4 at `path`.

    `request` is what was asked for (None for a job taken up by its id), `cost_usd` what the service says it
    cost, `took_seconds` the time from submission to completion, `sandbox` whether it was drawn by the local
    sandbox and not made by a model. Length and size are read from the file itself.
    """

    path: Path
    request_id: str
    request: JobRequest | None = None
    cost_usd: float | None = None
    took_seconds: float | None = None
    sandbox: bool = False

    @functools.cached_property
    def info(self) -> ClipInfo:
        """What the file says of itself. Raises NotAVideo."""
        from ..media.clips import probe

        return probe(self._file())

    @property
    def duration_seconds(self) -> float:
        """The real length in seconds."""
        return self.info.duration_seconds

    @property
    def width(self) -> int:
        """In pixels."""
        return self.info.width

    @property
    def height(self) -> int:
        """In pixels."""
        return self.info.height

    @property
    def frames_per_second(self) -> float:
        """The frame rate."""
        return self.info.frames_per_second

    def poster(self) -> Image.Image:
        """A telling frame as a PIL image."""
        from ..media.clips import poster

        return poster(self._file())

    def frame(self, at_seconds: float = 0.0) -> Image.Image:
        """The frame shown at `at_seconds` as a PIL image; negative counts from the end."""
        from ..media.clips import frame

        return frame(
            self._file(), at_seconds if at_seconds >= 0 else max(0.0, self.duration_seconds + at_seconds)
        )

    def filmstrip(self, tiles: int = 8) -> Image.Image:
        """`tiles` frames over the whole length side by side, as a PIL image."""
        from ..media.clips import filmstrip

        return filmstrip(self._file(), tiles)

    def save(self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> Path:
        """Copies the clip's file to `path` and returns where it is. In Colab the browser downloads it too.

        `path` is a file or a folder; without it the working folder. In a folder the name is made of the
        prompt's first words and the seed. A file that is this clip already is left as it is; another one is
        replaced only with `overwrite=True`. Raises InvalidInput where a file is in the way or no folder is,
        ReelbookError where the disk refuses.
        """
        return saving.save(self, path, overwrite=overwrite)

    def as_code(self) -> str:
        """The Python call that made this clip, to be put into a cell. Run there, it buys another clip.

        For a clip that is known by its file alone: the call that plays it.
        """
        return saving.code(self)

    def show(self) -> None:
        """Shows the clip in a player below the cell."""
        display.show(self)

    def _file(self) -> Path:
        """Where it is. Raises NotAVideo that says how a clip whose file is gone is had again."""
        if self.request_id and not self.path.exists():
            raise NotAVideo(
                f"The clip's file isn't there any more: {self.path}. session.job({self.request_id!r}) "
                "fetches it again, where the service still has it; that costs nothing."
            )
        return self.path

    def _ipython_display_(self) -> None:
        try:
            self.show()
        except NotAVideo as gone:
            print(gone)  # noqa: T201 - what is said instead of a player, without a traceback

    def __repr__(self) -> str:
        if not self.path.exists():
            return f"<Clip {self.path.name}, whose file isn't there any more>"
        where = " sandbox" if self.sandbox else ""
        return f"<Clip {self.path.name}, {self.duration_seconds:.1f} s, {self.width}×{self.height}{where}>"
