"""Further Python environments, made once outside the repository and kept for the runs that follow.

They are made by whatever index pip is set up for.
"""

import hashlib
import json
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import filelock
import platformdirs

ROOT = Path(__file__).parents[2]


def project() -> dict[str, Any]:
    """What `pyproject.toml` says of Reelbook."""
    told: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return told


def kept(name: str, recipe: list[object], make: Callable[[Path], object]) -> Any:
    """What `make` gave, as JSON keeps it, when it made the environment of this recipe in a folder.

    Raises RuntimeError, saying what pip said, where it can't be made.
    """
    digest = hashlib.sha256(json.dumps(recipe).encode()).hexdigest()[:16]
    place = platformdirs.user_cache_path("reelbook-tests") / f"{name}-{digest}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{place}.lock"):
        made = place / "made.json"
        if not made.exists():
            shutil.rmtree(place, ignore_errors=True)
            made.write_text(json.dumps(make(place)))
        return json.loads(made.read_text())


def new_python(place: Path, base: str) -> str:
    """The Python of a new environment of `base`."""
    output_of(base, "-m", "venv", str(place))
    return str(place / "bin" / "python")


def install(python: str, *arguments: str) -> None:
    output_of(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments)


def output_of(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(
            "An environment that tests need can't be made, so nothing can be said of it. It needs a package "
            f"index for pip. {' '.join(command[1:4])} said:\n{ended.stderr[-3000:]}"
        )
    return ended.stdout
