"""What every panel is: an anywidget that takes only arguments it knows, answers the page's messages, shows
its errors under itself and has a still form. Joining the page's files is for `bundle`, words for `text`.
"""

from __future__ import annotations

import contextlib
import difflib
import html
import inspect
import logging
import re
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets

from reelbook.errors import InvalidInput, ReelbookError

if TYPE_CHECKING:
    from reelbook.session import Session

_HERE = str(Path(__file__).parent.parent)
_log = logging.getLogger("reelbook.widgets")


class Still:
    """The still form beside the live one, in ipywidgets 7 and 8; for panels and for boxes of panels."""

    reaches_page: Any = True

    _displays: tuple[Any, ...] = ()
    _still_kept: object = None

    def still(self) -> tuple[str, str]:
        """This panel as HTML and as one line of text, for a page without a kernel."""
        text = f"{type(self).__name__} of Reelbook. Run the cell again to use it."
        return f"<div>{html.escape(text)}</div>", text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        page, text = self.still()
        # A page with MathJax takes what stands between two dollar signs for a formula.
        page = f'<div class="mathjax_ignore tex2jax_ignore">{page}</div>'
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}  # type: ignore[attr-defined] # Widget's
        return {"text/plain": text, "text/html": page, "application/vnd.jupyter.widget-view+json": view}

    def _ipython_display_(self, **_: Any) -> None:
        from IPython.display import display

        now = self.still_of()  # before it is drawn: what changes meanwhile is kept later
        shown = display(self._repr_mimebundle_(), raw=True, display_id=True)  # type: ignore[no-untyped-call] # it has no types
        if shown is not None:
            self._displays = (*self._displays, shown)
            self._still_kept = now

    def still_of(self) -> object:
        """What the still form shows: where this is another one, so is the still form."""
        return self.still()[0]

    def keep_still(self) -> None:
        """Puts the still form as it is now into the notebook, so that this is what is saved. The page swaps
        the view for it within a frame (tried in JupyterLab 4.6), but it does swap it: not while it is used.
        """
        if self._displays and self.reaches_page and (now := self.still_of()) != self._still_kept:
            self._still_kept = now
            for shown in self._displays:
                shown.update(self._repr_mimebundle_(), raw=True)


def only_known(panel: ipywidgets.Widget, given: Mapping[str, object]) -> None:
    """Raises TypeError for arguments that are no public trait: ipywidgets would swallow a misspelt one."""
    known = {
        name
        for name, trait in panel.traits().items()
        if name == "layout" or (trait.this_class.__module__.startswith("reelbook.") and name[0] != "_")
    }
    if unknown := sorted(set(given) - known):
        offered = _told_of(panel, known)
        near = [name for each in unknown for name in difflib.get_close_matches(each, offered, n=1)]
        meant = f" Did you mean {' and '.join(dict.fromkeys(near))}?" if near else ""
        listed = ", ".join(dict.fromkeys([*near, *offered]))
        raise TypeError(
            f"{type(panel).__name__}() doesn't take {', '.join(unknown)}.{meant} It takes: {listed}."
        )


def _told_of(panel: ipywidgets.Widget, known: Iterable[str]) -> list[str]:
    """The arguments that the panel's description names; the others are between it and its page."""
    named = set(re.findall(r"`(\w+)`", type(panel).__doc__ or ""))
    own = [name for name in inspect.signature(type(panel)).parameters if name != "traits"]
    return [*own, *sorted(name for name in known if name in named | {"layout"} and name not in own)]


def session_of(panel: ipywidgets.Widget, given: Session | None) -> Session:
    """`given`, or `reelbook.connect()` without one. Raises InvalidInput for what is no session."""
    if given is None:
        from reelbook.session import connect

        return connect()
    if not hasattr(given, "service"):
        # What was given isn't repeated: it may be a key.
        raise InvalidInput(
            f"{type(panel).__name__} takes a session first, not {type(given).__name__}. "
            'rb.connect("sandbox") makes one; what else it takes is given by name.'
        )
    return given


