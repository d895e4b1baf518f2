"""A class on one account: opened, looked at, closed, and each of it again."""

from __future__ import annotations

import stat
import traceback
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.raw_server import raw_server

import reelbook as rb
from reelbook import errors
from reelbook.classroom import class_file, handouts
from reelbook.classroom import classroom as classes
from reelbook.sandbox.handle import Sandbox
from reelbook.settings import InsecureAddress

CLASS = ["Ada Lovelace", "Björn <b>Ångström</b>", "Ada Lovelace"]


def opened(
    session: rb.Session,
    students: list[str] = CLASS,
    *,
    renew: list[str] | None = None,
    report: classes.Report = lambda _: None,
    **chosen: object,
) -> classes.OpenedClassroom:
    terms: dict[str, Any] = {"address": session.base_url, **chosen}
    planned = classes.plan_classroom(session, students, **terms)
    return classes.open_classroom(session, planned, renew=renew or (), report=report)


def active(session: rb.Session) -> list[str]:
    """The names of the active keys but the notebook's own."""
    return sorted(key.name for key in session.keys.list() if key.is_active and key.name != "notebook")


def secrets_of(room: classes.OpenedClassroom) -> list[str]:
    files = [handouts.read(room.classroom, student) for student in room.classroom.students]
    return [file.key.reveal() for file in files if file is not None]


def connected(sandbox: Sandbox, key: str) -> rb.Session:
    """A student who uses the key of a card."""
    return rb.connect("live", api_key=key, base_url=sandbox.url)


