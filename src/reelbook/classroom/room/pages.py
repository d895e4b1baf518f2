"""The room's pages: joining, a student's own, the teacher's, and the end. Plain HTML; forms need no script.

A page recognises its student by a cookie, which is a key of its own kind. What other sites' pages send is
refused before it gets here, see `app`.
"""

from __future__ import annotations

import asyncio
import io
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from ... import states, wire
from ...errors import InvalidInput
from ...formatting import count, dollars, local, terminal_line
from ...ledger.votes import QUESTION
from ...pages.html import Html, joined
from ...pages.web import FRESH, read_form, same, usd
from ...web.payloads import reached_at, refusal, wanted_from_text
from ...web.refusals import Refused
from ...wire import MICRO
from ..wheels import complete_targets, folder_of
from . import index, report, voting
from .app import (
    CLIPS,
    NO_SUCH_CODE,
    Room,
    admitted,
    check_tries,
    join,
    join_as_program,
    note_wrong,
    order,
)
from .codes import plain_code
from .report import SITE
from .store import HANDED, NEWEST, QUEUED, UNCERTAIN, RoomJob, RoomSettings, Student
from .voting import ClassVote

PASS: Final = "reelbook_pass"  # noqa: S105 - a cookie's name
TEACHER: Final = "reelbook_teacher"
COOKIE_SECONDS: Final = 7 * 86_400
LONGEST_QUESTION: Final = 80
SHOWN: Final = 4  # of a student's clips, the newest; a press shows the others
# The room's own states, in the tones that `states` has for similar ones.
_WORDS: Final = {
    QUEUED: states.state(wire.PENDING),
    "completed": states.state(wire.COMPLETED),
    "failed": states.state(wire.FAILED),
    "refused": states.state(states.REFUSED),
    UNCERTAIN: states.state(states.UNCERTAIN),
    "taken back": states.state(states.CANCELLED),
}

PLAYED: Final = "This class uses the sandbox: its clips are drawn, not generated, and the money isn't real."

Page = Callable[[Room, Request], Awaitable[Response]]
StudentPage = Callable[[Room, Request, Student], Awaitable[Response]]


def routes(room: Room) -> list[Route]:
    """All pages, and the targets of their forms."""

    def route(path: str, page: Page, method: str = "GET") -> Route:
        return Route(path, partial(page, room), methods=[method])

    return [
        route("/", _first),
        route(wire.ROOM_JOIN, _join, "POST"),
        route("/mine", _of_student(_mine)),
        route("/mine/order", _of_student(_order), "POST"),
        route("/mine/take-back", _of_student(_take_back), "POST"),
        route("/mine/device", _of_student(_device), "POST"),
        route("/mine/leave", _of_student(_leave), "POST"),
        route("/mine/class.ipynb", _of_student(_notebook)),
        route("/vote", _of_student(voting.page)),
        route("/vote", _of_student(voting.voted), "POST"),
        route("/room", _teacher),
        route("/room/enter", _enter, "POST"),
        route("/room/control", _control, "POST"),
        route("/room/report", _report),
        route("/room/report.csv", _table),
        Route("/room/static/{name}", SITE.static),
        *index.routes(folder_of(room.session.home)),
    ]


# Joining.


async def _first(room: Room, request: Request) -> Response:
    if await _student_of(room, request) is not None:
        return RedirectResponse("/mine", 303)
    code = request.query_params.get("code", "")
    return await _join_page(room, request, code, "")


async def _join(room: Room, request: Request) -> Response:
    if request.headers.get("content-type", "").partition(";")[0].strip() == "application/json":
        try:
            return await join_as_program(room, request)
        except Refused as refused:
            return refusal(refused.status, refused.detail)
    form = await read_form(request)
    name, code = form.get("name", ""), form.get("code", "")
    try:
        # Kept in the page: sent again after a lost answer, it lets in again.
        _, key = await join(room, request, name, code, "page", form.get("token") or None)
    except Refused as refused:
        return await _join_page(room, request, code, name, refused)
    answer = RedirectResponse("/mine", 303)
    _set_cookie(room, answer, PASS, key.reveal(), "lax")  # a link from elsewhere leads back in
    return answer


