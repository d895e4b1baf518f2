"""What the scheduler believes before it knows anything is tested here, so it stays as it is."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def short_jobs() -> None:
    """In the place of the fixture for all tests: nothing is changed."""
