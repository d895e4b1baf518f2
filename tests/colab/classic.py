"""A classic Notebook 6.5.7 on Colab's versions, driven by Playwright through the machine's own Chromium."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser.lab import free_port, running_server, server_environment
from browser.pages import OpenNotebook


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


class ClassicNotebook(OpenNotebook):
    """One notebook open in a classic Notebook."""

    CELLS = "#notebook-container > .cell"
    RUN = """(code) => new Promise((done) => {
      const notebook = Jupyter.notebook;
      const place = notebook.ncells();
      const cell = notebook.insert_cell_at_index('code', place);
      const ended = (_, told) => {
        if (told.cell !== cell) return;
        notebook.events.off('finished_execute.CodeCell', ended);
        const outputs = () => cell.output_area.toJSON()
          .filter((one) => ['error', 'stream'].includes(one.output_type));
        // The number comes with the reply, which may follow the end.
        const look = () => (cell.input_prompt_number > 0 ? done([place, outputs()]) : setTimeout(look, 10));
        look();
      };
      notebook.events.on('finished_execute.CodeCell', ended);
      cell.set_text(code);
      notebook.select(place);
      cell.execute();
    })"""
    START = """(code) => {
      const notebook = Jupyter.notebook;
      const place = notebook.ncells();
      const cell = notebook.insert_cell_at_index('code', place);
      cell.set_text(code);
      cell.execute();
      return place;
    }"""
    OUTPUTS = "(place) => Jupyter.notebook.get_cell(place).output_area.outputs.length"
    ASK = """([code, value]) => new Promise((done) => {
      const reply = (message) => done(message.content);
      const options = { silent: false, store_history: false, user_expressions: { value } };
      Jupyter.notebook.kernel.execute(code, { shell: { reply } }, options);
    })"""
    # The page's last word of the kernel: nothing else in it says whether a cell is under way.
    BUSY = "Jupyter.notebook.kernel_busy === true"
    COUNTS = "Jupyter.notebook.get_cells().map((cell) => cell.input_prompt_number ?? null)"
    CLEAR = "Jupyter.notebook.delete_cells(Jupyter.notebook.get_cells().map((_, place) => place))"
    SAVE = "Jupyter.notebook.save_notebook()"
    IS_SAVED = "!Jupyter.notebook.dirty"
    IS_READY = (
        "window.Jupyter?.notebook?._fully_loaded && Jupyter.notebook.kernel?.is_connected()"
        " && Jupyter.notebook.kernel.widget_manager && !Jupyter.notebook.kernel_busy",
    )

    def clear(self) -> None:
        super().clear()
        # A view that was on its way to a cell now empty is an error of the notebook's own.
        self.page.wait_for_timeout(300)

    def _address(self, url: str, name: str) -> str:
        return f"{url}/notebooks/{name}.ipynb"
