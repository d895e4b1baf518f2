"""Choosing a still image: what the page sends in pieces is put together, checked and prepared here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import traitlets

from reelbook.errors import InvalidImage

from .assets import module, style
from .base import Panel
from .words import image_words

MAX_PIECE_BYTES = 1 << 20
MAX_BYTES = 50 << 20


@dataclass
class _Transfer:
    id: str
    total: int
    pieces: list[bytes] = field(default_factory=list)


class TakesImage(Panel):
    """The part that a panel with an image picker in it needs."""

    image = traitlets.Any(None, allow_none=True, help="The PreparedImage chosen, or None.")
    preview = traitlets.Bytes(help="A small JPEG of it.").tag(sync=True)
    image_words = traitlets.Unicode(help="Its size, and what was changed in it.").tag(sync=True)

    _transfer: _Transfer | None = None

    @traitlets.validate("image")
    def _prepared(self, proposal: Any) -> Any:
        from reelbook.media.images import PreparedImage, prepare

        value = proposal["value"]
        return value if value is None or isinstance(value, PreparedImage) else prepare(value)

    @traitlets.observe("image")
    def _show_image(self, change: Any) -> None:
        from reelbook.media.images import thumbnail

        image = change["new"]
        with self.hold_sync():
            if image is None:
                self.preview, self.image_words = b"", ""
            else:
                self.preview = thumbnail(image.data, max_side=256, max_bytes=6_000)
                self.image_words = image_words(
                    image.width, image.height, image.format, len(image.data), image.notes
                )

    def _on_image(self, content: dict[str, Any], buffers: Any) -> None:
        answer = {"name": "got", "id": content.get("id"), "index": content.get("index")}
        try:
            whole = self._piece(content, buffers)
            if whole is not None:
                self.image = whole
        except InvalidImage as error:
            self._transfer = None
            answer["problem"] = str(error)
        self.send(answer)

    def _piece(self, content: dict[str, Any], buffers: Any) -> bytes | None:
        """Keeps one piece; the whole file once it is there."""
        index, total, size = (int(content[name]) for name in ("index", "total", "size"))
        piece = bytes(buffers[0]) if buffers else b""
        if size > MAX_BYTES or not 1 <= total <= MAX_BYTES // 1024 or len(piece) > MAX_PIECE_BYTES:
            raise InvalidImage("The image is larger than 50 MB. Nothing was sent to the service.")
        if index == 0:
            self._transfer = _Transfer(str(content["id"]), total)
        transfer = self._transfer
        if transfer is None or transfer.id != content["id"] or index != len(transfer.pieces):
            raise InvalidImage("The image didn't arrive whole. Choose it again.")
        transfer.pieces.append(piece)
        if len(transfer.pieces) < transfer.total:
            return None
        self._transfer = None
        whole = b"".join(transfer.pieces)
        if len(whole) != size:
            raise InvalidImage("The image didn't arrive whole. Choose it again.")
        return whole

    def _on_remove(self, *_: object) -> None:
        self._transfer = None
        self.image = None


class ImagePicker(TakesImage):
    """Takes a still by choosing, dropping or pasting it.

    Observe, link or set `image`: a PreparedImage or None. It may be set to a path, bytes, a PIL image or a
    numpy array; raises InvalidImage for what is no image.
    """

    _esm = module("picker")
    _css = style("picker")
