"""Which cell is running: what tells a cell that is run again from a script, a button or another cell.

What a cell starts belongs to it for as long as it goes on: tasks carry the cell in their context, threads and
pools are told it when they get their work. How front ends name their cells is known here and nowhere else.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
import threading
import uuid
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

_Request = dict[str, Any]  # a message to the kernel


@dataclass(frozen=True)
class CellId:
    """What a front end calls a cell, in one `opening` of its `notebook` (a path, None: not known)."""

    id: str
    opening: str
    notebook: str | None = None


class Execution(NamedTuple):
    """One execution of a cell: a hash of its source, what tells this run from the next, the cell's name."""

    cell: str
    run: str
    cell_id: CellId | None = None


class _Running(NamedTuple):
    """The request that this context's code is a part of; the cell around a cell that runs within it."""

    request: _Request | None
    around: _Running | None = None


_running: ContextVar[_Running] = ContextVar("reelbook_running")
_started_by: weakref.WeakKeyDictionary[threading.Thread, _Request | None] = weakref.WeakKeyDictionary()
_kept_out: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
_followed: weakref.WeakKeyDictionary[Any, _Request | None] = weakref.WeakKeyDictionary()  # shell: last cell


def current_execution() -> Execution | None:
    """The execution that this call is a part of, or None outside a notebook's cell.

    A button's callback isn't a part of one, even while a cell runs: a press is a wish of its own.
    """
    shell = _shell()
    try:
        request = _origin(shell)
    except LookupError:
        # Nobody noted who started this thread. So as not to buy twice, it belongs to the cell that runs now.
        request = _handled(shell)
    if request is None or request.get("header", {}).get("msg_type") != "execute_request":
        return None
    source = request.get("content", {}).get("code", "")
    digest = hashlib.sha256(source.strip().encode()).hexdigest()[:32]
    return Execution(digest, request["header"]["msg_id"], _cell_id(request))


def follow() -> None:
    """From now on the work that a cell hands to tasks, threads and pools is known to be its own.

    Does something in a kernel or in marimo only. A thread knows nothing of the context that started it, so
    `Thread.start` and `ThreadPoolExecutor.submit` note the cell and then do what they always did.
    """
    shell = _shell()
    if shell is None and not _in_marimo():
        return
    _note_starts()
    if shell is None or shell in _followed:
        return
    shell.events.register("pre_execute", _begin)
    shell.events.register("post_execute", _end)
    _begin()  # the cell that runs already


@functools.cache  # once
def _note_starts() -> None:
    threading.Thread.start = _noting_start(threading.Thread.start)  # type: ignore[method-assign, assignment]
    ThreadPoolExecutor.submit = _noting_submit(ThreadPoolExecutor.submit)  # type: ignore[method-assign]


def keep_out(thread: threading.Thread) -> None:
    """What `thread` does is a part of no cell, whichever started it or handed it work."""
    _kept_out.add(thread)


def is_another(then: CellId, now: CellId) -> bool:
    """Whether these are surely two cells. In doubt they are one, so that nothing is bought twice.

    Within one opening of a notebook its ids tell. A later opening may have made them anew: then the earlier
    cell must still be found in its notebook. The same id in two notebooks is a copy if the first still has
    it, else the notebook was renamed.
    """
    if then.opening == now.opening:
        return then.id != now.id and _ids_last(now.notebook)
    if then.notebook is None or now.notebook is None or then == replace(now, opening=then.opening):
        return False
    if then.notebook == now.notebook or then.id == now.id:
        saved = _saved(then.notebook)
        return saved is not None and then.id in saved.ids
    if _HANDLE in then.id + now.id:  # a renamed notebook changes these, too
        return Path(then.notebook).exists()
    return _ids_last(now.notebook)


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return None if getattr(shell, "kernel", None) is None else shell


def _handled(shell: Any) -> _Request | None:
    """The request that the kernel handles now, or did last; some kernels know it for each context."""
    try:
        request: _Request | None = shell.kernel.get_parent("shell")
    except LookupError:  # ipykernel 7.0, on a thread that it didn't start
        return _followed.get(shell)
    return request


