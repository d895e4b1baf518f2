"""What requests ask for, by the table of their fields, and what is wrong with them."""

import io
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from PIL import Image
from starlette.requests import Request
from starlette.types import Message

from reelbook.lazy_module import LazyModule
from reelbook.web import payloads
from reelbook.web.payloads import FIELDS, TEXT, Parameter, shape_of
from reelbook.web.refusals import Refused

jsonschema: Any = LazyModule("jsonschema")

MOST = 100_000
MAY_BE_EMPTY = Parameter("negative_prompt", "string", "What not to show.", "", 0, 20)
Still = Callable[..., bytes]


def form(image: bytes, **fields: str) -> Request:
    """A multipart form with an image."""
    sent = httpx.Request("POST", "http://sandbox", data=fields, files={"image": image})

    async def receive() -> Message:
        return {"type": "http.request", "body": sent.read()}

    headers = [(b"content-type", sent.headers["content-type"].encode())]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


@pytest.mark.anyio
async def test_a_field_of_the_table_is_read_everywhere(monkeypatch: pytest.MonkeyPatch, still: Still) -> None:
    """From JSON and from a form, with its bounds; a mode that doesn't take it has its default."""
    words = Parameter("words", "integer", "How many.", 3, 1, 9, modes=(TEXT,))
    monkeypatch.setattr(payloads, "FIELDS", (*FIELDS, MAY_BE_EMPTY, words))

    asked = {"prompt": "a fox", "negative_prompt": "dogs", "words": 4}
    assert payloads.wanted_from_text(asked).request.items() >= asked.items()
    assert payloads.wanted_from_text({"prompt": "a fox"}).request["negative_prompt"] == ""
    with pytest.raises(Refused, match="negative_prompt must have at most 20 characters"):
        payloads.wanted_from_text({**asked, "negative_prompt": "x" * 21})
    with pytest.raises(Refused, match="negative_prompt must be text"):
        payloads.wanted_from_text({**asked, "negative_prompt": None})
    moved = await payloads.wanted_from_form(form(still(), prompt="a", negative_prompt="b", words="4"), MOST)
    assert (moved.request["negative_prompt"], moved.request["words"]) == ("b", 3)


@pytest.mark.parametrize("field", [*FIELDS, MAY_BE_EMPTY], ids=lambda field: field.name)
def test_the_schema_of_a_field_allows_what_it_allows(field: Parameter) -> None:
    """A default, the first and last values, and neither another type nor what lies beyond them.

    A text that may be empty may also be only spaces.
    """
    jsonschema.Draft202012Validator.check_schema(field.schema)
    texts = ("16:9", "a fox", "", " ", "❄" * 2000, "x" * 2001)
    for value in (*texts, ["16:9"], 0, 1, 10, 11, -1, 2**70, 1.5, float("nan"), True, False, None):
        fits = jsonschema.Draft202012Validator(field.schema).is_valid(value)
        try:
            field.read({field.name: value})
        except Refused:
            assert not fits, value
        else:
            assert fits, value


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        ((640, 360), "16:9"),
        ((360, 640), "9:16"),
        ((100, 100), "1:1"),
        ((400, 300), "1:1"),
        ((300, 200), "16:9"),
    ],
)
def test_the_clip_takes_the_nearest_shape(still: Still, size: tuple[int, int], shape: str) -> None:
    """Of the three; a photograph that lies on its side, as its metadata says, counts as a tall one."""
    assert shape_of(still(size)) == shape
    assert shape_of(still((640, 360), "JPEG", orientation=6)) == "9:16"


def test_only_whole_jpegs_and_pngs_are_taken(still: Still) -> None:
    """Other formats are none, however valid, nor is a text with the right beginning, nor half a file. A small
    file that unpacks to more than 50 million pixels is not unpacked.
    """
    enormous = io.BytesIO()
    Image.new("1", (8000, 8000)).save(enormous, "PNG")
    none = [enormous.getvalue(), still(kind="GIF"), still(kind="WEBP"), b""]
    none += [b"\x89PNG\r\n\x1a\n and so on", b"\xff\xd8\xff and so on"]
    none += [whole[: len(whole) // 2] for whole in (still((400, 300), "JPEG"), still((400, 300), "PNG"))]
    assert [shape_of(content) for content in none] == [None] * len(none)
