"""The base of all panels: an anywidget that knows its arguments, answers the page, and shows messages."""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import inspect
import logging
import re
import secrets
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, ParamSpec, TypeAlias

import anywidget
import ipywidgets
import traitlets

from reelbook import settings
from reelbook.errors import InvalidInput, LedgerUnavailable, ReelbookError, SessionClosed
from reelbook.secret import without_keys
from reelbook.session import Job, Session, connect
from reelbook.session.session import without_waiting
from reelbook.suggestions import nearest

from ..text.status_line import balance_heard
from .bundle import added_style, module
from .live import Live, PageState
from .static_html import RETURNS, text_still

_HERE = str(Path(__file__).parent.parent)
_log = logging.getLogger("reelbook.widgets")

P = ParamSpec("P")
Tone: TypeAlias = Literal["info", "problem"]
Step: TypeAlias = Callable[[], str | None]
# A restarted kernel is another one, and knows nothing of the panels on the page.
_KERNEL = secrets.token_hex(4)


class Callbacks(Generic[P]):
    """A method that subscribes to something: `panel.on_job(callback)`. True while there are callbacks."""

    def __init__(self, doc: str | None, panel: Panel | None = None, name: str = "") -> None:
        self.__doc__, self._panel, self._name = doc, panel, name
        self._callbacks: list[Callable[P, object]] = []

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, panel: Panel | None, owner: type) -> Callbacks[P]:
        if panel is None:
            return self
        own: Callbacks[P] = Callbacks(self.__doc__, panel, self._name)
        panel.__dict__[self._name] = own
        return own

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def __call__(self, callback: Callable[P, object]) -> None:
        assert self._panel is not None
        self._callbacks.append(callback)
        if len(self._callbacks) == 1:  # a button may come with it
            self._panel.refresh()

    def tell(self, *news: P.args, **named: P.kwargs) -> None:
        """Calls each of them; their errors are shown under the panel."""
        assert self._panel is not None
        for callback in tuple(self._callbacks):
            with self._panel.showing_errors(f"Your {self._name} callback"):
                callback(*news, **named)


def only_known(panel: ipywidgets.Widget, given: Mapping[str, object]) -> None:
    """Raises TypeError for arguments that aren't public traits: ipywidgets would ignore a misspelt one."""
    known = {
        name
        for name, trait in panel.traits().items()
        if name == "layout" or (trait.this_class.__module__.startswith("reelbook.") and name[0] != "_")
    }
    if unknown := sorted(set(given) - known):
        # The traits that the docstring doesn't name are between the panel and its page.
        named = {"layout", *re.findall(r"`(\w+)`", type(panel).__doc__ or "")}
        own = [name for name in inspect.signature(type(panel)).parameters if name != "traits"]
        offered = dict.fromkeys([*own, *sorted(known & named)])
        near = dict.fromkeys(near for name in unknown for near in nearest(name, offered))
        meant = f" Did you mean {' and '.join(near)}?" if near else ""
        raise TypeError(
            f"{type(panel).__name__}() doesn't take {', '.join(unknown)}.{meant} "
            f"It takes: {', '.join(near | offered)}."
        )


def session_of(panel: ipywidgets.Widget, given: Session | None) -> Session:
    """`given`, or `reelbook.connect()` if it is None. Raises InvalidInput if it isn't a session."""
    if given is None:
        return connect()
    if not hasattr(given, "service"):
        # The value isn't repeated: it may be a key.
        raise InvalidInput(
            f"{type(panel).__name__} takes a session first, not {type(given).__name__}. "
            'rb.connect("sandbox") makes one. All other arguments are given by name.'
        )
    return given


