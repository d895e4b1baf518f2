"""Joining a class in code: the room is a real one, on a socket, with a sandbox behind it."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

import reelbook as rb
from reelbook import settings
from reelbook.classroom.room.app import Room
from reelbook.classroom.room.serving import in_thread
from reelbook.classroom.room.store import RoomStore
from reelbook.errors import (
    ClassroomError,
    ConfigurationError,
    InvalidInput,
    ReelbookError,
    ServiceUnreachable,
)
from reelbook.sandbox.handle import Sandbox


@pytest.fixture
def room(short_jobs: None, session: rb.Session) -> Iterator[Room]:
    with in_thread(session, "KFX-204") as room:
        yield room


@pytest.fixture
def laptop(tmp_path: Path) -> Path:
    """A student's home."""
    return tmp_path / "laptop"


def test_a_student_joins_and_makes_a_clip(room: Room, laptop: Path) -> None:
    """By address, code and name; what a sandbox makes is marked as such."""
    with rb.join(room.url, "KFX-204", name="Ada", home=laptop) as session:
        clip = session.text_to_video("a red fox", duration_seconds=1).result()
        assert (session.base_url, session.service) == (room.url, "sandbox")
        assert clip.duration_seconds == pytest.approx(1.0, abs=0.1)
        assert session.balance().balance_usd == 1.95


def test_a_key_that_travels_in_the_clear_is_warned_of_once(
    room: Room, laptop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the student's own line, as most classes are plain http in a local network. Other threads' warnings
    are left alone.
    """
    monkeypatch.setattr(settings, "is_loopback", lambda _: False)
    with monkeypatch.context() as patched:
        patched.setattr("warnings.catch_warnings", Mock(side_effect=AssertionError))
        with pytest.warns(settings.InsecureAddress) as warned:
            rb.join(room.url, "KFX-204", name="Ada", home=laptop).close()
    assert [each.filename for each in warned] == [__file__]


def test_the_same_call_gives_the_same_session(room: Room, laptop: Path) -> None:
    """In this kernel, and with the kept key in the next one; the code may be left out then."""
    session = rb.join(room.url, "KFX-204", name="Ada", home=laptop)
    assert rb.join(room.url, "kfx 204", name="ada", home=laptop) is session
    session.close()

    with rb.join(room.url, name="Ada", home=laptop) as later:
        assert later.balance().balance_usd == 2.0
    assert len(room.store.students()) == 1


def test_the_address_is_taken_as_it_is_shown(room: Room, laptop: Path) -> None:
    """On the teacher's screen it has no "http://", and in a browser it has a page after it."""
    shown = room.url.removeprefix("http://")
    with rb.join(shown, "KFX-204", name="Ada", home=laptop) as session:
        assert session.base_url == room.url
        for address in (f"{room.url}/?code=KFX-204", f" {room.url}/mine#clips"):
            assert rb.join(address, "KFX-204", name="Ada", home=laptop) is session


def test_the_key_is_kept_for_its_owner_only(room: Room, laptop: Path) -> None:
    """In one file of the home, whose name tells nothing."""
    rb.join(room.url, "KFX-204", name="Ada", home=laptop).close()

    (file,) = (laptop / "joined").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert "rk-" in file.read_text()
    others = [path for path in laptop.rglob("*") if path.is_file() and path != file]
    assert [path for path in others if b"rk-" in path.read_bytes()] == []


def test_where_the_key_cannot_be_kept_nobody_joins(laptop: Path) -> None:
    """It is found out before the room is asked."""
    laptop.mkdir()
    (laptop / "joined").write_text("no folder")
    with pytest.raises(ReelbookError, match=r"could not be written: .* Join again"):
        rb.join("http://127.0.0.1:9", "KFX-204", name="Ada", home=laptop)


def test_the_code_is_asked_for_once(room: Room, laptop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the call has none, as in the notebook from the student's page."""
    asked = Mock(return_value="KFX-204")
    monkeypatch.setattr("builtins.input", asked)

    rb.join(room.url, name="Ada", home=laptop).close()
    rb.join(room.url, name="Ada", home=laptop).close()
    monkeypatch.setattr("reelbook.session.joining._joined", asked)
    rb.join(room.url, "KFX-204", name="Ada", home=laptop).close()  # known by the code that was typed
    assert asked.call_count == 1


def test_a_released_name_joins_anew(room: Room, laptop: Path) -> None:
    """The kept key is good for nothing any more, and the same call says the code again."""
    rb.join(room.url, "KFX-204", name="Ada", home=laptop).close()
    (ada,) = room.store.students()
    room.store.release(ada.id)

    with rb.join(room.url, "KFX-204", name="Ada", home=laptop) as session:
        assert session.balance().balance_usd == 2.0


def test_a_lost_answer_leaves_the_name_to_whoever_asked(
    room: Room, laptop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same call again lets in, with one place taken; nobody else is let in by it."""
    real = RoomStore.join

    def lost(*args: object) -> None:
        monkeypatch.setattr(RoomStore, "join", real)
        real(*args)  # type: ignore[arg-type]
        raise RuntimeError("the answer is lost")

    monkeypatch.setattr(RoomStore, "join", lost)
    with pytest.raises(ClassroomError):
        rb.join(room.url, "KFX-204", name="Ada", home=laptop)
    with pytest.raises(ClassroomError, match="Ada joined at"):
        rb.join(room.url, "KFX-204", name="Ada", home=laptop / "another")

    with rb.join(room.url, "KFX-204", name="ada", home=laptop) as session:
        assert session.balance().balance_usd == 2.0
    assert len(room.store.students()) == 1


def test_what_the_class_says_no_to(room: Room, laptop: Path) -> None:
    """In its own words; a name that can't be one doesn't reach it."""
    with pytest.raises(ClassroomError, match="No class has this code"):
        rb.join(room.url, "KFX-205", name="Ada", home=laptop)
    for name, why in ((" ", "name"), ("Ada \udcff", "half a character")):
        with pytest.raises(InvalidInput, match=why):
            rb.join(room.url, "KFX-204", name=name, home=laptop)


def test_where_no_class_is(sandbox: Sandbox, laptop: Path) -> None:
    """Another service, nobody at all, and what is no address."""
    with pytest.raises(ClassroomError, match="No class is served"):
        rb.join(sandbox.url, "KFX-204", name="Ada", home=laptop)
    with pytest.raises(ServiceUnreachable):
        rb.join("http://127.0.0.1:9", "KFX-204", name="Ada", home=laptop)
    with pytest.raises(ConfigurationError):
        rb.join("KFX-204", "KFX-204", name="Ada", home=laptop)
