"""What a saved notebook shows: plain HTML, small, with everything a person wrote as text."""

from __future__ import annotations

import re
from io import BytesIO

from PIL import Image
from widgets.doubles import FOX

from reelbook.requests import JobRequest
from reelbook.widgets.static_html import (
    POSTER_BYTES,
    small_poster,
    tiles_html,
)

MARKUP = JobRequest("text-to-video", "<script>alert(1)</script>", 5, "16:9", 7)


def test_a_poster_is_small_whatever_it_is_made_of() -> None:
    """A JPEG of at most 6 kB, from a picture or its bytes."""
    noise = Image.effect_noise((1280, 720), 100).convert("RGB")
    file = BytesIO()
    noise.save(file, "PNG")
    for picture in (noise, file.getvalue()):
        poster = small_poster(picture)
        assert poster.startswith(b"\xff\xd8\xff")
        assert len(poster) <= POSTER_BYTES


def test_tiles_stand_side_by_side_with_their_captions() -> None:
    """With a picture where there is one."""
    page = tiles_html("2 clips", [("a fox <1>", b"\xff\xd8\xff"), ("a hen", b"")])
    assert re.findall(r"<figcaption>(.*?)</figcaption>", page) == ["a fox &lt;1&gt;", "a hen"]
    assert page.count("<img") == 1
    assert FOX.prompt not in page
