"""Runs notebooks under nbval, in a pytest of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import reelbook


def nbval(
    folder: Path,
    *options: str,
    compare: bool = True,
    package: Path = Path(reelbook.__file__).parents[1],
    settings: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Compares what the notebooks of `folder` store with what comes out; on this Python without `options`.

    `package` is the folder in which the kernel finds Reelbook; without `compare` only errors count.
    """
    (folder / "pytest.ini").write_text("[pytest]\n")
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "IPYTHONDIR": str(folder / "ipython"),
        "REELBOOK_TEST_JOBS": "short",  # each Python that a lesson starts asks soon about its first clip
        **(settings or {}),
    }
    kernel = options or ("--nbval-current-env",)
    how = "--nbval" if compare else "--nbval-lax"
    return subprocess.run(
        [sys.executable, "-m", "pytest", how, *kernel, "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
