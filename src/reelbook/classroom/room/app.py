"""The room's HTTP interface for programs: the service's endpoints, joining, and its own additions.

Its pages are in pages.py. Requests are parsed as in the sandbox. Students can't see each other's keys, jobs
or clips, and no answer holds the service's key.
"""

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from ... import wire
from ...media.images import prepare
from ...requests import JobRequest
from ...sandbox import protocol
from ...secret import Secret
from ...session import Session
from ...version import VERSION
from ...web.application import Answer, application, clip_file, keyed
from ...web.limits import Admission, Limits
from ...web.pages import FRESH
from ...web.payloads import (
    Wanted,
    days,
    fields_of,
    json_object,
    reached_at,
    wanted_from_form,
    wanted_from_text,
)
from ...web.refusals import NoMoney, Refused
from ..roster import tidy
from .codes import LONGEST_CODE, Tries, plain_code
from .queue import RoomQueue
from .store import HANDED, QUEUED, UNCERTAIN, RoomJob, RoomStore, Student

CLIPS: Final = "/room/clips"
SERVICE_NAME: Final = "reelbook-room"
LONGEST_IDEMPOTENCY_KEY: Final = 255
SHORTEST_TOKEN, LONGEST_TOKEN = 16, 255  # of whoever joins
REQUESTS_PER_MINUTE: Final = 300  # of one student: enough for many panels, too few to crowd out the others
MAX_IMAGE_BYTES: Final = 10 * 1024 * 1024
NO_SUCH_CODE: Final = "No class has this code. Compare it with the one on the screen."


@dataclass
class Room:
    """A class being served: its file, its queue, and who may see what.

    `token` is the teacher's. `host_name` is one by which it is reached besides its addresses. With a
    `certificate`, a file and its key's, it is https. `url` is where students reach it, "" until it listens.
    """

    store: RoomStore
    session: Session
    token: Secret
    host_name: str | None = None
    certificate: tuple[Path, Path] | None = None
    limits: Limits = field(default_factory=Limits)
    tries: Tries = field(default_factory=Tries)
    max_image_bytes: int = MAX_IMAGE_BYTES
    url: str = ""

    def __post_init__(self) -> None:
        self.queue = RoomQueue(self.store, self.session)

    @property
    def tls(self) -> bool:
        """Whether it is https; then cookies are only sent encrypted."""
        return self.certificate is not None

    @property
    def code(self) -> str:
        return self.store.settings().code

    def end(self) -> None:
        self.store.end()


def make_app(room: Room, pages: list[Route]) -> ASGIApp:
    answers: dict[str, dict[str, Answer]] = {
        wire.TEXT_TO_VIDEO: {"POST": partial(_text_to_video, room)},
        wire.IMAGE_TO_VIDEO: {"POST": partial(_image_to_video, room)},
        f"{wire.STATUS}/{{request_id}}": {"GET": partial(_status, room)},
        wire.BALANCE: {"GET": partial(_balance, room)},
        wire.USAGE: {"GET": partial(_usage, room)},
        wire.ROOM_JOBS: {"GET": partial(_jobs, room)},
        f"{wire.ROOM_JOBS}/{{request_id}}": {"DELETE": partial(_take_back, room)},
    }
    return application(
        [
            *(keyed(path, methods, partial(_admit, room)) for path, methods in answers.items()),
            Route(protocol.ABOUT, partial(_about, room)),
            Route(f"{CLIPS}/{{name}}.mp4", partial(_clip, room)),
            *pages,
        ],
        start=room.queue.start,
        close=room.queue.close,
        is_own_host=partial(is_own_host, room),
    )


def join(room: Room, request: Request, name: object, code: object, token: object) -> tuple[Student, Secret]:
    """Lets in a student with the class's code, or with a code for another device. Raises Refused.

    `token` is the student's own random text: asking again with it, after a lost answer, gives the same name.
    """
    check_tries(room, request)
    if not isinstance(name, str) or not isinstance(code, str):
        raise Refused(400, "Joining takes a code and a name, both as text.")
    if not (token is None or (isinstance(token, str) and SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN)):
        raise Refused(400, f"token must be text of {SHORTEST_TOKEN} to {LONGEST_TOKEN} characters")
    known = tidy(name)
    if len(code) <= LONGEST_CODE * 2:
        if plain_code(code) == plain_code(room.code):
            if not known:
                raise Refused(400, "A name is missing.")
            return room.store.join(known, token)
        if (found := room.store.join_device(known, code)) is not None:
            return found
    raise wrong_guess(room, request)


