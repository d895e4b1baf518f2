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

from .billing import UsageDays, checked_history
from .jobs import checked_pace
from .limits import LimitHeaders, LimitWindow, ResetUnit
from .payloads import Refused, json_object
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
    version,
)
from .service import Service

Handler = Callable[[Service, Request], Awaitable[Mapping[str, Any]]]


def routes(service: Service) -> list[Route]:
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

    def guarded(path: str, method: str, handler: Handler) -> Route:
        async def endpoint(request: Request) -> Response:
            given = request.headers.get(TOKEN_HEADER, "").encode()
            if not hmac.compare_digest(given, service.access.control_token.reveal().encode()):
                return JSONResponse({"detail": f"{TOKEN_HEADER} is missing or wrong"}, status_code=403)
            try:
                return JSONResponse(await handler(service, request))
            except Refused as exc:
                return JSONResponse({"detail": exc.detail}, status_code=exc.status)

        return Route(path, endpoint, methods=[method])

    return [
        Route(ABOUT, about, methods=["GET"]),
        guarded(SETTINGS, "POST", _settings),
        guarded(CLOCK, "POST", _clock),
        guarded(STOP, "POST", _stop),
        guarded(STATE, "GET", _state),
        guarded(FAULTS, "GET", _faults),
        guarded(FAULTS, "POST", _add_fault),
        guarded(FAULTS, "DELETE", _clear_faults),
        guarded(HISTORY, "POST", _plant_history),
    ]


async def _settings(service: Service, request: Request) -> Mapping[str, Any]:
    wanted = await json_object(request)
    for name, value in wanted.items():
        if name not in _CHECKS:
            raise Refused(400, f"{name} is no setting; there are {', '.join(_CHECKS)}")
        if not _CHECKS[name](value):
            raise Refused(400, f"{name} can't be {value!r}")
    if "rate_limiting" in wanted:
        service.limits.lifted = not wanted.pop("rate_limiting")
    if "balance_usd" in wanted:
        await asyncio.to_thread(service.accounts.set_balance, wanted.pop("balance_usd"))
    rules = {name: wanted.pop(name) for name in _RULES if name in wanted}
    service.limits.rules = replace(service.limits.rules, **rules)
    posting = {name: wanted.pop(name) for name in _POSTING if name in wanted}
    service.accounts.posting = replace(service.accounts.posting, **posting)
    service.settings = replace(service.settings, **wanted)
    return await _state(service, request)


async def _clock(service: Service, request: Request) -> Mapping[str, Any]:
    seconds = (await json_object(request)).get("advance_seconds")
    if not isinstance(seconds, int | float) or not _number(seconds):
        raise Refused(400, "advance_seconds must be a number of seconds, 0 or more")
    service.clock.advance(seconds)
    await service.jobs.move_on()
    return {"now": service.clock.now()}


async def _faults(service: Service, request: Request) -> Mapping[str, Any]:
    return {"faults": service.faults.listed()}


async def _add_fault(service: Service, request: Request) -> Mapping[str, Any]:
    service.faults.add(await json_object(request))
    return await _faults(service, request)


async def _clear_faults(service: Service, request: Request) -> Mapping[str, Any]:
    service.faults.clear()
    return await _faults(service, request)


async def _plant_history(service: Service, request: Request) -> Mapping[str, Any]:
    try:
        history = checked_history((await json_object(request)).get("history"))
    except ValueError as error:
        raise Refused(400, str(error)) from None
    await asyncio.to_thread(service.accounts.plant_history, history)
    return await _state(service, request)


async def _stop(service: Service, request: Request) -> Mapping[str, Any]:
    service.end()
    return {"stopping": True}


async def _state(service: Service, request: Request) -> Mapping[str, Any]:
    await service.jobs.move_on()
    return {
        "version": version(),
        "pace": service.settings.pace,
        "rate_limiting": not service.limits.lifted,
        **asdict(service.limits.rules),
        **asdict(service.accounts.posting),
        "max_image_bytes": service.settings.max_image_bytes,
        "fail_next": service.settings.fail_next,
        "jobs_under_way": service.jobs.under_way,
        "dask": _dask(service),
        "requests": dict(service.faults.requests),
        **service.accounts.balance(),
        "pid": os.getpid(),
        "idle_seconds": round(service.idle_seconds, 3),
        "now": service.clock.now(),
    }


def _dask(service: Service) -> Mapping[str, Any] | None:
    if service.dask is None:
        return None
    return {**asdict(service.dask.state), "when_lost": service.when_dask_is_lost}


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e9


def _is_pace(value: object) -> bool:
    try:
        checked_pace(value)
    except ValueError:
        return False
    return True


_RULES: Final = ("limit_window", "count_refused", "reset_unit", "limit_headers")
_POSTING: Final = ("usage_days", "posts_after_seconds")
_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "pace": _is_pace,
    "rate_limiting": lambda value: isinstance(value, bool),
    "limit_window": lambda value: value in get_args(LimitWindow),
    "count_refused": lambda value: isinstance(value, bool),
    "reset_unit": lambda value: value in get_args(ResetUnit),
    "limit_headers": lambda value: value in get_args(LimitHeaders),
    "usage_days": lambda value: value in get_args(UsageDays),
    "posts_after_seconds": _number,
    "balance_usd": _number,
    "max_image_bytes": lambda value: _number(value) and isinstance(value, int),
    "fail_next": lambda value: value is None or (isinstance(value, str) and bool(value)),
}
