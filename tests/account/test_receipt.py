"""Receipts: what clips cost, one by one and in all."""

import csv
import io
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from account.accounts import NOON, entry

import reelbook as rb
from reelbook.account.receipt import COLUMNS, Receipt, receipt_of
from reelbook.errors import InvalidInput, ReelbookError
from reelbook.ledger import ToolJob
from reelbook.sandbox.handle import Sandbox

PAID = {"cost_usd": 0.25, "aspect_ratio": "16:9", "seed": 7, "experiment": "fog"}


def receipt(*known: dict[str, Any], name: str | None = "fog") -> Receipt:
    entries = [
        entry(number, sent=number, **{"state": "completed", **PAID, **each})
        for number, each in enumerate(known, 1)
    ]
    return receipt_of(entries, {1: "sandbox", 2: "video.example"}, name)


def lines(made: Receipt) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made.to_csv(), newline="")))


def test_the_sums_tell_how_sure_they_are() -> None:
    """Charged, estimated and uncertain apart; what cost nothing isn't in it."""
    made = receipt(
        {"actual_seconds": 5.04, "cost_usd": 0.252},
        {"state": "intended", "cost_usd": None},
        {"state": "failed", "cost_usd": None},
        {"state": "refused", "cost_usd": None},
    )
    assert [row.state for row in made.rows] == ["completed", "sending", "failed"]  # as jobs have them
    assert [row.cost_is for row in made.rows] == ["charged", "estimated", "uncertain"]
    assert (made.charged_usd, made.estimated_usd, made.uncertain_usd) == (0.252, 0.25, 0.25)
    assert (made.total_usd, made.total_seconds) == (0.752, 15.04)
    assert made.summary == "3 clips, 15.04 s: $0.252 charged, $0.25 estimated, $0.25 uncertain."


def test_play_money_and_real_money_are_never_added_up() -> None:
    """Each service has its own sums, in words and in the file."""
    made = receipt({}, {"account_id": 2}, {"account_id": 2})
    assert made.summary == "3 clips, 15 s: sandbox: $0.25 charged; video.example: $0.50 charged."
    totals = [line for line in lines(made) if line["submitted_at"] == "total"]
    assert [(each["service"], each["cost_usd"]) for each in totals] == [
        ("sandbox", "0.25"),
        ("video.example", "0.5"),
    ]


def test_the_file_has_a_line_for_each_clip_and_the_sums(tmp_path: Path) -> None:
    """Units in the columns' names, times with their zone, nothing for what isn't known; Excel reads it.

    A table for pandas has no sums; a seed keeps all its digits beside one that is random.
    """
    made = receipt({"prompt": 'a "fox",\nfür Bär', "seed": -1}, {"seed": 2**70, "request_id": "req_2"})
    text = made.to_csv(tmp_path / "fog.csv")
    data = (tmp_path / "fog.csv").read_bytes()
    assert data == b"\xef\xbb\xbf" + text.encode()
    with pytest.raises(InvalidInput, match="There is no folder"):
        made.to_csv(tmp_path / "nowhere" / "fog.csv")
    with pytest.raises(ReelbookError, match="The receipt could not be written: Is a directory"):
        made.to_csv(tmp_path)
    table = made.to_pandas()
    assert (list(table.columns), table["cost_usd"].sum()) == (list(COLUMNS), 0.5)
    assert (table["seed"][0], table["seed"][1]) == (None, 2**70)
    first, second, total = lines(made)
    assert tuple(first) == COLUMNS
    assert {"asked_seconds", "actual_seconds", "cost_usd"} <= set(COLUMNS)
    assert datetime.fromisoformat(first["submitted_at"]) == made.rows[0].submitted_at
    assert first["prompt"] == 'a "fox",\nfür Bär'
    assert first["seed"] == first["request_id"] == first["actual_seconds"] == ""
    assert (second["seed"], second["request_id"], second["cost_usd"]) == (str(2**70), "req_2", "0.25")
    sums = [total[name] for name in ("submitted_at", "actual_seconds", "cost_usd", "cost_is")]
    assert sums == ["total", "10", "0.5", "charged"]


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t=", " =", "\r", "\n="])
def test_no_cell_is_a_formula(begin: str) -> None:
    """A prompt or a name that a spreadsheet would calculate begins with an apostrophe; a number stays one."""
    text = f"{begin}HYPERLINK(1)"
    clip, total = lines(receipt({"prompt": text, "experiment": text, "seed": -5}, name=text))
    assert (clip["prompt"], clip["experiment"], total["experiment"]) == (f"'{text}",) * 3
    assert clip["seed"] == "-5"


