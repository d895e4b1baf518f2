"""Sweeps: what they check, and the cells that they make."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from reelbook import errors
from reelbook.errors import InvalidInput
from reelbook.explore import Sweep
from reelbook.requests import JobRequest

TEMPLATE = "a {animal} in {place}"
GIVEN: Mapping[str, Any] = {
    "animal": ["fox", "heron", "bear"],
    "place": ["snow", "dunes", "fog"],
    "seed": [1, 2],
}


def prompts(sweep: Sweep) -> list[str]:
    return sorted(cell.request.prompt for cell in sweep.cells)


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "cat.png", tmp_path / "dog.png"]
    for path, colour in zip(paths, ("red", "blue"), strict=True):
        Image.new("RGB", (64, 64), colour).save(path)
    return paths


VALUES = st.lists(st.text("ab {}|$_#\\é", min_size=1), min_size=1, max_size=4, unique=True)


@settings(max_examples=50)
@given(VALUES, VALUES, st.lists(st.integers(0, 9), min_size=1, max_size=3))
def test_grids_are_complete_and_repeat_nothing(one: list[str], two: list[str], seeds: list[int]) -> None:
    """Whatever the texts hold: they stand in the prompts as they are, and equal values are one."""
    sweep = Sweep("x{one}x{two}x", one=one, two=two, seed=seeds)
    wanted = {(f"x{a}x{b}x", seed) for a in one for b in two for seed in seeds}

    assert {(cell.request.prompt, cell.request.seed) for cell in sweep.cells} == wanted
    assert len({cell.request.sameness for cell in sweep.cells}) == len(sweep.cells) == len(wanted)
    assert [cell.number for cell in sweep.cells] == list(range(1, len(wanted) + 1))
    for cell in sweep.cells:
        values = [axis.values[index] for axis, index in zip(sweep.axes, cell.place, strict=True)]
        assert cell.values == dict(zip([axis.name for axis in sweep.axes], values, strict=True))
        assert cell.request.seed == cell.values["seed"]


def test_axes_are_given_as_lists_single_values_or_as_they_are_typed() -> None:
    """And labelled as a person reads them."""
    sweep = Sweep("{animal}", animal="fox, heron", seed="1-5 (+2)", duration_seconds=2.0, aspect_ratio="1:1")

    assert {axis.name: (axis.values, axis.labels) for axis in sweep.axes} == {
        "animal": (("fox", "heron"), ("fox", "heron")),
        "seed": ((1, 3, 5), ("1", "3", "5")),
        "duration_seconds": ((2,), ("2 s",)),
        "aspect_ratio": (("1:1",), ("1:1",)),
    }


def test_variants_of_the_template_are_an_axis() -> None:
    """Its values keep their slots open; a slot that one of them lacks makes no second cell of it."""
    sweep = Sweep("{a {animal} runs|an empty {street|beach}}", animal=["fox", "heron"], seed=[1, 2])

    assert sweep.axes[0].name == "prompt"
    assert sweep.axes[0].values == ("a {animal} runs", "an empty street", "an empty beach")
    assert prompts(sweep) == sorted(["a fox runs", "a heron runs", "an empty street", "an empty beach"] * 2)
    sweep = Sweep("{An animal} in {snow|fog}", animal=["owl"])
    assert sweep.axes[0].values == ("{An animal} in snow", "{An animal} in fog")
    assert sweep.axes[0].labels == ("snow", "fog")
    assert prompts(sweep) == ["An owl in fog", "An owl in snow"]


def test_wildcards_come_from_keywords_mappings_and_folders(tmp_path: Path) -> None:
    """A keyword takes precedence, and is no axis of its own."""
    (tmp_path / "animal.txt").write_text("fox\nheron\n", "utf-8")

    assert prompts(Sweep("a __animal__", wildcards=tmp_path)) == ["a fox", "a heron"]
    assert prompts(Sweep("a __animal__", wildcards={"animal": ["bear"]})) == ["a bear"]
    swept = Sweep("a __animal__", wildcards=tmp_path, animal="cat, {old|young} dog")
    assert prompts(swept) == ["a cat", "a old dog", "a young dog"]
    assert [axis.name for axis in swept.axes] == ["prompt"]


def test_texts_of_a_prompt_can_be_replaced() -> None:
    """As in A1111's Prompt S/R: the first is searched for, and is one of the values."""
    sweep = Sweep("a red fox in snow", replace="red fox, heron")
    assert [(axis.name, axis.values) for axis in sweep.axes] == [("red_fox", ("red fox", "heron"))]
    assert prompts(sweep) == ["a heron in snow", "a red fox in snow"]

    several = Sweep("a red fox in snow", replace={"fox": "hen", "snow": ["5 suns"]})
    assert len(several.cells) == 4
    assert prompts(Sweep("my self", replace="self, cat")) == ["my cat", "my self"]
    assert prompts(Sweep("a seed grows", replace="seed, tree")) == ["a seed grows", "a tree grows"]
    numbers: Any = {5: np.arange(6, 8)}
    assert prompts(Sweep("5 foxes", replace=numbers)) == ["5 foxes", "6 foxes", "7 foxes"]
    alike = Sweep("red? red!", replace={"red!": "blue", "red?": "green"})
    assert sorted(prompts(alike)) == ["green blue", "green red!", "red? blue", "red? red!"]
    with pytest.raises(errors.InvalidInput, match="no 'bear' to replace"):
        Sweep("a red fox", replace="bear, hen")


