"""A second Python environment with marimo and all that Reelbook requires, made once and kept."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import filelock
import platformdirs
from colab.environment import ROOT

MARIMO = "marimo==0.25.*"


@functools.cache
def marimo_python() -> str:
    """The environment's Python; made if it isn't there, which takes about a minute.

    Raises RuntimeError, saying what pip said, where it can't be made.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    requirements = [MARIMO, "hatchling", *project["dependencies"], *extras["agents"], *extras["explore"]]
    recipe = json.dumps([sys.version, requirements, Path(__file__).read_text()])
    folder = platformdirs.user_cache_path("reelbook-tests")
    place = folder / f"marimo-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    python = str(place / "bin" / "python")
    with filelock.FileLock(f"{place}.lock"):
        if not (place / "made").exists():
            shutil.rmtree(place, ignore_errors=True)
            _run(sys.executable, "-m", "venv", str(place))
            _run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements)
            (place / "made").touch()
    return python


def _run(*command: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(
            "The environment with marimo can't be made, so nothing can be said of marimo. It needs a package "
            f"index for pip. {' '.join(command[1:4])} said:\n{ended.stderr[-3000:]}"
        )