class Panel(anywidget.AnyWidget):
    """The base of all panels.

    A custom message `{"name": "x", …}` from the page goes to the method `_on_x`, whose parameters are parts
    of the message; `content` is all of it. A dict that it returns answers a question; otherwise the panel is
    updated. A message with an id in `ask` is always answered under that id.

    `say` and `say_problem` report the result of a press; each panel shows the current state in its own way.
    Longer work runs in the background (`_start_work`) and keeps the kernel free.
    """

    message: traitlets.Dict[str, str] = traitlets.Dict(
        default_value={"text": "", "tone": "info"}, help="The message under the panel: text and tone."
    ).tag(sync=True)
    live = traitlets.Bool(help="Whether something in it changes by itself.").tag(sync=True)
    asks = traitlets.Bool(help="Whether the page has to ask for news.").tag(sync=True)
    kernel = traitlets.Unicode(_KERNEL, help="The name of its kernel, to the page.").tag(sync=True)
    mark = traitlets.Unicode(help="“sandbox” where all that it shows is the sandbox's.").tag(sync=True)

    _esm: Any
    _endings: tuple[Callable[[], object], ...] = ()
    _displays: tuple[Any, ...] = ()
    _still_kept: object = None
    _trouble: str | None = None
    _press_refused = ""  # the error of a press that the trouble stopped
    _over = ""  # what to say when the trouble is over
    _sends_news = False  # by messages, which aren't kept until the page asks
    says_trouble = True  # False if another panel beside it does
    _left = False  # whether the person has turned to something else

    def __init__(self, **traits: Any) -> None:
        only_known(self, traits)
        self._live = Live(self._refresh_from_thread)
        self._sending = threading.RLock()
        self._unsent_traits: set[str] = set()
        self._work: dict[Hashable, tuple[str, tuple[Step, ...]]] = {}  # what is being done, as in `_doing`
        self._page = PageState()  # besides the traits
        if in_marimo():
            # A file can't be made of a panel's code while no cell runs, and a press makes panels, too.
            code = base64.b64encode(str(self._esm).encode()).decode()
            self._esm = f"data:text/javascript;base64,{code}"
        # In Colab an update sent by a thread never shows (googlecolab/colabtools#3373).
        super().__init__(asks=settings.in_colab(), **traits)
        self._endings = (self._live.close,)
        with _panels_lock:
            _panels.add(self)
        _watch_kernel()
        self.on_msg(self._heard)

    @property
    def reaches_page(self) -> bool:
        """Whether what this thread sends arrives. If the page has to ask, only cells and answers reach it."""
        on_main = threading.current_thread() is threading.main_thread()
        return not self.asks or on_main or getattr(_answering, "now", False)

    def send_state(self, key: str | Iterable[str] | None = None) -> None:
        """As in ipywidgets. What can't reach the page now is sent with the answer to its next message."""
        if self.reaches_page:
            super().send_state(key)
            return
        with _panels_lock:
            self._unsent_traits.update(self.keys if key is None else [key] if isinstance(key, str) else key)

    def _send(self, msg: object, buffers: object = None) -> None:
        # marimo closes what a cell made when that cell runs again, and its page fails at what comes later.
        if not getattr(self.comm, "_closed", False):
            super()._send(msg, buffers)

    def update(self) -> None:
        """Brings the page up to date with what the panel shows."""

    @property
    def _in_sandbox(self) -> bool:
        """Whether all that it shows is the sandbox's."""
        return getattr(getattr(self, "session", None), "service", "") == "sandbox"

    def close(self) -> None:
        """Closes the panel and unsubscribes it. Background work goes on, but no longer touches the panel."""
        self._work = {}  # not cleared: ipywidgets also closes panels that were refused before they had it
        for end in self._endings:
            end()
        self._endings = ()
        super().close()

    def still(self) -> tuple[str, str]:
        """This panel as HTML and as one line of text, for a page without a kernel."""
        return text_still(f"{type(self).__name__} of Reelbook. {RETURNS}")

    def still_of(self) -> object:
        """A value that changes whenever the still form does."""
        return self.still()[0]

    @property
    def _at_rest(self) -> bool:
        """Whether the view may be redrawn: nothing in it is under way, and nobody uses it."""
        return True

    def keep_still(self) -> None:
        """Puts the still form into the notebook, to be saved. That redraws the view, so only at rest."""
        with self._sending:  # not half of what another thread is just drawing
            if not (self._displays and self.reaches_page and self._at_rest):
                return
            if (now := self.still_of()) != self._still_kept:
                self._still_kept = now
                for shown in self._displays:
                    shown.update(self._repr_mimebundle_(), raw=True)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:  # type: ignore[override] # it may also be None
        page, text = self.still()
        # MathJax would read the text between two dollar signs as a formula.
        page = f'<div class="mathjax_ignore tex2jax_ignore">{page}</div>'
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": text, "text/html": page, "application/vnd.jupyter.widget-view+json": view}

    def _ipython_display_(self, **_: Any) -> None:
        from IPython.display import display

        now = self.still_of()  # taken before drawing, so that a change meanwhile is noticed later
        shown = display(self._repr_mimebundle_(), raw=True, display_id=True)  # type: ignore[no-untyped-call] # it has no types
        if shown is not None:
            self._displays = (*self._displays, shown)
            self._still_kept = now

    def say(self, text: str, tone: Tone = "info") -> None:
        """Shows `text` under the panel in place of the previous message; an empty text only removes that."""
        self.message = {"text": text, "tone": tone}

    def say_problem(self, problem: Exception | str, doing: str = "") -> None:
        """Shows what went wrong. `doing` says what failed, for errors that weren't written for people."""
        text = problem if isinstance(problem, str) else problem_text(problem, doing)
        if isinstance(problem, LedgerUnavailable):
            self._press_refused = text
        self.say(text, "problem")

    @contextlib.contextmanager
    def showing_errors(self, doing: str) -> Iterator[None]:
        """Shows errors under the panel: raised in a widget's callback they would vanish."""
        try:
            yield
        except Exception as error:
            self.say_problem(error, doing)

    @contextlib.contextmanager
    def updating(self, doing: str = "Bringing this panel up to date") -> Iterator[None]:
        """`showing_errors` for updates that nobody asked for: a closed session's panel stays as it was."""
        with self.showing_errors(doing), contextlib.suppress(SessionClosed):
            yield

    def refresh(self) -> None:
        """Calls `update`, on one thread at a time and with its errors shown."""
        with self._sending, self.updating(), without_waiting():
            self._say_trouble()
            self.mark = "sandbox" if self._in_sandbox else ""
            self.update()

    def _current_trouble(self) -> str | None:
        """Why nothing can be bought: the ledger can't be written, or the key is refused."""
        # Some panels have no session, or the connection of a tool server alone.
        facts = getattr(getattr(self, "session", None), "facts", None)
        if facts is None or not (facts.trouble or facts.key_trouble):
            return None
        self._over = "The ledger can be written again." if facts.trouble else "The key is accepted now."
        return str(facts.trouble or facts.key_trouble)

    def _say_trouble(self) -> None:
        if not self.says_trouble:
            return
        trouble = self._current_trouble()
        if trouble and trouble != self._trouble:
            self.say_problem(trouble)
        elif self._trouble and not trouble and self.message["text"] in (self._trouble, self._press_refused):
            self.say(self._over)
        self._trouble = trouble

    def _session_changed(self, job: Job | None) -> None:
        """For a panel that needs no more of its session than to say its trouble at once."""
        if self._current_trouble() != self._trouble:
            self._live.changed()

    def _refresh_from_thread(self) -> None:
        if self.asks and self._sends_news:
            self.live = True  # so that the page asks
        else:
            self.refresh()

    @property
    def _busy(self) -> bool:
        return bool(self._work)

    def _doing(self, name: Hashable = "") -> str:
        """What that work is doing, as in "Making the key"; empty if there is none."""
        doing, _ = self._work.get(name, ("", ()))
        return doing

    def _start_work(self, doing: str, *steps: Step, name: Hashable = "") -> bool:
        """Starts a thread that takes all steps, in order; False if work of that name is already running.

        The texts that the steps return, and their errors, become the message under the panel.
        """
        work = (doing, steps)
        try:
            if self._work.setdefault(name, work) is not work:
                return False
            self.say("")
            run = partial(self._run_work, name, work)
            threading.Thread(target=run, name="reelbook-panel", daemon=True).start()
        except BaseException:  # an interrupt must not leave the panel busy for ever
            if self._work.get(name) is work:
                del self._work[name]
            raise
        self.refresh()
        return True

    def _work_ended(self, name: Hashable) -> None:
        """Called on the work's thread before the page hears of its end; for panels that follow up on it."""

    def _run_work(self, name: Hashable, work: tuple[str, tuple[Step, ...]]) -> None:
        doing, steps = work
        texts: list[str] = []
        tone: Tone = "info"
        for step in steps:
            try:
                texts.append(step() or "")
            except concurrent.futures.CancelledError:
                pass  # its session was closed
            except Exception as error:
                texts.append(problem_text(error, doing))
                tone = "problem"
        with self._sending:  # so that nobody sees the work ended and its message missing
            if self._work.get(name) is not work:
                return
            del self._work[name]
            text = " ".join(filter(None, texts))
            # A success doesn't hide a problem that was shown meanwhile, such as a failed callback's.
            if text and (tone == "problem" or self.message["tone"] != "problem"):
                self.say(text, tone)
            self._work_ended(name)
            self.refresh()

    def _post(self, name: str, content: dict[str, Any]) -> None:
        """Sends the page this content, unless it has it already or can't be reached now."""
        if self.reaches_page and self._page.news(0.0, {name: content}, {}):
            self.send({"name": name, **content})

    def _heard(self, _: object, content: Any, buffers: Sequence[Any]) -> None:
        name = content.get("name") if isinstance(content, dict) else None
        handler = getattr(self, f"_on_{name}", None) if str(name).isidentifier() else None
        if handler is None:
            self.say_problem(f"The page sent “{name}”, which this panel doesn't know. Run the cell again.")
            return
        answer: dict[str, Any] | None = None
        _answering.now = True  # a kernel with subshells answers on a thread of its own
        try:
            with self.showing_errors(f"“{name}”"), without_waiting():
                answer = self._call(handler, content, buffers)
            if answer is None:
                self.refresh()
            if "ask" in content:
                answer = {"name": "answer", "ask": content["ask"], **(answer or {})}
                self.send(answer, answer.pop("buffers", None))
            if self.asks:
                _send_unsent()
        finally:
            _answering.now = False

    def _call(
        self, handler: Callable[..., Any], content: dict[str, Any], buffers: Sequence[Any]
    ) -> dict[str, Any] | None:
        """Calls the handler with the parts of the message that its parameters name, None for missing ones."""
        # No other part is copied: it may be a key.
        parts = {name: content.get(name) for name in inspect.signature(handler).parameters}
        whole = {"content": content, "buffers": buffers}
        parts |= {name: whole[name] for name in whole.keys() & parts}
        answer: dict[str, Any] | None = handler(**parts)
        return answer

    def _on_entered(self) -> None:
        self._left = False

    def _on_left(self) -> None:
        self._left = True
        self.keep_still()

    def _on_dismiss(self) -> None:
        self.say("")

    def _on_hello(self) -> None:
        """A view was opened. Panels that start something then, or send more than `_post`, extend it."""
        self._page.begin()

    def _on_ask(self) -> None:
        if self.asks and self._sends_news:  # it may have changed while the page couldn't be reached
            self._unsent_traits.add("live")


