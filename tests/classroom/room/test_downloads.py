"""The room's wheels and lessons: what pip asks for, and names that are no paths."""

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from classroom.room.conftest import Visit
from support.wheels import make_wheel

from reelbook.classroom.room.app import Room
from reelbook.classroom.wheels import TARGETS, folder_of

NEEDED = "needed-1.0-py3-none-any.whl"


@pytest.fixture
def wheels(home: Path) -> Path:
    """The home's wheels: two that belong together."""
    folder = folder_of(home)
    make_wheel(folder, "Tiny_Tool", requires=("needed",))
    make_wheel(folder, "needed", python=">=3.9,<4")
    (folder / TARGETS).write_text('[["3.11", "win_amd64"], ["3.12", "win_amd64"]]')
    return folder


@pytest.mark.browser
def test_pip_installs_from_the_room_alone(wheels: Path, room: Room, tmp_path: Path) -> None:
    """By a name however it is written, with what it requires."""
    host = room.url.partition("://")[2]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-cache-dir")
    words = f"--target={tmp_path / 'to'} --no-index --find-links={room.url}/wheels/ --trusted-host={host}"
    ended = subprocess.run(
        [*pip, *words.split(), "tiny.tool"],
        env={**environment, "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "to" / "needed.py").exists()


@pytest.mark.usefixtures("wheels")
def test_the_page_of_wheels_links_them(room: Room, visit: Visit) -> None:
    """What isn't among them isn't there. The lessons come as one file, into a folder of their own."""
    http = visit(room).http
    page = http.get("/wheels/").text

    assert re.findall('href="([^"]+)"', page) == ["Tiny_Tool-1.0-py3-none-any.whl", NEEDED]
    assert http.get(f"/wheels/{NEEDED}").content.startswith(b"PK")
    for path in ("x.whl", TARGETS, f"..%2fwheels%2f{NEEDED}", "..%2fledger.db"):
        assert http.get(f"/wheels/{path}").status_code == 404
    lessons = zipfile.ZipFile(io.BytesIO(http.get("/lessons.zip").content)).namelist()
    assert "reelbook-lessons/01-first-video.ipynb" in lessons


def test_a_student_is_told_how_to_install(home: Path, room: Room, visit: Visit) -> None:
    """From the room once it has wheels, as the teacher says before."""
    ada = visit(room)
    ada.http.post("/", data={"name": "Ada", "code": "FOX-234"})

    assert "as your teacher says" in ada.http.get("/mine").text
    folder_of(home).mkdir()
    (folder_of(home) / TARGETS).write_text('[["3.11", "win_amd64"], ["3.12", "win_amd64"]]')
    page = ada.http.get("/mine").text
    host = room.url.partition("://")[2]
    assert f"--find-links {room.url}/wheels/ --trusted-host {host} &quot;reelbook[lab]&quot;" in page
    assert ", with Python 3.11 or 3.12:" in page