def test_texts_are_replaced_where_the_prompt_has_them() -> None:
    """Never in the name of another's slot, and the longer one where one is part of the other."""
    within = Sweep("a fox by the box", replace={"fox": ["hen"], "x": ["at"]})
    assert sorted(prompts(within)) == [
        "a fox by the boat",
        "a fox by the box",
        "a hen by the boat",
        "a hen by the box",
    ]
    longer = Sweep("a fox and a red fox", replace={"fox": "hen", "red fox": "owl"})
    assert sorted(prompts(longer)) == [
        "a fox and a owl",
        "a fox and a red fox",
        "a hen and a owl",
        "a hen and a red fox",
    ]
    with pytest.raises(errors.InvalidInput, match="no 'x' to replace"):
        Sweep("a red fox", replace={"red fox": "owl", "x": "y"})

    own = Sweep("a {red_fox} and a red fox", replace="red fox, hen", red_fox=["cub"])
    assert sorted(prompts(own)) == ["a cub and a hen", "a cub and a red fox"]


def test_each_random_seed_is_another_clip() -> None:
    """Three random seeds are three cells, where three equal ones would be one."""
    sweep = Sweep("a fox", seed=[-1, -1, 7, 7])

    assert [cell.request.seed for cell in sweep.cells] == [-1, -1, 7]
    assert sweep.axes[0].labels == ("random", "random (2)", "7")


def test_images_are_an_axis_of_their_own(pictures: list[Path]) -> None:
    """Its values tell the pictures apart, its labels name them, and the requests hold them."""
    sweep = Sweep("it {moves|jumps}", image=[*pictures, pictures[0]], duration_seconds=[1, 2])

    assert len(sweep.cells) == 8
    assert next(axis for axis in sweep.axes if axis.name == "image").labels == ("cat.png", "dog.png")
    for cell in sweep.cells:
        assert cell.request.mode == "image-to-video"
        assert cell.request.record()["image"] == cell.values["image"]


def test_a_sweep_comes_back_from_its_record(pictures: list[Path]) -> None:
    """As JSON, with the same cells; requests whose pictures aren't at hand are incomplete."""
    sweep = Sweep(
        "a {animal} in {snow|__w__}", wildcards={"w": "fog"}, animal="fox, hen", seed="1-2", name="day"
    )
    again = Sweep.from_record(json.loads(json.dumps(sweep.to_record())))
    assert (again.axes, again.cells, again.name) == (sweep.axes, sweep.cells, "day")
    assert again.to_record() == sweep.to_record()

    moved = Sweep("it jumps", image=pictures)
    record = json.loads(json.dumps(moved.to_record()))
    lost = Sweep.from_record(record)
    assert [cell.values for cell in lost.cells] == [cell.values for cell in moved.cells]
    assert not any(cell.request.complete for cell in lost.cells)
    kept = {str(cell.values["image"]): cell.request.image for cell in moved.cells if cell.request.image}
    assert Sweep.from_record(record, images=kept).cells == moved.cells


