"""Turns a request into what it asks for, or a refusal that says what is wrong with it (interface, Endpoints).

`FIELDS` is the table of a clip's parameters: a field in it is read from JSON, from the parts of a form and
from a tool's arguments, kept with the job, and described in the tools' schemas. Nothing here is shared with
the client, so that neither hides the other's mistakes.
"""

import asyncio
import io
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message

from .. import wire
from .refusals import Refused

MAX_JSON_BYTES: Final = 1024 * 1024
MAX_FORM_BYTES: Final = 64 * 1024
MAX_FORM_FIELDS: Final = 12
# What a multipart body holds besides the image: boundaries, part headers and the other fields.
FORM_OVERHEAD_BYTES: Final = 64 * 1024
MAX_PIXELS: Final = 50_000_000

TEXT: Final[wire.Mode] = "text-to-video"
IMAGE: Final[wire.Mode] = "image-to-video"

T = TypeVar("T")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a request: its JSON type, its default, its possible values, and which modes take it.

    `default` None: it is required. `least` and `most` bound a number or a text's characters; a text with a
    `least` can't be only spaces. `among`: the only values allowed.
    """

    name: str
    type: Literal["string", "integer", "number"]
    about: str
    default: Any = None
    least: float | None = None
    most: float = math.inf
    among: tuple[str, ...] = ()
    modes: tuple[wire.Mode, ...] = (TEXT, IMAGE)

    def read(self, values: Mapping[str, Any]) -> Any:
        """Its value among those of a JSON object. Raises Refused."""
        value = values.get(self.name, self.default)
        if self.among:
            if value not in self.among:
                raise Refused(400, f"{self.name} must be one of {', '.join(self.among)}")
        elif self.type == "string":
            self._check_text(value)
        elif isinstance(value, bool) or not isinstance(value, int if self.type == "integer" else int | float):
            raise Refused(400, f"{self.name} must be {'an' if self.type == 'integer' else 'a'} {self.type}")
        elif self.least is not None and not self.least <= value <= self.most:
            raise Refused(400, f"{self.name} must be from {self.least} to {self.most}")
        return value

    def from_text(self, text: str) -> Any:
        """The JSON value that a text part or a query writes as `text`. Raises Refused."""
        if self.type == "string":
            return text
        if not re.fullmatch(r"-?[0-9]{1,9}", text):
            raise Refused(400, f"{self.name} must be an integer")
        return int(text)

    @property
    def schema(self) -> dict[str, Any]:
        bounds = ("minLength", "maxLength") if self.type == "string" else ("minimum", "maximum")
        schema: dict[str, Any] = {"type": self.type, "description": self.about}
        if self.default is not None:
            schema["default"] = self.default
        if self.least is not None:
            schema |= dict(zip(bounds, (self.least, self.most), strict=True))
        if self.least and self.type == "string":
            schema["pattern"] = r"\S"
        return schema | ({"enum": list(self.among)} if self.among else {})

    def _check_text(self, value: object) -> None:
        if not isinstance(value, str):
            must = "is required and must" if self.default is None else "must"
            raise Refused(400, f"{self.name} {must} be text")
        if self.least and not value.strip():
            raise Refused(400, f"{self.name} must not be empty")
        if len(value) > self.most:
            raise Refused(400, f"{self.name} must have at most {self.most} characters")


# A clip's parameters besides the image. One that a mode doesn't take has its default there.
FIELDS: Final = (
    Parameter("prompt", "string", "What the clip shows, or how the image moves.", None, 1, 2000),
    Parameter(
        "duration_seconds",
        "integer",
        "Length of the clip in seconds.",
        wire.DEFAULT_SECONDS,
        wire.MIN_SECONDS,
        wire.MAX_SECONDS,
    ),
    Parameter(
        "aspect_ratio",
        "string",
        "Width to height.",
        wire.DEFAULT_ASPECT_RATIO,
        among=wire.ASPECT_RATIOS,
        modes=(TEXT,),
    ),
    Parameter(
        "seed",
        "integer",
        "The same seed and prompt give the same clip; -1 draws one.",
        wire.RANDOM_SEED,
        modes=(TEXT,),
    ),
)
DAYS: Final = Parameter("days", "integer", "How many days back.", 30, 1, 365)
NAME: Final = Parameter("name", "string", "What the key is called.", None, 1, 100)
RATE_LIMIT: Final = Parameter(
    "rate_limit",
    "integer",
    "Requests a minute.",
    wire.DEFAULT_REQUESTS_PER_MINUTE,
    1,
    wire.MAX_REQUESTS_PER_MINUTE,
)


@dataclass(frozen=True)
class Wanted:
    """A requested clip: `request` has a value for each of FIELDS; a seed of -1 asks for a random one."""

    mode: wire.Mode
    request: Mapping[str, Any]
    image: bytes | None = None


def fields_of(mode: wire.Mode) -> tuple[Parameter, ...]:
    return tuple(field for field in FIELDS if mode in field.modes)


def object_schema(*parameters: Parameter, **required: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these parameters, and `required` fields by their own schemas."""
    return {
        "type": "object",
        "properties": {**required, **{each.name: each.schema for each in parameters}},
        "required": [*required, *(each.name for each in parameters if each.default is None)],
    }


