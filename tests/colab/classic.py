"""A classic Notebook 6.5.7 on Colab's versions, driven by Playwright through the machine's own Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from browser.lab import EMPTY, SECONDS, free_port, running_server, server_environment

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


@contextmanager
def running_classic(python: str, folder: Path) -> Iterator[str]:
    """Starts a classic Notebook of `python` whose every file lies in `folder`; yields its address."""
    port = free_port()
    command = [
        *(python, "-m", "notebook", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *("--NotebookApp.port_retries=0", "--NotebookApp.token=", "--NotebookApp.password="),
        f"--notebook-dir={folder / 'work'}",
    ]
    with running_server(command, server_environment(folder), folder, port) as url:
        yield url


class ClassicNotebook:
    """One notebook open in a page: run code in it, look at what a cell shows."""

    def __init__(self, page: Page, url: str, folder: Path, name: str = "test") -> None:
        self.page = page
        self.file = folder / "work" / f"{name}.ipynb"
        self.file.write_text(json.dumps(EMPTY))
        self.url = f"{url}/notebooks/{name}.ipynb"
        page.goto(self.url)
        self._until_ready()

    def reload(self) -> None:
        """Loads the page anew; the kernel goes on."""
        self.page.goto(self.url)
        self._until_ready()

    def run(self, code: str) -> Locator:
        """Runs `code` in a new cell at the end and waits for it; returns the cell."""
        place = self.page.evaluate(
            """(code) => new Promise((done) => {
              const notebook = Jupyter.notebook;
              const place = notebook.ncells();
              const cell = notebook.insert_cell_at_index('code', place);
              const ended = (_, told) => {
                if (told.cell !== cell) return;
                notebook.events.off('finished_execute.CodeCell', ended);
                // The number comes with the reply, which may follow the end.
                const look = () => (cell.input_prompt_number > 0 ? done(place) : setTimeout(look, 10));
                look();
              };
              notebook.events.on('finished_execute.CodeCell', ended);
              cell.set_text(code);
              notebook.select(place);
              cell.execute();
            })""",
            code,
        )
        return self.page.locator("#notebook-container > .cell").nth(place)

    def start(self, code: str) -> None:
        """Runs `code` in a new cell and doesn't wait for it."""
        self.page.evaluate(
            """(code) => {
              const notebook = Jupyter.notebook;
              const cell = notebook.insert_cell_at_index('code', notebook.ncells());
              cell.set_text(code);
              cell.execute();
            }""",
            code,
        )
        self.page.wait_for_function(_BUSY)

    def busy(self) -> bool:
        """Whether the kernel is running a cell."""
        return bool(self.page.evaluate(_BUSY))

    def interrupt(self) -> None:
        """What the notebook's Stop button does; waits until the kernel is free."""
        self.page.evaluate("Jupyter.notebook.kernel.interrupt()")
        self.page.wait_for_function(f"!({_BUSY})", timeout=20 * SECONDS)

    def value(self, expression: str) -> Any:
        """What `expression` is in the kernel."""
        cell = self.run(f"import json; print(json.dumps({expression}))")
        return json.loads(cell.locator(".output_stdout").first.inner_text(timeout=20_000))

    def executions(self) -> list[int | None]:
        """Each cell's execution count: a cell that ran again has another one, a new cell adds one."""
        counts: list[int | None] = self.page.evaluate(
            "Jupyter.notebook.get_cells().map((cell) => cell.input_prompt_number ?? null)"
        )
        return counts

    def clear(self) -> None:
        """Takes away what the cells show."""
        self.page.evaluate("Jupyter.notebook.clear_all_output()")

    def save(self) -> dict[str, Any]:
        """Saves the notebook and reads it back."""
        self.page.evaluate("Jupyter.notebook.save_notebook()")
        self.page.wait_for_function("!Jupyter.notebook.dirty")
        saved: dict[str, Any] = json.loads(self.file.read_text())
        return saved

    def _until_ready(self) -> None:
        self.page.wait_for_function(
            "window.Jupyter?.notebook?._fully_loaded && Jupyter.notebook.kernel?.is_connected()"
            " && Jupyter.notebook.kernel.widget_manager && !Jupyter.notebook.kernel_busy",
            timeout=60 * SECONDS,
        )


# The page's last word of the kernel: nothing else in it says whether a cell is under way.
_BUSY = "Jupyter.notebook.kernel_busy === true"