async def _join_page(
    room: Room, request: Request, code: str, name: str, refused: Refused | None = None
) -> Response:
    """The join page. Only those who have the code see the class's name, and the names on its list."""
    settings = await asyncio.to_thread(room.store.settings)
    known = plain_code(code) == plain_code(settings.code)
    if plain_code(code) and refused is None:
        try:
            check_tries(room, request)
            if not known:
                note_wrong(room, request)
                refused = Refused(403, NO_SUCH_CODE)
        except Refused as too_many:
            known, refused = False, too_many
    elif refused is not None and refused.status == 429:
        known = False
    at_name = refused is not None and known
    why = "" if refused is None else Html('<p class="why" id="why" role="alert">{}</p>').format(refused)
    bad, invalid = " bad", Html(' aria-invalid="true" aria-describedby="why"')
    at_code = refused is not None and not at_name
    body = SITE.filled(
        "join.html",
        token=secrets.token_urlsafe(24),
        heading=settings.name if known else "Join a class",
        terms=_terms(settings) if known else "",
        code=code,
        code_bad=bad if at_code else "",
        code_invalid=invalid if at_code else "",
        code_why=why if at_code else "",
        name_bad=bad if at_name else "",
        name_why=why if at_name else "",
        name_field=await _name_field(room, settings, name, known, invalid if at_name else Html("")),
        plain_http=""
        if room.tls
        else " What you send can be read by others in this network, so use no password here.",
    )
    return SITE.page("Join a class", body, status=200 if refused is None else refused.status)


async def _name_field(room: Room, settings: RoomSettings, name: str, known: bool, invalid: Html) -> Html:
    if not settings.listed_only or not known:
        return Html('<input name="name" value="{}" autocomplete="name" required maxlength="60"{}>').format(
            name, invalid
        )
    free = [each.name for each in await asyncio.to_thread(room.store.students) if each.joined_at is None]
    names = joined(
        Html("<option{}>{}</option>").format(Html(" selected") if each == name else "", each) for each in free
    )
    return Html(
        '<select name="name"{}>{}</select><span class="quiet">Not in the list? Ask your teacher.</span>'
    ).format(invalid, names)


# A student's own page.


async def _mine(room: Room, request: Request, student: Student) -> Response:
    return await asyncio.to_thread(_student_page, room, request, student)


def _student_page(
    room: Room,
    request: Request,
    student: Student,
    *,
    asked: Mapping[str, Any] | None = None,
    why: str = "",
    device: str = "",
    status: int = 200,
) -> Response:
    settings = room.store.settings()
    jobs = room.store.jobs(student.id)
    left = room.store.left_micro(student.id) / MICRO
    between = room.store.seconds_between_clips()
    opened = settings.open(room.store.clock())
    asked = asked or {}
    shown = jobs if "all" in request.query_params else jobs[:SHOWN]
    hidden = len(jobs) - len(shown)
    seconds = min(int(asked.get("duration_seconds", 2)), settings.max_seconds)
    notice = "" if opened else "This class has ended. Your clips stay here until your teacher stops the page."
    notice = notice or room.queue.trouble or ("Your teacher has paused the class." if settings.paused else "")
    notice = notice or (PLAYED if settings.service == "sandbox" else "")
    said = Html('<p class="say">{}</p>').format(notice) if notice else Html("")
    if opened and settings.voting:
        said = (
            Html('<p class="say line">{}<a class="plain" href="/vote">Vote</a></p>').format(
                f"Your class votes: {settings.question}"
            )
            + said
        )
    body = SITE.filled(
        "student.html",
        name=student.name,
        left=f"{left:.2f}",
        money=f"{dollars(left)} of {dollars(settings.cap_micro / MICRO)} left",
        until=_until(settings, opened),
        notice=said,
        price=f"{wire.PRICE_USD_PER_SECOND:.2f}",
        repeat_key=secrets.token_urlsafe(12),
        prompt=asked.get("prompt", ""),
        prompt_bad=" bad" if why else "",
        why=Html('<p class="why" role="alert">{}</p>').format(why) if why else "",
        seconds=seconds,
        max_seconds=settings.max_seconds,
        shapes=_shapes(str(asked.get("aspect_ratio", wire.DEFAULT_ASPECT_RATIO))),
        disabled="" if opened else Html(" disabled"),
        counts=_counts(jobs),
        clips=joined(_clip(room, job, between) for job in shown)
        or Html('<p class="quiet" id="none">Your clips appear here, the newest first.</p>'),
        more=Html('<a class="plain" href="/mine?all=1">Show {} more</a>').format(hidden)
        if hidden > 0
        else "",
        refresh="/mine?all=1" if "all" in request.query_params else "/mine",
        install=_install(room, reached_at(request)),
        device=_device_form(device) if opened else "",
    )
    return SITE.page(f"{student.name} · {settings.name}", body, status=status)


