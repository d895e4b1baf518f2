"""Sends clips and posters to the page when it asks for them. The page never names a path."""

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import traitlets

from reelbook.atomic_files import atomic_write
from reelbook.errors import NotAVideo
from reelbook.session import Clip

from .base import Panel
from .static_html import small_poster

PIECE_BYTES = 960 * 1024  # with its header a message stays under 1 MiB
POSTERS_KEPT = 600


def piece(read: Callable[[], BinaryIO] | None, index: Any, gone: str) -> dict[str, Any]:
    """The answer to `chunk`: one of the pieces in which a file goes to the page, or that it is gone."""
    try:
        if read is None:
            raise FileNotFoundError
        with read() as file:
            total = max(1, -(-file.seek(0, os.SEEK_END) // PIECE_BYTES))
            place = min(max(0, index if isinstance(index, int) else 0), total - 1)
            file.seek(place * PIECE_BYTES)
            return {"total": total, "buffers": [file.read(PIECE_BYTES)]}
    except OSError:
        return {"problem": gone}


class ServesClips(Panel):
    """Answers the page's `chunk` and `posters` messages, which name clips by the panel's own keys.

    The page may also fetch the file that the panel saved last, `saved`, under the key "saved". A panel that
    shows clips implements `clip_of`.
    """

    saved: Any = traitlets.Instance(Path, allow_none=True, help="The file that was saved last.").tag(
        sync=True, to_json=lambda path, _: path.name if path else ""
    )

    _exports: TemporaryDirectory[str] | None = None

    def clip_of(self, key: str) -> Clip | None:
        """The clip with that key, None if there is none."""
        return None

    def clip_path(self, key: str) -> Path | None:
        """The path of that clip, None if there is none."""
        clip = self.clip_of(key)
        return None if clip is None else clip.path

    def clip_poster(self, key: str) -> bytes:
        """A small JPEG of the clip, drawn once however often it is asked for; empty if there is none."""
        path = self.clip_path(key)
        return _poster(path, path.stat().st_mtime) if path is not None and path.exists() else b""

    def _on_chunk(self, key: Any, index: Any, passport: Any) -> dict[str, Any]:
        """A piece of a clip, unchanged for playing or with its `passport` for saving."""
        key = str(key or "")
        path = self.saved if key == "saved" else self.clip_path(key)
        clip = self.clip_of(key) if passport else None
        read = None if path is None else lambda: (path if clip is None else self._exported(clip)).open("rb")
        return piece(read, index, "The file is no longer where it was.")

    def _exported(self, clip: Clip) -> Path:
        """A copy with the clip's passport, made once and deleted with the panel."""
        self._exports = self._exports or TemporaryDirectory(prefix="reelbook-")
        copy = Path(self._exports.name) / clip.path.name
        if not copy.exists():
            with atomic_write(copy) as part:
                clip._copy(part, clip.passport())
        return copy

    def _on_posters(self, keys: list[Any]) -> dict[str, Any]:
        return {"buffers": [self.clip_poster(str(key)) for key in keys[:50]]}


@lru_cache(POSTERS_KEPT)
def _poster(path: Path, changed_at: float) -> bytes:
    from reelbook.media.clips import poster

    try:
        return small_poster(poster(path))
    except NotAVideo:  # the other clips of the same question have theirs
        return b""


class Plays(traitlets.HasTraits):
    """For panels that play clips: where they are, whether they play, and how fast."""

    time = traitlets.Float(0.0, min=0.0, help="Where it is, in seconds.").tag(sync=True)
    playing = traitlets.Bool(help="Whether it plays.").tag(sync=True)
    speed = traitlets.Float(1.0, min=0.25, max=2.0, help="1 is the clips' own speed.").tag(sync=True)
    reports_time = traitlets.Bool(help="Whether the page reports `time` as it plays.").tag(sync=True)

    def observe(
        self,
        handler: Any,
        names: Any = traitlets.All,
        type: Any = "change",  # noqa: A002 - traitlets named it
    ) -> None:
        """As in traitlets. The page reports `time`, which keeps the kernel busy, to observers only."""
        super().observe(handler, names, type)
        if names is traitlets.All or names == "time" or (isinstance(names, list | tuple) and "time" in names):
            self.reports_time = True
