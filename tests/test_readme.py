"""The README: its examples run as pasted, in their order; its links, anchors and pictures are there."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.kept_clips import KeptClips
from typer.testing import CliRunner

import reelbook as rb
from reelbook.cli import app
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

pytestmark = [pytest.mark.browser]

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
# A class begins with a key whose requests of the minute aren't used up.
BEFORE_CLASS, FROM_CLASS_ON = README.split("### A class\n")
PROSE = re.sub(r"^```.*?^```$", "", README, flags=re.M | re.S)
MOST_PICTURE_BYTES = 2_000_000
# What installs, takes minutes, or serves until Ctrl-C.
NOT_RUN = (
    "python3 -m venv",
    "PYTHONPATH=tests .venv/bin/python tests/pictures/refresh.py",
    "reelbook classroom wheels",
    "reelbook classroom serve",
)
IN_THE_ROOM = "reelbook classroom open"


@pytest.fixture
def sandbox(home: Path) -> Iterator[Sandbox]:
    """A sandbox as fast as it can be, whose key may ask as often as keys can."""
    with server.in_thread(home, pace=0, rate_limit=100, executor=KeptClips()) as running:
        running.settings(rate_limiting=False)
        yield running


def run_command(line: str, folder: Path) -> None:
    """Runs one line of a terminal."""
    if not line.startswith("reelbook "):
        subprocess.run(line, shell=True, check=True, cwd=folder)
        return
    words = shlex.split(line)[1:]
    if line.startswith(IN_THE_ROOM):
        words += ["--address", "http://192.0.2.1:8000"]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0, f"{line}\n{ended.output}"


@pytest.mark.parametrize(
    ("part", "files"),
    [
        (BEFORE_CLASS, {"fox.mp4", "fox.jpg", "night.mp4", "clips.csv", "fog.csv"}),
        (FROM_CLASS_ON, {"names.csv"}),
    ],
    ids=["before-class", "from-class-on"],
)
@pytest.mark.usefixtures("sandbox")
def test_every_example_runs_in_its_order(shell: Any, folder: Path, part: str, files: set[str]) -> None:
    """Cells and commands, one after the other, on a machine on which nothing was done before."""
    for language, text in BLOCK.findall(part):
        if language == "python":
            shell.run_cell(text).raise_error()
        elif language == "sh":
            for line in text.splitlines():
                if not line.startswith(NOT_RUN):
                    run_command(line, folder)
        else:
            assert language == "text", f"an example is python or sh, and what is printed is text:\n{text}"
    assert files <= {path.name for path in folder.iterdir()}


def anchors() -> set[str]:
    """What a heading is reached by, as on the page that shows the README."""
    headings = re.findall(r"^#+ (.+)$", PROSE, re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_and_pictures_lead_somewhere() -> None:
    """Each file and each heading that is linked is there."""
    links = re.findall(r"\]\(([^)]+)\)", PROSE) + re.findall(r"(?:src|srcset)=\"([^\"]+)\"", PROSE)
    inside = [link for link in links if "://" not in link]

    assert len(inside) > 50
    assert [link for link in inside if link[0] == "#" and link[1:] not in anchors()] == []
    assert [link for link in inside if link[0] != "#" and not (ROOT / link).exists()] == []


def test_every_picture_is_used_has_a_text_and_both_themes() -> None:
    """Pictures follow the system's theme and say what they show; all together they are small."""
    pictures = sorted((ROOT / "tests" / "pictures").glob("*.webp"))
    shown = re.findall(r"<img alt=\"([^\"]+)\" src=\"tests/pictures/([\w-]+)-light.webp\"", README)
    names = {name for _, name in shown}

    assert {path.name for path in pictures} == {
        f"{name}-{theme}.webp" for name in names | {"matrix"} for theme in ("light", "dark")
    }
    assert [name for _, name in shown if f"{name}-dark.webp" not in README] == []
    assert sum(path.stat().st_size for path in pictures) < MOST_PICTURE_BYTES


def test_what_it_names_in_passing_exists() -> None:
    """What stands in the text as `rb.Name`, `session.name` or `reelbook command` can be used."""
    code = re.findall(r"`([^`\n]+)`", PROSE)
    commands = re.findall(r"^  (\w+)  ", CliRunner().invoke(app, ["--help"]).output, re.M)

    assert {word for text in code for word in re.findall(r"^rb\.(\w+)", text)} <= set(rb.__all__)
    assert {word for text in code for word in re.findall(r"^session\.(\w+)", text)} <= set(dir(rb.Session))
    assert {word for text in code for word in re.findall(r"^reelbook (\w+)", text)} <= set(commands)