class Panel(Still, anywidget.AnyWidget):  # type: ignore[misc] # anywidget's bundle may also be None
    """The base of all panels.

    A message `{"name": "x", …}` of the page goes to the method `_on_x(content, buffers)`.
    """

    trouble = traitlets.Unicode(help="What went wrong, shown under the panel.").tag(sync=True)
    live = traitlets.Bool(help="Whether something in it changes by itself.").tag(sync=True)
    asks = traitlets.Bool(help="Whether the page has to ask for what is new.").tag(sync=True)

    _endings: tuple[Callable[[], None], ...] = ()

    def __init__(self, **traits: Any) -> None:
        only_known(self, traits)
        self._sending = threading.RLock()
        self._unheard: set[str] = set()
        # In Colab an update sent by a thread never shows (googlecolab/colabtools#3373).
        super().__init__(asks="google.colab" in sys.modules, **traits)
        with _waiting_lock:
            _waiting.add(self)
        self.on_msg(self._heard)

    @property
    def reaches_page(self) -> bool:
        """Whether what is sent on this thread arrives: where the page asks, in a cell or as an answer."""
        on_main = threading.current_thread() is threading.main_thread()
        return not self.asks or on_main or getattr(_answering, "now", False)

    def send_state(self, key: str | Iterable[str] | None = None) -> None:
        """As ipywidgets' own. What can't reach the page now is sent with the answer to its next message."""
        if self.reaches_page:
            super().send_state(key)
            return
        with _waiting_lock:
            self._unheard.update(self.keys if key is None else [key] if isinstance(key, str) else key)

    def update(self) -> None:
        """Brings the page up to date; what a panel shows of the world outside is read here."""

    def close(self) -> None:
        """Ends the panel, as ipywidgets do, and what it listens to."""
        for end in self._endings:
            end()
        self._endings = ()
        super().close()

    @contextlib.contextmanager
    def showing_errors(self, doing: str) -> Iterator[None]:
        """Errors inside are shown under the panel: in a widget's callback they would vanish."""
        try:
            yield
        except ReelbookError as error:
            self.trouble = str(error)
        except Exception as error:
            _log.debug("%s failed", doing, exc_info=True)
            self.trouble = f"{doing} failed. {type(error).__name__}: {error}{_place(error)}"

    def refresh(self) -> None:
        """`update`, with its errors shown and one thread at a time."""
        with self._sending, self.showing_errors("Bringing this panel up to date"):
            self.update()

    def _by_itself(self) -> None:
        """`refresh` for a thread, in panels whose news goes out as messages: those aren't kept for later."""
        if self.asks:
            self.live = True  # what is sent now may never arrive: the page has to ask for it
        else:
            self.refresh()

    def _heard(self, _: object, content: Any, buffers: Sequence[Any]) -> None:
        name = content.get("name") if isinstance(content, dict) else None
        handler = (
            getattr(self, f"_on_{name}", None) if isinstance(name, str) and name.isidentifier() else None
        )
        if handler is None:
            self.trouble = f"The page sent “{name}”, which this panel doesn't know. Run the cell again."
            return
        _answering.now = True  # a kernel with subshells answers on a thread of its own
        try:
            with self.showing_errors(f"“{name}”"):
                handler(content, buffers)
            if self.asks:
                _tell_what_waits()
        finally:
            _answering.now = False

    def _on_left(self, *_: object) -> None:
        self.keep_still()

    def _on_dismiss(self, *_: object) -> None:
        self.trouble = ""

    def _on_hello(self, *_: object) -> None:
        self.refresh()
        self.send({"name": "here"})

    def _on_ask(self, *_: object) -> None:
        self.refresh()
        self.send({"name": "here"})


_waiting: weakref.WeakSet[Panel] = weakref.WeakSet()
_waiting_lock = threading.Lock()
_answering = threading.local()


def _tell_what_waits() -> None:
    """Sends what threads changed in any panel: one panel's question carries the news of all."""
    with _waiting_lock:
        news = [(panel, panel._unheard) for panel in _waiting if panel._unheard]
        for panel, _ in news:
            panel._unheard = set()
    for panel, names in news:
        if panel.comm is not None:
            panel.send_state(names)


def _place(error: Exception) -> str:
    """Where in the person's own code it happened: the innermost frame that isn't ours."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_HERE):
            return f" ({frame.name}, line {frame.lineno})"
    return ""
