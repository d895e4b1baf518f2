"""The words of a prompt decide what is seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelbook.sandbox.render.words import Move, Scene, Subject, scene


def kinds(prompt: str) -> list[str]:
    return [subject.kind for subject in scene(prompt).subjects]


def test_a_whole_prompt() -> None:
    """Subject with colour, action, setting, time and camera are read from one sentence."""
    read = scene("a red fox runs through snow at night, slow pan left")
    assert (Subject("fox", (208, 62, 44)),) == read.subjects
    assert (read.time, read.setting, read.action, read.direction) == ("night", "snow", "run", -1)
    assert (Move("pan", -1, 0.6),) == read.moves
    assert read.pace == 1.0
    assert read.unknown == ()


@pytest.mark.parametrize(
    ("prompt", "time", "setting"),
    [
        ("waves on the ocean at dawn", "dawn", "sea"),
        ("a rainy street at dusk", "dusk", "street"),
        ("a forest in the snow", "golden", "forest"),
        ("two goldfishes", "day", "underwater"),
    ],
)
def test_time_and_setting(prompt: str, time: str, setting: str) -> None:
    """Hours and places are understood by their common names and plurals."""
    read = scene(prompt)
    assert (time, setting) == (read.time, read.setting)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("three small puppies", Subject("dog", None, 3, 0.72, frozenset({"small", "young"}))),
        ("a flock of crows", Subject("bird", (38, 38, 48), 7)),
        ("an old man", Subject("person", None, 1, 1.0, frozenset({"old", "hat"}))),
        ("fish", Subject("fish", None, 5)),
        ("women", Subject("person", None, 3, 1.0, frozenset({"dress"}))),
    ],
)
def test_subjects(prompt: str, expected: Subject) -> None:
    """Kind, number, size, colour and looks of a subject are read from the words around it."""
    assert (expected,) == scene(prompt).subjects


def test_a_colour_belongs_to_what_it_stands_before() -> None:
    """Of two things each keeps its own colour, and a sky's colour is no subject's."""
    read = scene("a white cat and a black dog under a pink sky")
    assert [subject.colour for subject in read.subjects] == [(244, 244, 242), (44, 44, 52)]
    assert read.sky_tint == (240, 132, 170)


@pytest.mark.parametrize(
    ("prompt", "word"),
    [
        ("a boat in a storm", "rain"),
        ("lightning over the sea", "storm"),
        ("winter in the mountains", "snowfall"),
        ("falling leaves", "leaves"),
        ("a reef", "bubbles"),
        ("a sandstorm", "dust"),
    ],
)
def test_weather(prompt: str, word: str) -> None:
    """Weather is read, and what goes with a season or a place is added."""
    assert word in scene(prompt).weather


def test_what_is_denied_is_left_out() -> None:
    """A thing that the prompt says is absent is not drawn."""
    read = scene("a meadow without any clouds and no dog")
    assert "clouds" not in read.weather
    assert read.subjects == ()


@pytest.mark.parametrize(
    ("prompt", "moves"),
    [
        ("pan right", (Move("pan", 1),)),
        ("the camera slowly pans to the left", (Move("pan", -1, 0.6),)),
        ("zoom out", (Move("dolly", -1),)),
        ("fast dolly in, tilting up", (Move("tilt", 1), Move("dolly", 1, 1.7))),
        ("handheld", (Move("handheld"),)),
        ("static shot", (Move("static"),)),
        ("the camera orbits around the tree", (Move("orbit"),)),
    ],
)
def test_camera_moves(prompt: str, moves: tuple[Move, ...]) -> None:
    """Camera moves are understood with their direction and pace, in either order of words."""
    assert moves == scene(prompt).moves


def test_camera_words_are_no_things() -> None:
    """A tracking shot is no train track, and the frying pan keeps its name."""
    assert scene("truck left past a barn").subjects == ()
    assert scene("a pan on a stove").moves == ()


def test_unknown_words_are_kept() -> None:
    """Words without a meaning here are kept: they seed shapes and hues."""
    assert scene("the quux of flibbert").unknown == ("quux", "flibbert")
    assert scene("abstract thoughts of jealousy") == Scene(time="golden", setting="abstract", mood="jealous")


@given(st.text(max_size=200))
def test_any_text_is_a_scene(prompt: str) -> None:
    """No prompt, in any script, is an error."""
    read = scene(prompt)
    assert read == scene(prompt)
    assert read.setting