def _shapes(chosen: str) -> Html:
    return joined(
        Html('<label><input type="radio" name="aspect_ratio" value="{0}"{1}>{0}</label>').format(
            each, Html(" checked") if each == chosen else ""
        )
        for each in wire.ASPECT_RATIOS
    )


def _clip(room: Room, job: RoomJob, between_seconds: float | None) -> Html:
    """One of the student's clips: the film if there is one, the prompt, what became of it."""
    state = _WORDS.get(job.state)
    quiet, more = "", Html("")
    if job.state == HANDED:
        word, percent = room.queue.progress(job)
        state, quiet = states.state(word), "" if percent is None else f"{percent} %"
    elif job.state == QUEUED:
        quiet = _place(job.ahead or 0, between_seconds)
        more = Html(
            '<form class="line" method="post" action="/mine/take-back">'
            '<button class="plain" name="request_id" value="{}">Take back</button>'
            '<span class="quiet">gives the {} back</span></form>'
        ).format(job.request_id, dollars(job.reserved_micro / MICRO))
    elif job.state == "completed":
        seed = job.request.get("seed", wire.RANDOM_SEED)
        quiet = f"{'' if seed == wire.RANDOM_SEED else f'seed {seed} · '}{dollars(job.cost_micro / MICRO)}"
        more = Html('<a class="plain" href="{}/{}.mp4" download>Download</a>').format(CLIPS, job.clip or "")
    elif job.error:
        more = Html('<p class="quiet">{}</p>').format(job.error)
    assert state is not None
    film = (
        Html('<video controls playsinline preload="metadata" src="{}/{}.mp4"></video>').format(
            CLIPS, job.clip
        )
        if job.clip
        else Html("")
    )
    return Html(
        '<article class="clip" id="{}">{}<div class="in"><p>{}</p>'
        '<div class="line"><span class="chip {}">{}</span><span class="quiet">{}</span></div>'
        "{}</div></article>"
    ).format(job.request_id, film, job.prompt, state.tone, state.title, quiet, more)


def _place(ahead: int, between_seconds: float | None) -> str:
    said = "next" if ahead == 0 else f"{count(ahead, 'clip')} ahead of yours"
    return said if between_seconds is None else f"{said}, {about(ahead * between_seconds)}"


def about(seconds: float) -> str:
    """ "about 40 s", "about 3 min"."""
    return (
        f"about {max(1, round(seconds / 10)) * 10} s" if seconds < 90 else f"about {round(seconds / 60)} min"
    )


def _counts(jobs: list[RoomJob]) -> str:
    done = sum(job.state == "completed" for job in jobs)
    waiting = sum(job.state in (QUEUED, HANDED) for job in jobs)
    return f"{done} done · {waiting} pending" if waiting else f"{done} done"


