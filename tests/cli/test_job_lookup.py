"""Finding jobs in a home's ledger: by id, state and time, each service for itself."""

import json
import time
from datetime import datetime
from pathlib import Path

import pytest
from cli.conftest import Run
from cli.doubles import Book, listed
from ledger.doubles import KEY, SERVICE
from typer import BadParameter

from reelbook.cli.job_lookup import parse_time
from reelbook.secret import Secret


def test_an_id_that_fits_several_or_none_is_said(run: Run, book: Book) -> None:
    """An ambiguous beginning lists what it fits; a whole id is never ambiguous; none can't be resumed."""
    for request_id in ("req_1", "req_12", "req_2", *(f"req_1{letter}" for letter in "abcdefghij")):
        book.job(request_id)
    several = run("jobs", "show", "req_")
    assert (several.exit_code, several.stderr.count("a red fox")) == (2, 10)
    assert several.stderr.endswith("  and more\n")
    assert json.loads(run("jobs", "show", "req_1", "--json").stdout)["id"] == "req_1"
    for unknown in ("nix", "#99", "#x", ""):
        assert run("jobs", "show", unknown).exit_code == 2
    assert json.loads(run("jobs", "show", "3", "--json").stdout)["id"] == "req_2"
    number = book.job(None)  # never answered
    refused = run("jobs", "resume", f"#{number}")
    assert (refused.exit_code, f"reelbook jobs show '#{number}'" in refused.stderr) == (2, True)


def test_a_mistyped_state_is_refused(run: Run, book: Book) -> None:
    """An empty list would say that there are none; a service's own word is found all the same."""
    book.job("req_queued", "queued")
    refused = run("jobs", "--state", "finished")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "No job has the state 'finished'. The states are sending, pending," in refused.stderr
    assert [job["id"] for job in listed(run, "--state", "queued")] == ["req_queued"]
    assert listed(run, "--state", "not-accepted") == []


def test_each_service_has_its_own_sum_and_can_be_listed_alone(run: Run, book: Book) -> None:
    """The sandbox's dollars are never added to real ones; two keys of one host are told apart."""
    book.job("req_live", "completed")
    book.ledger = book.ledger.file.ledger("sandbox", KEY)
    book.job("req_sandbox", "completed")
    assert [(job["id"], job["service"]) for job in listed(run)] == [
        ("req_sandbox", "sandbox"),
        ("req_live", "service.example"),
    ]
    assert [job["id"] for job in listed(run, "--service", "live")] == ["req_live"]
    assert [job["id"] for job in listed(run, "--service", "sandbox")] == ["req_sandbox"]
    sums = json.loads(run("jobs", "--json").stdout)["spend"]
    assert {name: spend["spent_usd"] for name, spend in sums.items()} == {
        "service.example": 0.25,
        "sandbox": 0.25,
    }
    book.ledger = book.ledger.file.ledger(SERVICE, Secret("sk-another"))
    name = f"service.example key {book.ledger.account.fingerprint[:4]}: "
    assert name not in run("jobs").stderr  # it bought nothing
    book.job("req_other", "completed")
    assert f"{name}$0.25 spent" in run("jobs").stderr


def test_a_damaged_ledger_is_said_and_not_an_empty_one(run: Run, home: Path) -> None:
    """Looking puts it aside for good, so nothing else would ever say where it is."""
    home.mkdir()
    (home / "ledger.db").write_bytes(b"rubbish " * 500)
    said = run("jobs").stderr
    assert said.startswith("The ledger was damaged. 0 jobs could be read")
    assert "reelbook balance says what is left." in said
    assert [str(kept) in said for kept in home.glob("ledger.damaged-*.db")] == [True]
    assert "damaged" not in run("jobs").stderr


def test_a_time_is_a_date_or_so_long_ago_and_nothing_else() -> None:
    """ISO dates and times are local unless they name a zone; other words are refused with the forms."""
    for text, ago_seconds in {"90s": 90, "30m": 1800, "1.5h": 5400, "3d": 259200, "1w": 604800}.items():
        assert parse_time(text) == pytest.approx(time.time() - ago_seconds, abs=5)
    assert parse_time("2026-11-21") == datetime(2026, 11, 21).timestamp()
    same_time = datetime.fromisoformat("2026-11-21T12:30+00:00").timestamp()
    assert parse_time("2026-11-21T14:30+02:00") == same_time
    with pytest.raises(BadParameter, match="2026-11-21T14:30"):
        parse_time("yesterday")
