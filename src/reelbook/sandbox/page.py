"""The sandbox's page at `/`: clips as they are made, money, requests and faults.

The control token signs in. The cookie isn't the token: a browser sends a host's cookies to all of its ports,
and so to other servers of this machine.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from .. import states, wire
from ..formatting import count, dollars
from ..pages.html import Html, joined
from ..pages.web import SECURITY, Site, from_own_page, read_form, same, usd
from ..web.payloads import reached_at
from ..web.refusals import Refused
from ..wire import MICRO
from . import protocol
from .faults import Faults
from .jobs import SandboxJob, progress
from .service import VIDEOS, SandboxService

TITLE: Final = "Sandbox"
SITE: Final = Site("sandbox", Path(__file__).parent, f"{protocol.PREFIX}/static")
PAGE: Final = "/"
ENTER: Final = f"{protocol.PREFIX}/enter"
PRESS: Final = f"{protocol.PREFIX}/page"
CLIPS: Final = 12  # the newest
LATEST: Final = 6  # requests that stand below the timeline
SLICE_SECONDS: Final = 2
SLICES: Final = 60


@dataclass
class _Slice:
    """How many requests came in one slice of time, and how many of them were too many (429)."""

    number: int
    all: int = 0
    refused: int = 0


class Timeline:
    """Recent requests: counts for the timeline, and the newest ones one by one."""

    def __init__(self) -> None:
        self.slices: deque[_Slice] = deque(maxlen=SLICES)
        self.latest: deque[tuple[float, str, int]] = deque(maxlen=LATEST)

    def note(self, at: float, endpoint: str, status: int) -> None:
        """A request of `at` (seconds since the epoch); `status` 0 is one that got no whole answer."""
        number = int(at // SLICE_SECONDS)
        if not self.slices or self.slices[-1].number < number:
            self.slices.append(_Slice(number))
        self.slices[-1].all += 1
        self.slices[-1].refused += status == 429
        self.latest.appendleft((at, endpoint, status))

    def since(self, now: float) -> list[tuple[int, _Slice]]:
        """The slices of the last two minutes, each with its place: 0 is the oldest."""
        first = int(now // SLICE_SECONDS) - SLICES + 1
        return [(each.number - first, each) for each in self.slices if each.number >= first]


def routes(service: SandboxService, faults: Faults, log: Timeline) -> list[Route]:
    """The page, and what its forms send."""
    token = service.access.control_token
    # Good for this run of the sandbox only.
    cookie = hmac.new(token.reveal().encode(), service.instance.encode(), hashlib.sha256).hexdigest()

    def name(request: Request) -> str:
        return f"reelbook_sandbox_{urlsplit(reached_at(request)).port or 80}"

    async def page(request: Request) -> Response:
        if not same(request.cookies.get(name(request), ""), cookie):
            return SITE.enter_page(TITLE)
        return await _page(service, faults, log, request)

    async def enter(request: Request) -> Response:
        if not same((await read_form(request)).get("token", "").strip(), token.reveal()):
            return SITE.enter_page(TITLE, "This isn't the token.", 403)
        answer = RedirectResponse(PAGE, 303)
        answer.set_cookie(name(request), cookie, httponly=True, samesite="strict")
        return answer

    async def press(request: Request) -> Response:
        if not same(request.cookies.get(name(request), ""), cookie):
            return SITE.enter_page(TITLE, status=403)
        form = await read_form(request)
        try:
            if form.get("action") == "top up":
                if (amount := usd(form.get("usd", ""))) is None:
                    raise Refused(400, "An amount looks like 10.00. The balance is as it was.")
                await asyncio.to_thread(service.accounts.top_up, amount)
            elif form.get("action") == "fault":
                times = form.get("times", "")
                wanted = {each: form.get(each) for each in ("kind", "endpoint")}
                faults.add({**wanted, "times": int(times[:9]) if times.isdecimal() else times})
            elif form.get("action") == "clear":
                faults.clear()
        except Refused as refused:
            return await _page(service, faults, log, request, refused)
        answer = RedirectResponse(PAGE, 303)
        if form.get("action") == "leave":
            answer.delete_cookie(name(request))
        return answer

    def guarded(
        endpoint: Callable[[Request], Awaitable[Response]],
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            if request.method == "POST" and not from_own_page(dict(request.scope["headers"])):
                raise HTTPException(403, "Pages of other origins may not send this")
            answer = await endpoint(request)
            answer.headers.update(SECURITY)
            return answer

        return answered

    return [
        Route(PAGE, guarded(page), methods=["GET"]),
        Route(ENTER, guarded(enter), methods=["POST"]),
        Route(PRESS, guarded(press), methods=["POST"]),
        Route(f"{SITE.prefix}/{{name}}", guarded(SITE.static), methods=["GET"]),
    ]


async def _page(
    service: SandboxService, faults: Faults, log: Timeline, request: Request, refused: Refused | None = None
) -> Response:
    balance = await service.balance()
    rows = await asyncio.to_thread(
        service.store.read, "SELECT * FROM jobs ORDER BY rowid DESC LIMIT ?", (CLIPS,)
    )
    now = service.clock.now()
    body = SITE.filled(
        "sandbox.html",
        address=reached_at(request),
        why=Html('<p class="why" role="alert">{}</p>').format(refused.detail) if refused else "",
        nums=_figures(
            ("left", dollars(balance["balance_usd"])),
            ("spent", dollars(balance["total_spent_usd"])),
            ("under way", service.jobs.under_way),
        ),
        clips=joined(_clip(service, SandboxJob.of(row), now) for row in rows)
        or Html('<p class="quiet" id="none">Clips appear here, the newest first.</p>'),
        requests=_requests(log, now),
        kinds=_options(get_args(protocol.FaultKind)),
        endpoints=_options(("any", *get_args(protocol.Endpoint))),
        faults=_faults(faults),
    )
    return SITE.page(TITLE, body, status=200 if refused is None else refused.status)


def _figures(*figures: tuple[str, object]) -> Html:
    return joined(
        Html('<div><b>{}</b><span class="quiet">{}</span></div>').format(value, word)
        for word, value in figures
    )


def _options(values: tuple[str, ...]) -> Html:
    return joined(Html("<option>{}</option>").format(value) for value in values)


def _clip(service: SandboxService, job: SandboxJob, now: float) -> Html:
    state = states.state(job.state)
    assert state is not None
    film, quiet, more = Html(""), f"{job.seconds} s", Html("")
    if job.state == wire.PROCESSING:
        done = progress(job, now)
        more = Html('<progress value="{0}" max="100" aria-label="{0} %"></progress>').format(done)
    elif job.state == wire.COMPLETED:
        film = Html('<video controls playsinline preload="metadata" src="{}{}?link={}"></video>').format(
            VIDEOS, job.video, service.link(job.video or "")
        )
        quiet += f" · {dollars((job.cost_micro or 0) / MICRO)}"
    elif job.state == wire.FAILED:
        more = Html('<p class="quiet">{}</p>').format(job.failure)
    return Html(
        '<article class="clip" id="{}">{}<div class="in"><p class="prompt">{}</p><div class="line">'
        '<span class="chip {}">{}</span><span class="quiet">{}</span></div>{}</div></article>'
    ).format(job.request_id, film, job.request["prompt"], state.tone, state.title, quiet, more)


def _requests(log: Timeline, now: float) -> Html:
    """A bar for each two seconds of two minutes, refused requests at its foot; what came last."""
    shown = log.since(now)
    every = sum(each.all for _, each in shown)
    refused = sum(each.refused for _, each in shown)
    said = f"{count(every, 'request')} in the last 2 minutes, {refused} refused (429)"
    most = max([4, *(each.all for _, each in shown)])
    bar = Html('<rect class="{}" x="{}" y="{}" width=".8" height="{}"/>')
    bars = joined(
        bar.format(kind, place, most - height, height)
        for place, each in shown
        for kind, height in (("well", each.all), ("bad", each.refused))
        if height
    )
    rows = joined(
        Html('<tr><td>{}</td><td class="{}">{}</td><td>{}</td></tr>').format(
            endpoint,
            "" if 0 < status < 400 else "fail",
            status or "broken off",
            time.strftime("%H:%M:%S", time.localtime(at)),
        )
        for at, endpoint, status in log.latest
    )
    return Html(
        '<svg class="time" role="img" aria-label="{0}" viewBox="0 0 {1} {2}" preserveAspectRatio="none">'
        '{3}</svg><p class="quiet">{0}</p>{4}'
    ).format(said, SLICES, most, bars, Html("<table><tbody>{}</tbody></table>").format(rows) if rows else "")


def _faults(faults: Faults) -> Html:
    known = faults.listed()
    if not known:
        return Html('<p class="quiet">No fault is set.</p>')
    lines = joined(
        Html("<li>{} to {}: happened {} of {}</li>").format(
            each["kind"], each["endpoint"], each["happened"], count(each["times"], "time")
        )
        for each in known
    )
    return Html(
        '<ul>{}</ul><form method="post" action="{}"><button class="plain" name="action" value="clear">'
        "All off</button></form>"
    ).format(lines, PRESS)
