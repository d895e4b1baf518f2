"""The sandbox's agent tools, for any protocol: names, schemas, words, and what they do.

tool_server.py speaks one protocol. The interface names none of its tools, so these are the sandbox's own.
They answer as the HTTP interface does: same jobs, same balance, same refusals.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .. import wire
from ..web.openapi import ANSWERS, TOLD
from ..web.payloads import (
    DAYS,
    IMAGE,
    TEXT,
    Parameter,
    fields_of,
    too_large,
    wanted_from_image,
    wanted_from_text,
)
from ..web.refusals import Refused
from .jobs import UNDER_WAY
from .service import Answered, SandboxService

SERVICE: Final = "sandbox"
INSTRUCTIONS: Final = (
    "This is Reelbook's sandbox: a local stand-in for the video generation service. Nothing here costs real "
    "money, and its clips are marked 'sandbox'. Generating returns a request_id at once; wait_for_video or "
    "get_video_status tell when the clip is there, and where."
)
LOOK_SECONDS: Final = 0.1

REQUEST_ID: Final = Parameter(
    "request_id", "string", "The job's request_id, as the generating tools return it.", None, 1, 100
)
# Many clients give a call up after 60 seconds.
TIMEOUT: Final = Parameter("timeout_seconds", "number", "How long to wait at most.", 45, 0, 600)


@dataclass(frozen=True)
class ToolRequest:
    """A call of a tool: its `arguments`, the address the client used, and `report` for its progress."""

    service: SandboxService
    arguments: Mapping[str, Any]
    base_url: str
    report: Callable[[int, str], Awaitable[None]]


@dataclass(frozen=True)
class SandboxTool:
    """One tool. `output` has the fields of its answer with their types; `optional` ones may be missing."""

    name: str
    title: str
    description: str
    act: Callable[[ToolRequest], Awaitable[Answered]]
    arguments: Mapping[str, Mapping[str, Any]]
    output: Mapping[str, str]
    optional: tuple[str, ...] = ()
    read_only: bool = True

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of its arguments; one without a default is required."""
        required = [name for name, schema in self.arguments.items() if "default" not in schema]
        return _object(self.arguments, required)

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of its structured answer."""
        output = {name: {"type": kind} for name, kind in {**self.output, "service": "string"}.items()}
        return _object(output, [name for name in output if name not in self.optional])

    async def __call__(self, call: ToolRequest) -> dict[str, Any]:
        """Its answer. Raises Refused."""
        unknown = sorted(set(call.arguments) - set(self.arguments))
        if unknown:
            # The HTTP interface ignores such fields; an agent that misspells one would pay for its mistake.
            known = ", ".join(self.arguments) or "none"
            raise Refused(400, f"{unknown[0][:50]!r} is no argument of {self.name}; it has {known}")
        return {**await self.act(call), "service": SERVICE}


async def _from_image(call: ToolRequest) -> Answered:
    most = call.service.settings.max_image_bytes
    content = await asyncio.to_thread(_decoded, call.arguments.get("image_base64"), most)
    return await call.service.accept(await wanted_from_image(content, call.arguments, most))


async def _status(call: ToolRequest) -> Answered:
    request_id = REQUEST_ID.read(call.arguments)
    if not re.fullmatch(r"[\w-]+", request_id, re.ASCII):
        raise Refused(404, "No such request_id")
    return await call.service.status(request_id, call.base_url)


async def _wait(call: ToolRequest) -> Answered:
    """How a job stands once it is neither pending nor processing, or when the time is up."""
    give_up = time.monotonic() + TIMEOUT.read(call.arguments)
    told = -1
    while True:
        job = await _status(call)
        state = job["status"]
        done = 100 if state == wire.COMPLETED else job.get("progress", 0)
        if done > told and state != wire.FAILED:  # the protocol wants each report above the one before
            await call.report(done, state)
            told = done
        left = give_up - time.monotonic()
        if state not in UNDER_WAY or left <= 0:
            return job
        await asyncio.sleep(min(LOOK_SECONDS, left))


def _decoded(image: object, most: int) -> bytes:
    if not isinstance(image, str):
        raise Refused(400, "image_base64 is required and must be a text")
    text = re.sub(r"^data:[^,]{0,100};base64,", "", image, count=1)
    if len(text) > 2 * most + 1000:  # more than any way to write such an image down, line ends included
        raise too_large(most)
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise Refused(400, "image_base64 must be a JPEG or PNG file in base64") from None


def _object(properties: Mapping[str, Mapping[str, Any]], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": required,
        "additionalProperties": False,
    }


def _schemas(*fields: Parameter) -> dict[str, Mapping[str, Any]]:
    return {field.name: field.schema for field in fields}


_PRICE = f"{wire.PRICE_USD_PER_SECOND:.2f} USD per second of the sandbox's balance"
_IMAGE_BASE64: Final = {
    "type": "string",
    "minLength": 1,
    "contentEncoding": "base64",
    "description": "A JPEG or PNG file in base64, also as a data: URL; at most 10 MiB.",
}
_STATUS: Final = {"request_id": "string", "status": "string", **TOLD}

CATALOGUE: Final[Mapping[str, SandboxTool]] = {
    tool.name: tool
    for tool in (
        SandboxTool(
            "generate_video_from_text",
            "Generate a video from text",
            f"Submit a job that makes a clip from a prompt. Costs {_PRICE}. Returns a request_id at once.",
            lambda call: call.service.accept(wanted_from_text(call.arguments)),
            _schemas(*fields_of(TEXT)),
            ANSWERS["accepted"],
            read_only=False,
        ),
        SandboxTool(
            "generate_video_from_image",
            "Generate a video from an image",
            f"Submit a job that sets a still image in motion. Costs {_PRICE}. Returns a request_id at once.",
            _from_image,
            {"image_base64": _IMAGE_BASE64, **_schemas(*fields_of(IMAGE))},
            ANSWERS["accepted"],
            read_only=False,
        ),
        SandboxTool(
            "get_video_status",
            "Look at a job",
            "How a job stands now; once it is completed, where its clip is and what it cost.",
            _status,
            _schemas(REQUEST_ID),
            _STATUS,
            optional=tuple(TOLD),
        ),
        SandboxTool(
            "wait_for_video",
            "Wait for a job",
            "Wait until a job is completed or failed, with reports of its progress. After timeout_seconds it "
            "answers how the job stands then; the job goes on, and waiting again costs nothing.",
            _wait,
            _schemas(REQUEST_ID, TIMEOUT),
            _STATUS,
            optional=tuple(TOLD),
        ),
        SandboxTool(
            "get_balance",
            "See the balance",
            "What is left of the prepaid balance, and what was spent in all, in USD.",
            lambda call: call.service.balance(),
            {},
            ANSWERS["balance"],
        ),
        SandboxTool(
            "get_usage",
            "See what was used",
            "Requests, seconds of video and costs of the last days.",
            lambda call: call.service.usage(DAYS.read(call.arguments)),
            _schemas(DAYS),
            ANSWERS["usage"],
        ),
    )
}
