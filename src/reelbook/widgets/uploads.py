"""A file that the page sends to the kernel, in pieces small enough for any message."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reelbook.errors import InvalidInput

MAX_BYTES: Final = 50 << 20
MAX_PIECE_BYTES: Final = 1 << 20


class Uploads:
    """Receives one file at a time. Raises `error` if it is too large or a piece is missing."""

    def __init__(self, what: str = "file", error: type[InvalidInput] = InvalidInput) -> None:
        self._what, self._error = what, error
        self.drop()

    def drop(self) -> None:
        """Forgets the pieces of an unfinished file."""
        self._id: object = None
        self._pieces: list[bytes] = []

    def take(self, content: Mapping[str, Any], buffers: Sequence[Any]) -> bytes | None:
        """Takes one piece, and returns the file with the last one."""
        total, size, piece = int(content["total"]), int(content["size"]), bytes(buffers[0])
        if content["index"] == 0:
            self.drop()
            if size > MAX_BYTES or not 1 <= total <= MAX_BYTES // 1024:
                raise self._error(f"The {self._what} is larger than 50 MB. Nothing was sent to the service.")
            self._id = content["id"]
        fits = (content["id"], content["index"]) == (self._id, len(self._pieces))
        self._pieces.append(piece)
        whole = b"".join(self._pieces) if len(self._pieces) == total else None
        if not fits or len(piece) > MAX_PIECE_BYTES or (whole is not None and len(whole) != size):
            self.drop()
            raise self._error(f"The {self._what} arrived incomplete. Choose it again.")
        if whole is not None:
            self.drop()
        return whole
