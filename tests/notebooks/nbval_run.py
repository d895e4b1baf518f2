"""Runs notebooks under nbval, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import reelbook

TESTS = Path(__file__).parents[1]
# Each Python that a lesson starts asks soon about its first clip.
SOON = """from support.short_jobs import SHORT_JOBS
from reelbook.client.scheduling import estimates
estimates._PRIOR = SHORT_JOBS
"""


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
    (folder / "sitecustomize.py").write_text(SOON)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (folder, TESTS, package))),
        "IPYTHONDIR": str(folder / "ipython"),
        **(settings or {}),
    }
    kernel = options or ("--nbval-current-env",)
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--nbval" if compare else "--nbval-lax",
            *kernel,
            "-q",
            "-p",
            "no:cacheprovider",
        ],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
