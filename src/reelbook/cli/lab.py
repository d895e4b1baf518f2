"""`reelbook lab`: JupyterLab on the lessons, with a sandbox running and no way to a live service."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from .. import settings
from ..errors import ReelbookError
from ..lessons import shipped_lessons
from .console import say
from .options import Home, option

JUPYTER = "jupyter"
FIRST_LESSON = "01-first-video.ipynb"  # the one before it is for teachers
# JupyterLab looks whether a kernel still lives every 3 s; its panels are to know within a second.
LOOK_AT_KERNELS = "--KernelRestarter.time_to_dead=0.5"
EXTENSIONS = Path(__file__).resolve().parents[1] / "labextensions"
ANNOUNCEMENTS = "@jupyterlab/apputils-extension:announcements"


def lab(
    folder: Annotated[Path, typer.Argument(help="Where the lessons are copied to.", file_okay=False)] = Path(
        "reelbook-lessons"
    ),
    port: Annotated[
        int | None, option("JupyterLab's port. Default: 8888, or the next free one.", min=1, max=65535)
    ] = None,
    no_browser: Annotated[bool, option("Only print the address.", "--no-browser")] = False,
    home: Home = None,
) -> None:
    """Open the lessons in JupyterLab.

    They run on your class's sandbox where its address is configured, else on one of your own, and never on a
    live service. Copies that are there already stay as they are. Ctrl-C ends it.
    """
    from ..sandbox import server
    from ..session.connector import configured_sandbox

    if importlib.util.find_spec("jupyterlab") is None:
        raise ReelbookError("JupyterLab isn't installed. Install it with: pip install jupyterlab")
    folder = folder.absolute()
    lessons = shipped_lessons()
    kept = copy_lessons(lessons, folder)
    trust(folder / lesson.name for lesson in lessons if folder / lesson.name not in kept)
    home = settings.home(home)
    of_class = configured_sandbox()
    address = of_class or server.ensure(home).url
    _silence_news(home)
    say(f"The lessons are in {folder}")
    if kept:
        names = ", ".join(theirs.name for theirs in kept)
        say(f"Kept as they are: {names}. To start one afresh, rename it and run this again.")
    whose = "Your class's sandbox" if of_class else "The sandbox"
    say(f"{whose} runs at {address}. The lessons' clips come from it and cost nothing.")
    command = _command(folder / FIRST_LESSON, port=port, browser=not no_browser)
    raise typer.Exit(_run(command, environment(os.environ, home, in_class=of_class is not None)))


def copy_lessons(lessons: list[Path], folder: Path) -> list[Path]:
    """Copies the lessons into `folder`, which is made if need be, and never overwrites a copy.

    Returns the copies that were there and differ. Raises ReelbookError if `folder` can't be used.
    """
    kept = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for lesson in lessons:
            theirs = folder / lesson.name
            if not theirs.exists():
                shutil.copyfile(lesson, theirs)
            elif theirs.read_bytes() != lesson.read_bytes():
                kept.append(theirs)
    except OSError as error:
        raise ReelbookError(
            f"The lessons can't be copied to {folder}: {error.strerror or error}. Choose another folder."
        ) from error
    return kept


def trust(lessons: Iterable[Path]) -> None:
    """Signs our own lessons: in a notebook that isn't trusted, panels don't return when its tab reopens."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for lesson in lessons:
        notary.sign(nbformat.read(lesson, as_version=4))


def environment(base: Mapping[str, str], home: Path, *, in_class: bool = False) -> dict[str, str]:
    """The environment of JupyterLab and its kernels: `base` without a way to a live service.

    If `in_class`, the settings of a card stay: they are for the class's sandbox.
    """
    config_path = [str(home / JUPYTER), *filter(None, [base.get("JUPYTER_CONFIG_PATH")])]
    changed = {settings.HOME: str(home), "JUPYTER_CONFIG_PATH": os.pathsep.join(config_path)}
    card = (settings.API_KEY, settings.BASE_URL, settings.MAX_SPEND) if in_class else ()
    kept = {name: value for name, value in base.items() if name in card or not name.startswith("REELBOOK_")}
    if not in_class:  # a key in the system's keyring would be found by a bare connect() in a cell
        changed["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    return kept | changed


def _silence_news(home: Path) -> None:
    page = home / JUPYTER / "labconfig" / "page_config.json"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(json.dumps({"disabledExtensions": {ANNOUNCEMENTS: True}}))


def _command(lesson: Path, *, port: int | None, browser: bool) -> list[str]:
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={lesson.parent}",
        f"--LabApp.default_url=/lab/tree/{lesson.name}",
        # No second question at Ctrl-C, and no page of log.
        "--ServerApp.answer_yes=True",
        LOOK_AT_KERNELS,
        # Shows the panels' still forms where their kernel is gone; a clone hasn't installed it.
        f"--LabServerApp.extra_labextensions_path={EXTENSIONS}",
        "--Application.log_level=WARN",
    ]
    if port is not None:
        command.append(f"--ServerApp.port={port}")
    if not browser:
        command.append("--ServerApp.open_browser=False")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # In a container root is often the only user there is; JupyterLab serves this machine only.
        command.append("--ServerApp.allow_root=True")
    return command


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the command until it ends; a signal to us ends it too. Returns its exit code."""
    process = subprocess.Popen(command, env=environment)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if (number := getattr(signal, name, None)) is not None:
            # Not SIGINT: without a terminal it's an exception in Jupyter, which may be lost there.
            signal.signal(number, lambda *_: process.terminate())
    return process.wait()
