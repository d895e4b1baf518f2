"""What lets a session in: made once, kept for its owner only, and quoted by no error."""

from __future__ import annotations

import stat
import traceback
from pathlib import Path

import pytest

from reelbook.errors import SandboxError
from reelbook.sandbox.access import Access, ensure_access, new_api_key, read_access, write_access
from reelbook.sandbox.places import Places
from reelbook.secret import Secret


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places.under(tmp_path)
    places.create()
    return places


def test_credentials_are_made_at_the_first_start_and_kept(places: Places) -> None:
    """The next start finds the same; nobody else can read the file."""
    made = ensure_access(places)
    assert (ensure_access(places), read_access(places)) == (made, made)
    assert stat.S_IMODE(places.access.stat().st_mode) == 0o600
    assert made.api_key.reveal().startswith("sk-sandbox-")
    assert new_api_key() != new_api_key()


def test_another_key_takes_the_place_of_the_first(places: Places) -> None:
    """The whole file is replaced."""
    write_access(places, Access(Secret("sk-one"), Secret("token"), "user-1"))
    write_access(places, Access(Secret("sk-two"), Secret("token"), "user-1"))
    assert read_access(places).api_key.reveal() == "sk-two"
    assert "sk-one" not in places.access.read_text()


@pytest.mark.parametrize(
    "content", ['{"api_key": "sk-planted", ', '{"api_key": "sk-planted"}', '["sk-planted"]']
)
def test_a_broken_file_is_named_and_not_quoted(content: str, places: Places) -> None:
    """A traceback of it holds no key either."""
    places.access.write_text(content)
    with pytest.raises(SandboxError, match="can't be read") as caught:
        read_access(places)
    assert str(places.access) in str(caught.value)
    assert "sk-planted" not in "".join(traceback.format_exception(caught.value))
