"""Wheels with next to nothing in them."""

import zipfile
from pathlib import Path


def make_wheel(
    folder: Path,
    name: str,
    tag: str = "py3-none-any",
    *,
    requires: tuple[str, ...] = (),
    python: str = ">=3.8",
) -> Path:
    """A wheel of version 1.0 that pip installs."""
    told = f"{name}-1.0.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", f"Requires-Python: {python}"]
    files = {
        f"{name}.py": "",
        f"{told}/METADATA": "\n".join([*metadata, *(f"Requires-Dist: {each}" for each in requires), ""]),
        f"{told}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    files[f"{told}/RECORD"] = "".join(f"{each},,\n" for each in (*files, f"{told}/RECORD"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for each, content in files.items():
            wheel.writestr(each, content)
    return path
