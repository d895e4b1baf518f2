"""The room's pages: joining, a student's own, the teacher's, and the end. Plain HTML; forms need no script.

A page recognises its student by a cookie with a key. What other sites' pages send is refused
before it gets here, see `web.application`.
"""

import asyncio
import io
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, Literal

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from ... import states, wire
from ...errors import InvalidInput
from ...formatting import count, dollars, hour, terminal_line
from ...ledger.votes import QUESTION
from ...web.html import Html, joined, kept_text
from ...web.listening import LOOPBACK_NAMES
from ...web.pages import FRESH, INVALID, alert, clip_article, same, usd, video
from ...web.payloads import TEXT, fields_of, reached_at, read_form, wanted_from_text
from ...web.refusals import NoMoney, Refused
from ..wheels import complete_targets, folder_of
from . import downloads, report, voting
from .app import CLIPS, Room, admitted, check_tries, join, join_as_program, order, wrong_guess
from .codes import join_link, plain_code, qr_code
from .report import SITE, StudentSum
from .store import HANDED, NEWEST, QUEUED, UNCERTAIN, RoomJob, RoomSettings, Student
from .voting import ClassVote

PASS: Final = "reelbook_pass"  # noqa: S105 - a cookie's name
TEACHER: Final = "reelbook_teacher"
ENTER: Final = "The teacher's page"
COOKIE_SECONDS: Final = 7 * wire.DAY_SECONDS
LONGEST_QUESTION: Final = 80
SHOWN: Final = 4  # the newest of a student's clips; a press shows the others
# The room's own states, in the tones that `states` has for similar ones.
_WORDS: Final = {
    QUEUED: states.state(wire.PENDING),
    "completed": states.state(wire.COMPLETED),
    "failed": states.state(wire.FAILED),
    "refused": states.state(states.REFUSED),
    UNCERTAIN: states.state(states.UNCERTAIN),
    "taken back": states.state(states.CANCELLED),
}

_ENDED: Final = Html(
    '<section class="phone"><h1>{} has ended</h1>'
    '<p class="quiet">Your clips stay here until your teacher stops the page.</p></section>'
)
_DEVICE_FORM: Final = Html(
    '<form method="post" action="/mine/device"><button class="plain">Get a code for another device</button>'
    "</form>"
)
_DEVICE_CODE: Final = Html(
    '<p role="status">Type this code on the other device, with your name. It is good once, for half an hour: '
    '<span class="big">{}</span></p>'
)
PLAYED: Final = "This class uses the sandbox: its clips are drawn, not generated, and the money isn't real."

Form = Mapping[str, str]
SameSite = Literal["lax", "strict"]
Page = Callable[..., Response]  # of room, request and form, and of the student if it is one's own


def routes(room: Room) -> list[Route]:
    def route(path: str, guard: Callable[..., Awaitable[Response]], page: Page, method: str = "GET") -> Route:
        return Route(path, partial(guard, page, room), methods=[method])

    return [
        route("/", _for_anybody, _first),
        route("/", _for_anybody, _join, "POST"),
        Route(wire.ROOM_JOIN, partial(join_as_program, room), methods=["POST"]),
        route("/mine", _for_student, _student_page),
        route("/mine/order", _for_student, _order, "POST"),
        route("/mine/take-back", _for_student, _take_back, "POST"),
        route("/mine/device", _for_student, _device, "POST"),
        route("/mine/class.ipynb", _for_student, _notebook),
        route("/vote", _for_student, voting.page),
        route("/vote", _for_student, voting.voted, "POST"),
        route("/room", _for_teacher, _teacher_page),
        route("/room/enter", _for_anybody, _enter, "POST"),
        route("/room/control", _for_teacher, _control, "POST"),
        route("/room/report", _for_teacher, _report),
        route("/room/report.csv", _for_teacher, _table),
        Route("/room/static/{name}", SITE.static),
        *downloads.routes(folder_of(room.session.home)),
    ]


async def _for_student(page: Page, room: Room, request: Request) -> Response:
    student = await asyncio.to_thread(_student_of, room, request)
    if student is None:
        return RedirectResponse("/", 303)
    if not admitted(room, student).allowed:
        raise HTTPException(429, "Too many requests. Wait a minute.", {"Retry-After": "60"})
    return await _for_anybody(page, room, request, student)


