"""What the gallery says of a tile, of the opened clip, and of all that was found."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from widgets.doubles import FOX, clip, view

from reelbook.session import Clip
from reelbook.text import gallery as words


def opened(state: Any, clip: Clip | None) -> words.OpenedFace:
    return words.opened_face(
        state,
        FOX,
        key="1",
        request_id="req-1",
        clip=clip,
        service="live",
        submitted_at=datetime(2027, 1, 5, 8, 30),
        starred=True,
        note="the best",
        tags=("snow", "fox"),
        can_vary=True,
    )


def test_a_tile_says_its_state_only_where_it_isnt_a_finished_clip() -> None:
    """What is empty is left out."""
    done = words.tile(view(state="completed"), FOX, key="1", request_id="req-1", here=True, starred=True)
    assert (done["here"], done["starred"], done["id"], "word" in done) == (True, True, "req-1", False)
    running = words.tile(view(), FOX, key="2", request_id=None, here=False, starred=False)
    assert (running["word"], running["tone"]) == ("Processing", "run")
    assert not {"here", "starred", "id"} & running.keys()


def test_the_opened_clip_has_its_marks_and_what_can_be_done(tmp_path: Path) -> None:
    """Its day and id stand aside; a file that is here can be deleted."""
    here = clip(tmp_path / "a.mp4")
    face = opened(view(state="completed"), here)
    assert face["aside"].endswith("5 Jan 2027, 08:30 · req-1")
    assert (face["remark"], face["tags"], face["delete"]) == ("the best", "snow, fox", words.DELETE)
    assert [name for name, _ in face["actions"]][-3:] == ["vary", "code", "delete"]
    assert not words.file_is_gone(view(state="completed"), here)


def test_a_clip_whose_file_is_gone_says_how_to_have_it_back() -> None:
    """Nothing is said of a fetching that nobody began."""
    gone = view(state="completed", watched=False)
    face = opened(gone, None)
    assert (face["note"], face["stage"], face["delete"]) == (words.NOT_HERE, "No file here.", "")
    assert (words.file_is_gone(gone, None), words.file_is_gone(view(), None)) == (True, False)


def test_a_chosen_tag_can_be_chosen_though_nothing_has_it() -> None:
    """Filters keep what a person set."""
    said = words.choice_words(
        tags=("fox",), experiments=(), tag="snow", experiment="", compare=9, service="sandbox"
    )
    assert said["tag"] == [["", "Any tag"], ["fox", "fox"], ["snow", "snow"]]
    assert (said["experiment"], said["mark"]) == ([["", "Any experiment"]], "sandbox")
    assert words.nothing_opened()["key"] == ""


def test_what_was_found_and_exported_is_counted() -> None:
    """One clip is no "clips", and settings alone are no clips."""
    assert words.found_words(1, more=False) == "1 clip"
    assert words.found_words(60, more=True) == "60 clips, more below"
    assert words.nothing_words(filtered=True, can_create=False) == "No clip matches."
    assert "session.text_to_video" in words.nothing_words(filtered=False, can_create=False)
    assert "session" not in words.nothing_words(filtered=False, can_create=True)
    assert words.exported_words(Path("/a.zip"), 2, 1) == (
        "2 clips and their settings are in /a.zip. 1 has no file on this disk."
    )
    assert words.exported_words(Path("/a.zip"), 0, 2) == (
        "The settings are in /a.zip. 2 have no file on this disk."
    )


def test_a_face_without_a_clip_is_whole() -> None:
    """The page draws it before anything is opened."""
    assert words.nothing_opened().keys() == opened(view(), None).keys()