def _install(room: Room, url: str) -> Html:
    """How to install Reelbook: from the room, for the Pythons whose wheels it has, or as the teacher says."""
    pythons = dict.fromkeys(python for python, _ in complete_targets(folder_of(room.session.home)))
    if not pythons:
        return Html(": install Reelbook, as your teacher says.")
    *others, newest = pythons
    known = f"{', '.join(others)} or {newest}" if others else newest
    return Html(", with Python {}:<code>{}</code>").format(known, index.install_line(url))


def _device_form(code: str) -> Html:
    if code:
        return Html(
            '<p role="status">Type this code on the other device, with your name. It is good once, for half '
            'an hour: <span class="big">{}</span></p>'
        ).format(code)
    return Html(
        '<form method="post" action="/mine/device"><button class="plain">Get a code for another device'
        "</button></form>"
    )


async def _order(room: Room, request: Request, student: Student) -> Response:
    form = await read_form(request)
    asked: dict[str, Any] = {"prompt": form.get("prompt", ""), "aspect_ratio": form.get("aspect_ratio", "")}
    asked["aspect_ratio"] = asked["aspect_ratio"] or wire.DEFAULT_ASPECT_RATIO
    seconds = form.get("duration_seconds", "")
    asked["duration_seconds"] = int(seconds) if seconds.isdecimal() and len(seconds) < 4 else 0
    try:
        await order(room, student, wanted_from_text(asked), form.get("repeat_key", "")[:100] or None)
    except (Refused, InvalidInput) as refused:
        status, why = getattr(refused, "status", 400), str(refused)
        if status == 402:
            room.queue.ask_balance()
            left = await asyncio.to_thread(room.store.left_micro, student.id)
            why = f"This clip costs more than the {dollars(left / MICRO)} that is left. Nothing was ordered."
        return await asyncio.to_thread(
            _student_page, room, request, student, asked=asked, why=why, status=status
        )
    return RedirectResponse("/mine", 303)


async def _take_back(room: Room, request: Request, student: Student) -> Response:
    request_id = (await read_form(request)).get("request_id", "")
    try:
        taken = await asyncio.to_thread(room.store.take_back, student.id, request_id)
    except Refused as refused:
        return await asyncio.to_thread(
            _student_page, room, request, student, why=str(refused), status=refused.status
        )
    if taken is None:
        raise HTTPException(404)
    return RedirectResponse("/mine", 303)


async def _device(room: Room, request: Request, student: Student) -> Response:
    code = await asyncio.to_thread(room.store.device_code, student.id)
    return await asyncio.to_thread(_student_page, room, request, student, device=code)


async def _leave(room: Room, request: Request, student: Student) -> Response:
    await asyncio.to_thread(room.store.leave, request.cookies[PASS])
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(PASS)
    return answer


