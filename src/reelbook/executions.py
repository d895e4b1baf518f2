"""Which cell is running: what tells a cell that runs again from a script, a button or another cell.

What a cell starts belongs to it for as long as it runs. Tasks carry the cell in their context; threads are
listed at a cell's start and at its end. How front ends name their cells is known only here.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
import threading
import traceback
import uuid
import weakref
from collections import Counter
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

_Message = dict[str, Any]  # to the kernel


@dataclass(frozen=True)
class CellId:
    """A front end's name for a cell, in one `opening` of its `notebook` (a path, None: not known)."""

    id: str
    opening: str
    notebook: str | None = None


class Execution(NamedTuple):
    """One execution of a cell: a hash of its source, an id of this run, and the cell's name.

    `shared`: this is a guess, as the work came through a pool of threads that several cells may use.
    """

    cell: str
    run: str
    cell_id: CellId | None = None
    shared: bool = False


class _Running(NamedTuple):
    """The message that this context's code belongs to, and that of a cell that runs `around` it."""

    message: _Message | None
    around: _Running | None = None


_running: ContextVar[_Running] = ContextVar("reelbook_running")
_kept_out: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
_followed: weakref.WeakSet[Any] = weakref.WeakSet()  # shells of kernels


def current_execution() -> Execution | None:
    """The execution that this call belongs to; None outside a cell, such as for a press of a button."""
    shell, thread = kernel_shell(), threading.current_thread()
    if thread in _kept_out:
        return None
    if (running := _running.get(None)) is not None:
        return _execution(running.message)
    tagged = _marimo_execution()
    if tagged is not None or _marimo_runtime() is not None:
        return tagged
    # The kernel's own threads carry out presses, too.
    if thread is threading.main_thread() or type(thread).__module__.startswith("ipykernel."):
        return _execution(_handled(shell))
    return _threads.execution() or _execution(_handled(shell))


def follow() -> None:
    """From now on, what a cell hands to tasks and threads is known to be its own. Called in the cell."""
    shell = kernel_shell()
    if (runtime := _marimo_runtime()) is not None:
        _marimo["notebook"] = runtime
    if shell is not None and shell not in _followed:
        _followed.add(shell)
        shell.events.register("pre_execute", _begin)
        shell.events.register("post_execute", _end)
        _begin()  # the cell that is already running


def keep_out(thread: threading.Thread) -> None:
    """What `thread` does belongs to no cell, whichever started it or handed it work."""
    _kept_out.add(thread)


def is_another(then: CellId, now: CellId) -> bool:
    """Whether these are certainly two cells. In doubt they are one, so that nothing is bought twice.

    Within one opening of a notebook its ids tell. A later opening may have made them anew: then the earlier
    cell must still be in its notebook. The same id in two notebooks is a copy if the first still has it.
    """
    if then.opening == now.opening:
        return then.id != now.id and _ids_last(now.notebook)
    if then.notebook is None or now.notebook is None or then == replace(now, opening=then.opening):
        return False
    if then.notebook == now.notebook or then.id == now.id:
        saved = _saved(then.notebook)
        return saved is not None and then.id in saved.ids
    if _HANDLE in then.id + now.id:  # renaming a notebook changes these, too
        return Path(then.notebook).exists()
    return _ids_last(now.notebook)


