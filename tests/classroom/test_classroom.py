"""A class on one account: opened, looked at, closed, and each of it again."""

import html
import stat
import traceback
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.raw_server import raw_server

import reelbook as rb
from reelbook import errors
from reelbook.atomic_files import write_whole
from reelbook.classroom import class_file, handouts
from reelbook.classroom.class_file import Classroom
from reelbook.classroom.classroom import (
    Classrooms,
    ClosedClassroom,
    OpenedClassroom,
    Report,
    today,
)
from reelbook.sandbox.handle import Sandbox

CLASS = ["Ada Lovelace", "Björn <b>Ångström</b>", "Ada Lovelace"]


def opened(
    session: rb.Session,
    students: list[str] = CLASS,
    *,
    renew: tuple[str, ...] = (),
    report: Report = lambda *_: None,
    **chosen: object,
) -> OpenedClassroom:
    terms: dict[str, Any] = {"address": session.base_url, **chosen}
    with Classrooms(session).locked() as classes:
        return classes.open(classes.plan(students, **terms), renew=renew, report=report)


def sheet(classroom: Classroom) -> Path:
    return Path(classroom.folder) / handouts.SHEET


def closed(session: rb.Session, name: str | None = None, *, all_made_since: bool = False) -> ClosedClassroom:
    with Classrooms(session).locked() as classes:
        return classes.close(name, all_made_since=all_made_since)


def active(session: rb.Session) -> list[str]:
    """The names of the active keys but the notebook's own."""
    return sorted(key.name for key in session.keys.list() if key.is_active and key.name != "notebook")


def secrets_of(classroom: Classroom) -> list[str]:
    files = [handouts.read(classroom, student) for student in classroom.students]
    return [file.key.reveal() for file in files if file is not None]


def connected(sandbox: Sandbox, key: str) -> rb.Session:
    """A student who uses the key of a card."""
    return rb.connect("live", api_key=key, base_url=sandbox.url)


def test_each_student_gets_a_key_that_works(session: rb.Session, sandbox: Sandbox, home: Path) -> None:
    """With the limit asked for, in a file and on the sheet that only the owner may read, and nowhere else in
    the home. Progress is told before each request.
    """
    steps: list[tuple[int, int]] = []
    made = opened(
        session, rate_limit=7, max_spend_usd=1.5, report=lambda done, among, _: steps.append((done, among))
    )
    classroom = made.status.classroom
    assert (made.made, steps) == (3, [(0, 3), (1, 3), (2, 3)])
    assert list(classroom.students) == [CLASS[0], CLASS[1], "Ada Lovelace (2)"]
    limits = [key.rate_limit for key in session.keys.list() if key.name.startswith(classroom.name)]
    assert limits == [7, 7, 7]
    session.close()
    for secret, student in zip(secrets_of(classroom), classroom.students, strict=True):
        assert "REELBOOK_MAX_SPEND=1.50" in classroom.handout(student).read_text().splitlines()
        with connected(sandbox, secret) as theirs:
            assert theirs.balance().balance_usd == 25
        files = (each for each in home.rglob("*") if each.is_file())
        holding = {each for each in files if secret.encode() in each.read_bytes()}
        assert holding == {classroom.handout(student), sheet(classroom)}
    assert {stat.S_IMODE(each.stat().st_mode) for each in Path(classroom.folder).iterdir()} == {0o600}
    assert stat.S_IMODE(Path(classroom.folder).stat().st_mode) == 0o700


def test_opened_again_nobody_gets_a_second_key(session: rb.Session) -> None:
    """A student who came later gets one; one who isn't named any more keeps it. Another limit, folder or
    address for the rest of a class is refused; an equal limit is equal, also one that was calculated.
    """
    first = opened(session, max_spend_usd=0.1 * 3)
    again = opened(session, ["Ada Lovelace", "Grace Hopper"], max_spend_usd=0.1 * 3)
    assert (again.made, again.status.classroom.name) == (1, first.status.classroom.name)
    assert list(again.status.classroom.students) == [*first.status.classroom.students, "Grace Hopper"]
    assert len(active(session)) == len(set(active(session))) == 4
    assert sheet(again.status.classroom).read_text().count('<section class="card">') == 4
    for options in ({"rate_limit": 21}, {"max_spend_usd": 3.0}, {"address": "http://10.0.0.1:1"}):
        with pytest.raises(errors.InvalidInput, match="is open already"):
            opened(session, **options)
    assert len(active(session)) == 4


