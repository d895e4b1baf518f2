"""What the image picker says."""

from __future__ import annotations

from pathlib import Path

import pytest

from reelbook.text.picker import page_notes, recent_words, where_words


def test_a_recent_image_has_a_name() -> None:
    """Its size and when it was sent, for who can't see it."""
    assert recent_words(400, 300, 1_700_000_000.0).startswith("400 × 300, sent ")


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "No images yet. The last 12 that you send are kept here."),
        (1, "The last image is kept in ~/reel/images, for you alone to read."),
        (7, "The last 7 images are kept in ~/reel/images, for you alone to read."),
    ],
)
def test_where_copies_lie_is_said(count: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is named, from the person's home where it lies in it."""
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ada"))
    assert where_words(count, Path("/home/ada/reel/images"), 12) == words
    assert "/srv/images" in where_words(2, Path("/srv/images"), 12)


def test_only_what_changed_is_said() -> None:
    """Another format and another size, after what was removed."""
    assert page_notes([], "JPEG", "JPEG", (9, 9), (9, 9)) == ()
    assert page_notes(["camera data removed"], "WebP", "PNG", (4000, 20), (2048, 10)) == (
        "camera data removed",
        "converted from WebP",
        "shrunk from 4000 × 20 to 2048 × 10",
    )
