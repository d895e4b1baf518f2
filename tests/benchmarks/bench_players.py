"""What one shown 3 MB clip adds to a saved notebook, in a real JupyterLab, widget state saved with it.

`PYTHONPATH=tests python -m benchmarks.bench_players`
"""

from pathlib import Path

from benchmarks.command import sandbox_process
from benchmarks.page import opened_notebook
from browser.lab import PLAYS, Notebook, shown, until

# Noise doesn't get smaller: a clip of about 3 MB, 5 s long.
CLIP = """import av, numpy as np, reelbook as rb
random = np.random.default_rng(1)
with av.open('big.mp4', 'w') as file:
    stream = file.add_stream('libx264', rate=24)
    stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 640, 360, 'yuv420p', 4_800_000
    for number in range(120):
        picture = random.integers(0, 256, (45, 80, 3), dtype=np.uint8).repeat(8, 0).repeat(8, 1)
        file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format='rgb24')))
    file.mux(stream.encode())
import os; print(os.path.getsize('big.mp4'))
"""


def save_widget_state(folder: Path) -> None:
    """JupyterLab does so only where a person turns it on."""
    manager = folder / "settings" / "@jupyter-widgets" / "jupyterlab-manager"
    manager.mkdir(parents=True)
    (manager / "plugin.jupyterlab-settings").write_text('{"saveState": true}')


def saved_bytes(notebook: Notebook) -> int:
    notebook.save()
    return notebook.file.stat().st_size


def main() -> None:
    with sandbox_process() as sandbox:
        save_widget_state(sandbox.home.parent)
        with opened_notebook(sandbox.home.parent) as notebook:
            size = int(notebook.run(CLIP).locator(".jp-OutputArea-output").first.inner_text(timeout=60_000))
            added = _added(notebook)
    print(f"one shown clip of {size / 1e6:.1f} MB: the notebook grows by {added / 1e3:.1f} KB (goal 60)")


def _added(notebook: Notebook) -> int:
    """Bytes that one shown clip adds to the notebook, its cell included and widget state saved."""
    without = saved_bytes(notebook)
    until(shown(notebook.run("rb.Player('big.mp4')"), ".rb-card"), PLAYS)
    notebook.page.wait_for_timeout(1000)
    grown = saved_bytes(notebook) - without
    assert "widget-state+json" in notebook.file.read_text(), "the widget state wasn't saved"
    return grown


if __name__ == "__main__":
    main()
