"""What the terminal's tests stand on: small clips that are there at once, and the command as a process."""

import contextlib
import functools
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ledger.doubles import Clock, fox, intend
from media.pictures import film
from sandbox.doubles import InstantExecutor
from support.ledgers import told
from support.raw_server import Exchange, RawServer, raw_server
from typer.testing import Result

import reelbook
from reelbook.ledger import Ledger
from reelbook.sandbox.render import Spec

ROOT = Path(reelbook.__file__).parents[1]
RATE = 24
# A colour, a title with a bell, an 8-bit order, a line over this one, a turned direction, a line of its own.
HOSTILE = "a\x1b[31mb\x1b]0;t\x07c\x9b31md\re\u202ef\nFAKE"
ORDERS = re.compile("[\x80-\x9f\x07\u202e]|\x1b\\]|\x1b\\[31mb")
WAIT_SECONDS = 120


class TinyClips(InstantExecutor):
    """Gives every clip at once: a real MP4 of the length asked for, 64 × 36 and plain. Or `rubbish`."""

    rubbish = False

    def clip(self, spec: Spec) -> bytes:
        """The file."""
        return b"rubbish" if self.rubbish else tiny_mp4(spec.seconds)


@functools.cache
def tiny_mp4(seconds: int) -> bytes:
    """A plain H.264 clip of `seconds`, 64 × 36 pixels."""
    pictures = [np.full((36, 64, 3), number % 256, np.uint8) for number in range(seconds * RATE)]
    with tempfile.TemporaryDirectory() as folder:
        return film(Path(folder) / "clip.mp4", pictures, RATE).read_bytes()


@dataclass
class Book:
    """A ledger that a test writes, with a clock of its own."""

    ledger: Ledger
    clock: Clock = field(default_factory=Clock)

    def job(self, request_id: str | None = None, state: str = "pending", **wanted: Any) -> int:
        """Notes a submission, accepted if it has an id. Its number."""
        entry_id = intend(self.ledger, fox(**wanted)).entry.id
        self.ledger.sending(entry_id)
        if request_id is not None:
            self.ledger.accepted(entry_id, request_id)
            if state != "pending":
                self.ledger.status(entry_id, told(state, cost_usd=0.25 if state == "completed" else None))
        return entry_id


@contextlib.contextmanager
def live_service(answer: Callable[[Exchange], None]) -> Iterator[RawServer]:
    """A live service that answers so, with a key and its address in the environment."""
    with raw_server(answer) as service, pytest.MonkeyPatch.context() as settings:
        settings.setenv("REELBOOK_API_KEY", "sk-planted-cli")
        settings.setenv("REELBOOK_BASE_URL", service.url)
        yield service


def listed(run: Callable[..., Result], *words: str) -> list[dict[str, Any]]:
    """The jobs of the list as a program reads it."""
    result = run("jobs", "--json", *words)
    assert result.exit_code == 0, result.output
    jobs: list[dict[str, Any]] = json.loads(result.stdout)["jobs"]
    return jobs


def command(*words: str) -> list[str]:
    """The program's words: this Python, this reelbook."""
    return [sys.executable, "-m", "reelbook", *words]


def environment(**more: str) -> dict[str, str]:
    """The test's own environment, in which a process finds this reelbook, and `more`."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **more}


def start(*words: str, cwd: Path | None, stderr: int = subprocess.PIPE, **more: str) -> subprocess.Popen[str]:
    """The command `reelbook …` as a process of its own, its output kept."""
    return subprocess.Popen(
        command(*words),
        cwd=cwd,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def ran(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same, once it has ended."""
    process = start(*words, cwd=cwd)
    stdout, stderr = process.communicate(timeout=2 * WAIT_SECONDS)
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def on_a_terminal(
    *words: str,
    cwd: Path | None = None,
    columns: int = 100,
    typed: str = "",
    at: str = "",
    act: Callable[[], object] = lambda: None,
) -> tuple[str, int]:
    """What the command `reelbook …` writes to a terminal of that width, orders included; its exit code.

    Once it has written `at`, `act` is called.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*words),
        cwd=cwd,
        env=environment(TERM="xterm", COLUMNS=str(columns)),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    said = b""
    with contextlib.suppress(OSError):  # what Linux says when the other side has closed
        while piece := os.read(ours, 4096):
            said += piece
            if at and at.encode() in said:
                act()
                at = ""
    os.close(ours)
    return said.decode(), process.wait(WAIT_SECONDS)


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """Its error output, or all of it in one stream, up to the line that holds `words`."""
    said = ""
    for line in process.stderr or process.stdout or ():
        said += line
        if words in line:
            return said
    raise AssertionError(f"{words!r} was never said, only: {said}")