async def _for_teacher(page: Page, room: Room, request: Request) -> Response:
    if same(request.cookies.get(_cookie(room, TEACHER), ""), room.token.reveal()):
        return await _for_anybody(page, room, request)
    return SITE.enter_page(ENTER, status=200 if request.url.path == "/room" else 403)


async def _for_anybody(page: Page, room: Room, request: Request, *student: Student) -> Response:
    """Answers with a page, made in a thread, as it waits for the disk; its form is what was posted."""
    sent = request.method == "POST" and "content-type" in request.headers  # a button alone may say no type
    return await asyncio.to_thread(page, room, request, await read_form(request) if sent else {}, *student)


def _student_of(room: Room, request: Request) -> Student | None:
    key = request.cookies.get(_cookie(room, PASS))
    return None if key is None else room.store.student_of(key)


def _cookie(room: Room, name: str) -> str:
    """A cookie's name in this class: a browser sends a host's cookies to all rooms on that computer."""
    return f"{name}_{plain_code(room.code)}"


def _set_cookie(room: Room, answer: Response, name: str, value: str, same_site: SameSite) -> None:
    answer.set_cookie(
        _cookie(room, name),
        value,
        max_age=COOKIE_SECONDS,
        httponly=True,
        secure=room.tls,
        samesite=same_site,
    )


def _first(room: Room, request: Request, form: Form) -> Response:
    if _student_of(room, request) is not None:
        return RedirectResponse("/mine", 303)
    code, refused = request.query_params.get("code", ""), None
    if plain_code(code):
        try:
            check_tries(room, request)
            if plain_code(code) != plain_code(room.code):
                raise wrong_guess(room, request)
        except Refused as no_way_in:
            refused = no_way_in
    return _join_page(room, {"code": code}, refused)


def _join(room: Room, request: Request, form: Form) -> Response:
    try:
        # From the page: sent again after a lost answer, it lets the student in again.
        token = form.get("token") or None
        _, key = join(room, request, form.get("name", ""), form.get("code", ""), token)
    except Refused as refused:
        return _join_page(room, form, refused)
    answer = RedirectResponse("/mine", 303)
    _set_cookie(room, answer, PASS, key.reveal(), "lax")  # a link from elsewhere leads back in
    return answer


def _join_page(room: Room, form: Form, refused: Refused | None) -> Response:
    """The join page. Only those who have the code see the class's name, and the names on its list."""
    settings, code = room.store.settings(), form.get("code", "")
    known = plain_code(code) == plain_code(settings.code) and (refused is None or refused.status != 429)
    at_name, at_code = refused is not None and known, refused is not None and not known
    why = alert(str(refused))
    body = SITE.filled(
        "join.html",
        token=secrets.token_urlsafe(24),
        heading=settings.name if known else "Join a class",
        terms=f"{_until(room, settings)} · {dollars(settings.cap_usd)} for clips each" if known else "",
        code=code,
        code_invalid=INVALID if at_code else "",
        code_why=why if at_code else "",
        name_why=why if at_name else "",
        name_field=_name_field(
            room, form.get("name", ""), settings.listed_only and known, INVALID if at_name else Html("")
        ),
        plain_http=""
        if room.tls
        else " What you send can be read by others in this network, so use no password here.",
    )
    return SITE.page("Join a class", body, status=200 if refused is None else refused.status)


def _name_field(room: Room, name: str, from_list: bool, invalid: Html) -> Html:
    if not from_list:
        return Html('<input name="name" value="{}" autocomplete="name" required maxlength="60"{}>').format(
            name, invalid
        )
    free = [each.name for each in room.store.students() if each.joined_at is None]
    names = joined(
        Html("<option{}>{}</option>").format(Html(" selected") if each == name else "", each) for each in free
    )
    return Html(
        '<select name="name"{}>{}</select><span class="quiet">Not in the list? Ask your teacher.</span>'
    ).format(invalid, names)


