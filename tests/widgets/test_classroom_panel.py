"""The classroom's panel: what it says beforehand, how it goes on, its proof; no key passes through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from classroom.room.visitors import Visitor
from support.waiting import until
from widgets.doubles import Page

import reelbook as rb
from reelbook.classroom.classroom import Step, open_classroom
from reelbook.classroom.handouts import WARNING
from reelbook.classroom.room.serving import Choices, in_thread
from reelbook.classroom.room.store import RoomStore
from reelbook.sandbox.handle import Sandbox
from reelbook.widgets.classroom_panel import ClassroomPanel

CLASS = "Ada Lovelace\nGrace Hopper\nAlan Turing"


class ClassPage(Page):
    """A view of the classroom, on a service at that address."""

    panel: ClassroomPanel

    def __init__(self, panel: ClassroomPanel, address: str) -> None:
        super().__init__(panel)
        self.address = address

    def types(self, message: str = "plan", /, **fields: str) -> dict[str, Any]:
        """Fills the form in, and gives the plan for it."""
        self.says(message, fields={"students": CLASS, "address": self.address, **fields})
        return self.last("plan")

    def opens(self, **fields: str) -> None:
        self.types("open", **fields)
        self.waits()

    def waits(self) -> None:
        until(lambda: not self.panel._busy and not self.last("now")["doing"])

    def rows(self) -> dict[str, list[str]]:
        (room,) = self.last("rooms")["rooms"]
        return {row[0]: row[1:] for row in room["rows"]}

    def number(self) -> int:
        number: int = self.last("rooms")["rooms"][0]["id"]
        return number


@pytest.fixture
def page(session: rb.Session, sandbox: Sandbox) -> Iterator[ClassPage]:
    page = ClassPage(ClassroomPanel(session), sandbox.url)
    page.says("hello")
    page.waits()
    yield page
    page.panel.close()


def test_without_a_class_nothing_is_asked(page: ClassPage, sandbox: Sandbox) -> None:
    """Only an open classroom costs a request."""
    assert not sandbox.state()["requests"].get("list-keys")
    assert page.last("rooms")["rooms"] == []
    assert page.panel.still()[1] == "Classroom: none is open."


def test_a_class_that_is_served_stands_on_top(page: ClassPage, home: Path) -> None:
    """Who joined, the queue, the money and the newest clips; then that nobody serves it, or that it ended."""
    with in_thread(page.panel.session, "FOX-234", Choices(cap_usd=3, places=2, name="Drawing")) as room:
        with Visitor(room.url) as ada:
            ada.join("Ada")
            ada.ended(ada.ordered("a heron", 1))
        until(lambda: room.store.counts() == {"completed": 1})
        page.panel.update()
        told = page.last("served")["room"]
        assert told == {
            "name": "Drawing",
            "figures": "1 of 2 joined · 0 clips in the queue · $0.05 of $6.00 spent",
            "where": f"{room.url} · code FOX-234 · your page: {room.url}/room",
            "joined": "Ada",
            "clips": ["Ada: a heron"],
        }
        assert page.panel.live
        assert "Ada" not in page.panel.still()[0]
    page.panel.update()
    assert "Nobody is serving it" in page.last("served")["room"]["where"]
    store = RoomStore(home / "rooms" / "FOX234" / "room.db")
    store.end()
    page.panel.update()
    assert "It has ended" in page.last("served")["room"]["where"]
    store.change(ended_at=1.0)
    store.close()
    page.panel.update()
    assert page.last("served")["room"] is None


def test_before_anything_is_made_it_says_what_it_comes_to(page: ClassPage, home: Path) -> None:
    """How many keys, how long, what all may spend, where the files go, who reaches what; nothing is done."""
    plan = page.types(rate_limit="7", max_spend_usd="1.50", name="Drawing")
    said = "\n".join(plan["lines"])
    for part in (
        "“Drawing”: 3 students, Ada Lovelace, Grace Hopper, Alan Turing, "
        "with 7 requests a minute and $1.50 each.",
        "Creating 3 keys takes a few seconds",
        "All together may spend $4.50",
        f"{home / 'classrooms' / 'sandbox' / 'Drawing'}: in no repository, and yours only",
        f"Students reach the service at {page.address}.",
    ):
        assert part in said
    assert (plan["ready"], plan["keys"], plan["warning"]) == (True, 3, WARNING)
    assert not (home / "classrooms").exists()


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("name", "x" * 27, "1 to 26 characters"),
        ("rate_limit", "101", "1 to 100 requests a minute"),
        ("rate_limit", "many", "1 to 100 requests a minute"),
        ("max_spend_usd", "2,50 or so", "amount in USD"),
        ("address", "nowhere", "http"),
    ],
)
def test_what_is_wrong_stands_under_its_field(page: ClassPage, field: str, value: str, problem: str) -> None:
    """And nothing can be made then."""
    plan = page.types(**{field: value})
    assert list(plan["problems"]) == [field]
    assert problem in plan["problems"][field]
    assert (plan["ready"], plan["lines"]) == (False, [])
    page.types("open", **{field: value})
    assert not page.panel._busy


def test_a_folder_in_a_repository_is_refused_under_its_field(page: ClassPage, tmp_path: Path) -> None:
    """In the words of a page: without the command line's options."""
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    problem = page.types(folder=str(tmp_path / "repository" / "class"))["problems"]["folder"]
    assert problem.endswith("Name a folder elsewhere.")


def test_a_sandbox_of_this_machine_only_is_named_under_the_address(page: ClassPage) -> None:
    """No student could reach it."""
    assert "no student could reach it" in page.types(address="")["problems"]["address"]