class _Threads:
    """Which cell each thread works for.

    A thread that appeared between a cell's start and its end was started in it. A pool's thread that is idle
    at a cell's start is free for that cell. Any other thread works for the running cell.
    """

    _POOLS: Final = ("concurrent.futures.thread", "multiprocessing.pool")

    def __init__(self) -> None:
        self._began: list[_Message | None] = []  # all cells so far
        self._runs = False  # the last of them
        self._before: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        self._started_in: weakref.WeakKeyDictionary[threading.Thread, int] = weakref.WeakKeyDictionary()

    def begin(self, cell: _Message | None) -> None:
        """A cell begins; one that is still open is over."""
        self.end()
        doing = sys._current_frames()
        busy = [each for each in threading.enumerate() if not self._of_pool(doing.get(each.ident or 0))]
        self._before = weakref.WeakSet(busy)
        self._began.append(cell)
        self._runs = True

    def end(self) -> None:
        if self._runs:
            self._runs = False
            for thread in threading.enumerate():
                if thread not in self._before:
                    self._started_in[thread] = len(self._began) - 1

    def execution(self) -> Execution | None:
        """The execution that this thread works for; None where there is none or nobody knows."""
        thread = threading.current_thread()
        number = self._started_in.get(thread)
        if self._runs and (number is None or thread not in self._before):
            return _execution(self._began[-1])
        if number is None:
            return None
        execution = _execution(self._began[number])
        in_pool = any(self._of_pool(frame) for frame, _ in traceback.walk_stack(None))
        if execution is None or not in_pool or number == len(self._began) - 1:
            return execution
        # A cell that ran again may have handed in the same work twice: each call is a run of its own then.
        began = [each for each in map(_execution, self._began[number:]) if each is not None]
        texts, ids = [each.cell for each in began], [each.cell_id for each in began if each.cell_id]
        twice = len(set(texts)) < len(texts) or len(set(ids)) < len(ids)
        return execution._replace(run=uuid.uuid4().hex if twice else execution.run, shared=True)

    def _of_pool(self, frame: FrameType | None) -> bool:
        return frame is not None and frame.f_globals.get("__name__") in self._POOLS


_threads = _Threads()


def kernel_shell() -> Any:
    """The shell of the Jupyter kernel that runs this; None in a script and on a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return None if getattr(shell, "kernel", None) is None else shell


def _handled(shell: Any) -> _Message | None:
    """The message that the kernel is handling, or handled last; some kernels know it for each context."""
    try:
        message: _Message | None = None if shell is None else shell.kernel.get_parent("shell")
    except LookupError:  # ipykernel 7.0, on a thread that it didn't start
        return None
    return message


def _begin() -> None:
    message, around = _handled(kernel_shell()), _running.get(None)
    nested = around is not None and around.message is message  # as within %%capture
    # A front end's own questions, such as for the variables, are silent executions and no cells.
    if not nested and not (message or {}).get("content", {}).get("silent"):
        _threads.begin(message)
    _running.set(_Running(message, around if nested else None))


def _end() -> None:
    running = _running.get(None)
    around = None if running is None else running.around
    if around is None:
        _threads.end()
    _running.set(around or _Running(None))


def _execution(cell: _Message | None) -> Execution | None:
    """The execution that a message asks for; None for another message, such as a press."""
    if cell is None or cell.get("header", {}).get("msg_type") != "execute_request":
        return None
    return Execution(
        _digest(cell.get("content", {}).get("code", "")), cell["header"]["msg_id"], _cell_id(cell)
    )


def _digest(source: str) -> str:
    return hashlib.sha256(source.strip().encode()).hexdigest()[:32]


# marimo 0.25 tags the context of each execution of a cell, and of no button's callback. `asyncio.to_thread`
# and `mo.Thread` pass it on. A version that keeps these things elsewhere knows no cell, and nothing fails.

_PROCESS: Final = uuid.uuid4().hex
_tagged: weakref.WeakKeyDictionary[Any, Execution] = weakref.WeakKeyDictionary()
_marimo: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()  # "notebook": its runtime


def _marimo_runtime() -> Any:
    """marimo's runtime of the notebook that runs on this thread; None outside one."""
    get = getattr(sys.modules.get("marimo._runtime.context.types"), "safe_get_context", None)
    return None if get is None else get()


def _marimo_execution() -> Execution | None:
    """The cell's execution that this context belongs to, also on a thread."""
    tags: Any = getattr(sys.modules.get("marimo._messaging.context"), "EXECUTION_CTX", None)
    with suppress(AttributeError, LookupError, TypeError):
        tag = tags.get()
        if tag not in _tagged:
            runtime = _marimo_runtime() or _marimo["notebook"]
            notebook = str(Path(runtime.filename).absolute()) if runtime.filename else None
            opening = f"{_PROCESS}{notebook}"
            cell_id = CellId(f"{opening}{_HANDLE}{tag.cell_id}", opening, notebook)
            _tagged[tag] = Execution(_digest(runtime.graph.cells[tag.cell_id].code), tag.id, cell_id)
        return _tagged[tag]
    return None


# How front ends name a cell: in JupyterLab 4.6, marimo 0.25, vscode-jupyter and google.colab of 2026.

