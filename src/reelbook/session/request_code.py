"""A request as code that sends the same: for a notebook cell, as a script, and for a shell.

None of it holds a key: a cell and a script find theirs as usual, a shell has it in `$REELBOOK_API_KEY`.
"""

import json
import shlex
from typing import Any, Final, Literal

from .. import settings, wire
from ..errors import InvalidInput
from ..formatting import count, dollars
from ..requests import FIELDS, JobRequest

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
    """The code that submits `request`. Running it buys a clip, and the code says so. Raises InvalidInput."""
    writers = {"cell": _cell, "script": _script, "curl": _curl}
    if kind not in writers:
        raise InvalidInput('The code comes as "cell", "script" or "curl".')
    return writers[kind](request)


def script(clips: int, cost_usd: float, body: list[str], before: str = "") -> str:
    """A script that makes `clips` clips: `body` are the lines within its client, `before` those above."""
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
    arguments = request.arguments()
    notes += [
        f"# The {FIELDS[each].label.lower()} was random." for each in arguments.keys() - _chosen(request)
    ]
    return "\n".join([*notes, "job = " + "\n".join(_call("session", request))])


def _script(request: JobRequest) -> str:
    first, *more = _call("await client", request)
    body = [
        f"accepted = {first}",
        *more,
        "clip = await client.wait(accepted.request_id)",
        # By the clip's own name: run again, the script would find the first one's file and leave it at that.
        'print(await client.download(clip.video_url, f"{clip.request_id}.mp4"))',
    ]
    image = f'{_IMAGE_NOTE}\nimage = "picture.png"' if request.mode == "image-to-video" else ""
    return script(1, request.estimated_cost_usd, body, image)


def _call(owner: str, request: JobRequest) -> list[str]:
    name, given = "text_to_video", list[str]()
    if request.mode == "image-to-video":
        name, given = "image_to_video", ["image"]
    for each, value in _chosen(request).items():
        written = json.dumps(value, ensure_ascii=False)  # texts and numbers read the same in Python
        given.append(written if each == "prompt" else f"{each}={written}")
    return [f"{owner}.{name}(", *(f"    {argument}," for argument in given), ")"]


def _chosen(request: JobRequest) -> dict[str, Any]:
    """What was asked for, without what the service was to choose."""
    return {name: value for name, value in request.arguments().items() if not FIELDS[name].is_random(value)}


def _curl(request: JobRequest) -> str:
    """For any shell. The key is passed through a pipe: other users can read a process's arguments."""
    arguments = request.arguments()
    if request.mode == "image-to-video":
        path = wire.IMAGE_TO_VIDEO
        given = [f"--form-string {shlex.quote(f'{name}={value}')}" for name, value in arguments.items()]
        given.append("--form image=@picture.png")
    else:
        path, body = wire.TEXT_TO_VIDEO, json.dumps(arguments, ensure_ascii=False)
        given = ["--header 'Content-Type: application/json'", f"--data-raw {shlex.quote(body)}"]
    lines = [
        f"printf 'Authorization: Bearer %s' \"${settings.API_KEY}\" |",
        "  curl --header @-",
        *(f"    {each}" for each in given),
        f'    "${settings.BASE_URL}{path}"',
    ]
    head = f"# Makes a clip, for about {dollars(request.estimated_cost_usd)} each time it is run."
    return "\n".join([head, lines[0], " \\\n".join(lines[1:])])