class AsksForBalance(Panel):
    """Has a button that is off for want of money: pressed all the same, it asks for the balance.

    Credits may have been added meanwhile.
    """

    session: Session

    def _on_balance(self) -> None:
        self._start_work("Asking for the balance", lambda: balance_heard(self.session.balance()))


class _KernelWatch(anywidget.AnyWidget):
    """Has no view: through its module all panels of a page learn whether their kernel is still there."""

    _esm = module("_page")
    _css = added_style("_page")

    kernel = traitlets.Unicode(_KERNEL, help="As in a panel.").tag(sync=True)


def _watch_kernel() -> None:
    global _kernel_watch
    if (_kernel_watch is None or _kernel_watch.comm is None) and not in_marimo():
        _kernel_watch = _KernelWatch()


_kernel_watch: _KernelWatch | None = None


def open_panels() -> list[Panel]:
    with _panels_lock:
        return [panel for panel in _panels if panel.comm is not None]


def name_of(value: object) -> str | None:
    """The variable of the person's notebook that holds `value`; None if there is none."""
    names = list(vars(sys.modules["__main__"]).items())  # of IPython's cells and marimo's
    return next((name for name, each in names if each is value and not name.startswith("_")), None)


def in_marimo() -> bool:
    marimo = sys.modules.get("marimo")
    return marimo is not None and bool(marimo.running_in_notebook())


_panels: weakref.WeakSet[Panel] = weakref.WeakSet()
_panels_lock = threading.Lock()
_answering = threading.local()


def problem_text(error: Exception, doing: str) -> str:
    """What to tell a person about an error. Reelbook's own errors were written for people already."""
    if isinstance(error, ReelbookError):
        return str(error)
    _log.debug("%s failed", doing, exc_info=error)
    return f"{doing} failed. {type(error).__name__}: {without_keys(str(error))}{_place(error)}"


def _send_unsent() -> None:
    """Sends what threads changed in any panel: the answer to one panel carries the news of all."""
    with _panels_lock:
        news = [(panel, panel._unsent_traits) for panel in _panels if panel._unsent_traits]
        for panel, _ in news:
            panel._unsent_traits = set()
    for panel, names in news:
        if panel.comm is not None:
            panel.send_state(names)


def _place(error: Exception) -> str:
    """Where in the person's own code it happened: the innermost frame outside Reelbook."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_HERE):
            return f" ({frame.name}, line {frame.lineno})"
    return ""