def _student_page(
    room: Room,
    request: Request,
    form: Form,
    student: Student,
    *,
    refused: Exception | None = None,
    not_taken_back: str = "",
    device: str = "",
) -> Response:
    """The student's page. `form` is what was typed, if that was `refused`.

    `not_taken_back` says why a clip wasn't, `device` is a code for another device.
    """
    settings = room.store.settings()
    jobs = room.store.jobs(student.id)
    left = room.store.left_usd(student.id)
    opened = settings.open(room.store.clock())
    every = "all" in request.query_params
    if opened:
        new_clip = _new_clip(room, settings, form, left, refused)
        notebook = _notebook_section(room, settings, reached_at(request), device)
    else:
        new_clip, notebook = _ENDED.format(settings.name), Html("")
    body = SITE.filled(
        "student.html",
        name=student.name,
        left=f"{left:.2f}",
        money=f"{dollars(left)} of {dollars(settings.cap_usd)} left",
        until=_until(room, settings) if opened else "the class has ended",
        new_clip=new_clip,
        counts=_counts(jobs),
        why=alert(not_taken_back),
        clips=_clips(room, jobs, len(jobs) if every else SHOWN),
        refresh="/mine?all=1" if every else "/mine",
        notebook=notebook,
    )
    status = 409 if not_taken_back else 200 if refused is None else getattr(refused, "status", 400)
    return SITE.page(f"{student.name} · {settings.name}", body, status=status)


def _new_clip(
    room: Room, settings: RoomSettings, form: Form, left_usd: float, refused: Exception | None
) -> Html:
    why = "" if refused is None else str(refused)
    if isinstance(refused, NoMoney):
        cost, left = dollars(refused.required_usd), dollars(left_usd)
        why = f"This clip may cost up to {cost}, more than the {left} that is left. Nothing was ordered."
    return SITE.filled(
        "new_clip.html",
        notice=_notice(room, settings),
        price=f"{wire.PRICE_USD_PER_SECOND:.2f}",
        repeat_key=secrets.token_urlsafe(12),
        prompt=form.get("prompt", ""),
        invalid=INVALID if why else "",
        why=alert(why),
        seconds=form.get("duration_seconds") or min(2, settings.max_seconds),
        max_seconds=settings.max_seconds,
        shapes=_shapes(form.get("aspect_ratio") or wire.DEFAULT_ASPECT_RATIO),
    )


def _notice(room: Room, settings: RoomSettings) -> Html:
    """The most urgent news for a student, and the way to a vote."""
    notice = room.queue.trouble
    if notice is None and settings.paused:
        notice = "Your teacher has paused the class."
    elif notice is None and settings.service == "sandbox":
        notice = PLAYED
    said = Html('<p class="say">{}</p>').format(notice) if notice else Html("")
    if not settings.voting:
        return said
    vote = Html('<p class="say line">Your class votes: {}<a class="plain" href="/vote">Vote</a></p>')
    return vote.format(settings.question) + said


def _shapes(chosen: str) -> Html:
    return joined(
        Html('<label><input type="radio" name="aspect_ratio" value="{0}"{1}>{0}</label>').format(
            each, Html(" checked") if each == chosen else ""
        )
        for each in wire.ASPECT_RATIOS
    )


def _clips(room: Room, jobs: list[RoomJob], most: int) -> Html:
    if not jobs:
        return Html('<p class="quiet" id="none">Your clips appear here, the newest first.</p>')
    between = room.store.seconds_between_clips()
    shown = joined(_clip(room, job, between) for job in jobs[:most])
    if len(jobs) <= most:
        return shown
    return shown + Html('<a class="plain" id="more" href="/mine?all=1">Show {} more</a>').format(
        len(jobs) - most
    )


def _clip(room: Room, job: RoomJob, between_seconds: float | None) -> Html:
    state = _WORDS.get(job.state)
    film, quiet, more = Html(""), "", Html("")
    if job.state == HANDED:
        word, percent = room.queue.progress(job)
        state, quiet = states.state(word), "" if percent is None else f"{percent} %"
    elif job.state == QUEUED:
        quiet = _place(job.ahead or 0, between_seconds)
        more = Html(
            '<form class="line" method="post" action="/mine/take-back">'
            '<button class="plain" name="request_id" value="{}">Take back</button>'
            '<span class="quiet">gives the {} back</span></form>'
        ).format(job.request_id, dollars(job.reserved_usd))
    elif job.state == "completed":
        seed = job.request.get("seed", wire.RANDOM_SEED)
        quiet = f"{'' if seed == wire.RANDOM_SEED else f'seed {seed} · '}{dollars(job.cost_usd)}"
        url = f"{CLIPS}/{job.clip}.mp4"
        film = video(url)
        more = Html('<a class="plain" href="{}" download>Download</a>').format(url)
    elif job.error:
        more = Html('<p class="quiet">{}</p>').format(job.error)
    assert state is not None  # the queue knows the state of a job that was handed over
    return clip_article(job.request_id, film, job.prompt, state, quiet, more)