def check_tries(room: Room, request: Request) -> None:
    """Raises Refused (429) if the address has tried too many wrong codes."""
    if wait := room.tries.wait_seconds(_address(request), time.monotonic()):
        raise Refused(429, f"Too many wrong codes. Try again in {math.ceil(wait)} s.")


def wrong_guess(room: Room, request: Request, said: str = NO_SUCH_CODE) -> Refused:
    """Counts a wrong code or token against the address, and returns the refusal."""
    room.tries.wrong(_address(request), time.monotonic())
    return Refused(403, said)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def order(room: Room, student: Student, wanted: Wanted, repeat_key: str | None) -> RoomJob:
    """Takes a student's order: checks it, reserves its cost and puts it into the queue.

    Raises Refused, and InvalidInput for what no service would take. If money is short, it asks for the
    balance, which may have been topped up.
    """
    image = None if wanted.image is None else prepare(wanted.image)
    asked = {field.name: wanted.request[field.name] for field in fields_of(wanted.mode)}
    request = JobRequest(wanted.mode, image=image, **asked)
    try:
        job = room.store.order(student.id, request, repeat_key=repeat_key)
    except NoMoney:
        room.queue.ask_balance()
        raise
    room.queue.poke()
    return job


async def _text_to_video(room: Room, request: Request) -> dict[str, Any]:
    return await _ordered(room, request, wanted_from_text(await json_object(request)))


async def _image_to_video(room: Room, request: Request) -> dict[str, Any]:
    return await _ordered(room, request, await wanted_from_form(request, room.max_image_bytes))


async def _ordered(room: Room, request: Request, wanted: Wanted) -> dict[str, Any]:
    job = await asyncio.to_thread(order, room, request.state.student, wanted, _repeat_key(request))
    return {
        "request_id": job.request_id,
        "status": wire.PENDING,
        "estimated_cost_usd": job.estimate_usd,
        "estimated_duration_seconds": job.request["duration_seconds"],
        **({} if job.ahead is None else {"queue_position": job.ahead}),
    }


async def _status(room: Room, request: Request) -> dict[str, Any]:
    student, request_id = request.state.student, request.path_params["request_id"]
    job = await asyncio.to_thread(room.store.job, student.id, request_id)
    if job is None:
        raise Refused(404, "No such request_id")
    between = None if job.ahead is None else await asyncio.to_thread(room.store.seconds_between_clips)
    return job_object(room, job, reached_at(request), between)


def job_object(
    room: Room, job: RoomJob, base_url: str, between_seconds: float | None = None
) -> dict[str, Any]:
    """A job as the status endpoint shows it (interface, "Job states").

    `queue_position` is the number of clips ahead of it, `queue_seconds` roughly how long those take, judging
    by the last clips. An uncertain job is shown as failed, with `uncertain`: it won't change by itself.
    """
    told: dict[str, Any] = {"request_id": job.request_id}
    if job.state in (QUEUED, HANDED):
        state, percent = room.queue.progress(job)
        told |= {"status": state, "estimated_cost_usd": job.estimate_usd}
        if percent is not None:
            told["progress"] = percent
        if job.ahead is not None:
            told["queue_position"] = job.ahead
            if between_seconds is not None:
                told["queue_seconds"] = round(job.ahead * between_seconds, 1)
        if room.queue.trouble is not None and state == wire.PENDING:
            told["message"] = room.queue.trouble
    elif job.state == "completed":
        told |= {"status": wire.COMPLETED, "video_url": f"{base_url}{CLIPS}/{job.clip}.mp4"}
        told |= {"duration_seconds": job.seconds, "cost_usd": job.cost_usd}
    else:
        told |= {"status": wire.FAILED, "error": job.error or job.state}
        told |= {"uncertain": True} if job.state == UNCERTAIN else {"cost_usd": job.cost_usd}
    return told


async def _balance(room: Room, request: Request) -> dict[str, Any]:
    student: Student = request.state.student
    # As at the service, a clip is charged when it is done; until then it only counts against new orders.
    left_usd = await asyncio.to_thread(room.store.left_usd, student.id, own_reserved=False)
    return {"balance_usd": left_usd, "total_spent_usd": student.spent_usd}


