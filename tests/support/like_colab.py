"""Makes this kernel's messages reach the page as they do in Colab: only while it handles one of the page's.

A thread's messages after the cell are dropped (googlecolab/colabtools#3373). Run inside a kernel.
"""

import contextvars
import inspect
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any

_HELD_BACK = ("comm_open", "comm_msg", "comm_close", "display_data", "update_display_data")

_answering = contextvars.ContextVar("answering", default=False)
_undo: list[Callable[[], object]] = []

heard: list[str] = []  # the names of the page's own messages
dropped: list[str] = []  # the kinds of messages that never arrived, but for those of widgets made before
_made_before: set[str] = set()
_shown_since: set[object] = set()


def begin() -> None:
    """From the next cell on; panels made then know that they are in Colab."""
    from IPython import get_ipython

    kernel = get_ipython().kernel
    handlers, send = kernel.shell_handlers, kernel.session.send
    originals = dict(handlers)

    def only_answers(stream: Any, kind: Any, *args: Any, **options: Any) -> Any:
        name = kind if isinstance(kind, str) else kind["header"]["msg_type"]
        display = None if isinstance(kind, str) else kind["content"].get("transient", {}).get("display_id")
        if name in _HELD_BACK and not _answering.get():
            older = name == "update_display_data" and display not in _shown_since
            if not older and _comm_id(args, options) not in _made_before:
                dropped.append(name)
            return None
        if name == "display_data":
            _shown_since.add(display)
        return send(stream, kind, *args, **options)

    def marked(handler: Callable[..., Any]) -> Callable[..., Any]:
        async def handle(*args: Any) -> Any:
            _note(args[-1])
            token = _answering.set(True)
            try:
                result = handler(*args)
                return await result if inspect.isawaitable(result) else result
            finally:
                _answering.reset(token)

        return handle

    for kept in (heard, dropped, _made_before, _shown_since):
        kept.clear()
    _made_before.update(kernel.comm_manager.comms)
    kernel.session.send = only_answers
    handlers.update({name: marked(handler) for name, handler in originals.items()})
    modules = {name: types.ModuleType(name) for name in ("google", "google.colab", "google.colab.userdata")}
    userdata = modules["google.colab.userdata"]
    refusals = ("SecretNotFoundError", "NotebookAccessError", "TimeoutException")
    vars(userdata).update({name: type(name, (Exception,), {}) for name in refusals})
    vars(userdata)["get"] = _no_secret
    vars(modules["google.colab"])["userdata"] = userdata
    sys.modules.update(modules)  # as Colab's kernel has them
    _undo.append(lambda: handlers.update(originals))
    _undo.append(lambda: setattr(kernel.session, "send", send))
    _undo.extend(partial(sys.modules.pop, name) for name in modules)


def end() -> None:
    """The kernel as it was."""
    while _undo:
        _undo.pop()()


def _no_secret(name: str) -> str:
    raise sys.modules["google.colab.userdata"].SecretNotFoundError(name)


def _comm_id(args: tuple[Any, ...], options: dict[str, Any]) -> object:
    content = args[0] if args else options.get("content")
    return content.get("comm_id") if isinstance(content, dict) else None


def _note(message: Any) -> None:
    data = message["content"].get("data") if isinstance(message["content"], dict) else None
    if isinstance(data, dict) and data.get("method") == "custom":
        heard.append(str(data["content"].get("name")))
