"""What the gallery says of a tile, of the opened clip, and of all that was found."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from widgets.doubles import FOX, clip, view

from reelbook.session import Clip
from reelbook.text import gallery as words
from reelbook.text.card import ShownJob


def opened(state: Any, clip: Clip | None) -> dict[str, Any]:
    when = datetime(2027, 1, 5, 8, 30)
    marks: dict[str, Any] = {"picked": True, "note": "the best", "tags": ("snow", "fox")}
    shown = ShownJob(state, FOX, "req-1", clip, service="live", submitted_at=when, **marks)
    return words.opened_face(shown, "1", can_vary=True)


def test_a_tile_says_its_state_only_where_it_isnt_a_finished_clip(tmp_path: Path) -> None:
    """What is empty is left out."""
    here = clip(tmp_path / "a.mp4")
    done = words.tile(ShownJob(view(state="completed"), FOX, "req-1", here, picked=True), "1")
    assert (done["here"], done["picked"], done["id"], "word" in done) == (True, True, "req-1", False)
    running = words.tile(ShownJob(view(), FOX), "2")
    assert (running["word"], running["tone"]) == ("Processing", "run")
    assert not {"here", "picked", "id"} & running.keys()


def test_the_opened_clip_has_its_marks_and_what_can_be_done(tmp_path: Path) -> None:
    """Its day and id stand aside; a file that is here can be deleted."""
    here = clip(tmp_path / "a.mp4")
    face = opened(view(state="completed"), here)
    assert face["aside"].endswith("5 Jan 2027, 08:30 · req-1")
    assert (face["remark"], face["tags"], face["delete"]) == ("the best", "snow, fox", words.DELETE)
    assert [name for name, _ in face["actions"]][-3:] == ["vary", "code", "delete"]
    assert face["actions"][0] == ["pick", "★ Picked"]


def test_a_clip_whose_file_is_gone_says_how_to_have_it_back() -> None:
    """Nothing is said of a fetching that nobody began."""
    face = opened(view(state="completed", watched=False), None)
    assert (face["note"], face["stage"], face["delete"]) == (words.NOT_HERE, "No file here.", "")
    assert opened(view(), None)["note"] == ""


def test_a_chosen_tag_can_be_chosen_though_nothing_has_it() -> None:
    """Filters keep what a person set."""
    nothing: dict[str, Any] = {"experiments": (), "sweeps": (), "axes": {}, "experiment": "", "compare": 9}
    said = words.choice_words(tags=("fox",), tag="snow", service="sandbox", **nothing)
    assert said["tag"] == [["", "Any tag"], ["fox", "fox"], ["snow", "snow"]]
    assert (said["experiment"], said["mark"]) == ([["", "Any experiment"]], "sandbox")
    assert words.nothing_opened()["key"] == ""


def test_what_was_found_and_exported_is_counted() -> None:
    """One clip is no "clips", and settings alone are no clips."""
    assert words.found_words(1, more=False) == "1 clip"
    assert words.found_words(60, more=True) == "60 clips, more below"
    two, none = words.exported_words(Path("/a.zip"), 2, 1), words.exported_words(Path("/a.zip"), 0, 2)
    assert two == "2 clips and their settings are in /a.zip. 1 has no file on this disk."
    assert none == "The settings are in /a.zip. 2 have no file on this disk."
