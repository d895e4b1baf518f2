"""What a student gives to pip: what the teacher named, tried before any card shows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from ..errors import InvalidInput
from ..sandbox.places import write_whole

FILE: Final = "install"
DEFAULT: Final = "reelbook"
_PIP_INSTALL: Final = (
    *("-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"),
    *("--retries", "1", "--timeout", "10"),
)
_EXTRA: Final = "lab"  # JupyterLab; Colab has a notebook of its own


def requirement(given: str, *, extra: bool = False) -> str:
    """`given` (a wheel's address, a path or a name) as pip takes it, with what brings JupyterLab if wanted.

    >>> requirement("https://example.org/reelbook-1.0-py3-none-any.whl", extra=True)
    'reelbook[lab] @ https://example.org/reelbook-1.0-py3-none-any.whl'
    """
    extras = f"[{_EXTRA}]" if extra else ""
    if "://" in given:
        return f"reelbook{extras} @ {given}"
    if re.search(r"[/\\]|\.whl$|^\.", given):
        return f"{given}{extras}"
    name, version = re.fullmatch(r"([\w.-]*)(.*)", given).groups()  # type: ignore[union-attr] # matches all
    return f"{name}{extras}{version}"


def keep(folder: Path, given: str) -> None:
    """Keeps what was tried beside the cards, for those that are written later; "" for nothing."""
    write_whole(folder / FILE, f"{given}\n".encode())


def named(folder: Path) -> str:
    """What the cards in `folder` tell pip to install; "" where nothing was tried that works."""
    try:
        return (folder / FILE).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def default_trouble() -> str | None:
    """Why no card can name the package, tried as `check` does; None if one can."""
    try:
        check(DEFAULT)
    except InvalidInput as error:
        return str(error)
    return None


def check(given: str) -> None:
    """Installs `given` in a fresh environment, without what it requires, and imports it.

    It takes some seconds. Raises InvalidInput with what pip said where that doesn't work.
    """
    with tempfile.TemporaryDirectory(prefix="reelbook-") as folder:
        # -I: what lies in the current folder, or in PYTHONPATH, isn't what was installed.
        python = (str(Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"), "-I")
        for command in (
            (sys.executable, "-m", "venv", folder),
            (*python, *_PIP_INSTALL, requirement(given)),
            (*python, "-c", "import reelbook"),
        ):
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode:
                said = (ended.stderr or ended.stdout).strip().splitlines()
                raise InvalidInput(
                    f"“{given}” can't be installed here, so no card names it: "
                    f"{said[-1] if said else 'pip says nothing'}. Give the address of a wheel, a folder or "
                    "file that students reach, or a name that their index has (`--install`)."
                )
