"""The words of the ledger's values."""

from __future__ import annotations

import pytest

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
