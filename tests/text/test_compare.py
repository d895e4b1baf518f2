"""What a comparison says: the words and figures that differ, and who won."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelbook.text.compare import (
    PROMPT_CHARACTERS,
    differing,
    plain_runs,
)


def marks(runs: Any) -> list[str]:
    return [text for text, differs in runs if differs]


def test_words_that_are_not_in_all_prompts_are_marked() -> None:
    """What differs is marked word by word; case and commas make no difference, nor are they underlined."""
    runs = differing(
        [
            "a red fox runs through snow at night, slow pan left",
            "A red fox, runs through dunes at noon. Slow pan left",
            "a red fox runs through slow pan left",
        ]
    )
    assert [marks(each) for each in runs] == [["snow at night"], ["dunes at noon"], []]
    assert plain_runs(runs[0]) == "a red fox runs through snow at night, slow pan left"


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        (["a fox", "a fox"], [[], []]),
        (["", "a fox"], [[], ["a fox"]]),
        (["one", "two"], [["one"], ["two"]]),
        (["雪の中を走る狐", "海辺を走る狐"], [["雪の中"], ["海辺"]]),
        (["fox fox", "fox"], [["fox"], []]),
    ],
)
def test_what_differs_in_odd_prompts(prompts: list[str], expected: list[list[str]]) -> None:
    """Equal, empty and repeated words, and scripts without blanks."""
    assert [marks(each) for each in differing(prompts)] == expected


@given(st.lists(st.text("ab ,é雪", max_size=40), min_size=2, max_size=5))
def test_runs_joined_are_the_prompt(prompts: list[str]) -> None:
    """Nothing is lost or made up, and what isn't marked is the same words in every prompt."""
    runs = differing(prompts)
    assert [plain_runs(each) for each in runs] == [" ".join(prompt.split()) for prompt in prompts]
    assert all(text for each in runs for text, _ in each)
    assert all(left[1] != right[1] for each in runs for left, right in pairwise(each))


def test_long_prompts_are_shortened_where_they_are_alike() -> None:
    """A thousand equal words leave room for the one that differs."""
    same = "word " * 1000
    runs = differing([f"{same}snow", f"{same}dunes"])
    assert marks(runs[0]) == ["snow"]
    assert "…" in runs[0][0][0]
    assert len(plain_runs(differing(["x" * 5000, "y"])[0])) == PROMPT_CHARACTERS + 1
