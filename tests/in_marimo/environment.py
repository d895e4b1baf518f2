"""A Python environment with marimo and all that Reelbook requires."""

import functools
import sys
from pathlib import Path

from support.environments import install, kept, new_python, project

MARIMO = "marimo==0.25.*"


@functools.cache
def marimo_python() -> str:
    """The environment's Python; made if it isn't there, which takes about a minute."""
    extras = project()["optional-dependencies"]
    requirements = [MARIMO, "hatchling", *project()["dependencies"], *extras["agents"], *extras["explore"]]

    def make(place: Path) -> str:
        python = new_python(place, sys.executable)
        install(python, *requirements)
        return python

    python: str = kept("marimo", [sys.version, *requirements], make)
    return python
