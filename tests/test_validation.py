"""Arguments checked before a request goes out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reelbook import errors, validation


@pytest.mark.parametrize("bad", ["", "   ", "\n", None, 7, b"fox", "a fox \ud83e"])
def test_an_empty_prompt_or_no_text_is_refused(bad: Any) -> None:
    """A prompt must say something, and be text that can be sent: no half of an emoji."""
    with pytest.raises(errors.InvalidPrompt):
        validation.prompt(bad)


@pytest.mark.parametrize("bad", [0, 11, -1, 5.5, "5", True, None, float("nan")])
def test_a_length_that_the_api_doesnt_take_is_refused(bad: Any) -> None:
    """Lengths are whole numbers from 1 to 10."""
    with pytest.raises(errors.InvalidDuration):
        validation.duration_seconds(bad)


@pytest.mark.parametrize("good", [1, 10, 5.0, np.int64(7)])
def test_whole_numbers_of_any_type_are_lengths(good: Any) -> None:
    """A slider's 5.0 and numpy's integers are accepted as whole."""
    assert int(good) == validation.duration_seconds(good)
    assert type(validation.duration_seconds(good)) is int


@pytest.mark.parametrize("ratio", ["4:3", "3:4", "21:9"])
def test_a_ratio_of_the_web_app_is_refused_by_name(ratio: str) -> None:
    """The error says that the web app offers it and what the API takes."""
    with pytest.raises(errors.InvalidAspectRatio, match=r"web app only.*16:9, 9:16, 1:1"):
        validation.aspect_ratio(ratio)


@pytest.mark.parametrize("bad", ["16/9", "", None, 1.77])
def test_any_other_ratio_is_refused(bad: Any) -> None:
    """Three ratios and no more."""
    with pytest.raises(errors.InvalidAspectRatio, match="one of"):
        validation.aspect_ratio(bad)


@pytest.mark.parametrize("bad", ["7", 1.5, None, True])
def test_a_seed_is_a_whole_number(bad: Any) -> None:
    """Anything else is refused before it is sent."""
    with pytest.raises(errors.InvalidSeed):
        validation.seed(bad)


@pytest.mark.parametrize(("name", "limit"), [("", 10), ("a", 0), ("a", 101), ("a", "10"), (None, 10)])
def test_a_key_needs_a_name_and_a_limit_of_1_to_100(name: Any, limit: Any) -> None:
    """What no key can be made from is refused."""
    with pytest.raises(errors.InvalidKeyRequest):
        (validation.key_name(name), validation.rate_limit(limit))


@pytest.mark.parametrize("bad", [0, -3, 1.5, "30", None])
def test_a_period_is_one_day_or_more(bad: Any) -> None:
    """Usage is asked for whole days."""
    with pytest.raises(errors.InvalidInput):
        validation.days(bad)