def _origin(shell: Any) -> _Request | None:
    """The request that started what runs here, None if that was none. Raises LookupError if nobody knows."""
    thread = threading.current_thread()
    if thread in _kept_out:
        return None
    if (running := _running.get(None)) is not None:
        return running.request
    if shell is None:
        return _marimo_request() or _started_by.get(thread)
    return _handled(shell) if thread is threading.main_thread() else _started_by[thread]


def _begin() -> None:
    shell, around = _shell(), _running.get(None)
    request = _followed[shell] = _handled(shell)
    nested = around is not None and around.request is request  # as within %%capture
    _running.set(_Running(request, around if nested else None))


def _end() -> None:
    running = _running.get(None)
    _running.set((running and running.around) or _Running(None))


def _noting_start(start: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    @functools.wraps(start)
    def noting(thread: threading.Thread) -> None:
        # The threads of a multiprocessing.pool.ThreadPool serve whichever cell uses it.
        if type(thread).__module__ != "multiprocessing.dummy":
            with suppress(LookupError, TypeError):  # TypeError: a subclass without a hash
                _started_by[thread] = _origin(_shell())
        start(thread)

    return noting


def _noting_submit(submit: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(submit)
    def noting(pool: ThreadPoolExecutor, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        with suppress(LookupError):
            work = functools.partial(_carry_out, _Running(_origin(_shell())), work)
        return submit(pool, work, *args, **kwargs)

    return noting


def _carry_out(running: _Running, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    token = _running.set(running)
    try:
        return work(*args, **kwargs)
    finally:
        _running.reset(token)


# marimo 0.25 sends its kernel no such requests. It tags the context of each execution of a cell, and of no
# button's callback.

_PROCESS: Final = uuid.uuid4().hex
_tagged: weakref.WeakKeyDictionary[Any, _Request] = weakref.WeakKeyDictionary()


def _marimo_runtime() -> Any:
    """What marimo knows of the notebook that runs on this thread, None outside one."""
    get = getattr(sys.modules.get("marimo._runtime.context.types"), "safe_get_context", None)
    return None if get is None else get()


def _marimo_tag() -> Any:
    """marimo's name for the execution that this context is a part of. Other versions may have none."""
    tags = getattr(sys.modules.get("marimo._messaging.context"), "EXECUTION_CTX", None)
    return None if tags is None else tags.get()


def _in_marimo() -> bool:
    return _marimo_runtime() is not None


def _marimo_request() -> _Request | None:
    """The execution of a marimo cell, in the form of a kernel's request; None outside one.

    None, too, in a version of marimo that keeps these things elsewhere: a submission mustn't break by it.
    """
    tag, runtime = _marimo_tag(), _marimo_runtime()
    try:
        if runtime is not None and tag is not None and tag not in _tagged:
            cell = runtime.graph.cells[tag.cell_id]
            notebook = str(Path(runtime.filename).absolute()) if runtime.filename else None
            _tagged[tag] = {
                "header": {
                    "msg_type": "execute_request",
                    "msg_id": tag.id,
                    "session": f"{_PROCESS}{notebook}",
                },
                "content": {"code": cell.code},
                "metadata": {"marimo": {"cell_id": str(tag.cell_id), "notebook": notebook}},
            }
        return _tagged.get(tag)  # on a thread, too, where there is no runtime
    except (AttributeError, LookupError, TypeError):
        return None


# How front ends name a cell: seen in JupyterLab 4.6 and marimo 0.25, read in vscode-jupyter and google.colab
# of 2026.

_SUFFIX: Final = ".ipynb"
_HANDLE: Final = "#"  # in the name of a cell of VS Code's or marimo's: a name that lasts for one opening
_IDS_LAST: Final = (4, 5)  # the first format of notebooks that keeps the ids of cells


def _cell_id(request: _Request) -> CellId | None:
    """The cell's name, None where the front end gives none or gives each execution another one."""
    metadata = request.get("metadata") or {}
    opening = request["header"].get("session", "")
    colab = metadata.get("colab")
    if isinstance(colab, dict) and isinstance(colab.get("cell_id"), str):
        return CellId(colab["cell_id"], opening)
    marimo = metadata.get("marimo")
    if isinstance(marimo, dict):
        return CellId(f"{opening}{_HANDLE}{marimo['cell_id']}", opening, marimo["notebook"])
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
        # JupyterLab's console, which makes a cell for each execution, sends the same but for this.
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
    """What the notebook's file says, None where it can't be read."""
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
