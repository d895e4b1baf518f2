"""The ledger's values: places, accounts, money and states."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ledger.doubles import fox, intend

from reelbook.errors import InvalidInput
from reelbook.executions import CellId, Place
from reelbook.ledger import Ledger, Marks, Spend, records

HERE = CellId("c1", "Wednesday", "a.ipynb")


def test_a_place_is_known_by_its_label_its_id_or_its_text() -> None:
    """The id counts only where both have one, and only while it is the same."""
    once, cell = Place.once("intro"), Place("hash", 2, HERE)
    assert (once.label, cell.label) == ("intro", None)
    assert once.known_by(once) == "label"
    assert cell.known_by(cell) == "id"
    assert cell.known_by(Place("hash", 2)) == "text"
    assert cell.known_by(Place("hash", 2, CellId("c2", "Wednesday", "a.ipynb"))) == "text"


def test_an_entry_gives_back_what_was_asked_for(ledger: Ledger) -> None:
    """And tells the run that submitted it."""
    submission = fox(experiment="light", place=Place("hash", 1, HERE))
    entry = intend(ledger, submission).entry
    assert entry.request == submission.request
    assert (entry.marks, entry.estimated_cost_usd) == (Marks(), 0.25)
    assert submission.request.sameness == fox().request.sameness != fox(prompt="a hen").request.sameness
    run = fox(place=Place("hash")).earlier_run(entry)
    assert (run.known_by, run.notebook) == ("text", "a.ipynb")
    assert run.at.astimezone(UTC) == datetime(2027, 1, 15, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("service", "origin"),
    [
        ("https://a.example/base", "https://a.example:443"),
        ("http://a.example:8000", "http://a.example:8000"),
        (" sandbox ", "sandbox"),
        ("http://a.example:port", "http://a.example:port"),
    ],
)
def test_a_service_is_known_by_its_origin(service: str, origin: str) -> None:
    """What is no address is taken as it is."""
    assert records.origin(service) == origin


def test_money_is_kept_in_whole_millionths() -> None:
    """Three times ten cents are thirty; what no service can mean stays in the file's range."""
    assert records.micro(0.1) * 3 == records.micro(0.3) == 300_000

    assert records.micro(1e30) == -records.micro(-1e30) == 10**15
    assert Spend(0.1, 0.1, 0.1).committed_usd == 0.3


def test_states_are_named_in_a_persons_words() -> None:
    """What is only written down counts as being sent; a word that no job has is refused."""
    assert records.told_state("intended") == "sending"
    assert records.named_states("Not-Accepted", bool) == ("not accepted",)
    assert records.named_states(["sending"], bool) == ("sending", "intended")
    with pytest.raises(InvalidInput, match="A state is a word"):
        records.named_states(7, bool)  # type: ignore[arg-type]  # what a person may give
    with pytest.raises(InvalidInput) as caught:
        records.named_states(["sk-planted-0123456789abcdef0123456789abcdef"], bool)
    assert "planted" not in str(caught.value)
    assert records.named_states(["queued"], lambda state: state == "queued") == ("queued",)
    with pytest.raises(InvalidInput, match="No job has the state 'queued'"):
        records.named_states(["queued"], lambda _: False)
