"""`reelbook jobs receipt`, and what is said before the limit's end."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from cli.conftest import Run

import reelbook as rb
from reelbook.sandbox.handle import Sandbox


@pytest.fixture
def bought(sandbox: Sandbox) -> None:
    """A clip in an experiment and one outside of it."""
    with rb.connect("sandbox") as session:
        with session.experiment("fog"):
            session.text_to_video("a fox", duration_seconds=2).result(30)
        session.text_to_video("a hen", duration_seconds=1).result(30)


@pytest.mark.usefixtures("bought")
def test_a_receipt_is_printed_from_the_ledger(run: Run, sandbox: Sandbox) -> None:
    """Of one experiment, and of all there is; the service isn't asked."""
    asked = sandbox.state()["requests"]
    head, line, last = run("jobs", "receipt", "fog").stdout.splitlines()
    assert (head, line.endswith("a fox"), last) == (
        "“fog” (sandbox, play money).",
        True,
        "1 clip, 2 s: $0.10 charged.",
    )
    assert run("jobs", "receipt").stdout.splitlines()[-1] == "2 clips, 3 s: $0.15 charged."
    assert sandbox.state()["requests"] == asked


@pytest.mark.usefixtures("bought")
def test_a_receipt_is_written_for_a_spreadsheet(run: Run, folder: Path) -> None:
    """A file that is there stays, unless --force; “-” prints it."""
    written = run("jobs", "receipt", "fog", "--csv", "fog.csv")
    assert (written.exit_code, written.stdout) == (0, "fog.csv: 1 clip, 2 s: $0.10 charged.\n")
    with (folder / "fog.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [line["prompt"] for line in csv.DictReader(file)] == ["a fox", ""]
    again = run("jobs", "receipt", "--csv", "fog.csv")
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)
    assert run("jobs", "receipt", "--csv", "fog.csv", "--force").exit_code == 0
    assert run("jobs", "receipt", "fog", "--csv", "-").stdout.startswith("submitted_at,request_id,")


@pytest.mark.usefixtures("bought")
def test_a_clip_that_a_tool_bought_is_in_the_receipt_and_told_apart_in_the_list(run: Run) -> None:
    """It has no experiment, and no line in the list of what was submitted."""
    with rb.connect("sandbox") as session:
        call = session.call_tool("generate_video_from_text", {"prompt": "an owl", "duration_seconds": 1})
        session.job(call.result(30).structured["request_id"]).result(30)
    assert run("jobs", "receipt").stdout.splitlines()[-1] == "3 clips, 4 s: $0.20 charged."
    assert run("jobs", "receipt", "fog").stdout.splitlines()[-1] == "1 clip, 2 s: $0.10 charged."
    assert "$0.20 spent ($0.05 through agent tools) · $0.00 reserved" in run("jobs").stderr


@pytest.mark.usefixtures("bought")
def test_a_name_that_no_experiment_has_is_said_with_those_there_are(run: Run) -> None:
    """A slip of the keyboard doesn't look like a free experiment."""
    result = run("jobs", "receipt", "frog")
    assert (result.exit_code, result.stderr) == (
        2,
        "Nothing was bought in an experiment called “frog”. The last ones are “fog”.\n",
    )


def test_a_home_without_clips_has_an_empty_receipt(run: Run, home: Path) -> None:
    """And nothing is made for it."""
    assert run("jobs", "receipt").stdout == "Nothing was bought.\n"
    assert not home.exists()


def test_the_limit_s_end_is_said_beside_the_cost(
    run: Run, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is sent, and once."""
    monkeypatch.setenv("REELBOOK_MAX_SPEND", "0.12")
    result = run("generate", "a fox", "--duration", "2", "--service", "sandbox")
    note = "This leaves $0.02 of your limit of $0.12: not enough for another clip like it."
    assert (result.exit_code, result.stderr.splitlines()[:2]) == (
        0,
        ["2 s × $0.05 = about $0.10, sandbox", note],
    )
    assert result.stderr.count("This leaves") == 1
