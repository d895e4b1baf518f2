"""Sends clips and posters to the page when it asks for them. The page never names a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from .base import Panel
from .static_html import small_poster

PIECE_BYTES = 960 * 1024  # with its header a message stays under 1 MiB


class ServesClips(Panel):
    """Answers the page's `chunk` and `posters` messages, which name clips by the panel's own keys.

    A panel implements `clip_path`. It isn't an abstract method only because a widget's metaclass doesn't
    allow those.
    """

    def clip_path(self, key: str) -> Path | None:
        """Where that clip is on disk, None while there is none."""
        raise NotImplementedError

    def clip_poster(self, key: str) -> bytes:
        """A small JPEG of the clip, empty if there is none."""
        from reelbook.media.clips import poster

        path = self.clip_path(key)
        return small_poster(poster(path)) if path is not None and path.exists() else b""

    def _on_chunk(self, content: dict[str, Any], _: object) -> None:
        key, index = str(content.get("key", "")), content.get("index")
        answer = {"name": "chunk", "id": content.get("id"), "index": index}
        path = self.clip_path(key)
        try:
            if path is None:
                raise FileNotFoundError
            total = max(1, -(-path.stat().st_size // PIECE_BYTES))
            place = min(max(0, int(index or 0)), total - 1)
            with path.open("rb") as file:
                file.seek(place * PIECE_BYTES)
                piece = file.read(PIECE_BYTES)
        except OSError:
            self.send({**answer, "problem": "The clip's file is no longer where it was."})
            return
        self.send({**answer, "total": total}, [piece])

    def _on_posters(self, content: dict[str, Any], _: object) -> None:
        keys = [str(key) for key in content.get("keys", [])][:50]
        self.send({"name": "posters", "keys": keys}, [self.clip_poster(key) for key in keys])


class ServesClip(ServesClips):
    """Serves a single clip, under any key, and a poster that is saved with the notebook."""

    poster = traitlets.Bytes(help="A small JPEG of the clip or of the person's image.").tag(sync=True)


class ReportsTime(traitlets.HasTraits):
    """For panels whose trait `time` moves while a clip plays in the page."""

    reports_time = traitlets.Bool(help="Whether the page reports `time` as it plays.").tag(sync=True)

    def observe(
        self,
        handler: Any,
        names: Any = traitlets.All,
        type: Any = "change",  # noqa: A002 - traitlets named it
    ) -> None:
        """As in traitlets. The page reports `time` only once somebody observes it: four messages a second
        would keep the kernel's busy light flickering.
        """
        super().observe(handler, names, type)
        if names is traitlets.All or names == "time" or (isinstance(names, list | tuple) and "time" in names):
            self.reports_time = True
