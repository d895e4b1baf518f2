"""The comparison of clips: its words, its picks, and what the page gets."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import traitlets
from support.waiting import until
from widgets.doubles import FOX, clip_file, job, learn, says

from reelbook.errors import InvalidInput, NotAVideo
from reelbook.session import Clip, JobRequest, Session
from reelbook.widgets.compare import Compare

DUNES = replace(FOX, prompt="a red fox runs through dunes", seed=9)


def made(folder: Path, name: str, request: JobRequest | None = FOX, **facts: Any) -> Clip:
    """A finished clip of the sandbox under a name of its own; `seconds` and `size` are the file's."""
    shape = {key: facts.pop(key) for key in ("seconds", "size") if key in facts}
    known: dict[str, Any] = {"cost_usd": 0.25, "sandbox": True, **facts}
    return Clip(
        path=clip_file(folder / f"{name}.mp4", **shape), request_id=f"req-{name}", request=request, **known
    )


@pytest.fixture
def two(tmp_path: Path) -> list[Clip]:
    return [made(tmp_path, "a"), made(tmp_path, "b", DUNES, cost_usd=0.4)]


def test_figures_that_differ_are_marked(two: list[Clip], tmp_path: Path) -> None:
    """Seed and cost, length and shape; the clock runs to the longest."""
    compared = Compare([two[0], two[1]])
    assert compared.tiles[0]["facts"] == [("1.0 s", False), ("64 × 36", False), ("seed 7", True)]
    assert compared.tiles[1]["money"] == [("$0.40", True)]
    assert (compared.mark, compared.face["lengths"]) == ("sandbox", "")
    mixed = Compare([two[0], made(tmp_path, "m", sandbox=False, seconds=2, size=(36, 64))])
    assert (mixed.mark, mixed.tiles[0]["facts"][-1]) == ("", ("sandbox", True))
    assert [(tile["ended"], tile["shape"]) for tile in mixed.tiles] == [
        ("ended at 1.0 s", [64, 36]),
        ("", [36, 64]),
    ]
    assert "runs to the longest, 2.0 s." in mixed.face["lengths"]


@pytest.mark.parametrize("count", [0, 1, 10])
def test_two_to_nine_clips(tmp_path: Path, count: int) -> None:
    """Fewer and more are refused in plain words; a clip that was given twice counts once."""
    clips = [made(tmp_path, str(number)) for number in range(count)]
    with pytest.raises(InvalidInput, match=f"two to nine different clips, not {count}"):
        Compare([*clips, *clips])


def test_files_are_compared_too(tmp_path: Path) -> None:
    """A path is enough; two files of one name are told apart; what is no video is refused at the call."""
    (tmp_path / "x").mkdir()
    files: list[str | Path] = [clip_file(tmp_path / "a.mp4"), str(clip_file(tmp_path / "b.mp4"))]
    files.append(tmp_path / "x" / "a.mp4")
    clip_file(tmp_path / "x" / "a.mp4")
    compared = Compare(files)
    assert compared.names == (str(files[0]), "b.mp4", str(files[2]))
    (tmp_path / "no.mp4").write_text("no video")
    with pytest.raises(NotAVideo):
        Compare([files[0], tmp_path / "no.mp4"])
    for nothing in ([files[0], 3], "fox.mp4", None):
        given: Any = nothing
        with pytest.raises(InvalidInput, match=r"takes (a list of )?clips, jobs (and|or) files, not \w+"):
            Compare(given)


def test_picks_of_mere_clips_are_kept_by_the_panel(two: list[Clip]) -> None:
    """No ledger knows them, which it says. A press says what is wanted: two before an answer count once."""
    compared = Compare(two)
    for _ in range(2):
        says(compared, "pick", place=1, picked=True)
    assert compared.picked == ["req-b"]
    assert "this panel alone" in compared.face["picks"]
    says(compared, "pick", place=0, picked=True)
    assert compared.picked == ["req-a", "req-b"]
    with pytest.raises(traitlets.TraitError, match="req-a, req-b"):
        compared.picked = ["req-z"]
    for place in (0, 1, None, -1, 2, "1"):  # what the page sends is checked
        says(compared, "pick", place=place, picked=False)
    assert (compared.picked, compared.face["picks"], compared.message["text"]) == ([], "", "")


