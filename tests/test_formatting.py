"""Values are written one way, and text from outside is safe where it goes."""

import csv
import io
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reelbook.formatting import (
    MAX_NAME_BYTES,
    age,
    clock,
    count,
    counting,
    date,
    dollars,
    epoch_seconds,
    exact_dollars,
    file_name,
    file_size,
    hour,
    iso_time,
    local,
    plain,
    plain_name,
    seconds,
    spreadsheet_cell,
    terminal_json,
    terminal_line,
    terminal_text,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0
ORDERS = ["\x1b[31m", "\x9b31m", "\x07", "\x7f", "\r", "\u202e", "\u2066", "\u200b", "\x85", "\ud83d"]


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def clips(number: int) -> str:
    return count(number, "clip")


@pytest.mark.parametrize(
    ("usd", "rounded", "exact"),
    [
        (0.25, "$0.25", "$0.25"),
        (0.0125, "$0.01", "$0.0125"),
        (1234.5, "$1,234.50", "$1,234.50"),
        (-0.25, "-$0.25", "-$0.25"),
        (-0.001, "$0.00", "-$0.001"),
        (-0.0045, "$0.00", "-$0.0045"),
        (-0.005, "-$0.01", "-$0.005"),
        (0, "$0.00", "$0.00"),
    ],
)
def test_money_is_in_dollars_and_cents(usd: float, rounded: str, exact: str) -> None:
    """Rounded to cents, or with as many digits as it has; nothing is never negative."""
    assert (dollars(usd), exact_dollars(usd)) == (rounded, exact)


@pytest.mark.parametrize(
    ("write", "value", "said"),
    [
        *((clips, number, said) for number, said in ((0, "0 clips"), (1, "1 clip"), (1000, "1,000 clips"))),
        *((file_size, size, said) for size, said in ((1, "1 kB"), (50_400, "50 kB"), (1_250_000, "1.2 MB"))),
        *((seconds, value, said) for value, said in ((-1, "0 s"), (14.4, "14 s"), (59.6, "1 min"))),
        *((seconds, value, said) for value, said in ((60, "1 min"), (125, "2 min 5 s"))),
        *((seconds, value, said) for value, said in ((3599.5, "1 h"), (5700, "1 h 35 min"), (7250, "2 h"))),
        (plain, ["asked ", counting(3.04, 1), " ago"], "asked 3 s ago"),
        (plain, [counting(0.2, -1), " left"], "1 s left"),
    ],
)
def test_figures_have_their_units(write: Callable[[Any], str], value: object, said: str) -> None:
    """Counts with a plural, sizes in the unit that fits, times in whole seconds without "0 s" at the end.
    What is left and counts on never reads as nothing.
    """
    assert write(value) == said


@pytest.mark.parametrize(
    ("passed", "said"),
    [(5, "just now"), (300, "5 min ago"), (7200, "2 h ago"), (DAY, "1 day ago"), (3 * DAY, "3 days ago")],
)
def test_an_age_reads_as_a_person_says_it(passed: float, said: str) -> None:
    """Long ago is a date; what is no time is given back as it is, and nothing is "never"."""
    assert age(iso(time.time() - passed)) == said
    assert (age(None), age("yesterday")) == ("never", "yesterday")
    assert age("2026-01-21T12:00:00") == "21 Jan 2026"


def test_a_time_is_read_and_written() -> None:
    """Without a zone it is taken as UTC; a time of today needs no date."""
    assert epoch_seconds("2026-11-21T12:00:00") == epoch_seconds("2026-11-21T13:00:00+01:00") == NOW
    assert (epoch_seconds("soon"), epoch_seconds(None), iso_time(None)) == (None, None, None)
    assert epoch_seconds(iso_time(NOW)) == NOW
    assert (date(iso(NOW)), date("soon"), date(None)) == ("21 Nov 2026", "soon", "")
    now = time.time()
    assert clock(local(now)) == f"{local(now):%H:%M:%S}"
    assert clock(local(now - 3 * DAY)) == f"{local(now - 3 * DAY):%d %b %Y, %H:%M:%S}"
    at = datetime(2026, 12, 4, 17, 0).timestamp()
    assert [hour(at, at - 3600), hour(at, at - DAY)] == ["17:00", "17:00 on 4 Dec"]


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


@pytest.mark.parametrize(
    ("width", "shown"), [(None, "a red fox"), (9, "a red fox"), (8, "a red f…"), (6, "a red…")]
)
def test_a_line_is_cut_to_its_width(width: int | None, shown: str) -> None:
    """What is left out leaves a mark, and no blank before it."""
    assert terminal_line("a  red\nfox", width) == shown


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
    """Also behind what isn't seen, and in full width; other text stays as it is."""
    assert spreadsheet_cell(text) == f"'{text}"
    row = io.StringIO(newline="")
    csv.writer(row).writerow([spreadsheet_cell(text)])
    assert next(csv.reader(io.StringIO(row.getvalue(), newline=""))) == [f"'{text}"]
    others = ["", "a fox", "a = b", "3 foxes", "狐", "(–)", "'x"]
    assert [spreadsheet_cell(each) for each in others] == others


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
    assert plain_name("x" * 300 + ".mp4").endswith(".mp4")  # what kind of file it is can still be seen
