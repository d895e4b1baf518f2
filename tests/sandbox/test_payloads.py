"""What requests ask for, by the table of their fields, and what is wrong with them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from PIL import Image
from starlette.requests import Request
from starlette.types import Message

from reelbook.lazy_module import LazyModule
from reelbook.sandbox import payloads
from reelbook.sandbox.payloads import FIELDS, IMAGE, TEXT, Parameter, Refused, fields_of, shape_of

jsonschema: Any = LazyModule("jsonschema")

MOST = 100_000
Still = Callable[..., bytes]


def request(body: bytes = b"", kind: str = "application/json", query: str = "") -> Request:
    """A request with that body, in two pieces."""
    pieces = [body[: len(body) // 2], body[len(body) // 2 :]]

    async def receive() -> Message:
        if not pieces:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    return Request(
        {"type": "http", "method": "POST", "headers": headers, "query_string": query.encode()}, receive
    )


def form(image: bytes, **fields: str) -> Request:
    """A multipart form with an image."""
    parts = [b'--x\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n' + image]
    for name, value in fields.items():
        parts.append(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode())
    return request(b"\r\n".join([*parts, b"--x--\r\n"]), "multipart/form-data; boundary=x")


def test_what_isnt_said_has_the_interfaces_defaults() -> None:
    """And fields that nobody knows are ignored."""
    asked = {"prompt": "a fox", "duration_seconds": 5, "aspect_ratio": "16:9", "seed": -1}
    assert payloads.wanted_from_text({"prompt": "a fox", "odd": 1}).request.items() >= asked.items()
    whole = {"prompt": "a fox", "duration_seconds": 3, "aspect_ratio": "1:1", "seed": 7}
    assert payloads.wanted_from_text(whole).request.items() >= whole.items()
    assert (payloads.RATE_LIMIT.read({}), payloads.DAYS.read({})) == (10, 30)


@pytest.mark.anyio
async def test_a_field_of_the_table_is_read_everywhere(monkeypatch: pytest.MonkeyPatch, still: Still) -> None:
    """From JSON and from a form, with its bounds; a mode that doesn't take it has its default."""
    fresh = Parameter("negative_prompt", "string", "What not to show.", "", 0, 20)
    words = Parameter("words", "integer", "How many.", 3, 1, 9, modes=(TEXT,))
    monkeypatch.setattr(payloads, "FIELDS", (*FIELDS, fresh, words))

    asked = {"prompt": "a fox", "negative_prompt": "dogs", "words": 4}
    assert payloads.wanted_from_text(asked).request.items() >= asked.items()
    assert payloads.wanted_from_text({"prompt": "a fox"}).request["negative_prompt"] == ""
    with pytest.raises(Refused, match="negative_prompt must have at most 20 characters"):
        payloads.wanted_from_text({**asked, "negative_prompt": "x" * 21})
    with pytest.raises(Refused, match="negative_prompt must be a text"):
        payloads.wanted_from_text({**asked, "negative_prompt": None})
    moved = await payloads.wanted_from_form(form(still(), prompt="a", negative_prompt="b", words="4"), MOST)
    assert (moved.request["negative_prompt"], moved.request["words"]) == ("b", 3)


@pytest.mark.parametrize("mode", [TEXT, IMAGE])
@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_the_schema_of_a_field_allows_what_it_allows(field: Parameter, mode: Any) -> None:
    """A default, the first and last values, and neither another type nor what lies beyond them."""
    assert (field in fields_of(mode)) == (mode in field.modes)
    jsonschema.Draft202012Validator.check_schema(field.schema)
    for value in ("16:9", "a fox", "", "❄" * 2000, "x" * 2001, 0, 1, 10, 11, -1, 2**70, 1.5, None):
        fits = jsonschema.Draft202012Validator(field.schema).is_valid(value)
        try:
            field.read({field.name: value})
        except Refused:
            assert not fits, value
        else:
            assert fits, value


@pytest.mark.anyio
async def test_an_image_is_taken_with_its_shape(still: Still) -> None:
    """Upright or wide, as it is; a longer body than any such form is cut off."""
    tall = still((360, 640), "JPEG")
    wanted = await payloads.wanted_from_form(form(tall, prompt="it turns", duration_seconds="3"), MOST)
    asked = {"prompt": "it turns", "duration_seconds": 3, "aspect_ratio": "9:16", "seed": -1}
    assert (wanted.mode, wanted.image, wanted.request.items() >= asked.items()) == (IMAGE, tall, True)
    for size in (MOST + 1, MOST + 2 * payloads.FORM_OVERHEAD_BYTES):
        with pytest.raises(Refused, match=f"The image is larger than {MOST} bytes") as caught:
            await payloads.wanted_from_form(form(b"x" * size, prompt="a"), MOST)
        assert caught.value.status == 413


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
    """Of the three shapes, the one whose ratio is nearest."""
    assert shape_of(still(size)) == shape


def test_a_turned_photograph_is_seen_upright(still: Still) -> None:
    """A JPEG whose metadata says that it lies on its side counts as a tall one."""
    assert shape_of(still((640, 360), "JPEG", orientation=6)) == "9:16"


def test_only_whole_jpegs_and_pngs_are_taken(still: Still) -> None:
    """Other formats are none, however valid, nor is a text with the right beginning, nor half a file."""
    none = [
        still(kind="GIF"),
        still(kind="WEBP"),
        b"\x89PNG\r\n\x1a\n and so on",
        b"\xff\xd8\xff and so on",
        b"",
    ]
    none += [whole[: len(whole) // 2] for whole in (still((400, 300), "JPEG"), still((400, 300), "PNG"))]
    assert [shape_of(content) for content in none] == [None] * len(none)


def test_an_enormous_image_is_refused_before_it_is_unpacked() -> None:
    """A small file that unpacks to more than 50 million pixels is not unpacked."""
    content = io.BytesIO()
    Image.new("1", (8000, 8000)).save(content, "PNG")
    assert shape_of(content.getvalue()) is None


def test_the_address_is_the_one_that_the_client_used() -> None:
    """By name, number or another port: it works for that client."""
    scope: Mapping[str, Any] = {
        "type": "http",
        "scheme": "https",
        "path": "/",
        "headers": [(b"host", b"room:8000")],
        "server": ("127.0.0.1", 1),
        "query_string": b"",
    }
    assert payloads.reached_at(Request({**scope})) == "https://room:8000"


def test_a_refusal_is_json_with_its_detail() -> None:
    """The shape that the interface gives for 402."""
    answer = payloads.refusal(402, "too little", {"X-Odd": "1"})
    assert (answer.status_code, json.loads(bytes(answer.body))) == (402, {"detail": "too little"})
    assert answer.headers["x-odd"] == "1"
