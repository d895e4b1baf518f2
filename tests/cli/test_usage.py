"""`reelbook usage` and `reelbook balance`."""

import json
import re
from pathlib import Path

import pytest
from cli.conftest import Run
from cli.doubles import live_service

from reelbook.sandbox.handle import Sandbox

PAST = [
    {"days_ago": 2.5, "seconds": 20, "requests": 4, "usd": 1.0},
    {"days_ago": 9.5, "seconds": 40, "requests": 8, "usd": 2.0},
]


def test_usage_is_drawn_day_by_day(run: Run, sandbox: Sandbox) -> None:
    """The total, a bar for each day with money, and how many requests it took. A program gets JSON with spans
    in ISO times, in order.
    """
    sandbox.plant_history(PAST)
    result = run("usage", "--service", "sandbox")
    assert result.exit_code == 0
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[0] == "$3.00 in 30 days  60 s · 12 requests"
    assert lines[1] == "Balance $25.00, about 8 months at this pace"
    longer, shorter = [line for line in lines if "█" in line]
    assert longer.count("█") == 2 * shorter.count("█")
    assert "40 s · 8 requests" in longer
    asked = sandbox.state()["requests"]["usage"]
    assert f"split by day with {asked} requests." in " ".join(lines)
    told = json.loads(run("usage", "--service", "sandbox", "--days", "7", "--json").stdout)
    assert (told["days"], told["total_usd"], told["total_requests"], told["reading"]) == (7, 1.0, 4, None)
    assert [span["usd"] for span in told["spans"] if span["usd"]] == [1.0]
    assert told["spans"][0]["from"] < told["spans"][-1]["to"]


def test_without_usage_a_line_is_said(run: Run, sandbox: Sandbox) -> None:
    """What will appear there where nothing was spent; where the service tells none, the reason, and 1."""
    assert "Nothing was spent in this time." in run("usage", "--service", "sandbox").stdout
    sandbox.fault("html", endpoint="usage", times=20)
    result = run("usage", "--service", "sandbox", "--days", "7")
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)


@pytest.mark.parametrize(("said", "code"), [({"total_cost_usd": 1e308}, 1), ({"period_days": -5}, 0)])
def test_figures_that_make_no_sense_arent_drawn(run: Run, said: dict[str, float], code: int) -> None:
    """A sum that can't be one leaves nothing to draw; a period that can't be one is the one asked for."""
    body = json.dumps({"total_cost_usd": 3, **said}).encode()
    with live_service(lambda exchange: exchange.answer(200, body)):
        result = run("usage", "--service", "live")
    assert (result.exit_code, "$3.00 in 30 days" in result.stdout) == (code, not code), result.output


def test_the_balance_is_said(run: Run, sandbox: Sandbox) -> None:
    """In words, and for a program."""
    sandbox.plant_history(PAST)
    assert run("balance", "--service", "sandbox").stdout == (
        "Balance $25.00, $3.00 spent in all (sandbox).\n"
    )
    told = json.loads(run("balance", "--service", "sandbox", "--json").stdout)
    assert told == {"service": "sandbox", "balance_usd": 25.0, "to_come_usd": 0.0, "total_spent_usd": 3.0}


@pytest.mark.parametrize(
    ("set_one", "told"),
    [
        ({}, "Set REELBOOK_API_KEY and REELBOOK_BASE_URL. --service sandbox needs none."),
        ({"REELBOOK_BASE_URL": "https://h.example"}, "Set REELBOOK_API_KEY. --service sandbox needs none."),
        ({"REELBOOK_API_KEY": "sk-planted"}, "Set REELBOOK_BASE_URL. --service sandbox needs none."),
    ],
)
def test_what_is_missing_is_said_as_a_terminal_has_it(
    run: Run, home: Path, set_one: dict[str, str], told: str
) -> None:
    """Arguments of a Python call are of no use there."""
    result = run("balance", "--service", "live", **set_one)
    assert (result.exit_code, result.stderr.strip().endswith(told)) == (1, True), result.stderr
    assert not re.search(r"argument|ask=|planted", result.stderr)
