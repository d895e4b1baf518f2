"""Players on a page: memory and script time of twenty, and what one shown 3 MB clip adds to a saved notebook.

In a real JupyterLab, widget state saved with the notebook. The page's memory is the JavaScript heap after a
collection and the Blobs that the page holds (each loaded clip is one).
`PYTHONPATH=tests python -m benchmarks.bench_players`
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.command import sandbox_process
from benchmarks.page import growth_of, opened_notebook
from browser.lab import PLAYS, Notebook, shown, until

PLAYERS = 20
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
            page = notebook.page
            size = int(notebook.run(CLIP).locator(".jp-OutputArea-output").first.inner_text(timeout=60_000))
            added = _added(notebook)
            growth = growth_of(notebook)
            cells = [notebook.run("rb.Player('big.mp4')") for _ in range(PLAYERS)]
            for cell in cells:
                until(shown(cell, ".rb-card"), PLAYS)
            opening = growth()
            page.wait_for_timeout(10_000)
            playing = growth()
            held = page.locator(".rb video[src]").count()
    _print(size, added, opening, playing, held)


def _added(notebook: Notebook) -> int:
    """Bytes that one shown clip adds to the notebook, its cell included and widget state saved."""
    without = saved_bytes(notebook)
    until(shown(notebook.run("rb.Player('big.mp4')"), ".rb-card"), PLAYS)
    notebook.page.wait_for_timeout(1000)
    grown = saved_bytes(notebook) - without
    assert "widget-state+json" in notebook.file.read_text(), "the widget state wasn't saved"
    return grown


def _print(size: int, added: int, opening: dict[str, float], playing: dict[str, float], held: int) -> None:
    heap = (opening["JSHeapUsedSize"] + playing["JSHeapUsedSize"]) / 1e6
    print(f"one shown clip of {size / 1e6:.1f} MB: the notebook grows by {added / 1e3:.1f} KB (goal 60)")
    print(
        f"{PLAYERS} players: {heap:.1f} MB of heap, {held} clips loaded"
        f" ({held * size / 1e6:.0f} of {PLAYERS * size / 1e6:.0f} MB)"
    )
    print(
        f"script: {opening['ScriptDuration'] / PLAYERS * 1000:.0f} ms a player to open, "
        f"then {playing['ScriptDuration'] / 10 * 100:.1f} % of the page's time"
    )


if __name__ == "__main__":
    main()