def _place(ahead: int, between_seconds: float | None) -> str:
    said = "next" if ahead == 0 else f"{count(ahead, 'clip')} ahead of yours"
    return said if between_seconds is None else f"{said}, {about(ahead * between_seconds)}"


def about(seconds: float) -> str:
    """A time in words: "about 40 s", "about 3 min"."""
    return (
        f"about {max(1, round(seconds / 10)) * 10} s" if seconds < 90 else f"about {round(seconds / 60)} min"
    )


def _counts(jobs: list[RoomJob]) -> str:
    done = sum(job.state == "completed" for job in jobs)
    waiting = sum(job.state in (QUEUED, HANDED) for job in jobs)
    return f"{done} done · {waiting} pending" if waiting else f"{done} done"


def _notebook_section(room: Room, settings: RoomSettings, url: str, device: str) -> Html:
    pythons = dict.fromkeys(python for python, _ in complete_targets(folder_of(room.session.home)))
    if pythons:
        *others, newest = pythons
        known = f"{', '.join(others)} or {newest}" if others else newest
        install = Html(", with Python {}:<code>{}</code>").format(known, downloads.install_line(url))
    else:
        install = Html(": install Reelbook, as your teacher says.")
    return SITE.filled(
        "notebook.html",
        install=install,
        device=_DEVICE_CODE.format(device) if device else _DEVICE_FORM,
        until=_until(room, settings),
    )


def _order(room: Room, request: Request, form: Form, student: Student) -> Response:
    try:
        asked = {
            each.name: each.from_text(form[each.name]) for each in fields_of(TEXT) if form.get(each.name)
        }
        # A page that "Back" shows again has its old key, and may order another clip.
        repeat_key = form.get("repeat_key") and f"{form['repeat_key'][:100]} {json.dumps(asked)}"
        order(room, student, wanted_from_text(asked), repeat_key or None)
    except (Refused, InvalidInput) as refused:
        return _student_page(room, request, form, student, refused=refused)
    return RedirectResponse("/mine", 303)


def _take_back(room: Room, request: Request, form: Form, student: Student) -> Response:
    try:
        if room.store.take_back(student.id, form.get("request_id", "")) is None:
            raise HTTPException(404)
    except Refused as refused:
        return _student_page(room, request, form, student, not_taken_back=refused.detail)
    return RedirectResponse("/mine", 303)


def _device(room: Room, request: Request, form: Form, student: Student) -> Response:
    return _student_page(room, request, {}, student, device=room.store.device_code(student.id))


def _notebook(room: Room, request: Request, form: Form, student: Student) -> Response:
    url, code = reached_at(request), room.store.device_code(student.id)
    notebook = json.loads(kept_text(SITE.folder / "templates" / "class.ipynb"))
    about_it, joins = notebook["cells"]
    about_it["source"] = (
        f"# {student.name}'s clips\n\nThe code is good once, within half an hour; this computer is known "
        f"from then on. A fresh one: {url}/mine"
    )
    joins["source"] = (
        "import reelbook as rb\n\n"
        f"session = rb.join({url!r}, {code!r}, name={student.name!r})\nrb.Studio(session)"
    )
    content = json.dumps(notebook, ensure_ascii=False, indent=1).encode()
    return downloads.attachment("class.ipynb", content, "application/x-ipynb+json")


# What a button sends: what it sets, and its words. Pressed twice, it does the same again.
SWITCHES: Final = {
    "pause": ("paused", True, "Pause all"),
    "go_on": ("paused", False, "Go on"),
    "hide_names": ("names_hidden", True, "Hide names"),
    "show_names": ("names_hidden", False, "Show names"),
    "hide_clips": ("clips_hidden", True, "Hide clips"),
    "show_clips": ("clips_hidden", False, "Show clips"),
}