@pytest.mark.parametrize("kind", ["answer_lost", "broken_json"])
def test_a_lost_answer_leaves_no_key_behind(session: rb.Session, sandbox: Sandbox, kind: str) -> None:
    """A key that nobody saw is revoked and made anew."""
    sandbox.fault(kind, endpoint="create-key")
    classroom = opened(session).status.classroom
    assert len(secrets_of(classroom)) == len(active(session)) == 3
    assert sum(key.name.endswith("Ada Lovelace") for key in session.keys.list()) == 2


def test_answers_that_are_lost_again_and_again_end_it(session: rb.Session, sandbox: Sandbox) -> None:
    """After the second one it stops; the next call for one of its students goes on, another one doesn't."""
    sandbox.fault("answer_lost", endpoint="create-key", times=2)
    with pytest.raises(errors.KeyUncertain):
        opened(session, name="Drawing")
    assert active(session) == []
    assert opened(session, ["Zoe"]).status.classroom.name == today()
    again = opened(session, [CLASS[0]])
    assert (again.status.classroom.name, again.made) == ("Drawing", 3)
    assert len(active(session)) == 4


def test_close_revokes_all_and_leaves_others_alone(session: rb.Session, sandbox: Sandbox) -> None:
    """All includes a key whose answer was never heard. Keys from before and by others stay active; the latter
    are named. After a fault in its middle the next call goes on, and one more changes nothing.
    """
    session.keys.create("before")
    classroom = opened(session).status.classroom
    session.keys.create("by somebody")
    session.keys.create(classroom.key_name(CLASS[0]))
    sandbox.fault("html", endpoint="revoke-key", after=1)
    with pytest.raises(errors.UnexpectedAnswer):
        closed(session)
    for revoked in (3, 0):
        done = closed(session)
        assert (done.revoked, len(done.after.own)) == (revoked, 4)
        assert [key.name for key in done.after.others] == ["by somebody"]
    assert active(session) == ["before", "by somebody"]
    for secret in secrets_of(classroom):
        with connected(sandbox, secret) as student:
            with pytest.raises(errors.AuthenticationError):
                student.balance()
    assert Classrooms(session).status() == []


def test_who_used_a_key_and_what_others_made_is_told(session: rb.Session, sandbox: Sandbox) -> None:
    """By the status in one request, and by the close. A student's own key stays at work, unless it is asked
    that it ends; the session's own always stays.
    """
    classroom = opened(session).status.classroom
    with connected(sandbox, secrets_of(classroom)[1]) as student:
        student.keys.create("my own")
    before = sandbox.state()["requests"]["list-keys"]
    (status,) = Classrooms(session).status()
    assert sandbox.state()["requests"]["list-keys"] == before + 1
    assert [bool(key and key.last_used) for key in status.keys.values()] == [False, True, False]
    assert [key.name for key in status.others] == ["my own"]
    assert closed(session).before.lately == [CLASS[1]]
    assert active(session) == ["my own"]
    done = closed(session, all_made_since=True)
    assert (done.revoked, done.before.lately, active(session)) == (1, [], [])
    assert [key.is_active for key in done.after.others] == [False]
    assert session.balance().balance_usd == 25


