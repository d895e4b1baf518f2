"""Runs the lessons and stores the outputs that are the same everywhere: `python tests/notebooks/refresh.py`.

A cell tagged `nbval-ignore-output` is stored with its pictures only, small; the others are what the tests
compare with.
"""

import base64
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from reelbook.lazy_module import LazyModule
from reelbook.lessons import shipped_lessons
from reelbook.media.images import thumbnail
from reelbook.sandbox import server

nbclient: Any = LazyModule("nbclient")
nbformat: Any = LazyModule("nbformat")

VOLATILE = "nbval-ignore-output"
MAX_SIDE, MAX_BYTES = 720, 24_000  # of a picture in a stored lesson


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
                cell.outputs = [kept for output in cell.outputs if (kept := picture(output))]
    return notebook


def picture(output: Any) -> Any:
    """The picture that an output shows, as a small JPEG; None if it shows none."""
    data = output.get("data", {}).get("image/png")
    if data is None:
        return None
    with Image.open(io.BytesIO(base64.b64decode(data))) as shown:
        small = thumbnail(shown.convert("RGB"), max_side=MAX_SIDE, max_bytes=MAX_BYTES)
    return nbformat.v4.new_output("display_data", {"image/jpeg": base64.b64encode(small).decode()})


def read(path: Path) -> Any:
    """The notebook at `path`."""
    return nbformat.read(path, as_version=4)


def main(names: list[str]) -> None:
    """Each lesson in a home of its own, so that none waits for the requests of the one before it.

    Where there are `names`, only the lessons that begin with one of them.
    """
    for lesson in shipped_lessons():
        if names and not lesson.name.startswith(tuple(names)):
            continue
        folder = Path(tempfile.mkdtemp())
        os.environ["REELBOOK_HOME"] = str(folder / "home")
        try:
            notebook = refreshed(read(lesson), folder)
        finally:
            server.stop(folder / "home")
            shutil.rmtree(folder)
        nbformat.write(notebook, lesson)
        print(f"{lesson.name}: refreshed", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