@pytest.mark.parametrize(
    ("options", "cells"),
    [
        ({"design": "one-at-a-time"}, 6),
        ({"design": "pairs"}, 9),
        ({"sample": 7}, 7),
        ({"sample": 7, "design": "sample", "design_seed": -3}, 7),
        ({"sample": 50}, 18),
        ({"design": "latin-hypercube"}, 3),
        ({"design": "latin-hypercube", "sample": 6, "design_seed": -3}, 6),
    ],
)
def test_designs_choose_cells_of_the_grid(options: dict[str, Any], cells: int) -> None:
    """So many of the 18, the same ones each time, beginning with those that differ most."""
    sweep = Sweep(TEMPLATE, **GIVEN, **options)
    grid = Sweep(TEMPLATE, **GIVEN).cells

    assert len(sweep.cells) == cells
    assert {cell.request.sameness for cell in sweep.cells} <= {cell.request.sameness for cell in grid}
    assert [len({cell.values[axis] for cell in grid[:3]}) for axis in ("animal", "place")] == [3, 3]
    assert sweep.to_record() == Sweep(TEMPLATE, **GIVEN, **options).to_record()


def test_one_thing_at_a_time_changes_one_thing() -> None:
    """The base is bought first, and each other cell differs from it on a single axis."""
    base = {"animal": "bear", "seed": 2}
    first, *others = Sweep(TEMPLATE, **GIVEN, design="one-at-a-time", base=base).cells
    assert first.values == {**base, "place": "snow"}
    assert len(others) == 2 + 2 + 1
    assert {len(first.values.items() - each.values.items()) for each in others} == {1}


def test_a_sample_of_a_million_million_is_a_sweep() -> None:
    """Only what is drawn is expanded, and the axes of the request are drawn with it."""
    rng = random.Random(2)
    template = " ".join("{" + "|".join(f"w{rng.random()}" for _ in range(10)) + "}" for _ in range(12))
    sweep = Sweep(template, sample=50, seed=[1, 2])

    assert len({cell.request.sameness for cell in sweep.cells}) == 50
    assert {cell.request.seed for cell in sweep.cells} == {1, 2}
    assert len(sweep.axes[0].values) == 50


@pytest.mark.parametrize(
    ("kind", "told", "options"),
    [
        ("InvalidTemplate", r"Nothing fills \{place\}", {"animal": "fox"}),
        ("InvalidTemplate", r"\{name\} can't be a slot", {"template": "a {name}"}),
        ("InvalidTemplate", r"\{seed\} can't be a slot", {"template": "a {seed}", "seed": 1}),
        ("InvalidInput", "is called animl. Did you mean animal?", {**GIVEN, "animl": "fox"}),
        ("InvalidInput", "is called duration. Did you mean duration_seconds?", {**GIVEN, "duration": 3}),
        ("InvalidInput", "animal has no values", {**GIVEN, "animal": []}),
        ("InvalidInput", "seed has no values", {**GIVEN, "seed": ""}),
        ("InvalidInput", "animal takes texts and numbers", {**GIVEN, "animal": [None]}),
        ("InvalidSeed", "whole number", {**GIVEN, "seed": ["x"]}),
        ("InvalidDuration", "1 to 10 whole seconds", {**GIVEN, "duration_seconds": [2, 11]}),
        ("InvalidAspectRatio", "web app only", {**GIVEN, "aspect_ratio": "4:3"}),
        ("InvalidPrompt", "prompt is empty", {"template": " "}),
        ("InvalidPrompt", "prompt is empty", {"template": "{|a}"}),
        ("InvalidPrompt", "must be text", {"template": 3}),
        ("InvalidImage", "There is no file", {"template": "a", "image": "none.png"}),
        ("InvalidImage", "a picture that", {"template": "a", "image": [b"text"]}),
        (
            "InvalidInput",
            "takes no aspect ratio and no seed",
            {"template": "a", "image": "PICTURE", "seed": 1, "aspect_ratio": "1:1"},
        ),
        ("InvalidInput", "has 1,331 cells", {"template": "{a}{b}{c}", "a": "0-10", "b": "0-10", "c": "0-10"}),
        ("InvalidInput", "name of a sweep must be text", {**GIVEN, "name": ["fox"]}),
        ("InvalidInput", "not 'all'", {**GIVEN, "design": "all"}),
        ("InvalidInput", "takes no sample", {**GIVEN, "design": "pairs", "sample": 5}),
        ("InvalidInput", "Say how large", {**GIVEN, "design": "sample"}),
        ("InvalidInput", "Say how large", {**GIVEN, "sample": 0}),
        ("InvalidInput", "base takes names", {**GIVEN, "base": "fox"}),
        ("InvalidInput", "replace takes names", {**GIVEN, "replace": 5}),
        ("InvalidInput", "A wildcard takes texts, not 5", {"template": "__a__", "wildcards": {"a": 5}}),
        ("InvalidInput", "animal takes texts and numbers", {**GIVEN, "animal": b"fox"}),
        ("InvalidInput", "A base is for", {**GIVEN, "base": {"animal": "fox"}}),
        (
            "InvalidInput",
            "isn't one of the values of animal",
            {**GIVEN, "design": "one-at-a-time", "base": {"animal": "cat"}},
        ),
        (
            "InvalidInput",
            "the axes are animal, place, seed",
            {**GIVEN, "design": "one-at-a-time", "base": {"x": "cat"}},
        ),
    ],
)
def test_what_is_wrong_is_told_first(
    kind: str, told: str, options: dict[str, Any], pictures: list[Path]
) -> None:
    """In the type that fits, before there is anything that could be bought."""
    options = {"template": TEMPLATE} | {
        name: pictures[0] if value == "PICTURE" else value for name, value in options.items()
    }
    with pytest.raises(errors.InvalidInput, match=told) as raised:
        Sweep(**options)
    assert type(raised.value).__name__ == kind


