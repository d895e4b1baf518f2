"""A Python environment with the versions that Colab ships, on Colab's Python where the machine has it."""

import functools
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from support.environments import install, kept, new_python, output_of, project

COLABS_PYTHON = (3, 13)

CONSTRAINTS = Path(__file__).parent / "constraints.txt"
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
    """The environment, made if it isn't there: then it takes one to two minutes."""
    base, version = _base()
    constraints = CONSTRAINTS.read_text()
    names = [line.partition("==")[0] for line in constraints.splitlines() if line[:1] not in ("", "#")]
    requirements, extras = project()["dependencies"], project()["optional-dependencies"]
    agents, explore = extras["agents"], extras["explore"]

    def make(place: Path) -> dict[str, object]:
        python = new_python(place, base)
        # notebook 6 still imports pkg_resources, which Python no longer brings.
        install(python, "-c", str(CONSTRAINTS), *names, "setuptools")
        before = _installed(python)
        # Without the constraints, as a person in Colab does it.
        install(python, *requirements)
        after = _installed(python)
        install(python, *agents)
        with_agents = _installed(python)
        install(python, "-c", str(CONSTRAINTS), "hypothesis", "pytest", *explore)
        return asdict(Environment(python, version, before, after, with_agents))

    return Environment(**kept("colab", [version, constraints, requirements, agents, explore], make))


def _installed(python: str) -> dict[str, str]:
    listed = json.loads(
        output_of(python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check")
    )
    return {each["name"].lower().replace("_", "-"): each["version"] for each in listed}


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
    for folder in (".pyenv/versions", ".local/share/uv/python"):
        yield from map(str, sorted(Path.home().glob(f"{folder}/*{wanted}*/bin/python{wanted}"), reverse=True))
