"""Which cell a submission belongs to, in a real kernel: threads, tasks, copied cells and other notebooks."""

import json
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from support.kernels import Kernel

import reelbook
from reelbook.executions import CellId, current_execution, is_another
from reelbook.sandbox import server

# `buy` gives the number of the ledger's entry, so that nobody has to wait for the service.
SETUP = """
import asyncio, contextlib, threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
own = threading.Thread.start, ThreadPoolExecutor.submit
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


@pytest.fixture(scope="module")
def kernel(home: Path) -> Iterator[Kernel]:
    source = str(Path(reelbook.__file__).parents[1])
    kernel = Kernel(python=sys.executable, environment={"REELBOOK_HOME": str(home), "PYTHONPATH": source})
    assert kernel.run(SETUP) == ""
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


def test_a_busy_pool_buys_nothing_twice_and_the_card_says_that_it_guesses(kernel: Kernel) -> None:
    """A cell is run again while its pool still works: what it hands in anew is what it handed in before."""
    kernel.run(
        "pool, goes_on, handed_in = ThreadPoolExecutor(1), threading.Event(), []\n"
        "def step(prompt):\n"
        "    job = session.text_to_video(prompt, duration_seconds=1)\n    goes_on.wait(30)\n    return job"
    )
    cell = "handed_in += [pool.submit(step, prompt) for prompt in ('busy', 'next', 'last')]"
    for _ in range(2):
        kernel.run(cell, lab("busy"))
    kernel.run("goes_on.set(); jobs = [each.result() for each in handed_in]")
    assert kernel.run("print(len({job.entry_id for job in jobs}))") == "3"
    assert kernel.run("print({job.earlier_run.known_by for job in jobs[3:]})") == "{'pool'}"


def test_a_front_ends_own_questions_are_no_cells(kernel: Kernel) -> None:
    """VS Code asks for the variables in the same words again and again, while a pool buys two equal clips."""
    kernel.run(
        "goes_on, pool = threading.Event(), ThreadPoolExecutor(1)\n"
        "bought = [pool.submit(lambda: goes_on.wait(30) and buy('asked meanwhile')) for _ in range(2)]"
    )
    for _ in range(2):
        kernel.ended(kernel.send("execute_request", {"code": "dir()", "silent": True}))
    assert kernel.run("goes_on.set(); print(len({each.result() for each in bought}))") == "2"


def test_threads_and_pools_are_left_as_they_are(kernel: Kernel) -> None:
    """A session patches neither `Thread.start` nor `ThreadPoolExecutor.submit`."""
    assert kernel.run("print(own == (threading.Thread.start, ThreadPoolExecutor.submit))") == "True"


def test_two_cells_in_turn_count_each_for_itself(kernel: Kernel) -> None:
    """A task of one cell goes on where it was while the next cell submits by turns with it."""
    cell = """
turns, bought = asyncio.Queue(), []
async def by_turns():
    bought.append(buy('by turns'))
    while await turns.get(): bought.append(buy('by turns'))
task = asyncio.create_task(by_turns())
await asyncio.sleep(0)
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
    assert len(set(first.split())) == 7
    kernel.run(cell)
    assert kernel.run(other) == first


@pytest.mark.parametrize(
    "press",
    ["bought.put(buy('press'))", "threading.Thread(target=lambda: bought.put(buy('press'))).start()"],
    ids=["callback", "thread"],
)
def test_a_press_is_a_wish_of_its_own(kernel: Kernel, press: str) -> None:
    """A button's callback, and a thread that it starts, buy each time, whatever the cell bought."""
    cell = f"""
import ipywidgets, queue
bought, button = queue.Queue(), ipywidgets.Button()
get_ipython().kernel.comm_manager.get_comm(button.model_id).on_msg(lambda message: {press})
mine = buy('press')
print(button.model_id)
"""
    comm, presses = kernel.run(cell), []
    for _ in range(2):
        kernel.ended(kernel.send("comm_msg", {"comm_id": comm, "data": {}}))
        presses.append(kernel.run("print(bought.get(timeout=30))"))
    assert len({*presses, kernel.run("print(mine)")}) == 3


def lab(cell: str) -> dict[str, Any]:
    """What JupyterLab 4 sends with a notebook's cell."""
    return {"trusted": True, "deletedCells": [], "recordTiming": False, "cellId": cell}


