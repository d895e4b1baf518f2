"""A panel's side of a clip in the page: its pieces on request, and a poster small enough to be saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from .base import Panel

PIECE_BYTES = 960 * 1024  # with its header a message stays under 1 MiB


class ServesClip(Panel):
    """Answers the page's `chunk` messages from the clip on the disk. The page never names a path."""

    poster = traitlets.Bytes(help="A small JPEG of the clip or of the person's image.").tag(sync=True)

    def clip_path(self) -> Path | None:
        """Where the clip lies, None while there is none."""
        raise NotImplementedError

    def _on_chunk(self, content: dict[str, Any], _: object) -> None:
        path = self.clip_path()
        answer = {"name": "chunk", "id": content.get("id"), "index": content.get("index")}
        try:
            if path is None:
                raise FileNotFoundError
            total = max(1, -(-path.stat().st_size // PIECE_BYTES))
            index = min(max(0, int(content["index"])), total - 1)
            with path.open("rb") as file:
                file.seek(index * PIECE_BYTES)
                piece = file.read(PIECE_BYTES)
        except OSError:
            self.send({**answer, "problem": "The clip's file is no longer where it was."})
            return
        self.send({**answer, "total": total}, [piece])
