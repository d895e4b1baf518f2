"""Mistyped names are answered with what was meant."""

import copy
import inspect
from pathlib import Path
from typing import Any

import pytest

from reelbook.errors import NotAVideo
from reelbook.session import Clip, Job, Session
from reelbook.suggestions import SuggestsNames, by_name
from reelbook.widgets.player import Player


class Boat(SuggestsNames):
    """Has a method, a property that fails, and something private."""

    _hidden = 1

    @by_name
    def float_down(self, river: str, *, speed_kmh: int = 3, again: bool = False) -> str:
        """Floats."""
        return f"{river} {speed_kmh} {again}"

    @property
    def broken(self) -> int:
        """Fails inside."""
        return int.nothing  # type: ignore[attr-defined,no-any-return]  # the failure


@pytest.mark.parametrize("wrong", ["floatdown", "flaot_down", "Float_Down", "float"])
def test_a_mistyped_attribute_is_answered_with_the_nearest(wrong: str) -> None:
    """In a notebook too, which shows no more than the error's text."""
    with pytest.raises(
        AttributeError, match=rf"'Boat' object has no attribute '{wrong}'. Did you mean 'float_down'\?"
    ):
        getattr(Boat(), wrong)


@pytest.mark.parametrize("wrong", ["xyz", "_hiden", "__float_down__"])
def test_what_is_like_nothing_is_answered_plainly(wrong: str) -> None:
    """And so are the names that tools ask for."""
    with pytest.raises(AttributeError, match=f"'Boat' object has no attribute '{wrong}'$"):
        getattr(Boat(), wrong)


def test_what_is_there_is_no_question() -> None:
    """A property that fails says its own error, as nothing else was meant; and a copy, which asks for names
    before anything is set, is made.
    """
    with pytest.raises(AttributeError, match="type object 'int' has no attribute 'nothing'"):
        _ = Boat().broken
    assert isinstance(copy.deepcopy(Boat()), Boat)


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        (("Rhine",), {"speed": 4}, "float_down() doesn't take speed. Did you mean speed_kmh? It takes: "),
        (
            ("Rhine",),
            {"agian": True, "sped_kmh": 1},
            "take agian, sped_kmh. Did you mean again and speed_kmh?",
        ),
        (("Rhine",), {"colour": 1}, "float_down() doesn't take colour. It takes: river, speed_kmh, again."),
        (
            ("Rhine", 4),
            {},
            "float_down() takes what follows river by name, as speed_kmh=…. It takes: river, ",
        ),
        ((), {}, "missing 1 required positional argument: 'river'"),
    ],
)
def test_a_mistaken_argument_is_answered_with_those_there_are(
    args: tuple[Any, ...], kwargs: dict[str, Any], said: str
) -> None:
    """What is missing Python says well enough itself."""
    call: Any = Boat().float_down
    with pytest.raises(TypeError) as refused:
        call(*args, **kwargs)
    assert said in str(refused.value)


def test_arguments_that_are_right_go_through() -> None:
    """And whoever asks for help sees the method as it is written."""
    assert Boat().float_down("Rhine", speed_kmh=5) == "Rhine 5 False"
    assert Boat().float_down(river="Rhine") == "Rhine 3 False"
    assert list(inspect.signature(Boat().float_down).parameters) == ["river", "speed_kmh", "again"]
    assert Boat.float_down.__doc__ == "Floats."


@pytest.mark.parametrize("method", ["text_to_video", "image_to_video", "submit_many", "jobs"])
def test_a_session_takes_its_arguments_by_name(method: str) -> None:
    """Those with many of them say which there are; none is hidden behind `**`."""
    call: Any = getattr(Session, method)
    with pytest.raises(TypeError, match=rf"{method}\(\) doesn't take sparkle. It takes: "):
        call(object.__new__(Session), sparkle=1)
    assert "VAR_KEYWORD" not in {each.kind.name for each in inspect.signature(call).parameters.values()}


@pytest.mark.parametrize("name", ["poster", "filmstrip", "path", "cost_usd"])
def test_what_a_clip_has_is_not_asked_of_its_job(name: str) -> None:
    """The `await` was forgotten, and the error says so."""
    with pytest.raises(
        AttributeError, match=rf"A job has no '{name}', its clip has: \(await job\)\.{name}, or"
    ):
        getattr(object.__new__(Job), name)
    with pytest.raises(AttributeError, match=r"Did you mean 'result'\?"):
        object.__new__(Job).reslt  # type: ignore[attr-defined]  # noqa: B018 - reading it is the test


def test_a_clip_whose_file_is_gone_says_how_to_have_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """However it is looked at, and without a traceback where it is shown."""
    clip = Clip(tmp_path / "gone.mp4", "req_7")
    for look in (clip.poster, clip.filmstrip, clip.frame, lambda: clip.width):
        with pytest.raises(NotAVideo, match=r"gone\.mp4\. session\.job\('req_7'\)\.watch\(\) fetches it"):
            look()
    (tmp_path / "cut.mp4").write_bytes(b"cut off")
    damaged = Clip(tmp_path / "cut.mp4", "req_8")
    for read in (damaged.poster, lambda: damaged.checks, lambda: Player(damaged)):
        with pytest.raises(NotAVideo, match=r"cut\.mp4 .*session\.job\('req_8'\)\.watch\(\) fetches it"):
            read()
    clip._ipython_display_()
    assert capsys.readouterr().out == "<Clip gone.mp4, whose file isn't there any more>\n"
