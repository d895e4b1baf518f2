"""A board of 300 jobs, 200 of them live: bytes to the page per changed job.

In a real JupyterLab. The jobs change as a key without a limit would let them: each every five seconds.
`PYTHONPATH=tests python -m benchmarks.bench_board`
"""

from pathlib import Path

from benchmarks.page import opened_notebook
from browser.lab import shown

SECONDS = 20
TESTS = Path(__file__).parents[1]

MAKE = f"""
import json, sys, threading, time
from dataclasses import replace
sys.path.insert(0, {str(TESTS)!r})
import reelbook as rb
from widgets.doubles import FOX
from widgets.test_job_board import FakeLedgerSession, made
session = FakeLedgerSession()
session.clock = time.monotonic
prompt = 'a red fox runs through snow at night, slow pan left, number {{}}'
session.past = [made(session, prompt.format(n), state='completed', cost_usd=0.25) for n in range(100)]
session.at_work = [made(session, prompt.format(n), began_at=time.monotonic(), estimated_cost_usd=0.25)
                   for n in range(100, 300)]
board = rb.JobBoard(session, limit=100)
sent, send = [], board.send
def counting(content, buffers=None):
    sent.append((len(json.dumps(content, ensure_ascii=False).encode()), len(content.get('rows', []))))
    send(content, buffers)
board.send = counting
"""

RUN = f"""
def run():
    begun = time.monotonic()
    for step in range({SECONDS} * 5):
        for job in session.at_work[step * 8 % 200:][:8]:
            now = time.monotonic()
            share = (now - begun) / {2 * SECONDS}
            job._life.learn(progress=share, known_at=begun + {2 * SECONDS} + step % 7, asked_at=now)
        time.sleep(0.2)
sent.clear()
threading.Thread(target=run).start()
"""


def main() -> None:
    with opened_notebook() as notebook:
        notebook.value("1")
        notebook.run(MAKE)
        notebook.value("len(board.jobs)")
        cell = notebook.run("board")
        shown(cell, ".rb-row")
        notebook.page.wait_for_timeout(3000)
        rows, first = cell.locator(".rb-row").count(), notebook.value("sum(size for size, _ in sent)")
        notebook.run(RUN)
        notebook.page.wait_for_timeout(SECONDS * 1000)
        sizes = notebook.value("sent")
        moved = cell.locator(".rb-row", has_text="number 150").text_content()
        notebook.value("board.close()")
    total, changed = sum(size for size, _ in sizes), sum(count for _, count in sizes)
    print(f"{rows} rows: {first / 1000:.0f} kB to the page at first, {first / rows:.0f} bytes a row")
    print(
        f"{SECONDS} s live: {changed} changes in {len(sizes)} messages, {len(sizes) / SECONDS:.1f} a second, "
        f"{total / max(1, changed):.0f} bytes per changed job (goal 400); a row reads {moved}"
    )


if __name__ == "__main__":
    main()
