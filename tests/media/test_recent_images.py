"""Copies of the images that were sent last."""

import hashlib
import os
from pathlib import Path

import pytest
from PIL import Image

from reelbook.errors import InvalidImage
from reelbook.media.images import PreparedImage, prepare
from reelbook.media.recent_images import KEPT, RecentImages


def image(number: int) -> PreparedImage:
    return prepare(Image.new("RGB", (10 + number, 10)))


def test_an_image_comes_back_as_it_was_sent(tmp_path: Path) -> None:
    """The same bytes, found by the digest, as in the ledger; only the owner may read the file."""
    recent = RecentImages(tmp_path / "home")
    recent.keep(image(1))
    (one,) = recent.list()
    assert one.digest == hashlib.sha256(image(1).data).hexdigest()
    assert recent.load(one.digest) == image(1)
    assert one.path.stat().st_mode & 0o777 == 0o600
    assert recent.folder.stat().st_mode & 0o777 == 0o700


def test_the_newest_twelve_are_kept(tmp_path: Path) -> None:
    """The oldest goes; one that is sent again is the newest, and kept once; nothing half written is left."""
    recent = RecentImages(tmp_path)
    for number in range(KEPT + 3):
        recent.keep(image(number))
        os.utime(recent.list()[0].path, (1000 + number, 1000 + number))  # each a second after the one before
    assert [recent.load(one.digest).width for one in recent.list()] == [
        10 + number for number in range(KEPT + 2, 2, -1)
    ]
    recent.keep(image(5))
    assert recent.load(recent.list()[0].digest).width == 15
    assert len(list(recent.folder.iterdir())) == KEPT


def test_forgotten_images_are_gone(tmp_path: Path) -> None:
    """Only the copies are removed, not a file that somebody put beside them."""
    recent = RecentImages(tmp_path)
    recent.keep(image(1))
    digest = recent.list()[0].digest
    (recent.folder / "mine.jpg").write_bytes(b"mine")
    recent.forget()
    assert [path.name for path in recent.folder.iterdir()] == ["mine.jpg"]
    with pytest.raises(InvalidImage, match="no longer kept"):
        recent.load(digest)


def test_nothing_kept_is_no_error(tmp_path: Path) -> None:
    """Without a folder the list is empty, and a name that leads elsewhere finds nothing."""
    recent = RecentImages(tmp_path)
    assert recent.list() == []
    (tmp_path / "secret.jpg").write_bytes(image(1).data)
    with pytest.raises(InvalidImage):
        recent.load("../secret")


def test_a_file_that_was_changed_isnt_taken_for_what_was_sent(tmp_path: Path) -> None:
    """What is sent again is what was sent: the bytes have to have the digest."""
    recent = RecentImages(tmp_path)
    recent.keep(image(1))
    (one,) = recent.list()
    assert RecentImages(tmp_path).find(one.digest) == image(1)
    one.path.write_bytes(image(2).data)
    assert RecentImages(tmp_path).find(one.digest) is None
    assert RecentImages(tmp_path).find("0" * 64) is None
