"""From a started kernel to the first PromptForm shown, sandbox ready, against a plain ipywidgets button.

Times the cell in fresh kernels, one after the other: `python tests/benchmarks/bench_first_panel.py`
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from jupyter_client.manager import start_new_kernel

from reelbook.sandbox import server

RUNS = 7
CELLS = {
    "PromptForm": "import reelbook as rb\nrb.PromptForm(rb.connect('sandbox'))",
    "button": "import ipywidgets\nipywidgets.Button()",
}


def cell_seconds(code: str) -> float:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        client.execute_interactive("pass", timeout=60)
        began = time.perf_counter()
        reply = client.execute_interactive(code, timeout=60, output_hook=lambda _: None)
        assert reply["content"]["status"] == "ok", reply["content"]
        return time.perf_counter() - began
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["REELBOOK_HOME"] = home
        server.ensure(Path(home))
        try:
            taken: dict[str, list[float]] = {name: [] for name in CELLS}
            for _ in range(RUNS):
                for name, code in CELLS.items():
                    taken[name].append(cell_seconds(code))
        finally:
            server.stop(Path(home))
    form, button = (statistics.median(taken[name]) for name in ("PromptForm", "button"))
    print(f"PromptForm {form:.2f} s, button {button:.2f} s, ratio {form / button:.2f} (goal 4)")


if __name__ == "__main__":
    main()
