"""Clips and what made them, in one zip."""

import csv
import json
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest

import reelbook as rb
from reelbook.errors import InvalidInput, ReelbookError
from reelbook.requests import options
from reelbook.session.export import export


def finished(session: rb.Session, *prompts: str) -> list[rb.Job]:
    batch = session.submit_many(prompts, duration_seconds=1, aspect_ratio="1:1", seed=7)
    batch.results(30)
    return list(batch)


def test_files_settings_and_marks_are_in_it(session: rb.Session, tmp_path: Path) -> None:
    """Equal clips have names of their own, a lost file its settings, and no cell is a formula."""
    fox, twin, lost = finished(session, "a fox", "a fox", '=HYPERLINK("x")')
    fox.mark(tags=["a", "b"], note="mind")
    lost.delete_clip()
    done = export([fox, twin, lost], tmp_path)
    assert (done.clips, done.without_file, done.path.parent) == (2, 1, tmp_path)
    with zipfile.ZipFile(done.path) as archive:
        assert sorted(archive.namelist()) == ["a-fox-7-2.mp4", "a-fox-7.mp4", "settings.csv", "settings.json"]
        assert archive.read("a-fox-7.mp4") == fox.result().path.read_bytes()
        records = json.loads(archive.read("settings.json"))
        rows = list(csv.DictReader(archive.read("settings.csv").decode().splitlines()))
    assert list(records[0]) == list(rows[0])
    assert {"request_id", "cost_usd", "submitted_at", "experiment", *options()} < {*rows[0]}
    assert (records[0]["tags"], records[0]["note"], records[0]["sandbox"]) == (["a", "b"], "mind", True)
    assert (rows[0]["tags"], rows[2]["prompt"]) == ("a, b", '\'=HYPERLINK("x")')
    assert [row["file"] for row in rows] == ["a-fox-7.mp4", "a-fox-7-2.mp4", ""]


def test_nothing_is_ever_replaced(session: rb.Session, tmp_path: Path) -> None:
    """In a folder a second export has another name; a file that is there is refused."""
    jobs = finished(session, "a fox")
    first, second = export(jobs, tmp_path), export(jobs, tmp_path)
    assert first.path != second.path
    with pytest.raises(InvalidInput, match="already exists"):
        export(jobs, first.path)
    with pytest.raises(InvalidInput, match="There is no folder"):
        export(jobs, tmp_path / "nowhere" / "a.zip")
    with pytest.raises(InvalidInput, match="No clips were chosen"):
        export([], tmp_path)


def test_nothing_half_written_stays(
    session: rb.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that refuses is said in words."""
    jobs = finished(session, "a fox")
    monkeypatch.setattr(zipfile.ZipFile, "write", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(ReelbookError, match=r"No space left on device\. The clips are where they were"):
        export(jobs, tmp_path)
    assert [each for each in tmp_path.iterdir() if each.is_file()] == []
