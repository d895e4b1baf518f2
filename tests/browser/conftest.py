"""One lab, one page and one kernel for all tests of the panels in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.lab import Notebook, running_lab
from browser.notebooks import *  # noqa: F403 - its fixtures


@pytest.fixture(scope="package")
def address(folder: Path) -> Iterator[str]:
    with running_lab(folder) as url:
        yield url


@pytest.fixture(scope="package")
def kind() -> type[Notebook]:
    return Notebook