async def _notebook(room: Room, request: Request, student: Student) -> Response:
    """A notebook with address, name and a code for one more device filled in: it holds no key."""
    url, code = reached_at(request), await asyncio.to_thread(room.store.device_code, student.id)
    cells = (
        (
            "markdown",
            f"# {student.name}'s clips\n\nThe code is good once, within half an hour; this computer is known "
            f"from then on. A fresh one: {url}/mine",
        ),
        (
            "code",
            "import reelbook as rb\n\n"
            f"session = rb.join({url!r}, {code!r}, name={student.name!r})\nrb.Studio(session)",
        ),
    )
    notebook = {
        "cells": [
            {
                "cell_type": kind,
                "id": f"cell-{number}",
                "metadata": {},
                "source": text,
                **({"execution_count": None, "outputs": []} if kind == "code" else {}),
            }
            for number, (kind, text) in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return Response(
        json.dumps(notebook, ensure_ascii=False, indent=1),
        media_type="application/x-ipynb+json",
        headers={"Content-Disposition": 'attachment; filename="class.ipynb"', "Cache-Control": "no-store"},
    )


# The teacher's page.


_ONLY_HERE: Final = frozenset(("127.0.0.1", "localhost", "::1"))


async def _teacher(room: Room, request: Request) -> Response:
    if not _is_teacher(room, request):
        return _enter_page()
    return await asyncio.to_thread(_teacher_page, room, request)


def _teacher_page(room: Room, request: Request) -> Response:
    settings = room.store.settings()
    if not settings.open(room.store.clock()):
        return _ended_page(room, settings)
    students = room.store.students()
    base_url = reached_at(request)
    if request.url.hostname in _ONLY_HERE:
        base_url = room.url or base_url  # the address that the teacher uses isn't for students
    qr = _qr(f"{base_url}/?code={settings.code}")
    body = SITE.filled(
        "teacher.html",
        name=settings.name,
        state=_state(room, settings),
        qr=qr,
        or_type="or type" if qr else "Open",
        address=base_url.removeprefix("http://"),  # browsers add that themselves
        code=settings.code,
        wall=_wall(room, settings, students),
        who=_who(settings, students),
        nums=_numbers(room, settings, students),
        controls=_controls(
            settings,
            students,
            room.store.newest_clips(),
            room.store.counts().get(UNCERTAIN, 0),
        ),
    )
    return SITE.page(settings.name, body)


async def _enter(room: Room, request: Request) -> Response:
    form = await read_form(request)
    try:
        check_tries(room, request)
    except Refused as refused:
        return _enter_page(str(refused), refused.status)
    if not same(form.get("token", ""), room.token.reveal()):
        note_wrong(room, request)
        return _enter_page("This isn't the token. The terminal that serves the class shows it.", 403)
    answer = RedirectResponse("/room", 303)
    _set_cookie(room, answer, TEACHER, room.token.reveal(), "strict")
    return answer


async def _control(room: Room, request: Request) -> Response:
    if not _is_teacher(room, request):
        return _enter_page(status=403)
    form = await read_form(request)
    store, action = room.store, form.get("action", "")
    switches = {"pause": "paused", "names": "names_hidden", "clips": "clips_hidden"}
    if action in switches:
        settings = await asyncio.to_thread(store.settings)
        turned = {switches[action]: int(not getattr(settings, switches[action]))}
        await asyncio.to_thread(lambda: store.change(**turned))
    elif action == "vote":
        chosen = {"question": form.get("question", "").strip()[:LONGEST_QUESTION] or QUESTION}
        await asyncio.to_thread(lambda: store.change(**chosen, asked_at=store.clock(), voting=1))
    elif action == "end_vote":
        await asyncio.to_thread(lambda: store.change(voting=0))
    elif action == "newest":
        await asyncio.to_thread(lambda: store.change(voting=0, question=None))
    elif action == "cap":
        await asyncio.to_thread(_raise_caps, room, _micro(form, "each"), _micro(form, "all"))
    elif action == "release" and (number := form.get("student", "")).isdecimal():
        await asyncio.to_thread(store.release, int(number[:9]))
    elif action == "hide":
        await asyncio.to_thread(store.hide, form.get("request_id", ""))
    elif action == "find_out":
        room.queue.find_out(alone=True)
    elif action == "end":
        await asyncio.to_thread(store.end)
    room.queue.poke()
    return RedirectResponse("/room", 303)


def _raise_caps(room: Room, each_micro: int | None, all_micro: int | None) -> None:
    """Raises caps; one is never lowered below what was promised to students who have ordered."""
    settings = room.store.settings()
    chosen = {}
    if each_micro is not None and each_micro > settings.cap_micro:
        chosen["cap_micro"] = each_micro
    if (
        all_micro is not None
        and settings.class_cap_micro is not None
        and all_micro > settings.class_cap_micro
    ):
        chosen["class_cap_micro"] = all_micro
    if chosen:
        room.store.change(**chosen)


def _wall(room: Room, settings: RoomSettings, students: list[Student]) -> Html:
    if settings.clips_hidden:
        return Html('<p class="quiet" id="hidden">Clips are hidden.</p>')
    clips = [(job, "") for job in room.store.newest_clips()]
    head = Html("")
    if (asked := ClassVote.of(room)) is not None:
        head = Html('<p id="vote">{} <span class="quiet">{} by {}</span></p>').format(
            asked.question, count(len(asked.votes), "vote"), count(asked.voters, "student")
        )
        if not asked.goes_on:
            clips = [(job, f"won {won} of {shown}") for job, won, shown in asked.standing()[:NEWEST] if shown]
    names = {student.id: student.name for student in students}
    if not clips:
        return head + Html('<p class="quiet" id="none">The newest clips appear here.</p>')
    return head + joined(
        Html(
            '<div id="{0}"><a href="{1}/{2}.mp4" target="_blank" rel="noopener" aria-label="Open: {4}">'
            '<video playsinline muted preload="metadata" src="{1}/{2}.mp4"></video></a>'
            '<p>{3} <span class="quiet">{4}</span></p></div>'
        ).format(
            job.request_id,
            CLIPS,
            job.clip,
            " · ".join(filter(None, [won, "" if settings.names_hidden else names[job.student]])),
            job.prompt,
        )
        for job, won in clips
    )


def _who(settings: RoomSettings, students: list[Student]) -> Html:
    here = sum(student.joined_at is not None for student in students)
    missing = len(students) - here
    not_yet = Html(' <span class="quiet">· {} not yet, dashed</span>').format(missing) if missing else ""
    head = Html("<p>{} joined{}</p>").format(here, not_yet)
    if settings.names_hidden:
        return head
    return head + joined(
        Html('<span class="{}">{}</span>').format(
            "yes" if student.joined_at is not None else "no", student.name
        )
        for student in students
    )


def _numbers(room: Room, settings: RoomSettings, students: list[Student]) -> Html:
    counts = room.store.counts()
    spent, _ = room.store.money()
    between = room.store.seconds_between_clips()
    here = sum(student.joined_at is not None for student in students)
    waiting = counts.get(QUEUED, 0)
    about_time = "" if between is None or not waiting else f", {about(waiting * between)}"
    cap = settings.whole_cap_micro
    facts = room.session.facts
    parts = [
        Html("<div><b>{}{}</b><span class=quiet>joined</span></div>").format(
            here, Html(" <small>of {}</small>").format(settings.places) if settings.places else ""
        ),
        Html("<div><b>{}</b><span class=quiet>in queue{}</span></div>").format(waiting, about_time),
        Html("<div><b>{}</b><span class=quiet>{}</span>{}</div>").format(
            dollars(spent / MICRO),
            "spent" if cap is None else f"of {dollars(cap / MICRO)} spent",
            ""
            if cap is None
            else Html('<progress value="{}" max="{}" aria-label="Spent"></progress>').format(spent, cap),
        ),
    ]
    if facts.requests_limit and facts.requests_left is not None and facts.requests_limit <= 20:
        left = f"{facts.requests_left} of {count(facts.requests_limit, 'request')} left"
        bars = joined(
            Html("<i></i>")
            if number >= facts.requests_limit - facts.requests_left
            else Html('<i class="used"></i>')
            for number in range(facts.requests_limit)
        )
        parts.append(
            Html(
                '<div><div class="budget" role="img" aria-label="{0}">{1}</div>'
                "<span class=quiet>{0}</span></div>"
            ).format(left, bars)
        )
    if uncertain := counts.get(UNCERTAIN, 0):
        parts.append(
            Html("<div><b>{}</b><span class=quiet>never answered, and still reserved</span></div>").format(
                uncertain
            )
        )
    return joined(parts)


def _controls(settings: RoomSettings, students: list[Student], clips: list[RoomJob], uncertain: int) -> Html:
    def press(action: str, words: str) -> Html:
        return Html(
            '<form method="post" action="/room/control"><button class="plain" name="action" value="{}">{}'
            "</button></form>"
        ).format(action, words)

    def opened(words: str, inside: Html, kind: str = "") -> Html:
        return Html(
            '<details class="{}"><summary class="plain">{}</summary>'
            '<form method="post" action="/room/control">{}</form></details>'
        ).format(kind, words, inside)

    option = Html('<option value="{}">{}</option>')
    names = joined(option.format(each.id, each.name) for each in students if each.joined_at is not None)
    on_wall = joined(option.format(each.request_id, terminal_line(each.prompt, 40)) for each in clips)
    amount = Html('<label>{}, USD <input name="{}" inputmode="decimal" value="{}"></label>')
    caps = amount.format("Each", "each", f"{settings.cap_micro / MICRO:.2f}")
    if settings.class_cap_micro is not None:
        caps += amount.format("All", "all", f"{settings.class_cap_micro / MICRO:.2f}")
    submit = Html('<button class="plain" name="action" value="{}">{}</button>')
    return joined(
        [
            press("pause", "Go on" if settings.paused else "Pause all"),
            opened("Raise cap…", caps + submit.format("cap", "Raise")),
            opened(
                "Release a name…",
                Html('<select name="student" aria-label="Name">{}</select>').format(names)
                + submit.format("release", "Release"),
            ),
            press("names", "Show names" if settings.names_hidden else "Hide names"),
            press("clips", "Show clips" if settings.clips_hidden else "Hide clips"),
            opened(
                "Take a clip off…",
                Html('<select name="request_id" aria-label="Clip">{}</select>').format(on_wall)
                + submit.format("hide", "Take off"),
            ),
            press("end_vote", "End vote")
            if settings.voting
            else opened(
                "Vote…",
                Html('<label>Question <input name="question" maxlength="{}" value="{}"></label>').format(
                    LONGEST_QUESTION, settings.question or QUESTION
                )
                + submit.format("vote", "Ask the class"),
            ),
            press("newest", "Newest clips") if settings.question and not settings.voting else Html(""),
            opened(
                "Never answered…",
                Html(
                    "<span>If nobody else has used the account since, balance and usage tell whether they "
                    "were bought. Then what was bought counts as spent, and the rest is given back.</span>"
                )
                + submit.format("find_out", "Only this class used it"),
            )
            if uncertain
            else Html(""),
            Html('<span class="quiet">Only people with the token see these buttons.</span>'),
            opened(
                "End class…",
                Html("<span>Nobody can order any more. What wasn't sent is taken back.</span>")
                + submit.format("end", "End it"),
                "end",
            ),
        ]
    )


def _ended_page(room: Room, settings: RoomSettings) -> Response:
    students = room.store.students()
    jobs = room.store.all_jobs()
    lines = report.sums(students, jobs)
    counts = room.store.counts()
    spent, reserved = room.store.money()
    cap = settings.whole_cap_micro
    places = settings.places
    facts = [
        ("Joined", f"{len(lines)}{'' if places is None else f' of {places}'}"),
        ("Clips made", str(counts.get("completed", 0))),
        ("Failed or refused", str(counts.get("failed", 0) + counts.get("refused", 0))),
        ("Taken back before they were sent", str(counts.get("taken back", 0))),
        ("Still on their way", str(counts.get(HANDED, 0))),
        ("Never answered, so perhaps billed", str(counts.get(UNCERTAIN, 0))),
        ("Passes that still work", "none"),
    ]
    shown = [each for each in facts if each[1] != "0" or each[0] == "Clips made"]
    sums = joined(Html("<dt>{}</dt><dd>{}</dd>").format(*each) for each in shown)
    sums += Html('<dt class="all">Spent{}</dt><dd class="all">{}{}</dd>').format(
        "" if cap is None else f" of {dollars(cap / MICRO)}",
        dollars(spent / MICRO),
        f", {dollars(reserved / MICRO)} reserved" if reserved else "",
    )
    done = sum(line.clips for line in lines)
    seconds = sum(line.seconds for line in lines)
    body = SITE.filled(
        "ended.html",
        name=settings.name,
        when=report.period(settings),
        sums=sums,
        rows=joined(_row(report.sum_words(line)) for line in lines),
        foot=_row(
            (
                f"All {len(lines)}",
                str(done),
                f"{seconds:g}",
                dollars(spent / MICRO),
                str(sum(x.refused for x in lines)),
                "",
            )
        ),
    )
    return SITE.page(f"{settings.name} has ended", body)


def _row(words: tuple[str, ...]) -> Html:
    kinds = ("", "", "wide", "", "wide", "")
    return Html("<tr>{}</tr>").format(
        joined(
            Html('<td class="{}">{}</td>').format(kind, word) for kind, word in zip(kinds, words, strict=True)
        )
    )


async def _report(room: Room, request: Request) -> Response:
    if not _is_teacher(room, request):
        return _enter_page(status=403)
    return HTMLResponse(
        await asyncio.to_thread(report.page, room.store, lambda job: f"{CLIPS}/{job.clip}.mp4"),
        headers=FRESH,
    )


async def _table(room: Room, request: Request) -> Response:
    if not _is_teacher(room, request):
        return _enter_page(status=403)
    name = f"class-{plain_code(room.store.settings().code).lower()}.csv"
    return Response(
        (await asyncio.to_thread(report.table, room.store)).encode("utf-8-sig"),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', **FRESH},
    )


# What the pages share.


_enter_page = partial(SITE.enter_page, "The teacher's page")


def _of_student(page: StudentPage) -> Page:
    async def of_student(room: Room, request: Request) -> Response:
        student = await _student_of(room, request)
        if student is None:
            return RedirectResponse("/", 303)
        if not admitted(room, student).allowed:
            return refusal(429, "Too many requests. Wait a minute.", {"Retry-After": "60"})
        return await page(room, request, student)

    return of_student


async def _student_of(room: Room, request: Request) -> Student | None:
    key = request.cookies.get(PASS)
    return None if key is None else await asyncio.to_thread(room.store.student_of, key, "page")


def _is_teacher(room: Room, request: Request) -> bool:
    return same(request.cookies.get(TEACHER, ""), room.token.reveal())


def _set_cookie(room: Room, answer: Response, name: str, value: str, same_site: Any) -> None:
    answer.set_cookie(name, value, max_age=COOKIE_SECONDS, httponly=True, secure=room.tls, samesite=same_site)


def _micro(form: Mapping[str, str], name: str) -> int | None:
    amount = usd(form.get(name, ""))
    return None if amount is None else round(amount * MICRO) or None


def _terms(settings: RoomSettings) -> str:
    return " · ".join(
        filter(None, [_until(settings, True), f"{dollars(settings.cap_micro / MICRO)} for clips each"])
    )


def _until(settings: RoomSettings, opened: bool) -> str:
    if not opened:
        return "the class has ended"
    if settings.expires_at is None:
        return "until your teacher ends the class"
    return f"until {local(settings.expires_at).strftime('%H:%M')}"


def _state(room: Room, settings: RoomSettings) -> str:
    terms = f"{_until(settings, True)} · {dollars(settings.cap_micro / MICRO)} each"
    if settings.service == "sandbox":
        terms = f"sandbox · {terms}"
    if settings.paused:
        return f"Paused · {terms}"
    return terms if room.queue.trouble is None else f"{room.queue.trouble} · {terms}"


def _qr(link: str) -> Html:
    """The link as a QR code; nothing where the package for it isn't installed."""
    try:
        import segno
    except ImportError:
        return Html("")
    drawn = io.BytesIO()
    segno.make(link, micro=False).save(drawn, kind="svg", xmldecl=False, svgns=True, omitsize=True, border=0)
    return Html('<div class="qr" role="img" aria-label="QR code of the address">{}</div>').format(
        Html(drawn.getvalue().decode())
    )
