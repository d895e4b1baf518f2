"""A file that the page sends to the kernel, in pieces that any message may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from reelbook.errors import InvalidInput

MAX_BYTES: Final = 50 << 20
MAX_PIECE_BYTES: Final = 1 << 20


class Upload:
    """One file in pieces, begun with the message of the first piece, which goes to `take` like all others.

    Raises InvalidInput (as its `error`) where it is too large, and where a piece is missing.
    """

    error: ClassVar[type[InvalidInput]] = InvalidInput
    what: ClassVar[str] = "file"

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._id = content["id"]
        self._total, self._size = int(content["total"]), int(content["size"])
        if self._size > MAX_BYTES or not 1 <= self._total <= MAX_BYTES // 1024:
            raise self.error(f"The {self.what} is larger than 50 MB. Nothing was sent to the service.")
        self._pieces: list[bytes] = []

    @classmethod
    def not_whole(cls) -> InvalidInput:
        """The error of a file of which a piece is missing."""
        return cls.error(f"The {cls.what} didn't arrive whole. Choose it again.")

    def take(self, content: Mapping[str, Any], buffers: Sequence[Any]) -> bytes | None:
        """Takes one piece, and returns the file with the last one."""
        piece = bytes(buffers[0])
        if (content["id"], content["index"]) != (self._id, len(self._pieces)) or len(piece) > MAX_PIECE_BYTES:
            raise self.not_whole()
        self._pieces.append(piece)
        if len(self._pieces) < self._total:
            return None
        whole = b"".join(self._pieces)
        if len(whole) != self._size:
            raise self.not_whole()
        return whole