def test_views_of_two_need_two(two: list[Clip], tmp_path: Path) -> None:
    """Wipe and difference are for two clips, and say so."""
    assert Compare(two, view="wipe").view == "wipe"
    three = Compare([*two, made(tmp_path, "c")])
    with pytest.raises(traitlets.TraitError, match="compares two clips; here are 3"):
        three.view = "difference"
    with pytest.raises(TypeError, match="volume"):
        Compare(two, volume=1)


def test_a_running_job_joins_when_it_is_done(two: list[Clip]) -> None:
    """Until then its place says how far it is, and nothing can be picked there."""
    running = job(progress=0.4, request_id="req-r")
    compared = Compare([two[0], running])
    tile = compared.tiles[1]
    assert (compared.live, tile["word"], tile["bar"], tile["clip"]) == (True, "Processing", 0.4, 0)
    says(compared, "pick", place=1, picked=True)
    assert compared.picked == []
    learn(running, state="completed", watched=False, clip=replace(two[1], request_id="req-r"))
    says(compared, "ask")
    assert (compared.live, compared.tiles[1]["clip"] > 0, compared.tiles[1]["word"]) == (False, True, "")


def test_a_failed_job_and_a_lost_file_have_their_place(two: list[Clip], tmp_path: Path) -> None:
    """They say what became of them, and the rest is compared."""
    failed = job(state="failed", watched=False, request_id="req-f")
    lost = made(tmp_path, "lost")
    lost.path.unlink()
    unknown = job(state="uncertain", watched=False, request_id="req-u")
    tiles = Compare([*two, failed, lost, unknown]).tiles
    assert (tiles[2]["word"], tiles[2]["stage"]) == ("Failed", "There is no clip.")
    assert tiles[3]["stage"] == "The clip's file isn't on this disk."
    assert (tiles[4]["word"], tiles[4]["stage"]) == ("Not certain", "Whether there is a clip isn't known.")


def test_the_still_form_shows_all_and_what_is_picked(tmp_path: Path) -> None:
    """Small posters side by side; with nine clips it stays small too."""
    clips = [made(tmp_path, str(number), replace(FOX, seed=number)) for number in range(9)]
    compared = Compare(clips, picked=["req-4"])
    page, text = compared.still()
    assert (page.count("<img"), page.count("★ Picked"), page.count("outline:")) == (9, 1, 1)
    assert "a red fox runs through snow · ★ Picked · 1.0 s · 64 × 36 · seed 4 · $0.25" in text
    assert len(page) < 40_000


def test_the_ledger_keeps_the_picks(session: Session) -> None:
    """Of jobs and of their clips; a cell that is run again finds them, and what is picked elsewhere shows."""
    jobs = [session.text_to_video(word, duration_seconds=1) for word in ("a fox", "a wolf")]
    clips = [each.result(30) for each in jobs]
    compared = Compare(jobs)
    says(compared, "pick", place=1, picked=True)
    assert (compared.picked, compared.message["text"]) == ([jobs[1].request_id], "")
    other = Compare(clips)
    assert other.picked == compared.picked
    other.picked = [*other.picked, clips[0].request_id]
    assert session.picks() == (jobs[1], jobs[0])
    assert Compare(jobs, picked=[clips[0].request_id]).picked == [clips[0].request_id]
    until(lambda: compared.picked == other.picked == [jobs[0].request_id])
    session.close()
    says(other, "pick", place=1, picked=True)
    assert "closed" in other.message["text"]
    assert other.picked == [clips[0].request_id]
