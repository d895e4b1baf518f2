"""A request as code that sends the same: for a cell of a notebook, as a script, and for a shell.

None of it holds a key: `rb.connect()` and `AsyncClient` find theirs, a shell has it in `$REELBOOK_API_KEY`.
"""

from __future__ import annotations

import json
import shlex
from typing import Final, Literal

from .. import settings, wire
from ..errors import InvalidInput
from ..formatting import count, dollars
from ..requests import JobRequest

CodeKind = Literal["cell", "script", "curl"]

_SCRIPT: Final = """# Makes {what}, for about {cost} each time it is run.
# {key} and {address} say at which service.
import asyncio

import reelbook as rb

{before}
async def main():
    async with rb.AsyncClient() as client:
{body}

asyncio.run(main())"""
_IMAGE_NOTE: Final = "# image: the picture that it starts from, as a path or a PIL image."


def request_code(request: JobRequest, kind: CodeKind = "cell") -> str:
    """The code that submits `request`. Run, it buys a clip, and says so. Raises InvalidInput."""
    if kind == "cell":
        return _cell(request)
    if kind == "script":
        return _script(request)
    if kind == "curl":
        return _curl(request)
    raise InvalidInput('Code is there as "cell", "script" or "curl".')


def script(clips: int, cost_usd: float, body: list[str], before: str = "") -> str:
    """A script that makes so many clips: `body` are the lines within its client, `before` those above."""
    return _SCRIPT.format(
        what="a clip" if clips == 1 else count(clips, "clip"),
        cost=dollars(cost_usd),
        key=settings.API_KEY,
        address=settings.BASE_URL,
        before=f"{before}\n\n" if before else "",
        body="".join(f"        {line}\n" for line in body),
    )


def _cell(request: JobRequest) -> str:
    notes = [f"# Run again it makes another clip, for about {dollars(request.estimated_cost_usd)}."]
    if request.mode == "image-to-video":
        notes.append(_IMAGE_NOTE)
    elif _is_random(request):
        notes.append("# The seed was random.")
    return "\n".join([*notes, "job = " + "\n".join(_call("session", request))])


def _script(request: JobRequest) -> str:
    first, *more = _call("await client", request)
    body = [
        f"accepted = {first}",
        *more,
        "clip = await client.wait(accepted.request_id)",
        'print(await client.download(clip.video_url, "clip.mp4"))',
    ]
    image = f'{_IMAGE_NOTE}\nimage = "picture.png"' if request.mode == "image-to-video" else ""
    return script(1, request.estimated_cost_usd, body, image)


def _call(owner: str, request: JobRequest) -> list[str]:
    given = [json.dumps(request.prompt, ensure_ascii=False), f"duration_seconds={request.duration_seconds}"]
    name = "text_to_video"
    if request.mode == "image-to-video":
        name, given = "image_to_video", ["image", *given]
    else:
        given.append(f'aspect_ratio="{request.aspect_ratio or wire.DEFAULT_ASPECT_RATIO}"')
        if not _is_random(request):
            given.append(f"seed={request.seed}")
    return [f"{owner}.{name}(", *(f"    {argument}," for argument in given), ")"]


def _curl(request: JobRequest) -> str:
    """For any shell. The key goes in by a pipe: arguments of a process can be read by others."""
    if request.mode == "image-to-video":
        path, given = wire.IMAGE_TO_VIDEO, [
            f"--form-string {shlex.quote(f'prompt={request.prompt}')}",
            f"--form-string duration_seconds={request.duration_seconds}",
            "--form image=@picture.png",
        ]  # fmt: skip
    else:
        body = {
            "prompt": request.prompt,
            "duration_seconds": request.duration_seconds,
            "aspect_ratio": request.aspect_ratio or wire.DEFAULT_ASPECT_RATIO,
            "seed": wire.RANDOM_SEED if request.seed is None else request.seed,
        }
        path, given = wire.TEXT_TO_VIDEO, [
            "--header 'Content-Type: application/json'",
            f"--data-raw {shlex.quote(json.dumps(body, ensure_ascii=False))}",
        ]  # fmt: skip
    lines = [
        f"printf 'Authorization: Bearer %s' \"${settings.API_KEY}\" |",
        "  curl --header @-",
        *(f"    {each}" for each in given),
        f'    "${settings.BASE_URL}{path}"',
    ]
    head = f"# Makes a clip, for about {dollars(request.estimated_cost_usd)} each time it is run."
    return "\n".join([head, lines[0], " \\\n".join(lines[1:])])


def _is_random(request: JobRequest) -> bool:
    return request.seed is None or request.seed == wire.RANDOM_SEED