def _teacher_page(room: Room, request: Request, form: Form) -> Response:
    settings = room.store.settings()
    if not settings.open(room.store.clock()):
        return _ended_page(room, settings)
    students = room.store.students()
    base_url = reached_at(request)
    if request.url.hostname in LOOPBACK_NAMES:
        base_url = room.url or base_url  # only the teacher's own computer is reached by that one
    qr = _qr(join_link(base_url, settings.code))
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
        controls=_controls(room, settings, students),
    )
    return SITE.page(settings.name, body)


def _enter(room: Room, request: Request, form: Form) -> Response:
    try:
        check_tries(room, request)
        if not same(form.get("token", ""), room.token.reveal()):
            said = "This isn't the token. The terminal that serves the class shows it."
            raise wrong_guess(room, request, said)
    except Refused as refused:
        return SITE.enter_page(ENTER, str(refused), refused.status)
    answer = RedirectResponse("/room", 303)
    _set_cookie(room, answer, TEACHER, room.token.reveal(), "strict")
    return answer


def _control(room: Room, request: Request, form: Form) -> Response:
    store, action = room.store, form.get("action", "")
    settings = store.settings()
    if action in SWITCHES:
        column, on, _ = SWITCHES[action]
        store.change(**{column: on})
    elif action == "vote":
        question = form.get("question", "").strip()[:LONGEST_QUESTION] or QUESTION
        store.change(question=question, asked_at=store.clock(), voting=True)
    elif action == "end_vote":
        store.change(voting=False)
    elif action == "newest":
        store.change(voting=False, question=None)
    elif action == "cap":
        # Never lowered: students have been promised as much.
        for column, field in (("cap_usd", "each"), ("class_cap_usd", "all")):
            kept, amount = getattr(settings, column), usd(form.get(field, ""))
            if kept is not None and amount is not None and amount > kept:
                store.change(**{column: amount})
    elif action == "release" and (number := form.get("student", "")).isdecimal():
        store.release(int(number[:9]))
    elif action == "hide":
        store.hide(form.get("request_id", ""))
    elif action == "find_out":
        room.queue.find_out()
    elif action == "end":
        store.end()
    room.queue.poke()
    return RedirectResponse("/room", 303)


