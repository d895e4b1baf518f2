"""What lies in the sandbox's folder: whole files, credentials that only their owner can read, the notice."""

import os
import stat
import traceback
from pathlib import Path

import pytest
from filelock import Timeout

from reelbook.errors import SandboxError
from reelbook.sandbox import places as at
from reelbook.secret import Secret


@pytest.fixture
def places(tmp_path: Path) -> at.Places:
    """The folder of a sandbox that was started once."""
    places = at.Places(tmp_path / "home")
    places.create()
    return places


def test_the_folders_are_their_owners_only(places: at.Places) -> None:
    """Made once, and left alone after that; naming them makes nothing."""
    (places.videos / "a.mp4").write_bytes(b"clip")
    places.create()
    assert (places.videos / "a.mp4").exists()
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (places.folder, places.images)] == [0o700] * 2
    assert not at.Places(places.folder / "other").folder.exists()


def test_credentials_are_made_at_the_first_start_and_kept(places: at.Places) -> None:
    """The next start finds the same, nobody else can read the file, and a new key replaces all of it."""
    made = at.ensure_access(places)
    assert (at.ensure_access(places), at.read_access(places)) == (made, made)
    assert stat.S_IMODE(places.access.stat().st_mode) == 0o600
    assert at.new_api_key() != at.new_api_key()
    at.write_access(places, at.Access(Secret("sk-two"), made.control_token, made.user_id))
    assert at.read_access(places).api_key.reveal() == "sk-two"
    assert made.api_key.reveal() not in places.access.read_text()


@pytest.mark.parametrize(
    "content", ['{"api_key": "sk-planted", ', '{"api_key": "sk-planted"}', '["sk-planted"]']
)
def test_a_broken_access_file_is_named_and_not_quoted(content: str, places: at.Places) -> None:
    """A traceback of it holds no key either."""
    places.access.write_text(content)
    with pytest.raises(SandboxError, match="can't be read") as caught:
        at.read_access(places)
    assert str(places.access) in str(caught.value)
    assert "sk-planted" not in "".join(traceback.format_exception(caught.value))


def test_a_notice_says_who_serves_where(places: at.Places) -> None:
    """A broken one, left over from a crash, is none."""
    notice = at.Notice("http://127.0.0.1:4321", os.getpid(), "1.0", "first")
    at.write_notice(places, notice)
    assert at.read_notice(places) == notice
    for content in ("", "[]", '{"url": "http://127.0.0.1:1"}'):
        places.server.write_text(content)
        assert at.read_notice(places) is None


def test_the_lock_says_whether_a_server_lives(places: at.Places) -> None:
    """It can't be taken twice, and who waits for the end is told when there is none."""
    with at.running_lock(places):
        assert not at.ended_within(places, 0)
        with pytest.raises(Timeout):
            at.running_lock(places).acquire()
    assert at.ended_within(places, 0)
