"""From a started kernel to the first PromptForm on the page, against a plain ipywidgets button.

In a real JupyterLab, sandbox ready, a fresh kernel for each run, one after the other:
`PYTHONPATH=tests python -m benchmarks.bench_first_panel`
"""

import statistics
import time

from benchmarks.command import sandbox_process
from benchmarks.page import opened_notebook
from browser.lab import Notebook

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
    with sandbox_process() as sandbox, opened_notebook(sandbox.home.parent) as notebook:
        for _ in range(RUNS):
            for kind, (code, selector) in CELLS.items():
                taken[kind].append(seconds_to_show(notebook, code, selector))
    form, button = (statistics.median(taken[kind]) for kind in ("PromptForm", "button"))
    print(f"PromptForm {form:.2f} s, button {button:.2f} s, ratio {form / button:.2f} (goal 4)")


if __name__ == "__main__":
    main()