def test_a_line_that_was_never_tried_stands_on_no_card(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the index has no reelbook it is said; once it has it, the cards are written anew with it."""
    check = Mock(side_effect=errors.InvalidInput("“reelbook” can't be installed here."))
    monkeypatch.setattr("reelbook.classroom.classroom.check_install", check)
    first = opened(session)
    assert first.untold == "“reelbook” can't be installed here."
    assert "pip install" not in sheet(first.status.classroom).read_text()
    check.side_effect = None
    for again in (opened(session), opened(session)):
        assert again.untold is None
        said = html.unescape(sheet(again.status.classroom).read_text())
        assert said.count("pip install 'reelbook[lab]'") == 3
    assert check.call_count == 2


def test_keys_that_the_service_does_not_know_are_not_called_revoked(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """Another account's list proves nothing."""
    classroom = opened(session).status.classroom
    classroom.students = {student: f"key_of_another_account_{student}" for student in classroom.students}
    (path,) = session.home.glob("classrooms/*/*.json")
    class_file.write(path, classroom)
    for key in session.keys.list():
        if key.name != "notebook":
            session.keys.revoke(key.key_id)
    with pytest.raises(errors.ClassroomError, match="knows none of the keys"):
        closed(session)


@pytest.mark.parametrize(
    ("held", "why"), [("../.git/HEAD", "is inside a repository"), ("thesis.txt", "holds other things")]
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


def test_a_file_that_cannot_be_written_leaves_no_key_behind(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error holds no key in any frame of its own; opened again, nobody has two."""
    made: list[str] = []

    def full(path: Path, content: bytes) -> None:
        if path.suffix != ".txt":
            return write_whole(path, content)
        made.append(content.decode().partition("REELBOOK_API_KEY=")[2].split("\n", 1)[0])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(class_file, "write_whole", full)
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
    assert len(secrets_of(opened(session).status.classroom)) == len(active(session)) == 3


def test_another_classroom_of_the_same_names_is_left_alone(
    session: rb.Session, sandbox: Sandbox, tmp_path: Path
) -> None:
    """A colleague's, from another home on the same account and day."""
    mine = opened(session)
    with rb.connect(
        "live", api_key=sandbox.api_key, base_url=sandbox.url, home=tmp_path / "colleague"
    ) as colleague:
        theirs = opened(colleague)
        assert theirs.status.classroom.name == mine.status.classroom.name
        done = closed(session)
        assert (done.revoked, len(done.after.others)) == (3, 3)
        assert len(active(session)) == 3
        assert closed(colleague).revoked == 3


def test_a_key_is_renewed_only_when_asked_to(session: rb.Session) -> None:
    """A file that is gone, as a teacher may have moved it, costs nobody the key, and one that somebody
    revoked is told. The new key takes the place of the old one; the others keep theirs.
    """
    classroom = opened(session).status.classroom
    first, *others = classroom.students.items()
    session.keys.revoke(first[1] or "")
    classroom.handout(first[0]).unlink()
    again = opened(session)
    assert (again.made, again.status.inactive, len(active(session))) == (0, [first[0]], 2)
    assert "isn't in the folder" in sheet(classroom).read_text()
    again = opened(session, renew=(" Ada  Lovelace ",))
    assert (again.made, again.status.inactive) == (1, [])
    assert list(again.status.classroom.students.items())[1:] == others
    assert len(active(session)) == len(secrets_of(again.status.classroom)) == 3
    with pytest.raises(errors.InvalidInput, match="Not in classroom"):
        opened(session, renew=("Eve",))


def test_of_two_open_ones_one_must_be_named(session: rb.Session) -> None:
    """Closing guesses nothing. Opened again by the name of a closed one it is another class, with names of
    its own for its keys, so that neither close takes the other's.
    """
    morning = opened(session, name="morning").status.classroom
    opened(session, name="afternoon")
    with pytest.raises(errors.InvalidInput, match=r"“afternoon”, “morning”"):
        closed(session)
    assert closed(session, "morning").revoked == 3
    second = opened(session, name="morning")
    assert (second.status.classroom.name, second.made) == ("morning (2)", 3)
    assert second.status.classroom.folder != morning.folder
    assert closed(session, "morning").revoked == 0
    assert len(active(session)) == 6


def test_what_cannot_be_written_down_is_not_made(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could revoke it. A damaged file is left as it is, and its keys can be found in the list."""
    with monkeypatch.context() as patched:
        full = OSError(28, "No space left on device")
        patched.setattr(class_file, "write_whole", Mock(side_effect=full))
        with pytest.raises(errors.ClassroomError, match="No space left"):
            opened(session)
    assert active(session) == []
    opened(session)
    (path,) = session.home.glob("classrooms/*/*.json")
    path.write_text("{")
    with pytest.raises(errors.ClassroomError, match="reelbook keys list"):
        closed(session)
    assert path.read_text() == "{"


def test_a_plan_makes_nothing(session: rb.Session) -> None:
    """A name has a reasonable length, and without one it is the day. Students get an address that reaches the
    service: a given one, checked as any other, though plain HTTP in the room is no news to the teacher; or a
    live service's own. Of a sandbox of this machine alone it is said how it is served to the room. Meanwhile
    nobody else opens or closes a class.
    """
    classes = Classrooms(session)
    planned = classes.plan(["Ada"], name="  Life   Drawing ", address="http://10.0.0.7:8000/")
    assert (planned.name, planned.missing) == ("Life Drawing", ("Ada",))
    assert planned.address == "http://10.0.0.7:8000"
    assert classes.plan(["Ada"], address=session.base_url).name == today()
    for name, why in (("", "1 to 26 characters"), ("x" * 27, "1 to 26 characters"), (None, "serve --host")):
        with pytest.raises(errors.InvalidInput, match=why):
            classes.plan(["Ada"], name=name)
    with pytest.raises(errors.ConfigurationError):
        classes.plan(["Ada"], address="ten dot zero")
    with raw_server(lambda exchange: exchange.answer(404)) as service:
        with rb.connect("live", api_key="sk-planted-address", base_url=service.url) as live:
            assert Classrooms(live).plan(["Ada"]).address == service.url
    with classes.locked(), pytest.raises(errors.ClassroomError, match="Another program"):
        closed(session)
    assert (active(session), (session.home / "classrooms").exists()) == ([], False)