def _wall(room: Room, settings: RoomSettings, students: list[Student]) -> Html:
    if settings.clips_hidden:
        return Html('<p class="quiet" id="hidden">Clips are hidden.</p>')
    clips = [(job, "") for job in room.store.newest_clips()]
    head = Html("")
    if (asked := ClassVote.of(room)) is not None:
        head = Html('<p id="vote">{} <span class="quiet">{} by {}</span></p>').format(
            asked.question,
            count(len(asked.votes), "vote"),
            count(len({vote.voter for vote in asked.votes}), "student"),
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
    missing = sum(student.joined_at is None for student in students)
    not_yet = Html(' <span class="quiet">· {} not yet, dashed</span>').format(missing) if missing else ""
    head = Html("<p>{} joined{}</p>").format(len(students) - missing, not_yet)
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
    cap = settings.whole_cap_usd
    facts = room.session.facts
    number = Html("<div><b>{}</b><span class=quiet>{}</span>{}</div>")
    places = Html(" <small>of {}</small>").format(settings.places) if settings.places else Html("")
    parts = [
        number.format(Html(here) + places, "joined", ""),
        number.format(waiting, f"in queue{about_time}", ""),
    ]
    if cap is None:
        parts.append(number.format(dollars(spent), "spent", ""))
    else:
        bar = Html('<progress value="{}" max="{}" aria-label="Spent"></progress>').format(spent, cap)
        parts.append(number.format(dollars(spent), f"of {dollars(cap)} spent", bar))
    if facts.requests_limit and facts.requests_left is not None and facts.requests_limit <= 20:
        left = f"{facts.requests_left} of {count(facts.requests_limit, 'request')} left"
        used = '<i class="used"></i>' * (facts.requests_limit - facts.requests_left)
        parts.append(
            Html(
                '<div><div class="budget" role="img" aria-label="{0}">{1}</div>'
                "<span class=quiet>{0}</span></div>"
            ).format(left, Html(used + "<i></i>" * facts.requests_left))
        )
    if uncertain := counts.get(UNCERTAIN, 0):
        parts.append(number.format(uncertain, "never answered, and still reserved", ""))
    return joined(parts)


def _controls(room: Room, settings: RoomSettings, students: list[Student]) -> Html:
    hidden, cap_all = Html(" hidden"), settings.class_cap_usd
    option = Html('<option value="{}">{}</option>').format
    button = Html('<button class="plain" name="action" value="{}">{}</button>').format
    switches = {
        column: button(action, words)
        for action, (column, on, words) in SWITCHES.items()
        if getattr(settings, column) != on
    }
    return SITE.filled(
        "controls.html",
        **switches,
        each=f"{settings.cap_usd:.2f}",
        all=f"{cap_all or 0:.2f}",
        all_hidden=hidden if cap_all is None else "",
        names=joined(option(each.id, each.name) for each in students if each.joined_at is not None),
        clips=joined(
            option(each.request_id, terminal_line(each.prompt, 40)) for each in room.store.newest_clips()
        ),
        question=settings.question or QUESTION,
        longest_question=LONGEST_QUESTION,
        voting=hidden if settings.voting else "",
        vote_over="" if settings.voting else hidden,
        no_result="" if settings.question and not settings.voting else hidden,
        all_answered="" if room.store.counts().get(UNCERTAIN) else hidden,
    )


def _ended_page(room: Room, settings: RoomSettings) -> Response:
    lines, total = report.sums(room.store)
    counts = room.store.counts()
    spent, reserved = room.store.money()
    cap = settings.whole_cap_usd
    facts = {
        "Failed or refused": counts.get("failed", 0) + counts.get("refused", 0),
        "Taken back before they were sent": counts.get("taken back", 0),
        "Still on their way": counts.get(HANDED, 0),
        "Never answered, so perhaps billed": counts.get(UNCERTAIN, 0),
    }
    fact = Html("<dt>{}</dt><dd>{}</dd>")
    places = "" if settings.places is None else f" of {settings.places}"
    sums = fact.format("Joined", f"{len(lines)}{places}") + fact.format("Clips made", total.clips)
    sums += joined(fact.format(what, number) for what, number in facts.items() if number)
    sums += fact.format("Passes that still work", "none")
    sums += Html('<dt class="all">Spent{}</dt><dd class="all">{}{}</dd>').format(
        "" if cap is None else f" of {dollars(cap)}",
        dollars(spent),
        f", {dollars(reserved)} reserved" if reserved else "",
    )
    body = SITE.filled(
        "ended.html",
        name=settings.name,
        when=report.period(settings),
        sums=sums,
        rows=joined(_row(settings, line) for line in lines),
        foot=_row(settings, total),
    )
    return SITE.page(f"{settings.name} has ended", body)


def _row(settings: RoomSettings, line: StudentSum) -> Html:
    last = "–" if line.last_at is None else hour(line.last_at, settings.made_at)
    return Html(
        '<tr><td>{}</td><td>{}</td><td class="wide">{}</td><td>{}</td>'
        '<td class="wide">{}</td><td>{}</td></tr>'
    ).format(
        line.name,
        line.clips,
        f"{line.seconds:g}",
        dollars(line.spent_usd),
        line.refused,
        last,
    )


def _report(room: Room, request: Request, form: Form) -> Response:
    page = report.page(room.store, lambda job: f"{CLIPS}/{job.clip}.mp4")
    return HTMLResponse(page, headers=FRESH)


def _table(room: Room, request: Request, form: Form) -> Response:
    name = report.file_stem(room.store.settings())
    return downloads.attachment(
        f"{name}.csv", report.table(room.store).encode("utf-8-sig"), "text/csv; charset=utf-8"
    )


def _until(room: Room, settings: RoomSettings) -> str:
    if settings.expires_at is None:
        return "until your teacher ends the class"
    return f"until {hour(settings.expires_at, room.store.clock())}"


def _state(room: Room, settings: RoomSettings) -> str:
    terms = f"{_until(room, settings)} · {dollars(settings.cap_usd)} each"
    if settings.service == "sandbox":
        terms = f"sandbox · {terms}"
    if settings.paused:
        return f"Paused · {terms}"
    return terms if room.queue.trouble is None else f"{room.queue.trouble} · {terms}"


def _qr(link: str) -> Html:
    if (code := qr_code(link)) is None:
        return Html("")
    drawn = io.BytesIO()
    code.save(drawn, kind="svg", xmldecl=False, svgns=True, omitsize=True, border=0)
    return Html('<div class="qr" role="img" aria-label="QR code of the address">{}</div>').format(
        Html(drawn.getvalue().decode())
    )