def refusal(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error's answer: JSON `{detail}`, the shape that the interface gives for 402."""
    return JSONResponse({"detail": detail}, status_code=status, headers=headers)


def wanted_from_text(values: Mapping[str, Any]) -> Wanted:
    """The clip that a text-to-video request asks for. Raises Refused."""
    return Wanted(TEXT, {field.name: field.read(values) for field in fields_of(TEXT)})


async def wanted_from_form(request: Request, max_image_bytes: int) -> Wanted:
    """The clip that POST /api/v1/generate/image-to-video asks for: multipart/form-data. Raises Refused."""
    if _content_type(request) != "multipart/form-data":
        raise Refused(400, "Content-Type must be multipart/form-data")
    body = await _body(request, max_image_bytes + FORM_OVERHEAD_BYTES, too_large(max_image_bytes))

    async def whole() -> Message:
        return {"type": "http.request", "body": body}

    try:
        form = await Request(request.scope, whole).form(max_files=4, max_fields=16)
    except (HTTPException, MultiPartException, FormParserError) as exc:
        raise Refused(400, f"The multipart body can't be read: {getattr(exc, 'detail', exc)}") from None
    try:
        image = _one(form.getlist("image"), "image")
        if not isinstance(image, UploadFile):
            raise Refused(400, "image is required, as a file part")
        asked = {}
        for field in fields_of(IMAGE):
            part = _one(form.getlist(field.name), field.name)
            if isinstance(part, UploadFile):
                raise Refused(400, f"{field.name} must be a text part")
            if part is not None:
                asked[field.name] = field.from_text(part)
        content = await image.read()
    finally:
        await form.close()
    return await wanted_from_image(content, asked, max_image_bytes)


async def wanted_from_image(content: bytes, values: Mapping[str, Any], max_image_bytes: int) -> Wanted:
    """The clip that moves the image `content`, in the nearest of the clips' aspect ratios. Raises Refused."""
    if len(content) > max_image_bytes:
        raise too_large(max_image_bytes)
    asked = {field.name: field.read(values) for field in fields_of(IMAGE)}
    shape = await asyncio.to_thread(shape_of, content)
    if shape is None:
        raise Refused(400, "image must be a JPEG or PNG file that can be opened")
    others = {field.name: field.default for field in FIELDS}
    return Wanted(IMAGE, {**others, **asked, "aspect_ratio": shape}, content)


def shape_of(content: bytes) -> str | None:
    """The aspect ratio for the clip of a JPEG or PNG, None for anything else, broken or enormous."""
    if not content.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")):
        return None
    from PIL import ExifTags, Image

    try:
        with Image.open(io.BytesIO(content), formats=["JPEG", "PNG"]) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            image.load()  # all of it: a cut-off file is refused now, not when the clip is drawn
            width, height = image.size
            if image.getexif().get(ExifTags.Base.Orientation) in (5, 6, 7, 8):  # lies on its side
                width, height = height, width
    except Exception:  # Pillow raises all kinds of errors for a damaged file
        return None

    def distance(ratio: str) -> float:
        across, down = map(int, ratio.split(":"))
        return abs(math.log(width / height / (across / down)))

    return min(wire.ASPECT_RATIOS, key=distance)


def too_large(max_image_bytes: int) -> Refused:
    return Refused(413, f"The image is larger than {max_image_bytes} bytes")


def days(request: Request) -> int:
    """The `days` of GET /api/v1/billing/usage. Raises Refused."""
    text = _one(request.query_params.getlist("days"), "days")
    asked: int = DAYS.read({} if text is None else {"days": DAYS.from_text(text)})
    return asked


def bearer_key(headers: Headers) -> str:
    """The key that a request bears, "" without one."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def reached_at(request: Request) -> str:
    """The address by which this client reached the server, so one that works for it."""
    return f"{request.url.scheme}://{request.headers['host']}"


async def json_object(request: Request) -> dict[str, Any]:
    """The request's body, which must be a JSON object of reasonable size. Raises Refused."""
    if _content_type(request) != "application/json":
        raise Refused(400, "Content-Type must be application/json")
    too_long = Refused(413, f"The body is larger than {MAX_JSON_BYTES} bytes")
    try:
        body = json.loads(await _body(request, MAX_JSON_BYTES, too_long))
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # JSON can carry such halves; no file, database or answer takes them
        raise Refused(400, "The body has half a surrogate pair, which isn't valid text") from None
    except (ValueError, RecursionError):
        raise Refused(400, "The body is not valid JSON") from None
    if not isinstance(body, dict):
        raise Refused(400, "The body must be a JSON object")
    return body


async def read_form(request: Request) -> dict[str, str]:
    """The fields of an urlencoded form, each once. Raises Refused."""
    if _content_type(request) != "application/x-www-form-urlencoded":
        raise Refused(400, "Content-Type must be application/x-www-form-urlencoded")
    body = await _body(request, MAX_FORM_BYTES, Refused(413, "The form is too long"))
    text = body.decode("ascii", "replace")
    try:
        fields = parse_qsl(text, True, max_num_fields=MAX_FORM_FIELDS, errors="replace")
    except ValueError:
        raise Refused(400, "The form can't be read") from None
    return {name: value.replace("\r\n", "\n") for name, value in fields}


async def _body(request: Request, most_bytes: int, too_long: Refused) -> bytes:
    content = bytearray()
    try:
        async for piece in request.stream():
            content += piece
            if len(content) > most_bytes:
                raise too_long
    except ClientDisconnect:
        raise Refused(400, "The request ended before its body did") from None
    return bytes(content)


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _one(values: list[T], name: str) -> T | None:
    if len(values) > 1:
        raise Refused(400, f"{name} is given more than once")
    return values[0] if values else None