_SUFFIX: Final = ".ipynb"
_HANDLE: Final = "#"  # in the name of a cell of VS Code's or marimo's: a name that lasts for one opening
_IDS_LAST: Final = (4, 5)  # the first notebook format that keeps the ids of cells


def _cell_id(request: _Message) -> CellId | None:
    """The cell's name; None where the front end gives none or gives each execution another one."""
    metadata = request.get("metadata") or {}
    opening = request["header"].get("session", "")
    colab = metadata.get("colab")
    if isinstance(colab, dict) and isinstance(colab.get("cell_id"), str):
        return CellId(colab["cell_id"], opening)
    given = metadata.get("cellId")
    if not isinstance(given, str) or not given:
        return None
    if given.startswith("vscode-"):
        path = url2pathname(urlsplit(given).path)
        if not path.endswith(_SUFFIX):
            return None  # the interactive window, which makes a cell for each execution
        return CellId(f"{opening}{_HANDLE}{given}", opening, _absolute(path))
    name = os.environ.get("JPY_SESSION_NAME", "")  # set by Jupyter's server
    notebook = _absolute(name)
    if name and "deletedCells" not in metadata:
        # JupyterLab's console, which makes a cell for each execution, sends the same except for this.
        saved = _saved(notebook)
        if not name.endswith(_SUFFIX) or (saved is not None and given not in saved.ids):
            return None
    return CellId(given, opening, notebook)


class _Saved(NamedTuple):
    """A notebook's file: whether its cells keep their ids, and the ids."""

    ids_last: bool
    ids: frozenset[str]


def _absolute(path: str) -> str | None:
    return path if path.endswith(_SUFFIX) and Path(path).is_absolute() else None


def _ids_last(notebook: str | None) -> bool:
    saved = _saved(notebook)
    return saved is None or saved.ids_last


def _saved(notebook: str | None) -> _Saved | None:
    """What the notebook's file says; None where it can't be read."""
    if notebook is None:
        return None
    try:
        return _read(notebook, Path(notebook).stat().st_mtime_ns)
    except (OSError, ValueError, AttributeError, LookupError, TypeError):
        return None


@functools.lru_cache(8)
def _read(notebook: str, _changed_at: int) -> _Saved:
    content = json.loads(Path(notebook).read_bytes())
    ids_last = (content["nbformat"], content["nbformat_minor"]) >= _IDS_LAST
    return _Saved(ids_last, frozenset(each["id"] for each in content["cells"] if ids_last))


# Which submission of its cell one is, so that a cell that runs again gets its clips back.

KnownBy = Literal["id", "text", "pool", "label", "sweep"]

_ONCE: Final = "once:"


@dataclass(frozen=True)
class Place:
    """Which submission of a cell this is: the `nth` equal one, from 1.

    `cell` is a hash of its source, `cell_id` the front end's name for it; `shared` is as in `Execution`.
    """

    cell: str
    nth: int = 1
    cell_id: CellId | None = None
    shared: bool = field(default=False, compare=False)

    @classmethod
    def once(cls, label: str) -> Place:
        """The place for `once="label"`: an equal submission under the same label is bought once."""
        return cls(f"{_ONCE}{label}")

    @property
    def label(self) -> str | None:
        return self.cell.removeprefix(_ONCE) if self.cell.startswith(_ONCE) else None

    def known_by(self, earlier: Place) -> KnownBy:
        """How `earlier` is recognised as this place; "pool" where the cell is a guess."""
        if self.label is not None:
            return "label"
        if self.shared:
            return "pool"
        if self.cell_id is None or earlier.cell_id is None:
            return "text"
        return "id" if self.cell_id.id == earlier.cell_id.id else "text"


class PlaceCounter:
    """Gives each submission of a cell its `Place`, from any thread.

    Four equal submissions in one execution of a cell get the places 1 to 4 and are four clips; the same four
    in the next execution get the same places, which the ledger knows.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._lock = threading.Lock()

    def place(self, sameness: str, execution: Execution | None, *, once: str | None = None) -> Place | None:
        """The place of one of these: by its label where `once` is given, None outside a cell."""
        if once is not None:
            return Place.once(once)
        if execution is None:
            return None
        name = (execution.cell, execution.run, sameness)
        with self._lock:
            self._counts[name] += 1
            return Place(execution.cell, self._counts[name], execution.cell_id, execution.shared)