def test_a_file_is_read_as_the_command_reads_it(page: ClassPage) -> None:
    """With its header row and its encoding; its names go into the field."""
    names = "Vorname;Nachname\nBjörn;Ångström\n"
    page.says("file", names.encode("cp1252"), file="class.csv", fields={"students": "old"})
    assert page.last("draft")["fields"]["students"] == "Björn Ångström"
    page.says("file", b"a,b\nc,d\n", file="class.csv", fields={})
    assert "no header row" in page.last("plan")["problems"]["students"]


def test_opened_looked_at_and_closed(page: ClassPage, sandbox: Sandbox) -> None:
    """Each student's key is listed with its use; the proof names what others made."""
    page.opens()
    assert page.rows()["Ada Lovelace"][1:] == ["active", "never"]
    assert (page.panel.active, page.panel.used) == (3, 0)
    assert page.last("draft")["fields"] == {}
    room = page.panel.rooms[0].classroom
    secret = (Path(room.folder) / room.seats[1].file).read_text().partition("API_KEY=")[2].splitlines()[0]
    with rb.connect("live", api_key=secret, base_url=sandbox.url) as student:
        student.keys.create("for a friend")
    page.says("refresh")
    page.waits()
    assert page.rows()["Grace Hopper"][1:] == ["active", "just now"]
    assert page.panel.used == 1
    assert page.last("rooms")["rooms"][0]["others"][0][0] == "for a friend"

    page.says("end", room=page.number())  # unasked
    assert not page.panel._busy
    page.says("ask_close", room=page.number())
    question = page.last("now")["question"]
    assert question.startswith(f"Close “{room.name}”? 3 keys are revoked for good")
    assert "Used within the last hour: Grace Hopper." in question
    page.says("end", room=page.number())
    page.waits()
    now = page.last("now")
    assert now["closed"].startswith("3 of 3 keys revoked, by the service's own list. 1 key made by others")
    assert [row[0] for row in now["closed_others"]] == ["for a friend"]
    assert page.panel.active == 0
    page.says("put_away")
    assert page.last("now")["closed"] == ""


def test_no_key_and_no_students_name_is_kept_by_the_notebook(page: ClassPage) -> None:
    """Keys are in no message, trait, attribute or still form; names are in messages alone."""
    page.opens()
    room = page.panel.rooms[0].classroom
    files = [(Path(room.folder) / seat.file).read_text() for seat in room.seats]
    secrets = [text.partition("API_KEY=")[2].splitlines()[0] for text in files]
    page.says("ask_close", room=page.number())
    page.says("hello")
    kept = repr(page.panel.get_state()) + repr(page.panel.still())
    seen = kept + repr(page.messages) + repr(vars(page.panel))
    assert all(secret.startswith("sk-sandbox-") for secret in secrets)
    assert not [secret for secret in secrets if secret in seen]
    assert not [name for name in CLASS.splitlines() if name in kept]


def test_an_interrupted_class_says_so_and_goes_on(page: ClassPage, sandbox: Sandbox) -> None:
    """Those who have a key keep it; it needs no list again."""
    sandbox.fault("answer_lost", endpoint="create-key", times=2)
    page.opens()
    assert page.panel.message["tone"] == "problem"
    (room,) = page.last("rooms")["rooms"]
    assert room["interrupted"].startswith("It was interrupted: 0 of 3 keys made.")
    page.says("go_on", room=room["id"])
    page.waits()
    assert page.last("rooms")["rooms"][0]["interrupted"] == ""
    assert [row[1] for row in page.rows().values()] == ["active"] * 3


def test_stopped_between_two_keys_it_goes_on_later(page: ClassPage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key under way is made and written; the plan for the same list names what is missing."""
    create = page.panel.session.keys.create

    def stopping(*arguments: Any, **options: Any) -> Any:
        page.panel._on_stop()
        return create(*arguments, **options)

    monkeypatch.setattr(page.panel.session.keys, "create", stopping)
    page.opens()
    assert (
        page.panel.message["text"] == "Stopped. You can continue at any time; keys already made are skipped."
    )
    assert [row[1] for row in page.rows().values()] == ["active", "no key yet", "no key yet"]
    monkeypatch.undo()
    plan = page.types(rate_limit="99", address="")
    assert (plan["keys"], plan["fixed"], plan["ready"]) == (2, True, True)
    assert plan["lines"][0].startswith("It goes on with “classroom ")
    assert "20 requests a minute and $2.00 each, as it was opened" in plan["lines"][0]
    page.opens(rate_limit="99", address="")
    assert page.panel.active == 3


def test_where_only_answers_arrive_the_page_hears_on_asking(page: ClassPage) -> None:
    """In Colab nothing that a thread sends is sent for nothing."""
    page.panel.asks = True
    page.types()
    page.messages.clear()
    page.says("open", fields={"students": CLASS, "address": page.address})
    assert page.panel.live
    until(lambda: not page.panel._busy and page.panel.active == 3)
    assert {content["name"] for content, _ in page.messages} <= {"now", "plan"}
    page.says("ask")
    assert len(page.rows()) == 3


def test_another_program_at_work_is_said(page: ClassPage) -> None:
    """Nothing is done here then."""

    def meanwhile(_: Step) -> None:
        page.says("refresh")
        page.waits()

    with rb.connect("sandbox") as session:
        open_classroom(session, ["Ada"], address=page.address, report=meanwhile)
    assert "Another program opens or closes a classroom" in page.panel.message["text"]