SWEEPS: Mapping[str, Mapping[str, Any]] = {
    "grid": {"template": "a {animal} in {snow|fog}", "animal": ["fox", "a heron, wading"], "seed": [1, 2]},
    "typed": {"template": "a fox", "seed": "1-9", "duration_seconds": 2, "aspect_ratio": "16:9, 1:1"},
    "random": {"template": "a fox", "seed": [-1, -1], "name": "twice"},
    "sample": {"template": "{a} {b}", "a": "1-9", "b": "1-9", "sample": 7, "design_seed": 3},
    "base": {"template": "{a} {b}", "a": "1-3", "b": "x, y", "design": "one-at-a-time", "base": {"b": "y"}},
    "wildcard": {"template": "a __colour__ fox", "wildcards": {"colour": ["red", "grey"]}},
    "words": {"template": "a red fox", "replace": "red, grey, white"},
}


def asked(sweep: Sweep) -> list[JobRequest]:
    return [cell.request for cell in sweep.cells]


@pytest.mark.parametrize("name", SWEEPS)
def test_code_that_is_run_makes_the_same_cells(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell in the same order, with nothing bought; a script submits each of them."""
    sweep = Sweep(**SWEEPS[name])
    planned: list[object] = []
    monkeypatch.setattr(Sweep, "plan", lambda self, session: planned.append(session))
    scope: dict[str, Any] = {"rb": SimpleNamespace(Sweep=Sweep), "session": "mine"}
    exec(sweep.as_code(), scope)
    assert asked(scope["sweep"]) == asked(sweep)
    assert scope["sweep"].name == sweep.name
    assert planned == ["mine"]

    monkeypatch.setattr("reelbook.Sweep", Sweep)
    client = MagicMock(submit=AsyncMock())
    client.__aenter__.return_value = client
    monkeypatch.setattr("reelbook.AsyncClient", lambda: client)
    exec(sweep.as_code("script"), {})
    assert [call.args[0] for call in client.submit.await_args_list] == asked(sweep)


def test_code_reads_as_a_person_would_write_it() -> None:
    """Rows of numbers by their ends, and no defaults; a script says what it costs."""
    sweep = Sweep("a {animal}", animal="fox, heron", seed="1-9", duration_seconds=2)
    assert (
        sweep.as_code()
        == """sweep = rb.Sweep(
    "a {animal}",
    animal=["fox", "heron"],
    seed="1-9",
    duration_seconds=[2],
)
print(sweep.plan(session))
# sweep.run(session, confirm=True) buys it."""
    )
    assert sweep.as_code("script").startswith("# Makes 18 clips, for about $1.80 each time it is run.")
    with pytest.raises(InvalidInput, match='"cell" or "script"'):
        sweep.as_code("curl")  # type: ignore[arg-type] # that is the test


def test_pictures_are_to_be_put_in(pictures: list[Path]) -> None:
    """They aren't in the code; given again, the cells are the same."""
    sweep = Sweep("a {cat|dog} turns", image=pictures, duration_seconds=1)
    scope: dict[str, Any] = {"rb": SimpleNamespace(Sweep=Sweep), "pictures": pictures}
    exec(sweep.as_code().partition("\nprint")[0], scope)
    assert asked(scope["sweep"]) == asked(sweep)
    assert "# pictures:" in sweep.as_code()
