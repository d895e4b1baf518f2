"""One lab, one page and one kernel for all tests of the panels in a browser.

Package-wide, not session-wide: while Playwright's blocking interface is open no other event loop can run on
this thread, and the tests of other packages have loops of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.kept_clips import KeptClips

from browser.lab import PAST, SETUP, Notebook, running_lab
from browser.pages import CHROMIUM, opened_page, unbroken
from reelbook.sandbox import server

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="package")
def lab_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("lab")
    with server.in_thread(folder / "home", executor=KeptClips(differing=5)):
        yield folder


@pytest.fixture(scope="package")
def lab(lab_folder: Path) -> Iterator[str]:
    if CHROMIUM is None:
        pytest.skip("chromium isn't installed: the panels can't be tried in a browser")
    with running_lab(lab_folder) as url:
        yield url


@pytest.fixture(scope="package")
def page(lab: str) -> Iterator[Page]:
    with opened_page() as page:
        yield page


@pytest.fixture(scope="package")
def open_notebook(page: Page, lab: str, lab_folder: Path) -> Notebook:
    notebook = Notebook(page, lab, lab_folder)
    notebook.run(SETUP + PAST)
    return notebook


@pytest.fixture
def notebook(open_notebook: Notebook) -> Iterator[Notebook]:
    """The notebook without what earlier tests showed; no test may leave an error in the page."""
    with unbroken(open_notebook.page):
        open_notebook.clear()
        yield open_notebook
