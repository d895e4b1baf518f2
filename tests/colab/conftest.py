"""One environment, one classic Notebook, one page and one kernel for all tests of this package.

Package-wide, not session-wide: see browser/conftest.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.lab import PAST, SETUP
from browser.pages import CHROMIUM, opened_page, unbroken
from support.kept_clips import KeptClips

from colab.classic import ClassicNotebook, running_classic
from colab.environment import Environment, environment
from reelbook.sandbox import server

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="package")
def colab() -> Environment:
    return environment()


@pytest.fixture(scope="package")
def classic_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("classic")
    with server.in_thread(folder / "home", executor=KeptClips(differing=5)):
        yield folder


@pytest.fixture(scope="package")
def classic(colab: Environment, classic_folder: Path) -> Iterator[str]:
    if CHROMIUM is None:
        pytest.skip("chromium isn't installed: the panels can't be tried in a browser")
    with running_classic(colab.python, classic_folder) as url:
        yield url


@pytest.fixture(scope="package")
def page(classic: str) -> Iterator[Page]:
    with opened_page() as page:
        yield page


@pytest.fixture(scope="package")
def open_notebook(page: Page, classic: str, classic_folder: Path) -> ClassicNotebook:
    notebook = ClassicNotebook(page, classic, classic_folder)
    notebook.run(SETUP + PAST)
    return notebook


@pytest.fixture
def notebook(open_notebook: ClassicNotebook) -> Iterator[ClassicNotebook]:
    """The notebook without what earlier tests showed; no test may leave an error in the page."""
    open_notebook.clear()
    # A view that was on its way to a cell now empty is an error of the notebook's own.
    open_notebook.page.wait_for_timeout(300)
    with unbroken(open_notebook.page):
        yield open_notebook
