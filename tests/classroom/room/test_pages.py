"""The room's pages as a browser without scripts uses them: forms, cookies, and where they lead."""

import json
import re
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest
from classroom.room.conftest import Serve, Visit
from classroom.room.visitors import Visitor
from support.waiting import until

from reelbook import wire
from reelbook.classroom.room import report
from reelbook.classroom.room.app import Room
from reelbook.classroom.room.codes import join_link
from reelbook.formatting import hour

HOSTILE = "<script>alert(1)</script>\"'&"


def join(visitor: Visitor, name: str = "Ada", code: str = "FOX-234") -> httpx.Response:
    """Sends the join page's form."""
    return visitor.http.post("/", data={"name": name, "code": code})


def order(visitor: Visitor, prompt: str = "a fox", **more: str) -> httpx.Response:
    """Sends the form for a new clip."""
    form = {"prompt": prompt, "duration_seconds": "1", "aspect_ratio": "16:9", **more}
    return visitor.http.post("/mine/order", data=form)


def teach(room: Room, visitor: Visitor) -> Visitor:
    """Opens the teacher's page."""
    answer = visitor.http.post("/room/enter", data={"token": room.token.reveal()})
    assert (answer.status_code, answer.headers["location"]) == (303, "/room")
    return visitor


def control(visitor: Visitor, action: str, **more: str) -> None:
    """Presses one of the teacher's buttons."""
    assert visitor.http.post("/room/control", data={"action": action, **more}).status_code == 303


def clip_done(room: Room) -> None:
    """Waits until the class has its first clip."""
    until(lambda: room.store.counts() == {"completed": 1})


@pytest.fixture
def ada(room: Room, visit: Visit) -> Visitor:
    """A student who joined by the form."""
    visitor = visit(room)
    assert join(visitor).headers["location"] == "/mine"
    return visitor


@pytest.fixture
def teacher_page(room: Room, visit: Visit) -> Visitor:
    """The teacher, with the page open."""
    return teach(room, visit(room))


def test_a_student_joins_orders_and_sees_the_clip_by_forms_alone(
    room: Room, visit: Visit, ada: Visitor
) -> None:
    """From the address to a clip that plays, without a script. Why it can't be taken back any more stands at
    the clips; the form takes the next one.
    """
    first = visit(room).http.get("/", params={"code": "FOX-234"})
    assert "Class</h1>" in first.text
    assert 'value="FOX-234"' in first.text

    assert "Your clips appear here" in ada.http.get("/mine").text
    assert order(ada, "a red fox").headers["location"] == "/mine"
    until(lambda: "<video" in ada.http.get("/mine").text)
    page = ada.http.get("/mine").text
    assert "$1.95 of $2.00 left" in page
    (source,) = re.findall(r'<video[^>]* src="([^"]+)"', page)
    part = ada.http.get(source, headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.headers["content-type"]) == (206, "video/mp4")
    assert ada.http.get("/").headers["location"] == "/mine"
    (job,) = room.store.all_jobs()
    answer = ada.http.post("/mine/take-back", data={"request_id": job.request_id})
    assert answer.status_code == 409
    assert "sent already" in answer.text.partition("My clips")[2]
    assert "aria-invalid" not in answer.text


