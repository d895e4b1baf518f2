"""`reelbook inspect`."""

import json
import zipfile
from pathlib import Path

import pytest
from cli.conftest import Run
from media.test_clips import make

from reelbook.requests import JobRequest
from reelbook.session import Clip, passport

FOX = JobRequest.from_text("a red fox", duration_seconds=5, seed=7)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """An exported clip."""
    clip = Clip(make(tmp_path / "req.mp4", frames=12), "req-1", request=FOX, cost_usd=0.25, sandbox=True)
    return clip.save(tmp_path / "fox.mp4")


def test_what_made_a_clip_is_said(run: Run, saved: Path, tmp_path: Path) -> None:
    """For people, as code, and as JSON. Each clip of a zip is named, damaged ones too; a file that says
    nothing is told in one line, and the command fails.
    """
    assert run("inspect", str(saved)).stdout == f"{passport(saved)}\n"
    assert '"a red fox"' in run("inspect", str(saved), "--code").stdout
    told = json.loads(run("inspect", str(saved.with_suffix(".json")), "--json").stdout)
    assert told["fox.json"]["request"]["seed"] == 7
    with zipfile.ZipFile(tmp_path / "foxes.zip", "w") as archive:
        archive.write(saved, "one.mp4")
        archive.write(saved, "two.mp4")
    lines = run("inspect", str(tmp_path / "foxes.zip")).stdout.splitlines()
    assert [line for line in lines if line.endswith(".mp4")] == ["one.mp4", "two.mp4"]
    foxes = tmp_path / "foxes.zip"
    with zipfile.ZipFile(foxes, "a") as archive:
        archive.writestr("three.mp4", saved.read_bytes()[:500])
        archive.writestr("four.json", "{1}")
    foxes.write_bytes(foxes.read_bytes().replace(b"{1}", b"{2}"))
    half = run("inspect", str(foxes))
    assert (half.exit_code, half.stdout.splitlines()) == (1, lines)
    assert all(f"{each} " in half.stderr for each in ("three.mp4", "four.json"))
    assert list(json.loads(run("inspect", str(foxes), "--json").stdout)) == ["one.mp4", "two.mp4"]
    (tmp_path / "x.json").write_text("{}")
    for name, said in (("x.json", "x.json doesn't say what made it."), ("y.mp4", "y.mp4 could not be read")):
        result = run("inspect", str(tmp_path / name))
        assert (result.exit_code != 0, said in result.stderr) == (True, True)
