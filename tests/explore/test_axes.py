"""The notation in which axes are typed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reelbook.errors import InvalidInput
from reelbook.explore.axes import numbered, parsed, typed


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("fox, heron", ("fox", "heron")),
        ("fox", ("fox",)),
        ('fox, "a heron, wading"', ("fox", "a heron, wading")),
        ("fox || a heron, wading", ("fox", "a heron, wading")),
        ('fox, "sun||moon"\n "5" , "1-2"', ("fox", "sun||moon", 5, "1-2")),
        ('5" wide || 7" wide', ('5" wide', '7" wide')),
        ('"a" fox, "an owl', ('"a" fox', '"an owl')),
        ("fox\nheron, bear", ("fox", "heron", "bear")),
        ("1, -1, 1.5", (1, -1, 1.5)),
        ("007, +5, 1.50", ("007", "+5", "1.50")),
        ("1-5", (1, 2, 3, 4, 5)),
        ("1-5 (+2)", (1, 3, 5)),
        ("10-5 (-3)", (10, 7)),
        ("3-1", (3, 2, 1)),
        ("-2--1", (-2, -1)),
        ("1-10 [5]", (1, 3, 5, 7, 10)),
        ("0.0-1.0 [3]", (0, 0.5, 1)),
        ("0.2-1 [5]", (0.2, 0.4, 0.6, 0.8, 1)),
        ("1-2 (+0.5)", (1, 1.5, 2)),
        ("7-9 [1]", (7,)),
        ("1, 2, .., 10", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
        ("1, .., 3", (1, 2, 3)),
        ("10, 8, ..., 3, 99", (10, 8, 6, 4, 3, 99)),
        ("1-3, 9", (1, 2, 3, 9)),
        ("3-4 people", ("3-4 people",)),
        (", ,", ()),
        ("", ()),
    ],
)
def test_an_axis_is_read_as_typed(typed: str, values: tuple[object, ...]) -> None:
    """In the notation of A1111 and SwarmUI; what is no number is a text."""
    assert repr(parsed(typed)) == repr(values)  # 1 isn't 1.0, which a prompt would say


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("1-5 (-1)", "don't lead from 1 to 5"),
        ("1-5 (0)", "don't lead from 1 to 5"),
        ("fox, .., hen", "stands between numbers"),
        (".., 5", "stands between numbers"),
        ("1, ..", "stands between numbers"),
        ("1, 1, .., 5", "don't lead from 1 to 5"),
        ("1-999999999", "at most 10,000 values"),
        ("1-2 [99999]", "at most 10,000 values"),
        ("1, .., 999999999", "at most 10,000 values"),
        (",".join(["1-9000"] * 2), "at most 10,000 values"),
    ],
)
def test_what_leads_nowhere_is_told(typed: str, told: str) -> None:
    """Before an endless axis is made."""
    with pytest.raises(InvalidInput, match=told):
        parsed(typed)


@given(st.integers(-500, 500), st.integers(-500, 500), st.integers(1, 60))
def test_ranges_keep_to_their_ends(start: int, end: int, count: int) -> None:
    """So many numbers evenly from the first to the last, and steps of one with both."""
    assert parsed(f"{start}-{end}") == (*range(start, end, 1 if start <= end else -1), end)
    spaced = parsed(f"{start}-{end} [{count}]")
    assert (len(spaced), spaced[0]) == (count, start)
    assert count == 1 or spaced[-1] == end


@example(
    ["a fox", "a heron, wading", 'it "runs"', "one\nand two", "x\r\ny", "sun||moon", "1-5", "..", "", " x"]
)
@given(st.lists(st.text()))
def test_typed_texts_are_read_back(values: list[str]) -> None:
    """Whatever stands in them: commas, quotes, lines, what separates values or looks like a range."""
    assert list(map(str, parsed(typed(values)))) == values


def test_labels_are_distinct() -> None:
    """Also where one is itself called as a second one would be."""
    assert list(numbered(["a", "a", "a (2)", "a"])) == ["a", "a (3)", "a (2)", "a (4)"]


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """There is no other error."""
    try:
        assert isinstance(parsed(text), tuple)
    except InvalidInput as error:
        assert str(error)  # noqa: PT017 - both ways are right
