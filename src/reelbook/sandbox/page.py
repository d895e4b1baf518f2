"""The sandbox's page at `/`: clips as they are made, money, requests and faults.

The control token signs in. The cookie isn't the token: a browser sends a host's cookies to all of its ports,
and so to other servers of this machine.
"""

import asyncio
import hashlib
import hmac
import time
from collections import Counter, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from .. import states, wire
from ..formatting import count, dollars
from ..web.html import Html, joined
from ..web.pages import Site, alert, clip_article, same, usd, video
from ..web.payloads import reached_at, read_form
from ..web.refusals import Refused
from ..wire import MICRO
from . import protocol
from .faults import ENDPOINTS, KINDS, Faults
from .jobs import SandboxJob, progress
from .service import VIDEOS, SandboxService

TITLE: Final = "Sandbox"
SITE: Final = Site("sandbox", Path(__file__).parent, f"{protocol.PREFIX}/static")
PAGE: Final = "/"
ENTER: Final = f"{protocol.PREFIX}/enter"
PRESS: Final = f"{protocol.PREFIX}/page"
CLIPS: Final = 12  # the newest
LATEST: Final = 6  # requests listed below the timeline
SLICE_SECONDS: Final = 2
SLICES: Final = 60
KEPT_REQUESTS: Final = 20_000

# Of each request: when it arrived (seconds since the epoch), its endpoint, and its answer's status or 0.
Log = deque[tuple[float, str, int]]


def routes(service: SandboxService, faults: Faults, log: Log) -> list[Route]:
    token = service.access.control_token
    # Good for this run of the sandbox only.
    cookie = hmac.new(token.reveal().encode(), service.instance.encode(), hashlib.sha256).hexdigest()

    def name(request: Request) -> str:
        return f"reelbook_sandbox_{request.url.port or 80}"

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

    return [
        Route(PAGE, page),
        Route(ENTER, enter, methods=["POST"]),
        Route(PRESS, press, methods=["POST"]),
        Route(f"{SITE.prefix}/{{name}}", SITE.static),
    ]


async def _page(
    service: SandboxService, faults: Faults, log: Log, request: Request, refused: Refused | None = None
) -> Response:
    balance = await service.balance()
    rows = await asyncio.to_thread(
        service.store.read, "SELECT * FROM jobs ORDER BY rowid DESC LIMIT ?", (CLIPS,)
    )
    now = service.clock.now()
    body = SITE.filled(
        "sandbox.html",
        address=reached_at(request),
        why=alert(refused.detail if refused else ""),
        nums=joined(
            Html('<div><b>{}</b><span class="quiet">{}</span></div>').format(figure, word)
            for figure, word in (
                (dollars(balance["balance_usd"]), "left"),
                (dollars(balance["total_spent_usd"]), "spent"),
                (service.jobs.under_way, "under way"),
            )
        ),
        clips=joined(_clip(service, SandboxJob.of(row), now) for row in rows)
        or Html('<p class="quiet" id="none">Clips appear here, the newest first.</p>'),
        requests=_requests(log, now),
        kinds=_options(KINDS),
        endpoints=_options(("any", *ENDPOINTS)),
        faults=_faults(faults),
    )
    return SITE.page(TITLE, body, status=200 if refused is None else refused.status)


def _options(values: Iterable[str]) -> Html:
    return joined(Html("<option>{}</option>").format(value) for value in values)


def _clip(service: SandboxService, job: SandboxJob, now: float) -> Html:
    film, quiet, more = Html(""), f"{job.seconds} s", Html("")
    if job.state == wire.PROCESSING:
        done = progress(job, now)
        more = Html('<progress value="{0}" max="100" aria-label="{0} %"></progress>').format(done)
    elif job.state == wire.COMPLETED:
        film = video(f"{VIDEOS}{job.video}?link={service.link(job.video or '')[0]}")
        quiet += f" · {dollars((job.cost_micro or 0) / MICRO)}"
    elif job.state == wire.FAILED:
        more = Html('<p class="quiet">{}</p>').format(job.failure)
    return clip_article(job.request_id, film, job.request["prompt"], states.state(job.state), quiet, more)


def _requests(log: Log, now: float) -> Html:
    """A bar for each two seconds of two minutes, its refused requests at the foot, and the latest below."""
    every, refused = Counter[int](), Counter[int]()
    oldest = int(now // SLICE_SECONDS) - SLICES + 1
    for at, _, status in log:
        place = int(at // SLICE_SECONDS) - oldest
        if place >= 0:
            every[place] += 1
            refused[place] += status == 429
    said = f"{count(every.total(), 'request')} in the last 2 minutes, {refused.total()} refused (429)"
    most = max([4, *every.values()])
    bar = Html('<rect class="{}" x="{}" y="{}" width=".8" height="{}"/>')
    bars = joined(
        bar.format(kind, place, most - counted[place], counted[place])
        for place in every
        for kind, counted in (("well", every), ("bad", refused))
        if counted[place]
    )
    rows = joined(
        Html('<tr><td>{}</td><td class="{}">{}</td><td>{}</td></tr>').format(
            endpoint,
            "" if 0 < status < 400 else "fail",
            status or "broken off",
            time.strftime("%H:%M:%S", time.localtime(at)),
        )
        for at, endpoint, status in list(log)[: -LATEST - 1 : -1]
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
