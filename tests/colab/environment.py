"""A second Python environment with the versions that Colab ships, on Colab's Python where the machine has it.

Made once, outside the repository, by whatever index pip is set up for, and kept for the runs that follow.
"""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import filelock
import platformdirs

COLABS_PYTHON = (3, 13)

_HERE = Path(__file__).parent
ROOT = _HERE.parents[1]
CONSTRAINTS = _HERE / "constraints.txt"
_WHOLE = "import ctypes, ensurepip, sqlite3, ssl, sys, venv; print(*sys.version_info[:3], sep='.')"


@dataclass(frozen=True)
class Environment:
    """The environment and what was seen while it was made."""

    python: str
    version: str
    before: dict[str, str]  # name and version of each distribution, as Colab ships them
    after: dict[str, str]  # the same once Reelbook's own requirements were installed on top
    with_agents: dict[str, str]  # and once those of the extra `agents` were


@functools.cache
def environment() -> Environment:
    """The environment, made if it isn't there: then it takes one to two minutes.

    Raises RuntimeError, saying what pip said, where it can't be made.
    """
    base, version = _base()
    constraints = CONSTRAINTS.read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements, agents = project["dependencies"], project["optional-dependencies"]["agents"]
    recipe = json.dumps([version, constraints, requirements, agents, Path(__file__).read_text()])
    folder = platformdirs.user_cache_path("reelbook-tests")
    place = folder / f"colab-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{place}.lock"):
        made = place / "made.json"
        if not made.exists():
            shutil.rmtree(place, ignore_errors=True)
            made.write_text(
                json.dumps(asdict(_make(base, version, place, constraints, requirements, agents)))
            )
        return Environment(**json.loads(made.read_text()))


def _make(
    base: str, version: str, place: Path, constraints: str, requirements: list[str], agents: list[str]
) -> Environment:
    _run(base, "-m", "venv", str(place))
    python = str(place / "bin" / "python")
    names = [line.partition("==")[0] for line in constraints.splitlines() if line[:1] not in ("", "#")]
    # notebook 6 still imports pkg_resources, which Python no longer brings.
    _install(python, "-c", str(CONSTRAINTS), *names, "setuptools")
    before = _installed(python)
    # Without the constraints, as a person in Colab does it.
    _install(python, *requirements)
    after = _installed(python)
    _install(python, *agents)
    with_agents = _installed(python)
    _install(python, "-c", str(CONSTRAINTS), "hypothesis", "pytest")
    return Environment(python, version, before, after, with_agents)


def _install(python: str, *arguments: str) -> None:
    _run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments)


def _installed(python: str) -> dict[str, str]:
    listed = json.loads(_run(python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"))
    return {each["name"].lower().replace("_", "-"): each["version"] for each in listed}


def _run(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(
            "The environment with Colab's versions can't be made, so nothing can be said of Colab. It needs "
            f"a package index for pip. {' '.join(command[1:4])} said:\n{ended.stderr[-3000:]}"
        )
    return ended.stdout


def _base() -> tuple[str, str]:
    """Colab's Python where the machine has a whole one, else the running one; and its version."""
    for candidate in _candidates():
        tried = subprocess.run([candidate, "-c", _WHOLE], capture_output=True, text=True, check=False)
        if tried.returncode == 0:
            return candidate, tried.stdout.strip()
    return sys.executable, ".".join(map(str, sys.version_info[:3]))


def _candidates() -> Iterator[str]:
    wanted = ".".join(map(str, COLABS_PYTHON))
    if sys.version_info[:2] == COLABS_PYTHON:
        yield sys.executable
    if found := shutil.which(f"python{wanted}"):
        yield found
    for kept in (".pyenv/versions", ".local/share/uv/python"):
        yield from map(str, sorted(Path.home().glob(f"{kept}/*{wanted}*/bin/python{wanted}"), reverse=True))
