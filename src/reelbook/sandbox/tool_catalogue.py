"""The agent tools of the sandbox, for any protocol: names, schemas, words, and what they do; tool_server.py
speaks one.

The interface names none of its tools, so these are the sandbox's own. They answer as the HTTP interface does:
same jobs, same balance, same refusals (payloads.py, answers.py).
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
from . import answers, payloads
from .answers import Answered
from .jobs import UNDER_WAY
from .payloads import DEFAULT_DAYS, MAX_DAYS, MAX_PROMPT_CHARACTERS, Refused
from .service import Service

SERVICE: Final = "sandbox"
INSTRUCTIONS: Final = (
    "This is Reelbook's sandbox: a local stand-in for the video generation service. Nothing here costs real "
    "money, and its clips are marked 'sandbox'. Generating returns a request_id at once; wait_for_video or "
    "get_video_status tell when the clip is there, and where."
)
LOOK_SECONDS = 0.1
# Many clients give a call up after 60 seconds.
DEFAULT_WAIT_SECONDS = 45
MAX_WAIT_SECONDS = 600

Schema = Mapping[str, Any]
Report = Callable[[int, str], Awaitable[None]]


@dataclass(frozen=True)
class Call:
    """A tool's call: its `arguments`, the address by which the client came, where its percents are told."""

    service: Service
    arguments: Mapping[str, Any]
    base_url: str
    report: Report


@dataclass(frozen=True)
class AgentTool:
    """One tool. `output` are the fields of its answer with their types, `optional` those not always there."""

    name: str
    title: str
    description: str
    act: Callable[[Call], Awaitable[Answered]]
    arguments: Mapping[str, Schema]
    output: Mapping[str, str]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    read_only: bool = True

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of its arguments."""
        return _object(self.arguments, self.required)

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of its structured answer."""
        output = {name: {"type": kind} for name, kind in {**self.output, "service": "string"}.items()}
        return _object(output, tuple(name for name in output if name not in self.optional))

    async def __call__(self, call: Call) -> dict[str, Any]:
        """Its answer. Raises payloads.Refused."""
        unknown = sorted(set(call.arguments) - set(self.arguments))
        if unknown:
            # The HTTP interface ignores such fields; an agent that misspells one would pay for its mistake.
            known = ", ".join(self.arguments) or "none"
            raise Refused(400, f"{unknown[0][:50]!r} is no argument of {self.name}; it has {known}")
        return {**await self.act(call), "service": SERVICE}


def _object(properties: Mapping[str, Schema], required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(required),
        "additionalProperties": False,
    }


def _integer(description: str, least: int, most: int, default: int) -> Schema:
    return {
        "type": "integer",
        "minimum": least,
        "maximum": most,
        "default": default,
        "description": description,
    }


async def _from_text(call: Call) -> Answered:
    """Submit a text-to-video job. Raises Refused."""
    return await answers.submitted(call.service, payloads.wanted_from_text(call.arguments))


async def _from_image(call: Call) -> Answered:
    """Submit an image-to-video job. Raises Refused."""
    arguments, most = call.arguments, call.service.settings.max_image_bytes
    content = await asyncio.to_thread(_decoded, arguments.get("image_base64"), most)
    seconds = payloads.seconds(arguments)
    wanted = await payloads.wanted_from_image(content, arguments.get("prompt"), seconds, most)
    return await answers.submitted(call.service, wanted)


async def _status(call: Call) -> Answered:
    """How a job stands. Raises Refused."""
    return await answers.status(call.service, _request_id(call), call.base_url)


async def _wait(call: Call) -> Answered:
    """How a job stands once it is neither pending nor processing, or when the time is up. Raises Refused."""
    request_id = _request_id(call)
    seconds = call.arguments.get("timeout_seconds", DEFAULT_WAIT_SECONDS)
    if (
        not isinstance(seconds, int | float)
        or isinstance(seconds, bool)
        or not 0 <= seconds <= MAX_WAIT_SECONDS
    ):
        raise Refused(400, f"timeout_seconds must be a number from 0 to {MAX_WAIT_SECONDS}")
    give_up = time.monotonic() + seconds
    told = -1
    while True:
        job = await answers.status(call.service, request_id, call.base_url)
        state = job["status"]
        done = 100 if state == wire.COMPLETED else job.get("progress", 0)
        if done > told and state != wire.FAILED:  # the protocol wants each report above the one before
            await call.report(done, state)
            told = done
        left = give_up - time.monotonic()
        if state not in UNDER_WAY or left <= 0:
            return job
        await asyncio.sleep(min(LOOK_SECONDS, left))


async def _balance(call: Call) -> Answered:
    """What is left and what was spent. Raises Refused."""
    return await answers.balance(call.service)


async def _usage(call: Call) -> Answered:
    """What was used in the last days. Raises Refused."""
    return await answers.usage(call.service, payloads.days_in(call.arguments))


