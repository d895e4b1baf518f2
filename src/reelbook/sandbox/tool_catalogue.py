"""The agent tools as data: names, schemas and words, for any protocol; tool_server.py speaks one.

The interface names none of its tools, so these are the sandbox's own. What they do is in tool_acts.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .. import wire
from . import tool_acts
from .answers import Answered
from .payloads import DEFAULT_DAYS, MAX_DAYS, MAX_PROMPT_CHARACTERS, Refused
from .tool_acts import DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS, Call

SERVICE: Final = "sandbox"
INSTRUCTIONS: Final = (
    "This is Reelbook's sandbox: a local stand-in for the video generation service. Nothing here costs real "
    "money, and its clips are marked 'sandbox'. Generating returns a request_id at once; wait_for_video or "
    "get_video_status tell when the clip is there, and where."
)

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class AgentTool:
    """One tool. `output` are the fields of its answer, `optional` those that not every answer has."""

    name: str
    title: str
    description: str
    act: Callable[[Call], Awaitable[Answered]]
    arguments: Mapping[str, Schema]
    output: Mapping[str, Schema]
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
        output = {**self.output, "service": {"const": SERVICE, "description": "Who answered."}}
        return _object(output, tuple(name for name in output if name not in self.optional))

    async def __call__(self, call: Call) -> dict[str, Any]:
        """Its answer. Raises payloads.Refused."""
        unknown = sorted(set(call.arguments) - set(self.arguments))
        if unknown:
            # The HTTP interface ignores such fields; an agent that misspells one would pay for its mistake.
            raise Refused(
                400, f"{unknown[0][:50]!r} is no argument of {self.name}; it has {_listed(self.arguments)}"
            )
        return {**await self.act(call), "service": SERVICE}


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(names) or "none"


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


def _number(description: str) -> Schema:
    return {"type": "number", "description": description}


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
_ACCEPTED: Final[Mapping[str, Schema]] = {
    "request_id": {"type": "string", "description": "Names the job from now on."},
    "status": {"const": wire.PENDING},
    "estimated_cost_usd": _number("What the job will cost, in USD."),
    "estimated_duration_seconds": _number("How long the clip will be."),
}
_STANDING: Final[Mapping[str, Schema]] = {
    "request_id": {"type": "string"},
    "status": {"enum": [wire.PENDING, wire.PROCESSING, wire.COMPLETED, wire.FAILED]},
    "estimated_cost_usd": _number("Until it is completed or failed."),
    "progress": {
        "type": "integer",
        "minimum": 0,
        "maximum": 100,
        "description": "While processing, in percent.",
    },
    "video_url": {"type": "string", "format": "uri", "description": "When completed: where the clip is."},
    "duration_seconds": _number("When completed: the clip's real length."),
    "cost_usd": _number("When completed: what it cost."),
    "error": {"type": "string", "description": "When failed: why. A failed job costs nothing."},
}
_SOMETIMES: Final = tuple(name for name in _STANDING if name not in ("request_id", "status"))

CATALOGUE: Final[Mapping[str, AgentTool]] = {
    tool.name: tool
    for tool in (
        AgentTool(
            "generate_video_from_text",
            "Generate a video from text",
            f"Submit a job that makes a clip from a prompt. Costs {_PRICE}. Returns a request_id at once.",
            tool_acts.from_text,
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
            tool_acts.from_image,
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
            "How a job stands now; once it is completed, where its clip is.",
            tool_acts.status,
            {"request_id": _REQUEST_ID},
            _STANDING,
            required=("request_id",),
            optional=_SOMETIMES,
        ),
        AgentTool(
            "wait_for_video",
            "Wait for a job",
            "Wait until a job is completed or failed, with reports of its progress. After timeout_seconds it "
            "answers how the job stands then; the job goes on, and waiting again costs nothing.",
            tool_acts.wait,
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
            optional=_SOMETIMES,
        ),
        AgentTool(
            "get_balance",
            "See the balance",
            "What is left of the prepaid balance, and what was spent in all, in USD.",
            tool_acts.balance,
            {},
            {"balance_usd": _number("Left to spend."), "total_spent_usd": _number("Spent in all.")},
        ),
        AgentTool(
            "get_usage",
            "See what was used",
            "Requests, seconds of video and costs of the last days.",
            tool_acts.usage,
            {"days": _integer("How many days back.", 1, MAX_DAYS, DEFAULT_DAYS)},
            {
                "period_days": {"type": "integer"},
                "total_requests": {"type": "integer"},
                "total_seconds": _number("Seconds of video that were made."),
                "total_cost_usd": _number("What they cost."),
                "current_balance_usd": _number("Left to spend."),
                "total_spent_usd": _number("Spent in all."),
            },
        ),
    )
}
