"""What is asked for: checked when it is made, and unchanged from then on."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from PIL import Image

from reelbook import errors
from reelbook.media.images import prepare
from reelbook.requests import JobRequest, checked, merged

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


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({"prompt": " "}, errors.InvalidPrompt),
        ({"duration_seconds": 11}, errors.InvalidDuration),
        ({"duration_seconds": 2.5}, errors.InvalidDuration),
        ({"aspect_ratio": "4:3"}, errors.InvalidAspectRatio),
        ({"seed": 1.5}, errors.InvalidSeed),
        ({"seed": None}, errors.InvalidSeed),
    ],
)
def test_what_cant_be_asked_for_isnt_made(asked: dict[str, Any], kind: type[Exception]) -> None:
    """There is no request that the service would refuse for its form."""
    with pytest.raises(kind):
        JobRequest.from_text(**({"prompt": "a fox"} | asked))


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
    first, second = checked([fox, "an owl"], {"duration_seconds": 9}, prepare)
    assert first is fox
    assert second == JobRequest.from_text("an owl", duration_seconds=9)


def test_equal_requests_are_submitted_once_where_that_is_wished() -> None:
    """Images count by their bytes."""
    cats = [JobRequest.from_image(CAT, "it turns"), JobRequest.from_image(prepare(CAT.data), "it turns")]
    fox = JobRequest.from_text("a fox")
    submitted: list[JobRequest] = []

    def submit(requests: list[JobRequest]) -> list[JobRequest]:
        submitted.extend(requests)
        return requests

    assert merged([*cats, fox], submit) == [cats[0], cats[0], fox]
    assert submitted == [cats[0], fox]
