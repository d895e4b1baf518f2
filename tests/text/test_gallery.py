"""What the gallery says of a tile, of the opened clip, and of all that was found."""

from datetime import datetime
from pathlib import Path

from widgets.doubles import FOX, clip, view

from reelbook.text import gallery as words
from reelbook.text.card import ShownJob, job_lines


def test_a_tile_says_its_state_only_where_it_isnt_a_finished_clip(tmp_path: Path) -> None:
    """What is empty is left out."""
    here = clip(tmp_path / "a.mp4")
    done = words.tile(ShownJob(view(state="completed"), FOX, "req-1", here, picked=True), "1")
    assert (done["here"], done["picked"], done["id"], "word" in done) == (True, True, "req-1", False)
    running = words.tile(ShownJob(view(), FOX), "2")
    assert (running["word"], running["tone"]) == ("Processing", "run")
    assert not {"here", "picked", "id"} & running.keys()


def test_the_opened_clip_has_its_day_and_id() -> None:
    """They stand aside; where its file is gone, nothing is said of a fetching that nobody began."""
    gone = ShownJob(
        view(state="completed", watched=False), FOX, "req-1", submitted_at=datetime(2027, 1, 5, 8)
    )
    face = words.opened_face(gone, "1", can_vary=True)
    assert (face["stage"], face["aside"]) == ("No file here.", "5 Jan 2027, 08:00 · req-1")
    assert job_lines(gone.view) == []
    assert words.opened_face(ShownJob(view()), "1", can_vary=True)["note"] == ""


def test_a_chosen_tag_can_be_chosen_though_nothing_has_it() -> None:
    """Filters keep what a person set."""
    said = words.name_choices("Any tag", ("fox",), "snow")
    assert said == [["", "Any tag"], ["fox", "fox"], ["snow", "snow"]]
    assert words.name_choices("Any tag", (), "") == [["", "Any tag"]]


def test_what_was_found_and_exported_is_counted() -> None:
    """One clip is no "clips", and settings alone are no clips."""
    assert words.found_words(1, more=False) == "1 clip"
    assert words.found_words(60, more=True) == "60 clips, more below"
    two, none = words.exported_words(Path("/a.zip"), 2, 1), words.exported_words(Path("/a.zip"), 0, 2)
    assert two == "2 clips and their settings are in /a.zip. 1 has no file on this disk."
    assert none == "The settings are in /a.zip. 2 have no file on this disk."
