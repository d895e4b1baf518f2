"""A file that comes from the page in pieces."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from reelbook.errors import InvalidImage
from reelbook.media.images import PreparedImage, prepare
from reelbook.widgets.image_upload import MAX_BYTES, MAX_PIECE_BYTES, NOT_WHOLE, ImageUpload


def png(width: int = 40, height: int = 30) -> bytes:
    file = BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, "PNG")
    return file.getvalue()


def arrived(data: bytes, piece: int = 50, **changes: Any) -> list[PreparedImage | None]:
    """What each piece gives, sent as the page does."""
    pieces = [data[start : start + piece] for start in range(0, len(data), piece)]
    head = {"id": "a", "total": len(pieces), "size": len(data), **changes}
    transfer = ImageUpload({**head, "index": 0}, [pieces[0]])
    return [transfer.take({**head, "index": index}, [each]) for index, each in enumerate(pieces)]


def test_the_last_piece_gives_the_image() -> None:
    """The ones before give nothing."""
    data = png()
    *before, image = arrived(data)
    assert set(before) == {None}
    assert image == prepare(data)


def test_pieces_out_of_order_are_refused() -> None:
    """As are those of another file, and those that are too large."""
    head = {"id": "a", "total": 2, "size": 100, "index": 0}
    for content, piece in (
        ({**head, "index": 1}, b"x"),
        ({**head, "id": "b"}, b"x"),
        (head, bytes(MAX_PIECE_BYTES + 1)),
    ):
        with pytest.raises(InvalidImage, match=NOT_WHOLE):
            ImageUpload(head, [b"x"]).take(content, [piece])


def test_a_file_of_another_size_than_said_is_refused() -> None:
    """Something was lost on the way."""
    data = png()
    with pytest.raises(InvalidImage, match=NOT_WHOLE):
        arrived(data, size=len(data) + 1)


@pytest.mark.parametrize("head", [{"size": MAX_BYTES + 1, "total": 1}, {"size": 1, "total": 10**9}])
def test_what_is_too_large_is_refused_at_its_first_piece(head: dict[str, int]) -> None:
    """Nothing more is sent by the page then."""
    with pytest.raises(InvalidImage, match="larger than 50 MB"):
        ImageUpload({"id": "a", "index": 0, **head}, [b"x"])


def test_what_is_never_a_picture_is_refused_at_its_first_piece() -> None:
    """With what it is."""
    with pytest.raises(InvalidImage, match="PDF"):
        ImageUpload({"id": "a", "index": 0, "size": 10, "total": 1}, [b"%PDF-1.7"])


def test_what_the_page_did_to_the_file_is_said() -> None:
    """It was a larger one of another kind."""
    made = {"segments": [], "kind": "image/webp", "width": 4000, "height": 3000}
    data = png()
    *_, image = arrived(data, made=made)
    assert image is not None
    assert image.notes[: len(image.notes) - len(prepare(data).notes)] != ()
    assert any("4000 × 3000" in note for note in image.notes)
