"""The room's package index and lessons: what pip asks for, and names that are no paths."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from classroom.room.conftest import Visit
from support.wheels import make_wheel

from reelbook.classroom.room.app import Room
from reelbook.classroom.wheels import TARGETS, folder_of


@pytest.fixture
def wheels(home: Path) -> Path:
    """The home's wheels: two that belong together, and half of one."""
    folder = folder_of(home)
    make_wheel(folder, "Tiny_Tool", requires=("needed",))
    make_wheel(folder, "needed", python=">=3.9,<4")
    (folder / "half-1.0-py3-none-any.whl").write_bytes(b"PK")
    (folder / TARGETS).write_text('[["3.11", "win_amd64"], ["3.12", "win_amd64"]]')
    return folder


@pytest.mark.browser
def test_pip_installs_from_the_room_alone(wheels: Path, room: Room, tmp_path: Path) -> None:
    """By a name however it is written, with what it requires."""
    host = room.url.partition("://")[2]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-cache-dir")
    words = f"--target={tmp_path / 'to'} --index-url={room.url}/simple/ --trusted-host={host} tiny.tool"
    ended = subprocess.run(
        [*pip, *words.split()],
        env={**environment, "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "to" / "needed.py").exists()


def test_a_projects_page_has_hashes_and_pythons(wheels: Path, room: Room, visit: Visit) -> None:
    """Half a wheel isn't offered, and what lies beside the wheels neither."""
    ada, wheel = visit(room), wheels / "needed-1.0-py3-none-any.whl"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()

    listed = ada.http.get("/simple/").text
    assert 'href="tiny-tool/"' in listed
    assert TARGETS not in listed
    page = ada.http.get("/simple/needed/").text
    assert f'href="needed-1.0-py3-none-any.whl#sha256={digest}"' in page
    assert 'data-requires-python="&gt;=3.9,&lt;4"' in page
    assert "href" not in ada.http.get("/simple/half/").text


@pytest.mark.parametrize(
    "path",
    ["unknown/", "needed/x.whl", f"needed/{TARGETS}", f"..%2fwheels/{TARGETS}", "needed/..%2f..%2fledger.db"],
)
def test_names_are_no_paths(wheels: Path, room: Room, visit: Visit, path: str) -> None:
    """What isn't among the wheels isn't there."""
    assert visit(room).http.get(f"/simple/{path}").status_code == 404


def test_a_student_is_told_how_to_install(home: Path, room: Room, visit: Visit) -> None:
    """By the room's index once it has wheels, as the teacher says before."""
    ada = visit(room)
    ada.http.post("/room/join", data={"name": "Ada", "code": "FOX-234"})

    assert "as your teacher says" in ada.http.get("/mine").text
    folder_of(home).mkdir()
    (folder_of(home) / TARGETS).write_text('[["3.11", "win_amd64"], ["3.12", "win_amd64"]]')
    page = ada.http.get("/mine").text
    host = room.url.partition("://")[2]
    assert f"--index-url {room.url}/simple/ --trusted-host {host} &quot;reelbook[lab]&quot;" in page
    assert ", with Python 3.11 or 3.12:" in page


def test_the_lessons_come_as_one_file(room: Room, visit: Visit) -> None:
    """Into a folder of their own."""
    content = visit(room).http.get("/lessons.zip").content

    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert "reelbook-lessons/01-first-video.ipynb" in names
