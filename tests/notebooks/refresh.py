"""Runs the lessons and stores the outputs that are the same everywhere: `python tests/notebooks/refresh.py`.

A cell tagged `nbval-ignore-output` is stored without output; the others are what the tests compare with.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbclient
import nbformat  # has no types, so that each call of it needs an ignore

from reelbook.cli.lab import shipped_lessons
from reelbook.sandbox import server

VOLATILE = "nbval-ignore-output"


def refreshed(notebook: Any, folder: Path) -> Any:
    """`notebook` run from top to bottom in `folder`, with its stable outputs only."""
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, kernel_name="python3", resources=resources, timeout=180).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            if VOLATILE in cell.metadata.get("tags", ()):
                cell.outputs = []
    return notebook


def read(path: Path) -> Any:
    """The notebook at `path`."""
    return nbformat.read(path, as_version=4)


def write(notebook: Any, path: Path) -> None:
    """Store `notebook` at `path`."""
    nbformat.write(notebook, path)


def main() -> None:
    """Each lesson in a home of its own, so that none waits for the requests of the one before it."""
    for lesson in shipped_lessons():
        folder = Path(tempfile.mkdtemp())
        os.environ["REELBOOK_HOME"] = str(folder / "home")
        try:
            notebook = refreshed(read(lesson), folder)
        finally:
            server.stop(folder / "home")
            shutil.rmtree(folder)
        write(notebook, lesson)
        print(f"{lesson.name}: refreshed", file=sys.stderr)


if __name__ == "__main__":
    main()
