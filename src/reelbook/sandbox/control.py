"""Control of the sandbox, apart from the service's interface, under `/_sandbox/`.

`about` is open to all; everything else wants the control token of access.json in `X-Sandbox-Token`.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..version import VERSION
from ..web.application import keyed
from ..web.pages import same
from ..web.payloads import json_object
from ..web.refusals import Refused
from . import protocol
from .faults import Faults
from .service import SandboxService


def routes(service: SandboxService, faults: Faults) -> list[Route]:
    async def about(request: Request) -> Response:
        told = {"service": protocol.SERVICE_NAME, "version": VERSION, "instance": service.instance}
        return JSONResponse({**told, "pace": service.settings.pace})

    async def admit(request: Request, _: str) -> tuple[bool, Mapping[str, str]]:
        if not same(request.headers.get(protocol.TOKEN_HEADER, ""), service.access.control_token.reveal()):
            raise Refused(403, f"{protocol.TOKEN_HEADER} is missing or wrong")
        return True, {}

    async def state(request: Request) -> Mapping[str, Any]:
        return {
            "version": VERSION,
            **asdict(service.settings),
            "jobs_under_way": service.jobs.under_way,
            "dask": service.dask and asdict(service.dask.state),
            "requests": dict(faults.requests),
            **await service.balance(),
            "pid": os.getpid(),
            "idle_seconds": round(service.idle_seconds, 3),
            "now": service.clock.now(),
        }

    async def change_settings(request: Request) -> Mapping[str, Any]:
        wanted = await json_object(request)
        for name, value in wanted.items():
            if name not in _KINDS:
                raise Refused(400, f"{name} isn't a setting; the settings are {', '.join(_KINDS)}")
            if not _fits(name, value):
                raise Refused(400, f"{name} can't be {value!r}")
        if "balance_usd" in wanted:
            await asyncio.to_thread(service.accounts.set_balance, wanted.pop("balance_usd"))
        service.settings = replace(service.settings, **wanted)
        return await state(request)

    async def advance(request: Request) -> Mapping[str, Any]:
        seconds: Any = (await json_object(request)).get("advance_seconds")
        if not protocol.is_number(seconds):
            raise Refused(400, "advance_seconds must be a number of seconds, 0 or more")
        service.clock.advance(seconds)
        await service.jobs.move_on()
        return {"now": service.clock.now()}

    async def change_faults(request: Request) -> Mapping[str, Any]:
        if request.method == "POST":
            faults.add(await json_object(request))
        elif request.method == "DELETE":
            faults.clear()
        return {"faults": faults.listed()}

    async def plant_history(request: Request) -> Mapping[str, Any]:
        history = (await json_object(request)).get("history")
        await asyncio.to_thread(service.accounts.plant_history, history)
        return await state(request)

    async def stop(request: Request) -> Mapping[str, Any]:
        service.end()
        return {"stopping": True}

    return [
        Route(protocol.ABOUT, about),
        keyed(protocol.SETTINGS, {"POST": change_settings}, admit),
        keyed(protocol.CLOCK, {"POST": advance}, admit),
        keyed(protocol.STOP, {"POST": stop}, admit),
        keyed(protocol.STATE, {"GET": state}, admit),
        keyed(protocol.FAULTS, dict.fromkeys(("GET", "POST", "DELETE"), change_faults), admit),
        keyed(protocol.HISTORY, {"POST": plant_history}, admit),
    ]


_KINDS: Final[Mapping[str, Any]] = {**get_type_hints(protocol.Settings), "balance_usd": float}


def _fits(name: str, value: Any) -> bool:
    kind = _KINDS[name]
    if name == "pace":
        return protocol.is_pace(value)
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if kind in (int, float):
        return protocol.is_number(value) and isinstance(value, kind | int)
    return isinstance(value, kind)