def test_the_cookie_is_the_pages_alone(room: Room, visit: Visit) -> None:
    """No script reads it, and no other site sends it."""
    cookie = join(visit(room)).headers["set-cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    teacher = visit(room).http.post("/room/enter", data={"token": room.token.reveal()})
    assert "SameSite=strict" in teacher.headers["set-cookie"]


def test_two_rooms_of_one_computer_keep_their_visitors(room: Room, serve: Serve, ada: Visitor) -> None:
    """A browser sends a host's cookies to all of its ports: students and teacher are let in to both."""
    second = serve("OWL-567")
    teach(room, ada)
    ada.http.base_url = second.url
    join(ada, "Grace", "OWL-567")
    teach(second, ada)

    for url, name, code in ((room.url, "Ada", "FOX-234"), (second.url, "Grace", "OWL-567")):
        ada.http.base_url = url
        assert f"{name} · Class" in ada.http.get("/mine").text
        assert code in ada.http.get("/room").text


@pytest.mark.usefixtures("ada")
def test_why_nobody_was_let_in_stands_under_its_field(room: Room, visit: Visit) -> None:
    """What was typed is kept, and to a wrong code nothing is said of the class that there is."""
    wrong, taken = join(visit(room), code="FOX-235"), join(visit(room))

    assert (wrong.status_code, taken.status_code) == (403, 409)
    assert 'value="FOX-235"' in wrong.text
    assert "No class has this code" in wrong.text
    assert "Class</h1>" not in wrong.text
    assert "add a letter" in taken.text
    assert 'value="Ada"' in taken.text


def test_a_code_may_have_any_characters(serve: Serve, visit: Visit, tmp_path: Path) -> None:
    """The link that the QR code shows has all of them, and so have the names of the report's files."""
    room = serve("7/8 C&A #2")

    first = visit(room).http.get(join_link("", room.code))
    assert 'value="7/8 C&amp;A #2"' in first.text
    assert "Class</h1>" in first.text
    written = report.write(room.store, tmp_path)
    assert written.table.parent == written.page.parent == tmp_path


def test_wrong_codes_are_refused_slower_after_five(room: Room, visit: Visit) -> None:
    """By links and by programs alike. Then the right one has to wait as well, and the wait tells nothing."""
    guesser = visit(room)
    links = [guesser.http.get("/", params={"code": f"BAD-{number}"}).status_code for number in range(3)]
    programs = [guesser.ask_to_join("Ada", f"BAD-{number}").status_code for number in range(2)]
    assert links + programs == [403] * 5
    assert guesser.ask_to_join("Ada").status_code == 429
    assert "Class</h1>" not in guesser.http.get("/", params={"code": "FOX-234"}).text


def test_the_list_is_shown_to_those_who_have_the_code(serve: Serve, visit: Visit) -> None:
    """And only the names that are free."""
    room = serve(students=["Ada", "Grace"])
    join(visit(room))

    assert "Grace" not in visit(room).http.get("/").text
    shown = visit(room).http.get("/", params={"code": "FOX-234"}).text
    assert re.findall("<option>([^<]+)", shown) == ["Grace"]


def test_an_order_is_refused_repeated_and_taken_back(serve: Serve, visit: Visit) -> None:
    """A refused one keeps what was typed and says why, with what is left. As a double press and a reload send
    it, it is one order, but the same page may order another clip. Taken back by its button its money is back,
    and by nobody else. At a live service the clip may come out longer, and what that may cost is said.
    """
    room = serve(cap_usd=0.10)
    room.store.change(paused=1)
    ada, eve = visit(room), visit(room)
    join(ada)
    join(eve, "Eve")

    answer = order(ada, "a long fox", duration_seconds="4")
    assert answer.status_code == 402
    assert "a long fox</textarea>" in answer.text
    assert "more than the $0.10 that is left" in answer.text
    assert order(ada, "   ").status_code == 400
    assert order(ada, duration_seconds="x").status_code == 400
    assert room.store.money() == (0, 0)

    (key,) = re.findall('name="repeat_key" value="([^"]+)"', ada.http.get("/mine").text)
    for _ in range(2):
        order(ada, repeat_key=key)
    (job,) = room.store.all_jobs()
    assert "Take back" in ada.http.get("/mine").text
    order(ada, "a heron", repeat_key=key)
    another = room.store.all_jobs()[1]
    ada.http.post("/mine/take-back", data={"request_id": another.request_id})
    assert eve.http.post("/mine/take-back", data={"request_id": job.request_id}).status_code == 404
    assert ada.http.post("/mine/take-back", data={"request_id": job.request_id}).status_code == 303
    assert "Taken back" in ada.http.get("/mine").text
    assert room.store.money() == (0, 0)
    room.store.change(service="live", cap_usd=0.05)
    assert "may cost up to $0.06, more than the $0.05 that is left" in order(ada).text


def test_the_way_to_older_clips_is_kept_fresh(room: Room, ada: Visitor) -> None:
    """It is one of the list's parts: a program of the student's may order while the page is open."""
    room.store.change(paused=1)
    for _ in range(5):
        order(ada)
    clips = ada.http.get("/mine").text.partition('id="clips"')[2].partition("</section>")[0]
    assert (clips.count("<article"), "Show 1 more" in clips) == (4, True)
    assert ada.http.get("/mine", params={"all": "1"}).text.count("<article") == 5


def test_a_class_of_several_days_says_so(room: Room, visit: Visit, ada: Visitor) -> None:
    """Until when it is, when a name was taken, and when it was: with the date where it isn't today."""
    in_ten_days = room.store.clock() + 10 * wire.DAY_SECONDS
    room.store.change(expires_at=in_ten_days)
    until = f"until {hour(in_ten_days, room.store.clock())}"
    assert " on " in until
    for page in (ada.http.get("/mine"), visit(room).http.get("/", params={"code": "FOX-234"})):
        assert until in page.text
    assert f" to {until.removeprefix('until ')}" in report.period(room.store.settings())
    room.store.clock = lambda: in_ten_days - 60
    (student,) = room.store.students()
    assert student.joined_at is not None
    assert f"Ada joined at {hour(student.joined_at, in_ten_days)}" in join(visit(room)).text


def test_what_people_type_is_text(room: Room, visit: Visit, teacher_page: Visitor) -> None:
    """In names, prompts and codes, on every page. Pages run only the room's own script, and stand in no other
    page.
    """
    room.store.change(paused=1, name=HOSTILE)
    ada = visit(room)
    assert HOSTILE not in visit(room).http.get("/", params={"code": HOSTILE}).text
    join(ada, HOSTILE)
    order(ada, HOSTILE)

    for page in (ada.http.get("/mine"), *map(teacher_page.http.get, ("/room", "/room/report"))):
        policy = page.headers["content-security-policy"]
        assert ("script-src 'self'" in policy, "frame-ancestors 'none'" in policy) == (True, True)
        assert " style=" not in page.text  # the policy would drop it
        assert "<script>alert" not in page.text
        assert "&lt;script&gt;alert(1)" in page.text


def test_the_notebook_holds_a_code_and_no_key(
    room: Room, ada: Visitor, visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cell joins as the same student, and does so again when it is run again; a code for another device
    leads to the same student.
    """
    source = json.loads(ada.http.get("/mine/class.ipynb").text)["cells"][1]["source"]
    monkeypatch.setenv("REELBOOK_HOME", str(tmp_path / "elsewhere"))
    cell = source.replace("rb.Studio(session)", "session.close()")

    assert "rk-" not in source
    assert ada.http.cookies["reelbook_pass_FOX234"] not in source
    for _ in range(2):
        exec(cell, {})
    (code,) = re.findall('class="big">([^<]+)', ada.http.post("/mine/device").text)
    assert visit(room).ask_to_join("Ada", code).json()["name"] == "Ada"
    assert len(room.store.students()) == 1


def test_pages_are_nobodys_without_a_cookie(room: Room, visit: Visit) -> None:
    """A student's page leads to joining, the teacher's asks for the token, controls do nothing."""
    stranger = visit(room)

    assert stranger.http.get("/mine").headers["location"] == "/"
    assert order(stranger).headers["location"] == "/"
    assert "Token" in stranger.http.get("/room").text
    assert stranger.http.post("/room/control", data={"action": "end"}).status_code == 403
    assert stranger.http.get("/room/report.csv").status_code == 403
    assert stranger.http.post("/room/enter", data={"token": "guess"}).status_code == 403
    assert room.store.settings().ended_at is None


def test_the_teachers_page_and_its_buttons(
    room: Room, ada: Visitor, teacher_page: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code, address, names, the newest clips, the figures; no key and no balance. Pause, caps, names, clips,
    one clip off the wall, a name that is free again, and what became of lost answers.
    """
    order(ada, "a heron")
    clip_done(room)
    page = teacher_page.http.get("/room").text
    address = room.url.partition("://")[2]
    for shown in ("FOX-234", address, "1 joined", "a heron", "$0.05", 'aria-label="QR code'):
        assert shown in page
    assert "$25" not in page
    assert room.token.reveal() not in page
    (job,), (student,) = room.store.all_jobs(), room.store.students()

    def pressed(action: str, **more: str) -> str:
        """What the page shows above its controls then."""
        control(teacher_page, action, **more)
        return teacher_page.http.get("/room").text.partition("<footer")[0]

    for _ in range(2):  # a double click is one
        assert pressed("pause").count("Paused") == 1
    assert "Paused" not in pressed("go_on")
    pressed("cap", each="$3.50")
    assert "$3.50 each" in pressed("cap", each="1.00")
    assert "Ada" not in pressed("hide_names")
    assert "a heron" not in pressed("hide_clips")
    assert "a heron" in pressed("show_clips")
    assert "a heron" not in pressed("hide", request_id=job.request_id)
    assert "a heron" in ada.http.get("/mine").text
    pressed("release", student=str(student.id))
    assert ada.http.get("/mine").headers["location"] == "/"
    reconcile = Mock()
    monkeypatch.setattr(room.session, "reconcile", reconcile)
    pressed("find_out")
    until(lambda: reconcile.called)
    reconcile.assert_called_once_with(alone=True)


def test_controls_that_do_nothing_now_are_hidden(serve: Serve, visit: Visit) -> None:
    """Those of a vote by whether one goes on, and what is about lost answers or about a cap for all."""
    room = serve(class_cap_usd=9)
    teacher = teach(room, visit(room))

    def hidden() -> list[str]:
        """The words of the controls that can't be seen."""
        controls = teacher.http.get("/room").text.partition("<footer")[2]
        return re.findall("hidden>(?:<[^>]+>)*([^<]+)", controls)

    assert hidden() == ["End vote", "Newest clips", "Never answered…"]
    control(teacher, "vote")
    assert hidden() == ["Vote…", "Newest clips", "Never answered…"]
    control(teacher, "end_vote")
    assert hidden() == ["End vote", "Never answered…"]
    room.store.change(class_cap_usd=None)
    assert hidden() == ["All, USD ", "End vote", "Never answered…"]


def test_the_end_and_its_report(room: Room, ada: Visitor, teacher_page: Visitor) -> None:
    """A line for each student; they still see their clips, and nobody orders any more."""
    order(ada, "=HYPERLINK(1)")
    clip_done(room)
    control(teacher_page, "end")

    ended = teacher_page.http.get("/room").text
    assert "has ended" in ended
    assert ">Ada<" in ended
    assert "Passes that still work" in ended
    assert "<video" in ada.http.get("/mine").text
    assert "<form" not in ada.http.get("/mine").text
    assert order(ada).status_code == 403
    table = teacher_page.http.get("/room/report.csv").text
    assert "Ada" in table
    assert ",=HYPER" not in table
    assert "<video" in teacher_page.http.get("/room/report").text
