"""A real JupyterLab on a notebook, driven by Playwright through the machine's own Chromium."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import JSHandle, Locator

import reelbook
from browser.pages import PATIENCE, OpenNotebook, wait_until
from reelbook.cli.lab import EXTENSIONS, LOOK_AT_KERNELS

_TESTS = Path(__file__).parents[1]
# No news and no updates: the lab asks nobody outside. No windowing: cells out of sight stay in the page.
_SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}

SETUP = """import ipywidgets
import reelbook as rb
session = rb.connect('sandbox')
session.sandbox.settings(pace=3, rate_limiting=False, balance_usd=25)

def finished_job():
    job = session.text_to_video('a boat', duration_seconds=1, once='finished')
    job.result()
    return job
"""
# Before any usage is asked for: what was told of days that are over is kept.
PAST = """
session.sandbox.plant_history([
    {'days_ago': 2.5, 'seconds': 20, 'requests': 4, 'usd': 1.0},
    {'days_ago': 9.5, 'seconds': 40, 'requests': 8, 'usd': 2.0}])
"""


@contextmanager
def running_lab(folder: Path) -> Iterator[str]:
    """Starts a JupyterLab whose every file lies in `folder`; yields its address."""
    for name, values in _SETTINGS.items():
        file = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(values))
    environment = {
        **server_environment(folder),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
    }
    port = free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *(f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token="),
        *(f"--ServerApp.root_dir={folder / 'work'}", "--LabApp.expose_app_in_browser=True"),
        f"--LabServerApp.extra_labextensions_path={EXTENSIONS}",
        LOOK_AT_KERNELS,
    ]
    with running_server(command, environment, folder, port) as url:
        yield url


def server_environment(folder: Path) -> dict[str, str]:
    """The environment of a server of notebooks whose every file lies in `folder`, and of its kernels."""
    for name in ("config", "data", "runtime", "work", "home", "ipython"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("REELBOOK_")},
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
        "REELBOOK_HOME": str(folder / "home"),
        "REELBOOK_TEST_JOBS": "short",  # clips are asked about soon
        "PYTHONPATH": os.pathsep.join(map(str, (Path(reelbook.__file__).parents[1], _TESTS))),
    }


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def running_server(command: list[str], environment: dict[str, str], folder: Path, port: int) -> Iterator[str]:
    """Starts a server of notebooks and yields its address once it answers; ends it and its kernels."""
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder / "work"
        )
        try:
            _until_up(f"http://127.0.0.1:{port}", server, folder / "server.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()  # it ends its kernels too
            server.wait(20)


def _until_up(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/api/status", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"The server of notebooks didn't start:\n{log.read_text()[-2000:]}")


class Notebook(OpenNotebook):
    """One notebook open in JupyterLab."""

    CELLS = ".jp-Notebook .jp-Cell"
    # Whatever the focus does meanwhile, the cell stays the one that was put there.
    _INSERT = """
      const notebook = jupyterapp.shell.currentWidget.content;
      notebook.activeCellIndex = notebook.widgets.length - 1;
      await jupyterapp.commands.execute('notebook:insert-cell-below');
      const place = notebook.widgets.length - 1, { model } = notebook.widgets[place];
      model.sharedModel.setSource(code);
      notebook.activeCellIndex = place;
      const ended = jupyterapp.commands.execute('notebook:run-cell');
    """
    RUN = f"""async (code) => {{ {_INSERT}
      await ended;
      const told = model.outputs.toJSON().filter((one) => ['error', 'stream'].includes(one.output_type));
      return [place, told];
    }}"""
    START = f"async (code) => {{ {_INSERT} return place; }}"
    OUTPUTS = "(place) => jupyterapp.shell.currentWidget.content.widgets[place].model.outputs.length"
    ASK = """async ([code, value]) => {
      const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
      const request = { code, store_history: false, user_expressions: { value } };
      return (await kernel.requestExecute(request).done).content;
    }"""
    FIRST = "?reset"
    # The kernel's own word is also of what other subshells do: it is idle once a panel's message is handled.
    _EACH = "jupyterapp.shell.currentWidget.content.widgets"
    BUSY = f"{_EACH}.some((cell) => cell.model.executionState === 'running')"
    COUNTS = f"{_EACH}.map((cell) => cell.model.executionCount ?? null)"
    # Never without a cell: JupyterLab would put one there, a moment later.
    CLEAR = """(() => {
      const { sharedModel } = jupyterapp.shell.currentWidget.content.model, { length } = sharedModel.cells;
      sharedModel.insertCell(length, { cell_type: 'code' });
      sharedModel.deleteCellRange(0, length);
    })()"""
    SAVE = "jupyterapp.commands.execute('docmanager:save')"
    IS_SAVED = "!jupyterapp.shell.currentWidget.context.model.dirty"
    IS_READY = (
        "window.jupyterapp?.shell?.currentWidget?.context?.isReady",
        "jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'",
    )

    def _address(self, url: str, name: str) -> str:
        return f"{url}/doc/workspaces/{name}/tree/{name}.ipynb"

    def theme(self, name: str) -> None:
        """Switches to "JupyterLab Light" or "JupyterLab Dark"."""
        self.page.evaluate("(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        light = str(name == "JupyterLab Light").lower()
        self.page.wait_for_function(
            f"document.body.dataset.jpThemeLight === '{light}'"
            " && !document.getElementById('jupyterlab-splash')"  # it covers the page for a while
            " && !document.getAnimations().some((one) => one instanceof CSSTransition)"
        )


PLAYS = """(card) => {
  const video = card.querySelector('video');
  return video && video.videoWidth > 0 && video.currentTime > 0.2;
}"""


def until(part: Locator, script: str) -> None:
    """Waits until `script`, a function of the element, is true; the element may be replaced meanwhile."""
    wait_until(
        part.page,
        lambda: bool(part.evaluate(script)),
        lambda: f"it never came to {script}; shown is: {part.inner_text()}",
    )


def says(cell: Locator, text: str) -> None:
    """Waits until a panel of the cell says `text` to the eye; its live region says it to a screen reader."""
    bodies = cell.locator(".rb-body, .rb-message")
    wait_until(
        cell.page,
        bodies.get_by_text(text).first.is_visible,
        lambda: f"it never said {text!r}; it says: {bodies.all_inner_texts()}",
    )


def tells(part: Locator, *texts: str) -> None:
    """Waits until this part of the page shows all the texts."""
    wait_until(
        part.page,
        lambda: all(text in part.inner_text() for text in texts),
        lambda: f"it never told all of {texts}; it tells: {part.inner_text()}",
    )


def noted(part: Locator, script: str) -> Callable[[], list[Any]]:
    """Lets the page note all that `script`, a function of the element, comes to give; tells it when called.

    So nothing that is shown only for a moment is missed, however busy the machine is.
    """
    notes: JSHandle = part.evaluate_handle(
        """(part, script) => {
          const give = eval(script), notes = new Set();
          const look = () => notes.add(JSON.stringify(give(part)));
          new MutationObserver(look).observe(part, {
            subtree: true, childList: true, characterData: true, attributes: true,
          });
          look();
          return notes;
        }""",
        script,
    )
    return lambda: [json.loads(note) for note in notes.evaluate("(notes) => [...notes]")]


def at_rest(part: Locator, script: str, *, seconds: float = 1) -> Any:
    """What `script`, a function of the element, gives once it is the same for so many seconds."""
    end = time.monotonic() + PATIENCE
    last, since = part.evaluate(script), time.monotonic()
    while time.monotonic() - since < seconds:
        part.page.wait_for_timeout(100)
        if (now := part.evaluate(script)) != last:
            assert time.monotonic() < end, f"it never came to rest: it was {last}, now it is {now}"
            last, since = now, time.monotonic()
    return last


def none_left(part: Locator, script: str) -> None:
    """Waits until the list that `script`, a function of the element, gives is empty and stays so.

    What is laid out anew comes to its place late: bqplot draws 0.3 s after the last change of its width.
    """
    wait_until(
        part.page,
        lambda: not part.evaluate(script),
        lambda: f"these stayed: {part.evaluate(script)}",
        seconds=0.5,
    )


def keep_in_view(cell: Locator) -> None:
    """Waits until the view stays: that of a panel that was left is swapped where its still form changed."""
    at_rest(cell, _VIEW)


# A number for each view that was seen.
_VIEW = """(cell) => {
  const views = (window.viewsSeen ??= new Map()), view = cell.querySelector('.rb');
  if (!views.has(view)) views.set(view, views.size);
  return [Boolean(view), views.get(view)];
}"""


def shown(cell: Locator, selector: str = ".rb") -> Locator:
    """The panel's part that `selector` names, once the cell shows it; whoever waits for it looks at the cell.

    A clip is loaded when it is seen, and the view may be swapped for a newer one meanwhile.
    """
    panel = cell.locator(selector).first

    def look() -> bool:
        cell.evaluate("(cell) => cell.scrollIntoView({ block: 'nearest' })")
        return panel.is_visible()

    wait_until(cell.page, look, lambda: f"it never showed {selector}; it shows: {cell.all_inner_texts()}")
    panel.evaluate("(panel) => panel.scrollIntoView({ block: 'nearest' })")
    return panel


def focused(notebook: OpenNotebook) -> str:
    """What a person is told of the control that has the focus; empty outside the panels."""
    name: str = notebook.page.evaluate(
        """() => {
          const node = document.activeElement;
          if (!node.closest('.rb')) return '';
          const label = node.labels && [...node.labels].map((one) => one.innerText).join(' ');
          return node.ariaLabel || label || node.innerText.trim();
        }"""
    )
    return name


def tab_stops(notebook: OpenNotebook) -> list[str]:
    """The names of the controls that Tab comes to from where the focus is, until it leaves the panels."""
    names: list[str] = []
    while not names or names[-1]:
        notebook.press("Tab")
        names.append(focused(notebook))
        assert len(names) < 40, f"Tab never left the panel: {names}"
    return names[:-1]
