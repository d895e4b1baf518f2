"""A sandbox whose clips are there at once."""

from concurrent.futures import Executor

import pytest
from cli.doubles import TinyClips


@pytest.fixture
def clips() -> Executor:
    """Where this test's clips are drawn."""
    return TinyClips()
