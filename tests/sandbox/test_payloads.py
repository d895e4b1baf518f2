"""From a request to what it asks for, or what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from reelbook.sandbox import payloads
from reelbook.sandbox.payloads import Refused, Wanted, WantedKey

pytestmark = pytest.mark.anyio

TEXT = {"prompt": "a fox"}
MOST = 100_000


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


async def refused(call: Any) -> tuple[int, str]:
    with pytest.raises(Refused) as caught:
        await call
    return caught.value.status, caught.value.detail


async def test_what_isnt_said_has_the_interfaces_defaults() -> None:
    """And fields that nobody knows are ignored."""
    body = json.dumps({**TEXT, "odd": 1}).encode()
    assert await payloads.text_to_video(request(body)) == Wanted("text-to-video", "a fox", 5, "16:9", -1)
    whole = {**TEXT, "duration_seconds": 3, "aspect_ratio": "1:1", "seed": 7}
    assert payloads.wanted_from_text(whole) == Wanted("text-to-video", "a fox", 3, "1:1", 7)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "prompt is required"),
        ({"prompt": " "}, "must not be empty"),
        ({"prompt": "\ud800"}, "must be a text"),
        ({"prompt": "x" * 2001}, "at most 2000 characters"),
        ({**TEXT, "duration_seconds": 11}, "must be from 1 to 10"),
        ({**TEXT, "duration_seconds": True}, "must be an integer"),
        ({**TEXT, "aspect_ratio": ["1:1"]}, "aspect_ratio must be one of"),
        ({**TEXT, "seed": "7"}, "seed must be an integer"),
    ],
)
def test_what_is_wrong_with_a_text_is_said(body: Mapping[str, Any], detail: str) -> None:
    """By its field."""
    with pytest.raises(Refused, match=detail) as caught:
        payloads.wanted_from_text(body)
    assert caught.value.status == 400


async def test_only_a_json_object_of_reasonable_size_is_one() -> None:
    """Whatever else comes is refused before it is looked at."""
    assert await payloads.json_object(request(b'{"a": 1}')) == {"a": 1}
    for body, kind in ((b"[]", "application/json"), (b"{", "application/json"), (b"{}", "text/plain")):
        assert (await refused(payloads.json_object(request(body, kind))))[0] == 400
    huge = b'"' + b"x" * payloads.MAX_JSON_BYTES + b'"'
    assert (await refused(payloads.json_object(request(huge))))[0] == 413


async def test_an_image_is_taken_with_its_shape(still: Any) -> None:
    """Upright or wide, as it is; a longer body than any such form is cut off."""
    tall = still((360, 640), "JPEG")
    wanted = await payloads.image_to_video(form(tall, prompt="it turns", duration_seconds="3"), MOST)
    assert wanted == Wanted("image-to-video", "it turns", 3, "9:16", image=tall)
    assert await refused(payloads.image_to_video(form(b"x" * (MOST + 1), prompt="a"), MOST)) == (
        413,
        f"The image is larger than {MOST} bytes",
    )
    huge = form(b"x" * (MOST + 2 * payloads.FORM_OVERHEAD_BYTES), prompt="a")
    assert (await refused(payloads.image_to_video(huge, MOST)))[0] == 413


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({}, "prompt is required"),
        ({"prompt": "a", "duration_seconds": "3.5"}, "duration_seconds must be an integer"),
        ({"prompt": "a", "duration_seconds": "0"}, "must be from 1 to 10"),
    ],
)
async def test_what_is_wrong_with_a_form_is_said(fields: dict[str, str], detail: str, still: Any) -> None:
    """By its field."""
    status, said = await refused(payloads.image_to_video(form(still(), **fields), MOST))
    assert (status, detail in said) == (400, True)


async def test_an_image_that_is_none_is_refused() -> None:
    """So is a form that can't be read."""
    assert "JPEG or PNG" in (await refused(payloads.image_to_video(form(b"text", prompt="a"), MOST)))[1]
    broken = request(b"--y", "multipart/form-data; boundary=x")
    assert (await refused(payloads.image_to_video(broken, MOST)))[0] == 400
    assert (await refused(payloads.wanted_from_image(b"text", "a", 5, 2)))[0] == 413


async def test_a_new_key_has_a_name_and_a_limit() -> None:
    """The interface's own where none is asked for."""
    assert await payloads.new_key(request(b'{"name": " ada "}')) == WantedKey("ada", 10)
    for body in (b"{}", b'{"name": ""}', b'{"name": "a", "rate_limit": 0}', b'{"name": 1}'):
        assert (await refused(payloads.new_key(request(body))))[0] == 400


def test_days_are_read_alike_from_an_address_and_a_body() -> None:
    """Thirty where none are named, and one figure only."""
    assert (payloads.days(request()), payloads.days_in({})) == (30, 30)
    assert (payloads.days(request(query="days=7")), payloads.days_in({"days": 7})) == (7, 7)
    for query in ("days=0", "days=7.0", "days=1&days=2", "days="):
        with pytest.raises(Refused):
            payloads.days(request(query=query))
    with pytest.raises(Refused, match="days must be from 1 to 365"):
        payloads.days_in({"days": 366})


def test_a_refusal_is_json_with_its_detail() -> None:
    """The shape that the interface gives for 402."""
    answer = payloads.refusal(402, "too little", {"X-Odd": "1"})
    assert (answer.status_code, json.loads(bytes(answer.body))) == (402, {"detail": "too little"})
    assert answer.headers["x-odd"] == "1"
    assert payloads.seconds({"duration_seconds": 3}) == 3
