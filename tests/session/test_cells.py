"""Which cell a submission belongs to, in a real kernel: threads, tasks, copied cells and other notebooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.kernels import Kernel

import reelbook
from reelbook.sandbox import server

# `buy` gives the number of the ledger's entry, so that nobody has to wait for the service.
SETUP = """
import asyncio, contextlib, threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
import reelbook as rb
session = rb.connect("sandbox")
session.sandbox.settings(pace=3600, rate_limiting=False, balance_usd=1000)
def buy(prompt, **options): return session.text_to_video(prompt, duration_seconds=1, **options).entry_id
def show(bought): print(*sorted(bought))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One home for all: each test submits prompts of its own."""
    folder = tmp_path_factory.mktemp("cells")
    yield folder
    server.stop(folder)


def kernel_in(home: Path, **environment: str) -> Kernel:
    kernel = Kernel(
        python=os.environ.get("H2_PYTHON", sys.executable),
        environment={
            "REELBOOK_HOME": str(home),
            "PYTHONPATH": str(Path(reelbook.__file__).parents[1]),
            **environment,
        },
    )
    assert kernel.run(SETUP) == ""
    return kernel


@pytest.fixture(scope="module")
def kernel(home: Path) -> Iterator[Kernel]:
    kernel = kernel_in(home)
    yield kernel
    kernel.close()


@pytest.mark.parametrize(
    "cell",
    [
        "with ThreadPoolExecutor(4) as pool: show(pool.map(buy, ['pool', 'a wolf', 'pool', 'pool']))",
        "show(await asyncio.gather(*(asyncio.to_thread(buy, 'to_thread') for _ in range(4))))",
        "loop = asyncio.get_running_loop()\n"
        "show(await asyncio.gather(*(loop.run_in_executor(None, buy, 'executor') for _ in range(4))))",
        "with ThreadPool(4) as pool: show(pool.map(buy, ['multiprocessing'] * 4))",
        "bought = []\n"
        "threads = [threading.Thread(target=lambda: bought.append(buy('thread'))) for _ in range(4)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "show(bought)",
        "async def one(): return buy('task')\nshow(await asyncio.gather(*(one() for _ in range(4))))",
    ],
    ids=["pool", "to_thread", "run_in_executor", "ThreadPool", "threads", "tasks"],
)
def test_a_cell_that_submits_from_threads_buys_once(kernel: Kernel, cell: str) -> None:
    """Four clips from the first run, and the same four from the next one, whatever thread asks for them."""
    first = kernel.run(cell)
    assert len(set(first.split())) == 4
    assert kernel.run(cell) == first


@pytest.mark.parametrize("make", ["ThreadPoolExecutor(2)", "ThreadPool(2)"])
def test_a_pool_of_an_earlier_cell_works_for_the_cell_that_uses_it(kernel: Kernel, make: str) -> None:
    """Two cells share a pool whose threads the first one started: each gets its own clips back."""
    kernel.run(f"pool = {make}\nlist(pool.map(buy, ['warm {make}'] * 2))")
    cells = [f"show(pool.map(buy, ['shared {make}'] * 2)) # {number}" for number in range(2)]
    first = [kernel.run(cell) for cell in cells]
    assert len(set(" ".join(first).split())) == 4
    assert [kernel.run(cell) for cell in cells] == first


@pytest.mark.parametrize(
    "start",
    [
        "threading.Thread(target=work).start()",
        "pool = ThreadPoolExecutor(1); _ = [pool.submit(step, number) for number in range(4)]",
    ],
    ids=["thread", "pool"],
)
def test_what_goes_on_after_its_cell_belongs_to_it_all_the_same(kernel: Kernel, start: str) -> None:
    """Half of the clips are asked for while another cell runs, which asks for the same: nobody mixes them."""
    name = start[:4]
    cell = f"""
goes_on, done, bought = threading.Event(), threading.Event(), []
def step(number):
    if number == 2: goes_on.wait(30)
    bought.append(buy('late {name}'))
    if number == 3: done.set()
def work():
    for number in range(4): step(number)
{start}
"""
    other = f"show([buy('late {name}') for _ in range(2)]); goes_on.set(); _ = done.wait(30)"
    runs = []
    for _ in range(2):
        kernel.run(cell)
        runs.append((kernel.run(other), kernel.run("show(bought)")))
    assert len(set(" ".join(runs[0]).split())) == 6
    assert runs[1] == runs[0]


def test_a_task_that_outlives_its_cell_counts_on_where_it_was(kernel: Kernel) -> None:
    """A second cell submits between the task's four equal variations: all four are bought, and found again."""
    cell = """
goes_on, bought = asyncio.Event(), []
async def variations():
    for number in range(4):
        if number == 2: await goes_on.wait()
        bought.append(buy('variation'))
task = asyncio.create_task(variations())
await asyncio.sleep(0)
while len(bought) < 2: await asyncio.sleep(0.01)
"""
    runs = []
    for _ in range(2):
        kernel.run(cell)
        other = kernel.run("show([buy('variation')]); goes_on.set(); await task")
        runs.append((kernel.run("show(bought)"), other))
    assert len(set(" ".join(runs[0]).split())) == 5
    assert runs[1] == runs[0]


def test_two_cells_in_turn_count_each_for_itself(kernel: Kernel) -> None:
    """A task of one cell and the next cell submit by turns, again and again."""
    cell = """
turns, bought = asyncio.Queue(), []
async def by_turns():
    while await turns.get(): bought.append(buy('by turns'))
task = asyncio.create_task(by_turns())
"""
    other = """
mine = []
for _ in range(3):
    mine.append(buy('by turns'))
    turns.put_nowait(True)
    await asyncio.sleep(0.02)
turns.put_nowait(False)
await task
show(mine); show(bought)
"""
    kernel.run(cell)
    first = kernel.run(other)
    assert len(set(first.split())) == 6
    kernel.run(cell)
    assert kernel.run(other) == first


def press(kernel: Kernel) -> str:
    """Presses the kernel's button, and waits until that was handled."""
    pressed = kernel.send("comm_msg", {"comm_id": kernel.run("print(comm)"), "data": {}})
    kernel.ended(pressed)
    return kernel.run("show(pressed)")


@pytest.mark.parametrize(
    "do", ["buy('press')", "threading.Thread(target=lambda: pressed.append(buy('press'))).start() or 0"]
)
def test_a_press_is_a_wish_of_its_own(kernel: Kernel, do: str) -> None:
    """A button's callback, and a thread that it starts, buy each time."""
    cell = f"""
pressed = []
import ipywidgets
button = ipywidgets.Button()
comm = button.model_id
kernel_manager = get_ipython().kernel.comm_manager
kernel_manager.get_comm(comm).on_msg(lambda message: pressed.append({do}))
mine = buy('press')
"""
    kernel.run(cell)
    press(kernel)
    kernel.run("import time; time.sleep(0.2)")
    bought = {each for each in press(kernel).split() if each != "0"} - {kernel.run("print(mine)")}
    kernel.run("import time; time.sleep(0.2)")
    bought = {each for each in kernel.run("show(pressed)").split() if each != "0"}
    assert len(bought - {kernel.run("print(mine)")}) == 2