def test_the_table_for_the_page_shows_text_as_text() -> None:
    """A prompt is no markup; many clips are cut off and counted."""
    made = receipt({"prompt": "<img src=x onerror=alert(1)>"}, name="<b>")
    page = made._repr_html_()
    assert page.startswith('<table class="mathjax_ignore tex2jax_ignore">')  # no formula between two "$"
    assert "<img" not in page
    assert "&lt;img" in page
    assert "&lt;b&gt;" in page
    many = Receipt(made.rows * 103, "fog")
    assert "and 3 more" in many._repr_html_()
    assert "play money" in page
    seeds = receipt({"seed": 0}, {"seed": -1}, {"seed": None, "mode": "image-to-video"})._repr_html_()
    assert [f">{seed}</td>" in seeds for seed in ("0", "random")] == [True, True]


def test_the_text_is_a_line_for_each_clip() -> None:
    """It has no control characters; an empty receipt says that it is empty."""
    made = receipt(
        {"prompt": "a fox\x1b[31m\nruns " + "far " * 40}, {"state": "processing", "cost_usd": None}
    )
    head, first, second, last = str(made).splitlines()
    assert head == "“fog” (sandbox, play money)."
    assert ("$0.25" in first, "\x1b" in first, first.endswith("…")) == (True, False, True)
    assert "about $0.25" in second
    assert last == "2 clips, 10 s: $0.25 charged, $0.25 estimated."
    assert str(Receipt((), "fog")) == "“fog”: nothing was bought."
    assert Receipt(())._repr_html_() == "<p>Nothing was bought.</p>"


def test_an_experiment_has_its_receipt(session: rb.Session, sandbox: Sandbox) -> None:
    """Its own clips, oldest first, and nothing is asked for it; without a name it is all of them."""
    with session.experiment("fog") as fog:
        session.text_to_video("a fox", duration_seconds=1, seed=7).result(30)
        session.text_to_video("a hen", duration_seconds=2).result(30)
    between = datetime.now().astimezone()
    session.text_to_video("a cat", duration_seconds=1).result(30)
    asked = sandbox.state()["requests"]
    made = fog.receipt()
    assert [(row.prompt, row.cost_usd, row.cost_is, row.service) for row in made.rows] == [
        ("a fox", 0.05, "charged", "sandbox"),
        ("a hen", 0.1, "charged", "sandbox"),
    ]
    assert (made, made.experiment) == (session.receipt("fog"), "fog")
    everything = session.receipt()
    assert [row.prompt for row in everything.rows] == ["a fox", "a hen", "a cat"]
    assert everything.total_usd == session.spending().of_key.spent_usd
    assert session.receipt(since=between).rows == everything.rows[2:]
    assert session.receipt(until=between.timestamp()).rows == everything.rows[:2]
    assert session.receipt(since=everything.rows[0].submitted_at) == everything
    assert session.receipt("no such").rows == ()
    assert sandbox.state()["requests"] == asked


def test_a_clip_of_an_agent_tool_has_its_line_at_its_time() -> None:
    """With what the service said about it; an unknown length isn't shown as 0 s."""
    own = entry(1, "completed", sent=100, **PAID)
    tools = [ToolJob(1, f"req-{at}", "a hen", NOON + at, None, 0.1) for at in (50, 150)]
    made = receipt_of([own], {1: "sandbox"}, None, tools)
    assert [row.mode for row in made.rows] == ["agent tool", "text-to-video", "agent tool"]
    assert (made.charged_usd, made.total_seconds) == (0.45, 5.0)
    assert " 0 s" not in f"{made}{made._repr_html_()}"
    assert lines(made)[0]["asked_seconds"] == lines(made)[0]["actual_seconds"] == ""