def code(cell: str, notebook: str = "/notebooks/fox.ipynb") -> dict[str, Any]:
    """What VS Code sends."""
    return {"cellId": f"vscode-notebook-cell:{notebook}#{cell}sZmlsZQ%3D%3D"}


def colab(cell: str) -> dict[str, Any]:
    """What Colab sends."""
    return {"colab": {"cell_id": cell}}


def front_end(kernel: Kernel, notebook: Path | str = "") -> None:
    """A front end opens the notebook, in the kernel that runs already."""
    kernel.client.session.session = uuid.uuid4().hex
    kernel.run(f"import os; os.environ['JPY_SESSION_NAME'] = {str(notebook)!r}")


def save(notebook: Path, *cells: str, minor: int = 5) -> Path:
    """Saves a notebook that has these cells."""
    saved = [{"cell_type": "code", **({"id": cell} if minor >= 5 else {})} for cell in cells]
    notebook.write_text(json.dumps({"cells": saved, "metadata": {}, "nbformat": 4, "nbformat_minor": minor}))
    return notebook


def buys(prompt: str, how: str = "") -> str:
    return f"job = session.text_to_video({prompt!r}, duration_seconds=1); print(job.entry_id){how}"


@pytest.mark.parametrize("named", [lab, code, colab])
def test_a_copied_cell_is_another_cell(kernel: Kernel, named: Any) -> None:
    """Two cells of one text buy two clips, and each gets its own back."""
    front_end(kernel)
    bought = [kernel.run(buys(f"copy {named}"), named(cell)) for cell in ("W0", "W1", "W0", "W1")]
    assert bought[0] != bought[1]
    assert bought[2:] == bought[:2]


def test_an_edited_cell_is_the_same_cell(kernel: Kernel) -> None:
    """A word changed beside the submission buys nothing again; a changed submission does."""
    front_end(kernel)
    first = kernel.run(buys("edited"), lab("a"))
    assert kernel.run(buys("edited", "  # a comment"), lab("a")) == first
    assert kernel.run("print(job.earlier_run.known_by)") == "id"
    assert kernel.run(buys("edited otherwise"), lab("a")) != first


@pytest.mark.parametrize(
    "named",
    [
        lambda cell: {"trusted": True, "cellId": cell},
        lambda cell: code(cell, "/Interactive-1.interactive"),
        lambda cell: {"cellId": None},
        lambda cell: {},
    ],
    ids=["console", "interactive window", "no name", "nothing"],
)
@pytest.mark.parametrize("saved", [True, False], ids=["notebook", "no notebook"])
def test_a_name_for_each_execution_is_no_name(
    kernel: Kernel, tmp_path: Path, named: Any, saved: bool, request: pytest.FixtureRequest
) -> None:
    """What is typed again into a console is known by its text, on a notebook's kernel or its own."""
    front_end(kernel, save(tmp_path / "fox.ipynb", "a") if saved else tmp_path / "console-1")
    prompt = request.node.name
    assert kernel.run(buys(prompt), named("W0")) == kernel.run(buys(prompt), named("W1"))
    assert kernel.run("print(job.earlier_run.known_by)") == "text"


@pytest.mark.parametrize(
    ("minor", "later", "known_by"), [(5, "a", "id"), (4, "made anew", "text")], ids=["lasting", "made anew"]
)
def test_a_notebook_that_is_opened_again_gets_its_clips_back(
    kernel: Kernel, tmp_path: Path, minor: int, later: str, known_by: str
) -> None:
    """By its cells' ids where the file keeps them, else by their text; a copy is then no cell of its own."""
    notebook = save(tmp_path / "fox.ipynb", "a", "b", minor=minor)
    front_end(kernel, notebook)
    prompt = f"opened {minor}"
    first, copy = (kernel.run(buys(prompt), lab(cell)) for cell in ("a", "b"))
    assert (first != copy) == (minor == 5)
    front_end(kernel, notebook)
    assert kernel.run(buys(prompt), lab(later)) == first
    assert kernel.run("print(job.earlier_run.known_by)") == known_by


