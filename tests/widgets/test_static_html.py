"""What a saved notebook shows: pictures that are small."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from reelbook.widgets.static_html import POSTER_BYTES, small_poster


def test_a_poster_is_small_whatever_it_is_made_of() -> None:
    """A JPEG of at most 6 kB, from a picture or its bytes."""
    noise = Image.effect_noise((1280, 720), 100).convert("RGB")
    file = BytesIO()
    noise.save(file, "PNG")
    for picture in (noise, file.getvalue()):
        poster = small_poster(picture)
        assert poster.startswith(b"\xff\xd8\xff")
        assert len(poster) <= POSTER_BYTES
