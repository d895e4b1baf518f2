"""What the page has of many jobs: only what changed is sent to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from widgets.doubles import clip, job, learn

from reelbook.widgets.board_rows import PageState, Rows, row_of, same_line


def test_time_that_merely_passed_is_not_sent() -> None:
    """The page counts seconds itself; a line is sent when it would be off."""
    page = PageState()
    assert page.news(100.0, {}, {"time": [[14.0, -1], " left"]}) == {"time": [[14.0, -1], " left"]}
    assert page.news(105.0, {}, {"time": [[9.4, -1], " left"]}) == {}
    assert page.news(105.0, {}, {"time": [[30.0, -1], " left"]}) == {"time": [[30.0, -1], " left"]}


@pytest.mark.parametrize(
    ("second", "same"),
    [
        ([[10.0, -1], " left"], True),
        ([[10.0, 1], " left"], False),
        ([[10.0, -1], " more"], False),
        ([[10.0, -1]], False),
        (["10 s", " left"], False),
    ],
)
def test_lines_are_compared_as_they_read_by_then(second: Any, *, same: bool) -> None:
    """Text, pace and seconds have to agree."""
    assert same_line([[14.0, -1], " left"], second, 4.0) is same


def test_a_row_is_sent_whole_and_then_only_what_changed() -> None:
    """What is empty isn't said of a new row; a page that was reloaded has nothing."""
    rows = Rows()
    kept = rows.add(job(progress=0.5))
    first = kept.news(0.0, chosen=False)
    assert (first["key"], first["order"], first["word"], first["bar"]) == ("0", 0, "Processing", 0.5)
    assert "chosen" not in first
    assert kept.news(0.0, chosen=False) == {}
    assert kept.news(0.0, chosen=True) == {"key": "0", "chosen": True}
    kept.page.forget()
    assert kept.news(0.0, chosen=True).keys() >= first.keys()


def test_a_row_follows_its_job(tmp_path: Path) -> None:
    """Its picture has another name once it is another picture."""
    mine = job()
    kept = Rows().add(mine)
    kept.news(0.0, chosen=False)
    learn(mine, state="completed", clip=clip(tmp_path / "a.mp4"))
    kept.update()
    news = kept.news(0.0, chosen=False)
    assert (news["word"], news["picture"]) == ("Completed", "0c")
    assert kept.row == row_of(mine, mine.view(), mine.clip)


def test_rows_stand_newest_first_and_each_job_has_one() -> None:
    """Found by their keys, also by those of their pictures; tallied by experiment."""
    rows = Rows()
    old, new = job(), job(state="sending", request_id=None)
    old.experiment = "light"
    kept = rows.add(old)
    assert rows.add(old) is kept
    rows.add(new)
    assert [each.job for each in rows] == [new, old]
    assert (len(rows), old in rows, job() in rows) == (2, True, False)
    assert (rows.by_key("1"), rows.by_key("0c"), rows.by_key("7")) == (new, old, None)
    assert (rows.of(old), rows.of(job())) == (kept, None)
    assert {name: len(tallies) for name, tallies in rows.groups().items()} == {"": 1, "light": 1}
    assert [each.unsent for each in rows] == [True, False]
