"""Runs notebooks under nbval, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import reelbook


def nbval(folder: Path, *options: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Compares what the notebooks of `folder` store with what comes out; on this Python without `options`."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(reelbook.__file__).parents[1]),
        "IPYTHONDIR": str(folder / "ipython"),
        **settings,
    }
    kernel = options or ("--nbval-current-env",)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", *kernel, "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
