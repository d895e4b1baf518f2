"""The words of the ledger's values: services and states."""

from __future__ import annotations

import pytest

from reelbook.errors import InvalidInput
from reelbook.ledger import records


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