def test_a_copied_notebook_is_another_one_and_a_renamed_one_is_not(kernel: Kernel, tmp_path: Path) -> None:
    """A copy has the same ids, and buys; a notebook that was moved gets its clips back."""
    notebook = save(tmp_path / "fox.ipynb", "a")
    front_end(kernel, notebook)
    first = kernel.run(buys("notebooks"), lab("a"))
    front_end(kernel, save(tmp_path / "copy.ipynb", "a"))
    assert kernel.run(buys("notebooks"), lab("a")) != first
    front_end(kernel, notebook)
    assert kernel.run(buys("notebooks"), lab("a")) == first
    front_end(kernel, notebook.rename(tmp_path / "renamed.ipynb"))
    assert kernel.run(buys("only renamed"), lab("a")) != first
    assert kernel.run(buys("notebooks"), lab("a")) == first


def test_a_notebook_that_is_run_without_ids_gets_its_clips_back(kernel: Kernel, tmp_path: Path) -> None:
    """A front end that sends no ids, before or after one that does: the text tells, and the card says so."""
    notebook = save(tmp_path / "fox.ipynb", "a")
    front_end(kernel)
    first = kernel.run(buys("without ids"))
    front_end(kernel, notebook)
    assert kernel.run(buys("without ids"), lab("a")) == first
    assert kernel.run("print(job.earlier_run.known_by)") == "text"
    own = kernel.run(buys("with ids"), lab("a"))
    front_end(kernel)
    assert kernel.run(buys("with ids")) == own
    assert kernel.run("print(job.earlier_run.known_by, job.earlier_run.notebook)") == f"text {notebook}"


HERE = CellId("a", "one opening", "{}/here.ipynb")


@pytest.mark.parametrize(
    ("then", "another"),
    [
        (HERE, False),
        (replace(HERE, opening="x"), False),
        (replace(HERE, id="saved"), True),
        (replace(HERE, id="saved", opening="x"), True),
        (replace(HERE, id="deleted"), True),
        (replace(HERE, id="deleted", opening="x"), False),
        (CellId("saved", "x", None), False),
        (CellId("saved", "x", "{}/there.ipynb"), True),
        (CellId("a", "x", "{}/there.ipynb"), False),
        (CellId("a", "x", "{}/copy.ipynb"), True),
        (CellId("a", "x", "{}/gone.ipynb"), False),
        (CellId("other", "x", "{}/gone.ipynb"), True),
        (CellId("x#W1", "x", "{}/here.ipynb"), False),
        (CellId("x#W1", "x", "{}/there.ipynb"), True),
        (CellId("x#W1", "x", "{}/gone.ipynb"), False),
        (CellId("a", "x", "{}/broken.ipynb"), False),
    ],
)
def test_two_cells_are_told_apart_where_that_is_sure(tmp_path: Path, then: CellId, another: bool) -> None:
    """In the same opening by the ids; else the earlier cell must still be there, in a place of its own."""
    save(tmp_path / "here.ipynb", "a", "saved")
    save(tmp_path / "there.ipynb", "saved")
    save(tmp_path / "copy.ipynb", "a")
    (tmp_path / "broken.ipynb").write_text("[1]")
    then, here = (
        replace(each, notebook=each.notebook and each.notebook.format(tmp_path)) for each in (then, HERE)
    )
    assert is_another(then, here) == another


def test_ids_that_are_made_anew_tell_nothing(tmp_path: Path) -> None:
    """A notebook of an older format, or one whose path isn't known, is in doubt but for its own opening."""
    here = CellId("a", "one", str(save(tmp_path / "old.ipynb", minor=4)))
    assert not is_another(replace(here, id="b"), here)
    assert not is_another(CellId("b", "two", str(tmp_path / "old.ipynb")), here)
    unknown = CellId("a", "one")
    assert is_another(CellId("b", "one"), unknown)
    assert not is_another(CellId("b", "two"), unknown)


@pytest.mark.parametrize("names", [{}, {"safe_get_context": object}, {"safe_get_context": lambda: None}])
def test_another_version_of_marimo_breaks_no_submission(
    names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where marimo keeps what runs elsewhere, a submission is like one of a script."""
    types, context = ModuleType("types"), ModuleType("context")
    vars(types).update(names)
    vars(context)["EXECUTION_CTX"] = SimpleNamespace(get=lambda: SimpleNamespace(cell_id="Hbol"))
    monkeypatch.setitem(sys.modules, "marimo._runtime.context.types", types)
    monkeypatch.setitem(sys.modules, "marimo._messaging.context", context)
    assert current_execution() is None
