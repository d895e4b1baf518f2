"""The tray of picks, its plan of longer ones, and the form that hands them over."""

import time
from pathlib import Path
from typing import Any

import pytest
from support.waiting import until
from widgets.doubles import asks, says

from reelbook.session import Job, Session
from reelbook.widgets.hand_over_form import HandOverForm
from reelbook.widgets.tray import Tray
from reelbook.wire import DAY_SECONDS


@pytest.fixture
def picks(session: Session) -> list[Job]:
    """Two clips that were picked, the later one first."""
    jobs = [
        session.text_to_video(f"a fox in {place}", duration_seconds=length, seed=7)
        for place, length in (("snow", 1), ("rain", 6))
    ]
    for job in reversed(jobs):
        job.result(30)
        session.pick(job)
    return jobs[::-1]


def test_the_tray_shows_what_was_picked_today(session: Session, picks: list[Job]) -> None:
    """In the order of picking, with what it leads to as far as somebody answers; not those of other days."""
    tray = Tray(session)
    assert (tray.picks, tray.face["said"], tray.face["offers"]) == (tuple(picks), "2 picks", [])
    assert asks(tray, "posters", keys=[tray.shown[0][0]])["buffers"][0]
    compared = list[Any]()
    tray.on_compare(compared.append)
    tray.on_judge(compared.append)
    assert [name for name, _ in tray.face["offers"]] == ["compare", "judge"]
    says(tray, "compare")
    assert compared == [tuple(picks)]
    for job in picks:
        job.mark(picked=False)
    until(lambda: tray.face["said"] == "")
    entry = picks[0].entry_id
    assert entry is not None
    with pytest.MonkeyPatch.context() as then:
        now = time.time()
        then.setattr(time, "time", lambda: now - DAY_SECONDS)
        session.pick(picks[0])
    assert session.picks() == (picks[0],)
    tray.refresh()
    assert tray.picks == ()


def test_longer_ones_are_bought_after_their_price_was_said(session: Session, picks: list[Job]) -> None:
    """Same prompt and seed; those that last as long already are left out, and a double press buys once."""
    tray = Tray(session)
    made = list[Job]()
    tray.on_longer(made.extend)
    says(tray, "longer", seconds=5)
    until(lambda: tray.longer["button"] == "Make 1 clip · $0.25")
    says(tray, "longer", seconds=10)
    until(lambda: tray.longer["button"] == "Make 2 clips · $1.00")
    assert session.sandbox is not None
    session.sandbox.settings(balance_usd=0.5)
    session.balance()
    until(lambda: tray.longer["off"].startswith("The balance of $0.50"))
    session.sandbox.settings(balance_usd=7)
    says(tray, "buy")
    until(lambda: (tray.message["text"], tray.longer["off"]) == ("The balance is $7.00.", ""))
    assert made == []
    tray._pressed.clear()
    says(tray, "buy")
    says(tray, "buy")
    requests = [job.request for job in made]
    asked = [(each.prompt, each.seed, each.duration_seconds) for each in requests if each is not None]
    assert asked == [("a fox in rain", 7, 10), ("a fox in snow", 7, 10)]
    assert tray.longer == {}


def test_the_form_hands_over_what_is_chosen(
    session: Session, picks: list[Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into the working folder, under the title; the page can fetch the file, a second one gets a number."""
    monkeypatch.chdir(tmp_path)
    form = HandOverForm(session, [("2 picks of today", picks), ("one", picks[:1])])
    assert form.face["offers"] == ["2 picks of today", "one"]
    assert form.face["title"] == "A fox in …"
    for name in ("a-fox-in.html", "a-fox-in-2.html"):
        says(form, "save", title="", prompts=True, seeds=False, notes=True)
        until(lambda: (tmp_path / name).exists() and form.result.get("file") == name)  # noqa: B023 - at once
    assert form.result["rows"][1:3] == [
        ["Prompts, notes", "inside"],
        ["Key, account, folders", "none found inside"],
    ]
    told = asks(form, "chunk", key="saved", index=0)
    assert told["buffers"][0] == (tmp_path / "a-fox-in-2.html").read_bytes()[: len(told["buffers"][0])]
    picks[0].mark(note=f"in {Path.home()}")
    form.which = 1
    says(form, "save", title="x", prompts=True, seeds=True, notes=True)
    until(lambda: "home folder" in form.message["text"])
    assert not (tmp_path / "x.html").exists()
