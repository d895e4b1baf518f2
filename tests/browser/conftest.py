"""One lab, one page and one kernel for all tests of the panels in a browser.

Package-wide, not session-wide: while Playwright's blocking interface is open no other event loop can run on
this thread, and the tests of other packages have loops of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.lab import CHROMIUM, CHROMIUM_ARGS, SETUP, Notebook, running_lab
from reelbook.sandbox import server

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="package")
def lab_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("lab")
    yield folder
    server.stop(folder / "home")


@pytest.fixture(scope="package")
def lab(lab_folder: Path) -> Iterator[str]:
    if CHROMIUM is None:
        pytest.skip("chromium isn't installed: the panels can't be tried in a browser")
    with running_lab(lab_folder) as url:
        yield url


@pytest.fixture(scope="package")
def page(lab: str) -> Iterator[Page]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        yield browser.new_page(viewport={"width": 1280, "height": 1000})
        browser.close()


@pytest.fixture(scope="package")
def open_notebook(page: Page, lab: str, lab_folder: Path) -> Notebook:
    notebook = Notebook(page, lab, lab_folder)
    notebook.run(SETUP)
    return notebook


@pytest.fixture
def notebook(open_notebook: Notebook) -> Iterator[Notebook]:
    """The notebook without what earlier tests showed; no test may leave an error in the page."""
    broken: list[str] = []

    def note(error: Exception) -> None:
        broken.append(str(error))

    open_notebook.page.on("pageerror", note)
    open_notebook.page.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    yield open_notebook
    open_notebook.page.remove_listener("pageerror", note)
    assert broken == []
