"""From a started kernel to the first PromptForm on the page, against a plain ipywidgets button.

In a real JupyterLab, sandbox ready, a fresh kernel for each run, one after the other:
`PYTHONPATH=tests python tests/benchmarks/bench_first_panel.py`
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from browser.lab import Notebook, running_lab
from browser.pages import CHROMIUM, CHROMIUM_ARGS
from playwright.sync_api import sync_playwright

from reelbook.sandbox import server

RUNS = 7
CELLS = {
    "PromptForm": ("import reelbook as rb; display(rb.PromptForm(rb.connect('sandbox')))", ".rb textarea"),
    "button": ("import ipywidgets; display(ipywidgets.Button(description='x'))", "button.jupyter-button"),
}


def seconds_to_show(notebook: Notebook, code: str, selector: str) -> float:
    notebook.page.evaluate("jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    notebook.run("1 + 1").locator(".jp-OutputArea-output").first.wait_for()
    began = time.perf_counter()
    notebook.run(code).locator(selector).first.wait_for()
    return time.perf_counter() - began


def main() -> None:
    taken: dict[str, list[float]] = {name: [] for name in CELLS}
    with (
        tempfile.TemporaryDirectory() as name,
        running_lab(Path(name)) as url,
        sync_playwright() as playwright,
    ):
        server.ensure(Path(name) / "home")
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            notebook = Notebook(browser.new_page(), url, Path(name))
            for _ in range(RUNS):
                for kind, (code, selector) in CELLS.items():
                    taken[kind].append(seconds_to_show(notebook, code, selector))
            browser.close()
        finally:
            server.stop(Path(name) / "home")
    form, button = (statistics.median(taken[kind]) for kind in ("PromptForm", "button"))
    print(f"PromptForm {form:.2f} s, button {button:.2f} s, ratio {form / button:.2f} (goal 4)")


if __name__ == "__main__":
    main()
