"""The fixtures of a package whose tests share one notebook: one server of notebooks, one page, one kernel.

Package-wide, not session-wide: while Playwright's blocking interface is open no other event loop can run on
this thread, and the tests of other packages have loops of their own. A package's conftest says what is
opened: `address` is the server's, and `kind` the class of the notebook.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from support.kept_clips import KeptClips

from browser.lab import PAST, SETUP
from browser.pages import CHROMIUM, SIZE, OpenNotebook, opened_page, unbroken
from reelbook.sandbox import server

__all__ = ["folder", "notebook", "open_notebook", "page"]


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where all files of the server and of its notebook lie; with a sandbox that draws few clips."""
    if CHROMIUM is None:
        pytest.skip("chromium isn't installed: the panels can't be tried in a browser")
    folder = tmp_path_factory.mktemp("notebooks")
    with server.in_thread(folder / "home", executor=KeptClips(differing=5)):
        yield folder


@pytest.fixture(scope="package")
def page(address: str) -> Iterator[Page]:
    with opened_page() as page:
        yield page


@pytest.fixture(scope="package")
def open_notebook(page: Page, address: str, folder: Path, kind: type[OpenNotebook]) -> OpenNotebook:
    notebook = kind(page, address, folder)
    notebook.run(SETUP + PAST)
    return notebook


@pytest.fixture
def notebook(open_notebook: OpenNotebook) -> Iterator[OpenNotebook]:
    """The notebook without what earlier tests showed; no test may leave an error in the page."""
    open_notebook.page.set_viewport_size(SIZE)
    open_notebook.clear()
    with unbroken(open_notebook.page):
        yield open_notebook
