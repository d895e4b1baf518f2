"""A notebook on a page in a real JupyterLab, and what Chromium says of the page."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
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


def growth_of(notebook: Notebook) -> Callable[[], dict[str, float]]:
    """Tells how much the page's memory, nodes and times have grown since now, and then since it told last."""
    tools = notebook.page.context.new_cdp_session(notebook.page)
    tools.send("Performance.enable")

    def figures() -> dict[str, float]:
        tools.send("HeapProfiler.collectGarbage")
        return {each["name"]: each["value"] for each in tools.send("Performance.getMetrics")["metrics"]}

    last = figures()

    def growth() -> dict[str, float]:
        nonlocal last
        before, last = last, figures()
        return {name: value - before[name] for name, value in last.items()}

    return growth