def _request_id(call: Call) -> str:
    request_id = call.arguments.get("request_id")
    if not isinstance(request_id, str):
        raise Refused(400, "request_id is required and must be a text")
    if not re.fullmatch(r"[\w-]{1,100}", request_id, re.ASCII):
        raise Refused(404, "No such request_id")
    return request_id


def _decoded(image: object, most: int) -> bytes:
    if not isinstance(image, str):
        raise Refused(400, "image_base64 is required and must be a text")
    text = re.sub(r"^data:[^,]{0,100};base64,", "", image, count=1)
    if len(text) > 2 * most + 1000:  # more than any way to write such an image down, line ends included
        raise payloads.too_large(most)
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise Refused(400, "image_base64 must be a JPEG or PNG file in base64") from None


_PRICE = f"{wire.PRICE_USD_PER_SECOND:.2f} USD per second of the sandbox's balance"
_PROMPT: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_PROMPT_CHARACTERS,
    "description": "What the clip shows.",
}
_LENGTH: Final = _integer(
    "Length of the clip in seconds.", wire.MIN_SECONDS, wire.MAX_SECONDS, wire.DEFAULT_SECONDS
)
_REQUEST_ID: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 100,
    "description": "The job's request_id, as the generating tools return it.",
}
_ACCEPTED: Final = {
    "request_id": "string",
    "status": "string",
    "estimated_cost_usd": "number",
    "estimated_duration_seconds": "number",
}
_SOMETIMES: Final = {
    "estimated_cost_usd": "number",
    "progress": "integer",
    "video_url": "string",
    "duration_seconds": "number",
    "cost_usd": "number",
    "error": "string",
}
_STANDING: Final = {"request_id": "string", "status": "string", **_SOMETIMES}

CATALOGUE: Final[Mapping[str, AgentTool]] = {
    tool.name: tool
    for tool in (
        AgentTool(
            "generate_video_from_text",
            "Generate a video from text",
            f"Submit a job that makes a clip from a prompt. Costs {_PRICE}. Returns a request_id at once.",
            _from_text,
            {
                "prompt": _PROMPT,
                "duration_seconds": _LENGTH,
                "aspect_ratio": {
                    "type": "string",
                    "enum": list(wire.ASPECT_RATIOS),
                    "default": wire.DEFAULT_ASPECT_RATIO,
                    "description": "Width to height.",
                },
                "seed": {
                    "type": "integer",
                    "default": wire.RANDOM_SEED,
                    "description": "The same seed and prompt give the same clip; -1 draws one.",
                },
            },
            _ACCEPTED,
            required=("prompt",),
            read_only=False,
        ),
        AgentTool(
            "generate_video_from_image",
            "Generate a video from an image",
            f"Submit a job that sets a still image in motion. Costs {_PRICE}. Returns a request_id at once.",
            _from_image,
            {
                "image_base64": {
                    "type": "string",
                    "minLength": 1,
                    "contentEncoding": "base64",
                    "description": "A JPEG or PNG file in base64, also as a data: URL; at most 10 MiB.",
                },
                "prompt": {**_PROMPT, "description": "How the image moves."},
                "duration_seconds": _LENGTH,
            },
            _ACCEPTED,
            required=("image_base64", "prompt"),
            read_only=False,
        ),
        AgentTool(
            "get_video_status",
            "Look at a job",
            "How a job stands now; once it is completed, where its clip is and what it cost.",
            _status,
            {"request_id": _REQUEST_ID},
            _STANDING,
            required=("request_id",),
            optional=tuple(_SOMETIMES),
        ),
        AgentTool(
            "wait_for_video",
            "Wait for a job",
            "Wait until a job is completed or failed, with reports of its progress. After timeout_seconds it "
            "answers how the job stands then; the job goes on, and waiting again costs nothing.",
            _wait,
            {
                "request_id": _REQUEST_ID,
                "timeout_seconds": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": MAX_WAIT_SECONDS,
                    "default": DEFAULT_WAIT_SECONDS,
                    "description": "How long to wait at most.",
                },
            },
            _STANDING,
            required=("request_id",),
            optional=tuple(_SOMETIMES),
        ),
        AgentTool(
            "get_balance",
            "See the balance",
            "What is left of the prepaid balance, and what was spent in all, in USD.",
            _balance,
            {},
            {"balance_usd": "number", "total_spent_usd": "number"},
        ),
        AgentTool(
            "get_usage",
            "See what was used",
            "Requests, seconds of video and costs of the last days.",
            _usage,
            {"days": _integer("How many days back.", 1, MAX_DAYS, DEFAULT_DAYS)},
            {
                "period_days": "integer",
                "total_requests": "integer",
                "total_seconds": "number",
                "total_cost_usd": "number",
                "current_balance_usd": "number",
                "total_spent_usd": "number",
            },
        ),
    )
}
