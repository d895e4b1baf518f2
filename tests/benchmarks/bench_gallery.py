"""The gallery over a ledger of 5,000 jobs: time to the first page, and state. Prints figures, asserts none.

`PYTHONPATH=tests python -m benchmarks.bench_gallery`
"""

import json
import shutil
import sqlite3
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.command import sandbox_process
from benchmarks.page import opened_notebook
from browser.lab import SETUP, shown

import reelbook as rb

JOBS, FILES = 5_000, 300
LINK = "https://cdn.example/clip.mp4"
COLUMNS = (
    "account, state, mode, prompt, duration_seconds, aspect_ratio, seed, sameness, experiment, kernel, "
    "intended_at, accepted_at, ended_at, request_id, estimated_cost_micro, cost_micro, took_seconds, "
    "video_url, clip_path"
)
TEXT = "red fox snow night slow pan left city rain neon boat storm sea forest autumn fog bird meadow"
WORDS = TEXT.split()

IN_KERNEL = """
import time
began = time.perf_counter()
gallery = rb.Gallery(session)
made = time.perf_counter() - began
gallery
"""


def plant(session: Any, clip: Path) -> None:
    """Writes finished jobs into the session's ledger; the newest ones have a file, which is the same one."""
    account = session._ledger.account.id
    now = time.time()
    rows = []
    for number in range(JOBS):
        at = now - 60.0 * (JOBS - number)
        here = number >= JOBS - FILES
        prompt = " ".join(WORDS[(number + place * place) % len(WORDS)] for place in range(9))
        path = clip if here else clip.with_name(f"gone-{number}.mp4")
        what = (account, "completed", "text-to-video", prompt, 1 + number % 9, "16:9", str(number))
        where = (f"{number:032x}", f"series {number // 500}", "1-bench", at, at + 1, at + 40)
        rows.append((*what, *where, f"req-{number:05}", 50_000, 50_000, 39.0, LINK, str(path)))

    def work(connection: sqlite3.Connection) -> None:
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO entries ({COLUMNS}) VALUES ({marks})", rows)

    session._ledger.store.write(work)


def in_python(session: Any) -> None:
    """What the kernel does: the first page with its messages."""
    said: list[int] = []
    first: list[float] = []
    for _ in range(10):
        began = time.perf_counter()
        said.clear()
        gallery = rb.Gallery(session)
        gallery.send = lambda content, buffers=None: said.append(
            len(json.dumps(content)) + sum(map(len, buffers or []))
        )
        gallery._handle_custom_msg({"name": "hello"}, [])
        first.append(1000 * (time.perf_counter() - began))
    took = f"{statistics.median(first):8.1f} ms, worst {max(first):.1f}"
    print(f"{took}  first page (goal 300), {sum(said) / 1000:.1f} kB sent")
    code = len(gallery._esm)
    state = {name: value for name, value in gallery.get_state().items() if name not in ("_esm", "_css")}
    size = len(json.dumps(state, default=str))
    print(f"{size / 1000:8.1f} kB of state (goal 100), {code / 1000:.1f} kB of code")
    gallery.close()


def in_page(folder: Path) -> None:
    """Prints how long it takes until a real JupyterLab shows the first tiles."""
    with opened_notebook(folder) as notebook:
        notebook.run(SETUP)
        notebook.value("len(session.jobs())")
        began = time.perf_counter()
        cell = notebook.run(IN_KERNEL)
        shown(cell, ".rb-grid li")
        print(f"{1000 * (time.perf_counter() - began):8.0f} ms  from running the cell to the first tiles")
        print(f"{1000 * notebook.value('made'):8.0f} ms  of it making the panel in the kernel")


def main() -> None:
    with sandbox_process(pace=0) as sandbox:
        folder = sandbox.home.parent
        with rb.connect("sandbox", home=sandbox.home) as session:
            clip = session.text_to_video("a red fox", duration_seconds=5).result(60).path
            plant(session, Path(shutil.copy(clip, folder / "one.mp4")))
            in_python(session)
        in_page(folder)


if __name__ == "__main__":
    main()
