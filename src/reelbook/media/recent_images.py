"""Copies of the last images that were sent, so that one can be used again. Only the owner can read them."""

import contextlib
import hashlib
import re
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final, Literal
from weakref import WeakValueDictionary

from PIL import Image

from ..atomic_files import write_whole
from ..errors import InvalidImage
from .images import PreparedImage

KEPT: Final = 12
KINDS: Final[dict[Literal["JPEG", "PNG"], str]] = {"JPEG": ".jpg", "PNG": ".png"}
_NAME = re.compile(r"(?P<digest>[0-9a-f]{64})\.(jpg|png)")


@dataclass(frozen=True)
class RecentImage:
    """One kept image. `digest` is the SHA-256 of its bytes, as in the ledger; `at` is in epoch seconds."""

    digest: str
    path: Path
    at: float


class RecentImages:
    """The newest KEPT images of a home, in its folder `images`."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "images"
        self._read: WeakValueDictionary[str, PreparedImage] = WeakValueDictionary()  # one for all its jobs

    def keep(self, image: PreparedImage) -> None:
        """Keeps a copy as it is sent, and removes the oldest. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(self.folder / f"{image.digest}{KINDS[image.format]}", image.data)
        for old in self.list()[KEPT:]:
            old.path.unlink(missing_ok=True)

    def list(self) -> list[RecentImage]:
        """The kept images, newest first; none if the folder can't be read."""
        found = []
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                if name := _NAME.fullmatch(path.name):
                    with contextlib.suppress(OSError):  # another kernel has removed it meanwhile
                        found.append(RecentImage(name["digest"], path, path.stat().st_mtime))
        return sorted(found, key=lambda one: (-one.at, one.digest))

    def find(self, digest: str) -> PreparedImage | None:
        """The image with that digest as it was sent; None if it isn't kept any more, or has changed."""
        if digest not in self._read:
            for kind, ending in KINDS.items():
                path = self.folder / f"{digest}{ending}"
                with contextlib.suppress(OSError):
                    data = path.read_bytes()
                    if hashlib.sha256(data).hexdigest() == digest:
                        with Image.open(BytesIO(data)) as picture:
                            found = PreparedImage(data, kind, *picture.size)
                        self._read[digest] = found
                        return found
        return self._read.get(digest)

    def load(self, digest: str) -> PreparedImage:
        """As `find`, but raises InvalidImage, with words for a person, if there is none."""
        if (image := self.find(digest)) is None:
            raise InvalidImage("That image is no longer kept. Choose the file again.")
        return image

    def forget(self) -> None:
        """Removes all copies. The ledger's small pictures of the jobs stay. Raises OSError."""
        for one in self.list():
            one.path.unlink(missing_ok=True)
