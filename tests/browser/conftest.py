"""One lab, one page and one kernel for all tests of the panels in a browser."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page

from browser.lab import Notebook, running_lab
from browser.notebooks import *  # noqa: F403 - its fixtures


@pytest.fixture(scope="package")
def address(folder: Path) -> Iterator[str]:
    with running_lab(folder) as url:
        yield url


@pytest.fixture
def tab(page: Page) -> Iterator[Page]:
    """A page of the test's own: the notebook stays open in the other."""
    assert page.context.browser is not None
    with closing(page.context.browser.new_page()) as tab:
        yield tab


@pytest.fixture(scope="package")
def kind() -> type[Notebook]:
    return Notebook
