"""What a saved notebook shows: plain HTML, small, with everything a person wrote as text."""

from __future__ import annotations

import re
from io import BytesIO

from PIL import Image
from widgets.doubles import FOX, view

from reelbook.requests import JobRequest
from reelbook.text.board import board_row
from reelbook.text.card import ShownJob, job_face, job_lines
from reelbook.widgets.static_html import (
    POSTER_BYTES,
    board_html,
    card_still,
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


def test_a_card_has_its_picture_and_its_words() -> None:
    """A prompt's markup stays text; without a poster there is no picture."""
    face = job_face(ShownJob(view(), MARKUP, service="sandbox"))
    lines = job_lines(view(), None)
    page, said = card_still({**face, "shape": [16, 9]}, lines, b"\xff\xd8\xff")
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "data:image/jpeg;base64,/9j/" in page
    assert "<img" not in card_still(face, lines, b"")[0]
    assert said.startswith("<script>alert(1)</script> · sandbox · Processing · 62 %")
    assert "\n" not in said


def test_a_board_is_a_table_with_a_row_for_each_job() -> None:
    """Under its one line; what isn't shown is said below."""
    row = board_row(ShownJob(view(), MARKUP))
    page = board_html("2 clips & more", [(row, b"\xff\xd8\xff"), (row, b"")], "and 7 more")
    assert page.startswith("<div>2 clips &amp; more</div><table>")
    assert (page.count("<tr>"), page.count("<img")) == (2, 1)
    assert page.endswith("<div>and 7 more</div>")
    assert "<script" not in page
    assert board_html("Nothing yet", [], "") == "<div>Nothing yet</div>"


def test_tiles_stand_side_by_side_with_their_captions() -> None:
    """With a picture where there is one."""
    page = tiles_html("2 clips", [("a fox <1>", b"\xff\xd8\xff"), ("a hen", b"")])
    assert re.findall(r"<figcaption>(.*?)</figcaption>", page) == ["a fox &lt;1&gt;", "a hen"]
    assert page.count("<img") == 1
    assert FOX.prompt not in page
