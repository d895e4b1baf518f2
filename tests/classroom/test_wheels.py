"""Gathering wheels: what each target needs is downloaded by its own markers and tags, with pip itself."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.wheels import make_wheel

from reelbook.classroom.wheels import Target, complete_targets, gather, own_wheel
from reelbook.errors import ClassroomError


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where pip finds anything."""
    folder = tmp_path / "index"
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(folder), "CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    make_wheel(folder, "tiny", requires=('console; sys_platform == "win32"', 'old; python_version < "3.12"'))
    make_wheel(folder, "console", "cp312-cp312-win_amd64")
    make_wheel(folder, "old", "py3-none-manylinux_2_17_x86_64")
    return folder


@pytest.mark.browser
def test_each_target_gets_what_its_own_markers_ask_for(index: Path, tmp_path: Path) -> None:
    """Whatever this machine is; a wheel for an older glibc serves; what is missing is said."""
    folder, linux = tmp_path / "here", Target("3.11", "manylinux_2_28_x86_64")
    windows, old_windows = (Target(python, "win_amd64") for python in ("3.12", "3.11"))
    said = dict(gather(folder, [windows, linux, old_windows], "tiny==1.0"))

    assert sorted(path.name.partition("-")[0] for path in folder.glob("*.whl")) == ["console", "old", "tiny"]
    assert (said[windows], said[linux]) == ("", "")
    assert "No matching distribution found for" in said[old_windows]
    assert complete_targets(folder) == [("3.11", "manylinux_2_28_x86_64"), ("3.12", "win_amd64")]


@pytest.mark.browser
def test_reelbooks_own_wheel_is_made_of_what_was_installed(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip recorded it; where that is gone, nothing is gathered and it says what was tried."""
    source = make_wheel(tmp_path / "source", "reelbook")
    url = json.dumps({"url": source.as_uri(), "archive_info": {}})
    installed = SimpleNamespace(version="1.0", read_text=lambda _: url)
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: installed)

    assert own_wheel(tmp_path) == "1.0"
    assert (tmp_path / source.name).read_bytes() == source.read_bytes()
    source.unlink()
    with pytest.raises(ClassroomError, match=source.as_uri()):
        own_wheel(tmp_path / "elsewhere")
