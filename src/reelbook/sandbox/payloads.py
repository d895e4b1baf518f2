"""From a request to what it asks for, or a refusal that says what is wrong with it (interface, Endpoints).

The sandbox's own parsing: it shares no code with the client, so that neither hides the other's mistakes.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from python_multipart.exceptions import FormParserError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message

from .. import wire
from .images import shape_of

MAX_PROMPT_CHARACTERS = 2000
MAX_JSON_BYTES = 1024 * 1024
MAX_NAME_CHARACTERS = 100
DEFAULT_DAYS = 30
MAX_DAYS = 365
# What a multipart body holds beside the image: boundaries, part headers, prompt and length.
FORM_OVERHEAD_BYTES = 64 * 1024

T = TypeVar("T")


class Refused(Exception):
    """The request can't be granted: the HTTP `status`, and `detail` for a person."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail


@dataclass(frozen=True)
class Wanted:
    """A clip that was asked for; `seed` is -1 where any will do."""

    mode: wire.Mode
    prompt: str
    duration_seconds: int
    aspect_ratio: str
    seed: int = wire.RANDOM_SEED
    image: bytes | None = None


@dataclass(frozen=True)
class WantedKey:
    """A key that was asked for."""

    name: str
    rate_limit: int


def refusal(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error's answer: JSON `{detail}`, the shape that the interface gives for 402."""
    return JSONResponse({"detail": detail}, status_code=status, headers=headers)


async def text_to_video(request: Request) -> Wanted:
    """POST /api/v1/generate/text-to-video: JSON. Raises Refused."""
    return wanted_from_text(await json_object(request))


def wanted_from_text(body: Mapping[str, Any]) -> Wanted:
    """The clip that the fields of `body` ask for. Raises Refused."""
    ratio = body.get("aspect_ratio", wire.DEFAULT_ASPECT_RATIO)
    if not isinstance(ratio, str) or ratio not in wire.ASPECT_RATIOS:
        raise Refused(400, f"aspect_ratio must be one of {', '.join(wire.ASPECT_RATIOS)}")
    return Wanted(
        mode="text-to-video",
        prompt=_prompt(body.get("prompt")),
        duration_seconds=seconds(body),
        aspect_ratio=ratio,
        seed=_integer(body, "seed", wire.RANDOM_SEED),
    )


async def image_to_video(request: Request, max_image_bytes: int) -> Wanted:
    """POST /api/v1/generate/image-to-video: multipart/form-data. Raises Refused."""
    if _content_type(request) != "multipart/form-data":
        raise Refused(400, "Content-Type must be multipart/form-data")
    counted = _Counted(request, max_image_bytes + FORM_OVERHEAD_BYTES)
    if counted.announced > counted.most:
        raise too_large(max_image_bytes)
    request = Request(request.scope, receive=counted.receive)
    try:
        form = await request.form(max_files=4, max_fields=16)
    except (HTTPException, MultiPartException, FormParserError) as exc:
        if counted.exceeded:
            raise too_large(max_image_bytes) from None
        raise Refused(400, f"The multipart body can't be read: {getattr(exc, 'detail', exc)}") from None
    except ClientDisconnect:
        raise Refused(400, "The request ended before its body did") from None
    try:
        image, prompt, duration = (
            _one(form.getlist(name), name) for name in ("image", "prompt", "duration_seconds")
        )
        if not isinstance(image, UploadFile):
            raise Refused(400, "image is required, as a file part")
        if (image.size or 0) > max_image_bytes:
            raise too_large(max_image_bytes)
        content = await image.read()
    finally:
        await form.close()
    if isinstance(duration, UploadFile):
        raise Refused(400, "duration_seconds must be a text part")
    length = _integer_text(duration, "duration_seconds", wire.DEFAULT_SECONDS)
    return await wanted_from_image(content, prompt, _length(length), max_image_bytes)


async def wanted_from_image(
    content: bytes, prompt: object, duration_seconds: int, max_image_bytes: int
) -> Wanted:
    """The clip of `duration_seconds` that moves the image `content` as `prompt` says. Raises Refused."""
    if len(content) > max_image_bytes:
        raise too_large(max_image_bytes)
    prompt = _prompt(prompt)
    shape = await asyncio.to_thread(shape_of, content)
    if shape is None:
        raise Refused(400, "image must be a JPEG or PNG file that can be opened")
    return Wanted("image-to-video", prompt, duration_seconds, shape, image=content)


def seconds(body: Mapping[str, Any]) -> int:
    """The `duration_seconds` of a body. Raises Refused."""
    return _length(_integer(body, "duration_seconds", wire.DEFAULT_SECONDS))


def too_large(max_image_bytes: int) -> Refused:
    """What an image of more than `max_image_bytes` is told."""
    return Refused(413, f"The image is larger than {max_image_bytes} bytes")


async def new_key(request: Request) -> WantedKey:
    """POST /api/v1/keys: JSON. Raises Refused."""
    body = await json_object(request)
    name = body.get("name")
    if not isinstance(name, str) or not name.strip() or not _encodable(name):
        raise Refused(400, "name is required and must be a text")
    if len(name) > MAX_NAME_CHARACTERS:
        raise Refused(400, f"name must have at most {MAX_NAME_CHARACTERS} characters")
    limit = _integer(body, "rate_limit", wire.DEFAULT_REQUESTS_PER_MINUTE)
    return WantedKey(name.strip(), _between(limit, "rate_limit", 1, wire.MAX_REQUESTS_PER_MINUTE))


def days(request: Request) -> int:
    """The `days` of GET /api/v1/billing/usage. Raises Refused."""
    text = _one(request.query_params.getlist("days"), "days")
    return _days(_integer_text(text, "days", DEFAULT_DAYS))


def days_in(body: Mapping[str, Any]) -> int:
    """The `days` of a body. Raises Refused."""
    return _days(_integer(body, "days", DEFAULT_DAYS))


async def json_object(request: Request) -> dict[str, Any]:
    """The request's body, which must be a JSON object of reasonable size. Raises Refused."""
    if _content_type(request) != "application/json":
        raise Refused(400, "Content-Type must be application/json")
    content = bytearray()
    try:
        async for piece in request.stream():
            content += piece
            if len(content) > MAX_JSON_BYTES:
                raise Refused(413, f"The body is larger than {MAX_JSON_BYTES} bytes")
    except ClientDisconnect:
        raise Refused(400, "The request ended before its body did") from None
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise Refused(400, "The body is not valid JSON") from None
    if not isinstance(body, dict):
        raise Refused(400, "The body must be a JSON object")
    return body


class _Counted:
    """A request's body, cut off as soon as it is longer than `most` bytes."""

    def __init__(self, request: Request, most: int) -> None:
        length = request.headers.get("content-length", "")
        self.announced = int(length) if length.isdecimal() else 0
        self.most = most
        self.exceeded = False
        self._receive = request.receive
        self._received = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._received += len(message.get("body", b""))
        if self._received > self.most:
            self.exceeded = True
            raise MultiPartException("too large")  # the one error after which the parser closes its files
        return message


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _one(values: list[T], name: str) -> T | None:
    if len(values) > 1:
        raise Refused(400, f"{name} is given more than once")
    return values[0] if values else None


def _prompt(prompt: object) -> str:
    if not isinstance(prompt, str) or not _encodable(prompt):
        raise Refused(400, "prompt is required and must be a text")
    if not prompt.strip():
        raise Refused(400, "prompt must not be empty")
    if len(prompt) > MAX_PROMPT_CHARACTERS:
        raise Refused(400, f"prompt must have at most {MAX_PROMPT_CHARACTERS} characters")
    return prompt


def _encodable(text: str) -> bool:
    # JSON can carry halves of surrogate pairs, which no file or database takes.
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _integer(body: Mapping[str, Any], name: str, default: int) -> int:
    value = body.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refused(400, f"{name} must be an integer")
    return value


def _integer_text(text: str | None, name: str, default: int) -> int:
    if text is None:
        return default
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise Refused(400, f"{name} must be an integer")
    return int(text)


def _length(duration_seconds: int) -> int:
    return _between(duration_seconds, "duration_seconds", wire.MIN_SECONDS, wire.MAX_SECONDS)


def _days(days: int) -> int:
    return _between(days, "days", 1, MAX_DAYS)


def _between(value: int, name: str, least: int, most: int) -> int:
    if not least <= value <= most:
        raise Refused(400, f"{name} must be from {least} to {most}")
    return value
