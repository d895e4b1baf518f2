"""Text from outside is safe where it goes."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reelbook.formatting import (
    MAX_NAME_BYTES,
    file_name,
    plain_name,
    spreadsheet_cell,
    terminal_json,
    terminal_line,
    terminal_text,
)

ORDERS = ["\x1b[31m", "\x9b31m", "\x07", "\x7f", "\r", "\u202e", "\u2066", "\u200b", "\x85", "\ud83d"]


@pytest.mark.parametrize("order", ORDERS, ids=ascii)
def test_no_order_reaches_a_terminal(order: str) -> None:
    """Neither C0, C1 nor what turns the writing's direction; line breaks stay where they may."""
    text = f"a{order}b\n\tc"
    shown = [terminal_text(text), terminal_line(text), terminal_json({text: [text]})]
    assert all(each.isprintable() or each in "\n\t" for line in shown for each in line)
    assert order not in "".join(shown)
    assert shown[0].endswith("b\n\tc")
    assert "\n" not in shown[1]
    assert json.loads(shown[2]) == {text: [text]}


@given(
    st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_json_for_a_terminal_says_the_same(value: object) -> None:
    """Escapes stand for what isn't shown: nothing is lost."""
    assert json.loads(terminal_json(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-1", "@SUM(1)", "＝1+1", "＋1", "－1", "＠SUM(1)", "﹦1", "−1"),
        *("\t=1", "\r=1", "\n=1", "  =1", "\u200b=1", "\ufeff=1", "\u00a0=1", "\tx", "\rx", "\nx"),
    ],
    ids=ascii,
)
def test_what_a_spreadsheet_would_calculate_is_text(text: str) -> None:
    """Also behind what isn't seen, and in full width."""
    assert spreadsheet_cell(text) == f"'{text}"
    row = io.StringIO(newline="")
    csv.writer(row).writerow([spreadsheet_cell(text)])
    assert next(csv.reader(io.StringIO(row.getvalue(), newline=""))) == [f"'{text}"]


@pytest.mark.parametrize("text", ["", "a fox", "a = b", "3 foxes", "狐", "(–)", "'x"])
def test_other_text_stays_as_it_is(text: str) -> None:
    """A ' that nobody needs is in nobody's way."""
    assert spreadsheet_cell(text) == text


@given(st.text())
@example("x" * 251)
@example("x" * 252)
@example("..")
@example("CON")
@example("aux.tar")
def test_any_text_has_a_files_name(text: str) -> None:
    """It fits with its ending and what is put behind it, leads nowhere else, and any system takes it."""
    name = file_name(text, ".mp4", room=10)
    assert len(name.encode()) <= MAX_NAME_BYTES - 10
    assert name.isascii()
    assert name.endswith(".mp4")
    assert not set(name) & set('/\\:*?"<>| \0')
    assert plain_name(name) == name


@given(st.lists(st.text(st.sampled_from("aAéÉ./%+狐")), min_size=2, max_size=2, unique=True))
def test_two_texts_have_two_names_also_where_capitals_arent_told_apart(texts: list[str]) -> None:
    """One clip is never taken for another."""
    first, second = (file_name(text, ".mp4").lower() for text in texts)
    assert first != second


@pytest.mark.parametrize("text", ["req_1", "0b5c2e9a-550e", "x" * 241, "a.b~c"], ids=len)
def test_a_short_name_is_kept(text: str) -> None:
    """An id that was a file's name before is one now."""
    assert file_name(text, ".mp4", room=10) == f"{text}.mp4"


@pytest.mark.parametrize("name", ["..", "con", "NUL.txt", "a.", "a ", "x" * 256, "狐" * 86, ""], ids=ascii)
def test_a_name_that_not_every_system_takes_gets_a_hash(name: str) -> None:
    """Windows has devices, leaves dots out, and every system has an end."""
    plain = plain_name(name)
    assert plain != name
    assert plain == plain_name(plain)
    assert plain != plain_name(name + "x")


def test_an_ending_outlives_a_name_that_is_cut() -> None:
    """What kind of file it is can still be seen."""
    assert plain_name("x" * 300 + ".mp4").endswith(".mp4")
