"""What is asked for: checked when it is made, and unchanged from then on."""

import dataclasses
import inspect
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

import reelbook as rb
from reelbook import errors
from reelbook.media.images import PreparedImage, prepare
from reelbook.requests import (
    FIELDS,
    ImageOptions,
    JobRequest,
    TextOptions,
    checked,
    checked_days,
    checked_key_name,
    checked_rate_limit,
    options,
)

CAT = prepare(Image.new("RGB", (64, 64), "orange"))


def test_a_clip_from_text_has_the_interfaces_defaults() -> None:
    """Length, shape and seed are the service's own where nothing else is asked for."""
    assert JobRequest.from_text(" a fox ") == JobRequest("text-to-video", "a fox", 5, "16:9", -1)
    assert JobRequest("text-to-video", "a fox") == JobRequest.from_text("a fox")


def test_a_clip_from_an_image_has_neither_shape_nor_seed() -> None:
    """Its endpoint takes none."""
    request = JobRequest.from_image(CAT, "it turns", duration_seconds=3)
    assert (request.aspect_ratio, request.seed, request.image, request.complete) == (None, None, CAT, True)
    with pytest.raises(errors.InvalidInput, match="no aspect ratio"):
        JobRequest("image-to-video", "it turns", 3, seed=7, image=CAT)


REFUSED: list[tuple[type[errors.InvalidInput], str, list[Any]]] = [
    (errors.InvalidPrompt, "prompt", ["", "   ", "\n", None, 7, b"fox", "a fox \ud83e"]),
    (errors.InvalidDuration, "duration_seconds", [0, 11, -1, 5.5, "5", True, None, float("nan")]),
    (errors.InvalidAspectRatio, "aspect_ratio", ["4:3", "21:9", "16/9", "", None, 1.77]),
    (errors.InvalidSeed, "seed", ["7", 1.5, None, True]),
]


@pytest.mark.parametrize(("kind", "name", "bad"), [(k, n, each) for k, n, bad in REFUSED for each in bad])
def test_what_cant_be_asked_for_isnt_made(kind: type[errors.InvalidInput], name: str, bad: Any) -> None:
    """There is no request that the service would refuse for its form, and the error says for which field."""
    asked: dict[str, Any] = {"prompt": "a fox", name: bad}
    with pytest.raises(kind) as refused:
        JobRequest.from_text(**asked)
    assert refused.value.field == name


@pytest.mark.parametrize("good", [1, 10, 5.0, np.int64(7)])
def test_whole_numbers_of_any_type_are_lengths(good: Any) -> None:
    """A slider's 5.0 and numpy's integers are accepted as whole."""
    made = JobRequest.from_text("a fox", duration_seconds=good)
    assert (made.duration_seconds, type(made.duration_seconds)) == (int(good), int)


@pytest.mark.parametrize(
    ("check", "bad"),
    [
        (checked_key_name, ["", None]),
        (checked_rate_limit, [0, 101, "10"]),
        (checked_days, [0, 1.5, "30", None]),
    ],
)
def test_what_the_other_calls_take_is_checked_too(check: Callable[[Any], object], bad: list[Any]) -> None:
    """A key needs a name and a limit of 1 to 100, and usage is asked for whole days."""
    for value in bad:
        with pytest.raises(errors.InvalidInput):
            check(value)