async def _usage(room: Room, request: Request) -> dict[str, Any]:
    period = days(request)
    since = room.store.clock() - period * wire.DAY_SECONDS
    jobs = await asyncio.to_thread(room.store.jobs, request.state.student.id)
    done = [job for job in jobs if job.state == "completed" and (job.ended_at or 0.0) > since]
    balance = await _balance(room, request)
    return {
        "period_days": period,
        "total_requests": sum(job.accepted_at > since for job in jobs),
        "total_seconds": sum(job.seconds or 0.0 for job in done),
        "total_cost_usd": round(math.fsum(job.cost_usd for job in done), 6),
        "current_balance_usd": balance["balance_usd"],
        "total_spent_usd": balance["total_spent_usd"],
    }


async def _jobs(room: Room, request: Request) -> dict[str, Any]:
    jobs = await asyncio.to_thread(room.store.jobs, request.state.student.id)
    base_url = reached_at(request)
    return {
        "jobs": [
            {
                **job_object(room, job, base_url),
                "request": dict(job.request),
                "idempotency_key": job.repeat_key,
            }
            for job in jobs
        ]
    }


async def _take_back(room: Room, request: Request) -> dict[str, Any]:
    student, request_id = request.state.student, request.path_params["request_id"]
    job = await asyncio.to_thread(room.store.take_back, student.id, request_id)
    if job is None:
        raise Refused(404, "No such request_id")
    return job_object(room, job, reached_at(request))


async def _about(room: Room, request: Request) -> Response:
    settings = await asyncio.to_thread(room.store.settings)
    # The same as the service behind it, so that a student's cards and clips say that a sandbox made them.
    service = protocol.SERVICE_NAME if settings.service == "sandbox" else SERVICE_NAME
    return JSONResponse({"service": service, "version": VERSION, "offers": wire.OFFERS})


async def _clip(room: Room, request: Request) -> Response:
    path = await asyncio.to_thread(room.store.clip_path, request.path_params["name"])
    if path is None or not path.is_file():
        raise Refused(404, "No such clip")
    return clip_file(path)


async def join_as_program(room: Room, request: Request) -> Response:
    """POST /room/join with JSON. Raises Refused."""
    asked = await json_object(request)
    name, code, token = asked.get("name"), asked.get("code"), asked.get("token")
    student, key = await asyncio.to_thread(join, room, request, name, code, token)
    told = {"api_key": key.reveal(), "base_url": reached_at(request), "name": student.name}
    return JSONResponse(told, headers=FRESH)


def _repeat_key(request: Request) -> str | None:
    given = request.headers.getlist(wire.IDEMPOTENCY_KEY)
    if not given:
        return None
    if len(given) > 1 or not 0 < len(given[0]) <= LONGEST_IDEMPOTENCY_KEY:
        raise Refused(400, f"{wire.IDEMPOTENCY_KEY} must have 1 to {LONGEST_IDEMPOTENCY_KEY} characters")
    return given[0]


def admitted(room: Room, student: Student) -> Admission:
    """Counts a student's request, whatever it is for, and returns whether it is allowed."""
    return room.limits.take(str(student.id), REQUESTS_PER_MINUTE, asyncio.get_running_loop().time())


async def _admit(room: Room, request: Request, key: str) -> tuple[bool, Mapping[str, str]]:
    student = await asyncio.to_thread(room.store.student_of, key)
    settings = await asyncio.to_thread(room.store.settings)
    if student is None:
        raise Refused(401, "Invalid API key")
    if not settings.open(room.store.clock()):
        raise Refused(401, "This class has ended, and its keys with it")
    request.state.student = student
    admission = admitted(room, student)
    return admission.allowed, admission.headers(now=time.time())


def is_own_host(room: Room, host: str, scope: Scope) -> bool:
    """Whether `host` is the room's own: the address that the request came in at, or the room's host name."""
    name, _, port = host.lower().partition(":")
    if room.host_name and name == room.host_name.lower() and (not port or port.isdecimal()):
        return True
    address, own_port = scope["server"]
    address = address.removeprefix("::ffff:")  # IPv4, at a socket for both
    own = [f"[{address}]" if ":" in address else address]
    if address in ("127.0.0.1", "::1"):
        own.append("localhost")
    may_be_left_out = own_port == (443 if scope["scheme"] == "https" else 80)
    return host.lower() in [*(f"{each}:{own_port}" for each in own), *(own if may_be_left_out else ())]