def test_each_student_gets_a_key_that_works(session: rb.Session, sandbox: Sandbox) -> None:
    """With the limit asked for, in a file and on the sheet that only the owner may read."""
    room = opened(session, rate_limit=7, max_spend_usd=1.5)
    assert room.made == 3
    assert list(room.classroom.students) == [CLASS[0], CLASS[1], "Ada Lovelace (2)"]
    for secret, student in zip(secrets_of(room), room.classroom.students, strict=True):
        assert "REELBOOK_MAX_SPEND=1.50" in room.classroom.handout(student).read_text().splitlines()
        with connected(sandbox, secret) as theirs:
            assert theirs.balance().balance_usd == 25
    limits = [key.rate_limit for key in session.keys.list() if key.name.startswith(room.classroom.name)]
    assert limits == [7, 7, 7]
    assert {stat.S_IMODE(each.stat().st_mode) for each in room.sheet.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(room.sheet.parent.stat().st_mode) == 0o700


def test_a_key_is_in_no_other_file(session: rb.Session, home: Path) -> None:
    """Neither ledger nor log nor any other file of the home holds one."""
    room = opened(session)
    session.close()
    for secret in secrets_of(room):
        holding = [
            each.name for each in home.rglob("*") if each.is_file() and secret.encode() in each.read_bytes()
        ]
        assert len(holding) == 2
        assert "sheet.html" in holding


def test_opened_again_nobody_gets_a_second_key(session: rb.Session) -> None:
    """A student who came later gets one; one who isn't named any more keeps it. An equal limit is equal,
    also one that was calculated.
    """
    first = opened(session, max_spend_usd=0.1 * 3)
    again = opened(session, ["Ada Lovelace", "Grace Hopper"], max_spend_usd=0.1 * 3)
    assert (again.made, again.classroom.name) == (1, first.classroom.name)
    assert len(active(session)) == len(set(active(session))) == 4
    assert again.sheet.read_text().count('<section class="card">') == 4


def test_what_is_fixed_is_not_changed_half_way(session: rb.Session) -> None:
    """Another limit, folder or address for the rest of a class is refused."""
    opened(session)
    for options in ({"rate_limit": 21}, {"max_spend_usd": 3.0}, {"address": "http://10.0.0.1:1"}):
        with pytest.raises(errors.InvalidInput, match="is open already"):
            opened(session, **options)
    assert len(active(session)) == 3


@pytest.mark.parametrize("kind", ["answer_lost", "broken_json"])
def test_a_lost_answer_leaves_no_key_behind(session: rb.Session, sandbox: Sandbox, kind: str) -> None:
    """A key that nobody saw is revoked and made anew."""
    sandbox.fault(kind, endpoint="create-key")  # type: ignore[arg-type]  # a kind
    room = opened(session)
    assert len(secrets_of(room)) == len(active(session)) == 3
    assert sum(key.name.endswith("Ada Lovelace") for key in session.keys.list()) == 2


def test_answers_that_are_lost_again_and_again_end_it(session: rb.Session, sandbox: Sandbox) -> None:
    """After the second one it stops; the next call for one of its students goes on, another one doesn't."""
    sandbox.fault("answer_lost", endpoint="create-key", times=2)
    with pytest.raises(errors.KeyUncertain):
        opened(session, name="Drawing")
    assert active(session) == []
    assert opened(session, ["Zoe"]).classroom.name == classes.today()
    again = opened(session, [CLASS[0]])
    assert (again.classroom.name, again.made) == ("Drawing", 3)
    assert len(active(session)) == 4


def test_status_says_who_used_their_key(session: rb.Session, sandbox: Sandbox) -> None:
    """In one request; keys that somebody else made stand apart."""
    room = opened(session)
    with connected(sandbox, secrets_of(room)[1]) as student:
        student.keys.create("for a friend")
    before = sandbox.state()["requests"]["list-keys"]
    (status,) = classes.classroom_status(session)
    assert sandbox.state()["requests"]["list-keys"] == before + 1
    assert [bool(key and key.last_used) for key in status.keys.values()] == [False, True, False]
    assert [key.name for key in status.others] == ["for a friend"]


def test_close_revokes_all_and_leaves_others_alone(session: rb.Session, sandbox: Sandbox) -> None:
    """All includes a key whose answer was never heard. Keys from before and by others stay active; the latter
    are named. A second time changes nothing.
    """
    session.keys.create("before")
    room = opened(session)
    session.keys.create("by somebody")
    session.keys.create(room.classroom.key_name(CLASS[0]))
    for revoked in (4, 0):
        closed = classes.close_classroom(session)
        assert (closed.revoked, closed.listed, len(closed.others)) == (revoked, 4, 1)
        assert closed.others[0].name == "by somebody"
    assert active(session) == ["before", "by somebody"]
    for secret in secrets_of(room):
        with connected(sandbox, secret) as student:
            with pytest.raises(errors.AuthenticationError):
                student.balance()
    assert classes.classroom_status(session) == ()


def test_close_takes_what_was_made_since_if_asked_to(session: rb.Session, sandbox: Sandbox) -> None:
    """A student's own key stays at work otherwise. The session's own stays, and who is at work is told."""
    room = opened(session)
    with connected(sandbox, secrets_of(room)[1]) as student:
        student.keys.create("my own")
    assert classes.close_classroom(session).lately == (CLASS[1],)
    assert active(session) == ["my own"]
    closed = classes.close_classroom(session, all_made_since=True)
    assert (closed.revoked, closed.lately, active(session)) == (1, (), [])
    assert [key.is_active for key in closed.others] == [False]
    assert session.balance().balance_usd == 25


def test_a_line_that_was_never_tried_stands_on_no_card(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the index has no reelbook it is said; once it has it, the cards are written anew with it."""
    monkeypatch.setattr(handouts, "default_trouble", lambda: "“reelbook” can't be installed here.")
    room = opened(session)
    assert room.untold == "“reelbook” can't be installed here."
    assert "pip install" not in room.sheet.read_text()
    monkeypatch.setattr(handouts, "default_trouble", lambda: None)
    again = opened(session)
    assert again.untold is None
    assert again.sheet.read_text().count("pip install 'reelbook[lab]'") == 3


def test_close_goes_on_where_it_broke_off(session: rb.Session, sandbox: Sandbox) -> None:
    """After a fault in its middle the rest is revoked by the next call."""
    opened(session)
    sandbox.fault("html", endpoint="revoke-key", after=1)
    with pytest.raises(errors.UnexpectedAnswer):
        classes.close_classroom(session)
    assert len(active(session)) == 2
    assert classes.close_classroom(session).revoked == 2
    assert active(session) == []


def test_closed_and_opened_again_it_is_another_one(session: rb.Session) -> None:
    """Its keys have names of their own, so that neither close takes the other's."""
    first = opened(session)
    classes.close_classroom(session)
    second = opened(session)
    assert second.classroom.name == f"{first.classroom.name} (2)"
    assert (second.made, second.sheet == first.sheet) == (3, False)
    assert classes.close_classroom(session, first.classroom.name).revoked == 0
    assert len(active(session)) == 3


def test_of_two_open_ones_one_must_be_named(session: rb.Session) -> None:
    """Closing guesses nothing."""
    opened(session, name="morning")
    opened(session, name="afternoon")
    with pytest.raises(errors.InvalidInput, match=r"“afternoon”, “morning”"):
        classes.close_classroom(session)
    assert classes.close_classroom(session, "morning").revoked == 3
    assert len(active(session)) == 3


def test_keys_that_the_service_does_not_know_are_not_called_revoked(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """Another account's list proves nothing."""
    room = opened(session)
    strange = {student: f"key_of_another_account_{student}" for student in room.classroom.students}
    (path,) = session.home.glob("classrooms/*/*.json")
    class_file.write(path, replace(room.classroom, students=strange))
    for key in session.keys.list():
        if key.name != "notebook":
            session.keys.revoke(key.key_id)
    with pytest.raises(errors.ClassroomError, match="knows none of the keys"):
        classes.close_classroom(session)


@pytest.mark.parametrize(
    ("held", "why"), [("../.git/HEAD", "lies in a repository"), ("thesis.txt", "holds other things")]
)
def test_a_folder_that_wont_do_is_left_alone(
    session: rb.Session, tmp_path: Path, held: str, why: str
) -> None:
    """One in a repository, and one with other things in it: nothing is asked for, and its rights stay."""
    folder = tmp_path / "lecture" / "keys"
    folder.mkdir(mode=0o755, parents=True)
    file = folder / held
    file.parent.mkdir(exist_ok=True)
    file.touch()
    with pytest.raises(errors.InvalidInput, match=why):
        opened(session, folder=folder)
    assert (active(session), stat.S_IMODE(folder.stat().st_mode)) == ([], 0o755)


def test_a_file_that_is_gone_costs_nobody_the_key(session: rb.Session) -> None:
    """A teacher may have moved it: no key is made or revoked for it, and it is said."""
    room = opened(session)
    room.classroom.handout(CLASS[1]).unlink()
    again = opened(session)
    assert (again.made, again.without_file) == (0, (CLASS[1],))
    assert len(active(session)) == 3
    assert "isn't in the folder" in again.sheet.read_text()


def test_a_renewed_key_takes_the_place_of_the_old_one(session: rb.Session) -> None:
    """For a file that is gone, or a key that somebody revoked; the others keep theirs."""
    room = opened(session)
    first, *others = room.classroom.students.items()
    session.keys.revoke(first[1] or "")
    room.classroom.handout(first[0]).unlink()
    assert opened(session).inactive == (first[0],)
    again = opened(session, renew=[" Ada  Lovelace "])
    assert (again.made, again.inactive, again.without_file) == (1, (), ())
    assert list(again.classroom.students.items())[1:] == others
    assert len(active(session)) == len(secrets_of(again)) == 3
    with pytest.raises(errors.InvalidInput, match="Not in classroom"):
        opened(session, renew=["Eve"])


def test_a_file_that_cannot_be_written_leaves_no_key_behind(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error holds no key in any frame of its own; opened again, nobody has two."""
    made: list[str] = []

    def full(path: Path, content: bytes) -> None:
        if path.name != handouts.INSTALL:
            made.append(content.decode().partition("REELBOOK_API_KEY=")[2].split("\n", 1)[0])
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(handouts, "write_whole", full)
        with pytest.raises(errors.ClassroomError, match="No space left") as failed:
            opened(session)
    (secret,) = made
    held = [
        frame.f_code.co_name
        for frame, _ in traceback.walk_tb(failed.tb)
        if secret in repr([*frame.f_locals.values()])
    ]
    assert [name for name in held if not name.startswith("test_")] == []
    assert (failed.value.__context__, secret in str(failed.value)) == (None, False)
    assert len(secrets_of(opened(session))) == len(active(session)) == 3


def test_another_classroom_of_the_same_names_is_left_alone(
    session: rb.Session, sandbox: Sandbox, tmp_path: Path
) -> None:
    """A colleague's, from another home on the same account and day."""
    mine = opened(session)
    with rb.connect(
        "live", api_key=sandbox.api_key, base_url=sandbox.url, home=tmp_path / "colleague"
    ) as colleague:
        theirs = opened(colleague)
        assert theirs.classroom.name == mine.classroom.name
        closed = classes.close_classroom(session)
        assert (closed.revoked, len(closed.others)) == (3, 3)
        assert len(active(session)) == 3
        assert classes.close_classroom(colleague).revoked == 3


def test_a_sandbox_of_this_machine_alone_is_no_use_to_a_class(session: rb.Session) -> None:
    """It is said how it is served to the room, before anything is made."""
    with pytest.raises(errors.InvalidInput, match="serve --host"):
        classes.plan_classroom(session, CLASS)
    assert active(session) == []


def test_what_cannot_be_written_down_is_not_made(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could revoke a key that is written down nowhere."""
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(class_file, "write_whole", Mock(side_effect=full))
    with pytest.raises(errors.ClassroomError, match="No space left"):
        opened(session)
    assert active(session) == []


def test_a_damaged_file_of_a_class_is_named(session: rb.Session) -> None:
    """It is left as it is, and its keys can still be found in the list."""
    opened(session)
    (path,) = session.home.glob("classrooms/*/*.json")
    path.write_text("{")
    with pytest.raises(errors.ClassroomError, match="reelbook keys list"):
        classes.close_classroom(session)
    assert path.read_text() == "{"


def test_the_way_is_told(session: rb.Session) -> None:
    """How many are done of how many, before each request."""
    steps: list[classes.Step] = []
    opened(session, report=steps.append)
    assert [(step.done, step.all) for step in steps] == [(0, 3), (1, 3), (2, 3)]


def test_a_classroom_has_a_name_of_reasonable_length() -> None:
    """Without one, the day."""
    assert classes.checked_name(None) == classes.today()
    assert classes.checked_name("  Life   Drawing ") == "Life Drawing"
    for name in ("", "x" * 27):
        with pytest.raises(errors.InvalidInput, match="1 to 26 characters"):
            classes.checked_name(name)


def test_students_get_an_address_that_reaches_the_service(session: rb.Session) -> None:
    """A given one, checked as any other, though plain HTTP in the room is no news to the teacher; or a live
    service's own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", InsecureAddress)
        assert classes.address_for_students(session, "http://10.0.0.7:8000/") == "http://10.0.0.7:8000"
    with pytest.raises(errors.ConfigurationError):
        classes.address_for_students(session, "ten dot zero")
    with raw_server(lambda exchange: exchange.answer(404)) as service:
        with rb.connect("live", api_key="sk-planted-address", base_url=service.url) as live:
            assert classes.address_for_students(live, None) == service.url


def test_the_plan_is_what_opening_does(session: rb.Session) -> None:
    """For a fresh class, one that goes on, and one whose name an earlier class has; it does nothing."""

    def plan(*students: str) -> class_file.Classroom:
        return classes.plan_classroom(session, students, name="Drawing", address=session.base_url)

    fresh, meanwhile = plan("Ada", "Grace"), plan("Ada")
    assert not (session.home / "classrooms").exists()
    room = classes.open_classroom(session, fresh).classroom
    assert (fresh.name, fresh.folder, fresh.missing) == (room.name, room.folder, ("Ada", "Grace"))
    with pytest.raises(errors.ClassroomError, match="opened or closed Drawing meanwhile"):
        classes.open_classroom(session, meanwhile)
    later = plan("Grace", "Alan")
    assert (list(later.students), later.missing) == (["Ada", "Grace", "Alan"], ("Alan",))
    classes.close_classroom(session)
    with pytest.raises(errors.ClassroomError, match="opened or closed Drawing meanwhile"):
        classes.open_classroom(session, later)
    again = plan("Ada")
    assert (again.name, again.missing) == ("Drawing (2)", ("Ada",))
