"""Control of the sandbox, apart from the service's interface, under `/_sandbox/`.

`about` is open to all; everything else wants the control token of access.json in `X-Sandbox-Token`.
"""

from __future__ import annotations

import asyncio
import hmac
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .faults import Faults
from .payloads import Refused, json_object, refusal
from .protocol import (
    ABOUT,
    CLOCK,
    FAULTS,
    HISTORY,
    SERVICE_NAME,
    SETTINGS,
    STATE,
    STOP,
    TOKEN_HEADER,
    LimitHeaders,
    LimitWindow,
    ResetUnit,
    UsageDays,
    checked_pace,
    version,
)
from .service import SandboxService


def routes(service: SandboxService, faults: Faults) -> list[Route]:
    """The routes of the control plane."""

    async def about(request: Request) -> Response:
        return JSONResponse(
            {
                "service": SERVICE_NAME,
                "version": version(),
                "pace": service.settings.pace,
                "instance": service.instance,
            }
        )

    def guarded(path: str, answer: Callable[[Request], Awaitable[Mapping[str, Any]]], *methods: str) -> Route:
        async def endpoint(request: Request) -> Response:
            given = request.headers.get(TOKEN_HEADER, "").encode()
            if not hmac.compare_digest(given, service.access.control_token.reveal().encode()):
                return refusal(403, f"{TOKEN_HEADER} is missing or wrong")
            try:
                return JSONResponse(await answer(request))
            except Refused as exc:
                return refusal(exc.status, exc.detail)

        return Route(path, endpoint, methods=methods)

    async def state(request: Request) -> Mapping[str, Any]:
        return {
            "version": version(),
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
            if name not in _CHECKS:
                raise Refused(400, f"{name} is no setting; there are {', '.join(_CHECKS)}")
            if not _CHECKS[name](value):
                raise Refused(400, f"{name} can't be {value!r}")
        if "balance_usd" in wanted:
            await asyncio.to_thread(service.accounts.set_balance, wanted.pop("balance_usd"))
        service.settings = replace(service.settings, **wanted)
        return await state(request)

    async def advance(request: Request) -> Mapping[str, Any]:
        seconds: Any = (await json_object(request)).get("advance_seconds")
        if not _number(seconds):
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
        try:
            await asyncio.to_thread(service.accounts.plant_history, history)
        except ValueError as error:
            raise Refused(400, str(error)) from None
        return await state(request)

    async def stop(request: Request) -> Mapping[str, Any]:
        service.end()
        return {"stopping": True}

    return [
        Route(ABOUT, about, methods=["GET"]),
        guarded(SETTINGS, change_settings, "POST"),
        guarded(CLOCK, advance, "POST"),
        guarded(STOP, stop, "POST"),
        guarded(STATE, state, "GET"),
        guarded(FAULTS, change_faults, "GET", "POST", "DELETE"),
        guarded(HISTORY, plant_history, "POST"),
    ]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e9


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _one_of(kind: Any) -> Callable[[Any], bool]:
    return lambda value: value in get_args(kind)


def _is_pace(value: Any) -> bool:
    try:
        checked_pace(value)
    except ValueError:
        return False
    return True


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "pace": _is_pace,
    "rate_limiting": _flag,
    "limit_window": _one_of(LimitWindow),
    "count_refused": _flag,
    "reset_unit": _one_of(ResetUnit),
    "limit_headers": _one_of(LimitHeaders),
    "usage_days": _one_of(UsageDays),
    "balance_usd": _number,
    "max_image_bytes": lambda value: _number(value) and isinstance(value, int),
    "fail_next": lambda value: value is None or (isinstance(value, str) and bool(value)),
}