def test_a_copy_with_another_value_is_checked_too() -> None:
    """`dataclasses.replace` makes a new request."""
    fox = JobRequest.from_text("a fox", seed=7)
    assert dataclasses.replace(fox, seed=8).seed == 8
    with pytest.raises(errors.InvalidDuration):
        dataclasses.replace(fox, duration_seconds=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        fox.prompt = "a wolf"  # type: ignore[misc]


def test_a_finished_request_travels_through_a_batch_as_it_is() -> None:
    """Nothing unpacks it and builds it again, and the batch's defaults don't change it."""
    fox = JobRequest.from_text("a fox", duration_seconds=2)
    first, second = checked([fox, "an owl"], {"duration_seconds": 9})
    assert first is fox
    assert second == JobRequest.from_text("an owl", duration_seconds=9)


# As the ledgers of the first releases hold them.
HASHES = {
    "8c87ceb214716b48b2da1676ce651f17": JobRequest("text-to-video", "a red fox", 5, "16:9", -1),
    "3a4bb4840d87c91e5330fd003e0282b7": JobRequest("text-to-video", "ein Fuchs – 🦊", 1, "9:16", 7),
    "f83b8fffd3132475923a0dca5ef5fb9a": JobRequest("text-to-video", "a", 10, "1:1", 12345678901234567890),
    "88682081e64ea5d888ac548e83636247": JobRequest("image-to-video", "it turns", 3),
    "28334135862146859d8c7384579710c6": JobRequest(
        "image-to-video", "it turns", 3, image=PreparedImage(b"cat", "PNG", 1, 1)
    ),
}


@pytest.mark.parametrize("known", HASHES)
def test_what_decides_sameness_is_as_it_was(known: str) -> None:
    """A cell that is run again finds its clip in a ledger of any age."""
    assert HASHES[known].sameness == known


def test_an_images_bytes_decide_sameness_too() -> None:
    """Two pictures are two clips; the same picture, however it was given, is one."""
    cats = [JobRequest.from_image(CAT, "it turns"), JobRequest.from_image(prepare(CAT.data), "it turns")]
    owl = JobRequest.from_image(Image.new("RGB", (64, 64), "grey"), "it turns")
    assert cats[0].sameness == cats[1].sameness != owl.sameness


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "image"])
def test_every_field_decides_sameness(name: str) -> None:
    """A field that is forgotten would give a cell back another one's clip."""
    others: dict[str, Any] = {"prompt": "b", "duration_seconds": 2, "seed": 2}
    value: Any = others[name] if name in others else FIELDS[name].choices[-1]
    fox = JobRequest.from_text("a")
    assert dataclasses.replace(fox, **{name: value}).sameness != fox.sameness


def test_a_record_gives_the_request_back() -> None:
    """All of it but an image's pixels, and what a later version wrote into it is no matter."""
    fox = JobRequest.from_text("a fox", seed=7)
    cat = JobRequest.from_image(CAT, "it turns", duration_seconds=3)
    assert fox.record() == {name: getattr(fox, name) for name in ("mode", "prompt", *options())}
    assert JobRequest.of_record({**json.loads(json.dumps(fox.record())), "lens": "35 mm"}) == fox
    assert cat.record()["image"] == CAT.digest
    assert not JobRequest.of_record(cat.record()).complete
    assert JobRequest.of_record(cat.record(), CAT) == cat


def test_the_table_has_every_field() -> None:
    """What isn't in it wouldn't be sent, and what isn't in the options can't be typed by hand. Help lists
    them with their defaults, though the signature is written once for all.
    """
    assert ["mode", *FIELDS] == [each.name for each in dataclasses.fields(JobRequest)]
    assert TextOptions.__annotations__.keys() == options("text-to-video").keys()
    assert ImageOptions.__annotations__.keys() == options("image-to-video").keys()
    shown = inspect.signature(rb.Session.text_to_video).parameters
    defaults = {name: about.default for name, about in options().items()}
    assert {name: shown[name].default for name in options()} == defaults
    assert "seed" not in inspect.signature(rb.Session.image_to_video).parameters


def test_a_random_seed_can_be_drawn() -> None:
    """The request is then the same but for its seed; a chosen one stays, and an image takes none."""
    fox = JobRequest.from_text("a fox", duration_seconds=2)
    drawn = {fox.with_seed().seed for _ in range(20)}
    assert len(drawn) == 20
    assert -1 not in drawn
    assert dataclasses.replace(fox.with_seed(), seed=-1) == fox
    chosen, still = dataclasses.replace(fox, seed=7), JobRequest("image-to-video", "zoom in")
    assert (chosen.with_seed(), still.with_seed()) == (chosen, still)
