"""A real JupyterLab on a notebook, driven by Playwright through the machine's own Chromium."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import reelbook

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
_NO_NEWS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


@contextmanager
def running_lab(folder: Path) -> Iterator[str]:
    """Starts a JupyterLab whose every file lies in `folder`; yields its address."""
    for name in ("config", "data", "runtime", "work", "home", "ipython"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    settings = folder / "config" / "overrides.json"
    settings.write_text(json.dumps(_NO_NEWS))
    app_settings = folder / "data" / "labconfig"
    app_settings.mkdir(exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("REELBOOK_")},
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "config" / "lab" / "user-settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "config" / "lab" / "workspaces"),
        "REELBOOK_HOME": str(folder / "home"),
        "PYTHONPATH": str(Path(reelbook.__file__).parents[1]),
    }
    notification = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    notification.mkdir(parents=True)
    (notification / "notification.jupyterlab-settings").write_text(
        json.dumps({"fetchNews": "false", "checkForUpdates": False})
    )
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *(f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token="),
        *(f"--ServerApp.root_dir={folder / 'work'}", "--LabApp.expose_app_in_browser=True"),
        "--LabApp.news_url=",
        "--ServerApp.shutdown_no_activity_timeout=600",
    ]
    url = f"http://127.0.0.1:{port}"
    with (folder / "lab.log").open("wb") as log:
        lab = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder / "work",
        )
        try:
            _until_up(url, lab, folder / "lab.log")
            yield url
        finally:
            lab.terminate()
            lab.wait(20)


def _until_up(url: str, lab: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if lab.poll() is not None:
            raise RuntimeError(f"JupyterLab ended at once:\n{log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"{url}/api/status", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab didn't start:\n{log.read_text()[-2000:]}")


class Notebook:
    """One notebook open in a page: run code in it, look at what the last cell shows."""

    def __init__(self, page: Any, url: str, folder: Path, name: str) -> None:
        self.page = page
        empty = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (folder / "work" / f"{name}.ipynb").write_text(json.dumps(empty))
        page.goto(f"{url}/doc/workspaces/{name}/tree/{name}.ipynb?reset")
        page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.context?.isReady", timeout=60_000)
        dialog = page.locator(".jp-Dialog button.jp-mod-accept")
        page.wait_for_function(
            "document.querySelector('.jp-Dialog') ||"
            " jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'",
            timeout=60_000,
        )
        if dialog.count():
            dialog.first.click()
        page.wait_for_function(
            "jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'", timeout=60_000
        )

    def run(self, code: str, *, wait: bool = True) -> Any:
        """Runs `code` in a new cell at the end; returns the locator of that cell."""
        self.page.evaluate(
            """async (code) => {
              const notebook = jupyterapp.shell.currentWidget.content;
              notebook.activeCellIndex = notebook.widgets.length - 1;
              await jupyterapp.commands.execute('notebook:insert-cell-below');
              notebook.activeCell.model.sharedModel.setSource(code);
              jupyterapp.commands.execute('notebook:run-cell');
            }""",
            code,
        )
        cell = self.page.locator(".jp-CodeCell").last
        if wait:
            self.page.wait_for_function(
                """() => {
                  const model = jupyterapp.shell.currentWidget.content.activeCell.model;
                  return model.executionState !== 'running' && model.executionCount;
                }""",
                timeout=60_000,
            )
        return cell

    def value(self, expression: str) -> Any:
        """What `expression` is in the kernel, as JSON."""
        cell = self.run(f"import json; print('«' + json.dumps({expression}) + '»')")
        text = cell.locator(".jp-OutputArea-output").first.inner_text(timeout=20_000)
        return json.loads(text.strip().removeprefix("«").removesuffix("»"))

    def cells(self) -> int:
        """How many cells the notebook has."""
        return int(self.page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length"))

    def runs(self) -> list[int | None]:
        """Each cell's execution count: a cell that ran again has another one."""
        counts: list[int | None] = self.page.evaluate(
            "jupyterapp.shell.currentWidget.content.widgets.map((cell) => cell.model.executionCount)"
        )
        return counts

    def theme(self, name: str) -> None:
        """Switches to "JupyterLab Light" or "JupyterLab Dark"."""
        self.page.evaluate("(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        light = str(name == "JupyterLab Light").lower()
        self.page.wait_for_function(f"document.body.dataset.jpThemeLight === '{light}'")
