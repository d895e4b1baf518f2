"""What the agent tools do. They read their arguments and answer as the HTTP interface does: same jobs, same
balance, same refusals (payloads.py, answers.py). Their names and schemas are in tool_catalogue.py.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import wire
from . import answers, payloads
from .answers import Answered
from .jobs import UNDER_WAY
from .payloads import Refused
from .service import Service

LOOK_SECONDS = 0.1
# Many clients give a call up after 60 seconds.
DEFAULT_WAIT_SECONDS = 45
MAX_WAIT_SECONDS = 600

Report = Callable[[int, str], Awaitable[None]]


@dataclass(frozen=True)
class Call:
    """A tool's call: its `arguments`, the address by which the client came, where its percents are told."""

    service: Service
    arguments: Mapping[str, Any]
    base_url: str
    report: Report


async def from_text(call: Call) -> Answered:
    """Submit a text-to-video job. Raises Refused."""
    return await answers.submitted(call.service, payloads.wanted_from_text(call.arguments))


async def from_image(call: Call) -> Answered:
    """Submit an image-to-video job. Raises Refused."""
    arguments, most = call.arguments, call.service.settings.max_image_bytes
    content = await asyncio.to_thread(_decoded, arguments.get("image_base64"), most)
    seconds = payloads.seconds(arguments)
    wanted = await payloads.wanted_from_image(content, arguments.get("prompt"), seconds, most)
    return await answers.submitted(call.service, wanted)


async def status(call: Call) -> Answered:
    """How a job stands. Raises Refused."""
    return await answers.status(call.service, _request_id(call), call.base_url)


async def wait(call: Call) -> Answered:
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


async def balance(call: Call) -> Answered:
    """What is left and what was spent. Raises Refused."""
    return await answers.balance(call.service)


async def usage(call: Call) -> Answered:
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
