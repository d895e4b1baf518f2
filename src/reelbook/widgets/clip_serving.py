"""A panel's side of clips in the page: their pieces and posters on request. The page never names a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from .base import Panel
from .static_html import small_poster

PIECE_BYTES = 960 * 1024  # with its header a message stays under 1 MiB


class ServesClips(Panel):
    """Answers the page's `chunk` and `posters` messages; it names the clips by keys of the panel's own.

    A panel says where its clips lie: a widget's metaclass leaves no room for abstract methods.
    """

    def clip_path(self, key: str) -> Path | None:
        """Where that clip lies, None while there is none."""
        raise NotImplementedError

    def clip_poster(self, key: str) -> bytes:
        """A small JPEG of it, empty where there is none."""
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
    """Serves one clip, whatever the page calls it, and a poster that is saved with the notebook."""

    poster = traitlets.Bytes(help="A small JPEG of the clip or of the person's image.").tag(sync=True)


class TellsTime(traitlets.HasTraits):
    """For a panel whose clip's `time` moves in the page."""

    tells_time = traitlets.Bool(help="Whether the page reports `time` as it plays.").tag(sync=True)

    def observe(
        self,
        handler: Any,
        names: Any = traitlets.All,
        type: Any = "change",  # noqa: A002 - the name that traitlets gave it
    ) -> None:
        """As traitlets' `observe`. The page reports `time` only once somebody asks for it: a message every
        quarter of a second would keep the kernel's light flickering.
        """
        super().observe(handler, names, type)
        if names is traitlets.All or names == "time" or (isinstance(names, list | tuple) and "time" in names):
            self.tells_time = True
