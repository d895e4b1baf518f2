"""A file that comes from the page in pieces: put together, checked, and made into a prepared image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reelbook.errors import InvalidImage

from ..text.picker import page_notes

if TYPE_CHECKING:
    from reelbook.media.images import PreparedImage

MAX_PIECE_BYTES: Final = 1 << 20
MAX_BYTES: Final = 50 << 20
NOT_WHOLE: Final = "The image didn't arrive whole. Choose it again."


class ImageUpload:
    """One file in pieces, begun with the message of the first piece, which goes to `take` like all others.

    Raises InvalidImage if the file is too large, or if its first bytes show that it isn't a picture.
    """

    def __init__(self, content: dict[str, Any], buffers: Sequence[Any]) -> None:
        from reelbook.media.image_files import never_a_picture

        self._id = content["id"]
        self._total, self._size = int(content["total"]), int(content["size"])
        if self._size > MAX_BYTES or not 1 <= self._total <= MAX_BYTES // 1024:
            raise InvalidImage("The image is larger than 50 MB. Nothing was sent to the service.")
        if reason := never_a_picture(bytes(buffers[0][:2048])):
            raise InvalidImage(reason)
        # What the page did to the file, None if nothing; then what else was in the file, by name.
        self._made: dict[str, Any] | None = content.get("made")
        names = self._made["segments"] if self._made else []
        self._segments = list(zip(names, map(bytes, buffers[1:]), strict=True))
        self._pieces: list[bytes] = []

    def take(self, content: dict[str, Any], buffers: Sequence[Any]) -> PreparedImage | None:
        """Takes one piece, and returns the image with the last one. Raises InvalidImage."""
        piece = bytes(buffers[0])
        if (content["id"], content["index"]) != (self._id, len(self._pieces)) or len(piece) > MAX_PIECE_BYTES:
            raise InvalidImage(NOT_WHOLE)
        self._pieces.append(piece)
        if len(self._pieces) < self._total:
            return None
        whole = b"".join(self._pieces)
        if len(whole) != self._size:
            raise InvalidImage(NOT_WHOLE)
        return self._prepared(whole)

    def _prepared(self, data: bytes) -> PreparedImage:
        from reelbook.media.images import prepare
        from reelbook.media.metadata import removed_by_the_page

        image = prepare(data)
        if (made := self._made) is None:
            return image
        notes = page_notes(
            removed_by_the_page(self._segments),
            str(made["kind"]),
            image.format,
            (int(made["width"]), int(made["height"])),
            (image.width, image.height),
        )
        return replace(image, notes=(*notes, *image.notes))
