"""A notebook on a page in a real JupyterLab."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser.lab import Notebook, running_lab
from browser.pages import opened_page


@contextmanager
def opened_notebook(folder: Path | None = None) -> Iterator[Notebook]:
    """A notebook in that folder, whose `home` is the kernel's, or in one of its own."""
    if folder is None:
        with tempfile.TemporaryDirectory() as own, opened_notebook(Path(own)) as notebook:
            yield notebook
        return
    with running_lab(folder) as url, opened_page() as page:
        yield Notebook(page, url, folder)
