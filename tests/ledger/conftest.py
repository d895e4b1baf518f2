"""A ledger on a real file, and other kernels of the same home."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger.doubles import BEGINNING, Clock, Kernel, opened

from reelbook.ledger import Ledger

TESTS = Path(__file__).parent.parent


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The home of the ledger, which doesn't exist yet."""
    return tmp_path / "reelbook-home"


@pytest.fixture
def ledger(folder: Path, clock: Clock) -> Iterator[Ledger]:
    with opened(folder, clock=clock) as ledger:
        yield ledger


@pytest.fixture
def kernel(folder: Path) -> Iterator[Kernel]:
    """Starts another process that has the ledger open and runs the code; it is killed at the end."""
    processes: list[subprocess.Popen[str]] = []
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])

    def start(code: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", BEGINNING + code, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()
