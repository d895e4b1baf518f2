"""Kills a Jupyter kernel within a batch, resumes in a fresh session, and collects what is true then.

The sandbox is a process of its own, outside the kernel and its home: each round has a home of its own.
"""

import contextlib
import filecmp
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from session.aftermath import Aftermath, Made, Written
from support import deadly
from support.kernels import Kernel
from support.ledgers import forget_requests, rows
from support.waiting import until

import reelbook as rb
from reelbook.errors import ReelbookError
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.places import Places
from reelbook.states import INTENDED

JOBS = 10
CLIP_SECONDS = 1
WAIT_SECONDS = 90.0
# How long jobs take, and how the sandbox stretches what would be over in a moment: the first answer to a
# submission comes after one step, the second after two; clips begin to arrive late, and some break off.
PACE_SECONDS = 0.6
ANSWER_STEP_SECONDS = 0.1
DOWNLOAD_SECONDS = 0.15
BROKEN_DOWNLOADS = (2, 5, 8)
BREAK_BYTES = 5_000

# Ids are noted the moment a job of the session has one, by a write that the kill can't take back.
BEGIN = """
import os
import time
import reelbook as rb
session = rb.connect()
noted = set()
notes = os.open({notes!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def note(job):
    if job is not None and job.request_id is not None and job.request_id not in noted:
        noted.add(job.request_id)
        os.write(notes, f"{{job.request_id}}\\n".encode())
session.subscribe(note)
"""
READY = "print('ready')"
AS_BATCH = "batch = session.submit_many({prompts!r}, duration_seconds={seconds})"
ONE_BY_ONE = """
for prompt in {prompts!r}:
    session.text_to_video(prompt, duration_seconds={seconds})
    time.sleep(0.03)
"""
WAYS = (AS_BATCH, ONE_BY_ONE)


def dies(step: str, nth: int, *, before: bool, kind: str = "Ledger") -> str:
    """The sabotage that kills the kernel just before the `nth` step of a `kind` is on the disk, or after."""
    setup = f"from reelbook.ledger.ledger import {kind}"
    return deadly.dies(f"{kind}.{step}", nth, before=before, setup=setup)


@dataclass(frozen=True)
class Outside:
    """The sandbox outside the kernels, and a folder for the homes."""

    sandbox: Sandbox
    folder: Path

    def __post_init__(self) -> None:
        self.sandbox.settings(pace=PACE_SECONDS, rate_limiting=False, balance_usd=100_000)

    def home(self) -> Path:
        """A fresh home."""
        return Path(tempfile.mkdtemp(prefix="home-", dir=self.folder))

    def stretch(self) -> None:
        """Lets the answers to a batch's submissions come one after another, and its clips slowly."""
        self.sandbox.clear_faults()
        for number in range(1, JOBS + 1):
            self.sandbox.fault("stall", endpoint="generate", seconds=number * ANSWER_STEP_SECONDS)
        for number in range(JOBS):
            if number in BROKEN_DOWNLOADS:
                self.sandbox.fault("drop_download", endpoint="download", after_bytes=BREAK_BYTES)
            else:
                self.sandbox.fault("stall", endpoint="download", seconds=DOWNLOAD_SECONDS)

    def posts(self) -> int:
        """How many submissions arrived so far."""
        return int(self.sandbox.state()["requests"].get("text-to-video", 0))

    def made(self, prompts: Sequence[str]) -> list[tuple[Made, Path | None]]:
        """The service's jobs for those prompts and their files, once they have all ended."""
        until(lambda: all(row["state"] in ("completed", "failed") for row in self._rows(prompts)))
        made = []
        for row in self._rows(prompts):
            file = None if row["video"] is None else Places(self.sandbox.home).videos / row["video"]
            made.append((Made(row["prompt"], row["request_id"], row["cost_micro"] or 0), file))
        return made

    def _rows(self, prompts: Sequence[str]) -> list[sqlite3.Row]:
        # The database itself: whoever lost an id can't ask the service about it.
        path = Places(self.sandbox.home).database
        marks = ", ".join("?" * len(prompts))
        jobs = "SELECT *, json_extract(request, '$.prompt') AS prompt FROM jobs"
        return rows(path, f"{jobs} WHERE prompt IN ({marks}) ORDER BY accepted_at", *prompts)


@contextlib.contextmanager
def outside() -> Iterator[Outside]:
    """A sandbox in a process of its own; all of it is gone at the end."""
    with tempfile.TemporaryDirectory(prefix="reelbook-kills-") as folder:
        home = Path(folder, "sandbox-home")
        try:
            yield Outside(server.ensure(home), Path(folder))
        finally:
            server.stop(home)


@dataclass(frozen=True)
class Length:
    """How long a batch takes that nobody kills, in seconds from its beginning."""

    first_sent: float
    answered: float
    whole: float


@dataclass(frozen=True)
class Round:
    """A kernel that is connected and about to submit its batch. `prompts` are nobody else's."""

    outside: Outside
    kernel: Kernel
    home: Path
    prompts: Sequence[str]

    @property
    def notes(self) -> Path:
        """Where the kernel notes the ids that it received."""
        return self.home / "received.txt"

    def received(self) -> list[str]:
        """The ids that the kernel received so far, first one first."""
        # What a write left without its end is no id that anybody saw.
        lines = self.notes.read_text().splitlines(keepends=True) if self.notes.exists() else []
        return [line.strip() for line in lines if line.endswith("\n")]

    def submit(self, way: str = AS_BATCH) -> float:
        """Lets the kernel begin its batch; the moment, in the seconds of `time.monotonic`."""
        self.kernel.client.execute(way.format(prompts=list(self.prompts), seconds=CLIP_SECONDS))
        return time.monotonic()

    def measured(self, way: str = AS_BATCH) -> Length:
        """Lets the batch go through."""
        self.outside.stretch()
        began = self.submit(way)
        until(lambda: any(each.state != INTENDED for each in self.left()))
        first_sent = time.monotonic() - began
        until(lambda: len(self.received()) == len(self.prompts))
        answered = time.monotonic() - began
        until(lambda: len(list(self.home.rglob("*.mp4"))) == len(self.prompts))
        return Length(first_sent, answered, time.monotonic() - began)

    def killed(self, when: "When", *, way: str = AS_BATCH) -> Aftermath:
        """Kills the kernel at that moment of its batch, resumes, and says what is true then."""
        self.outside.stretch()
        posts = self.outside.posts()
        began = self.submit(way)
        when(self)
        at_seconds = time.monotonic() - began
        self.kernel.kill()
        self.outside.sandbox.clear_faults()
        left, parts = self.left(), len(list(self.home.rglob("*.part")))
        return self._after(at_seconds, left, parts, posts)

    def left(self) -> list[Written]:
        """What the ledger says, read from a copy: opening it would already repair it."""
        with tempfile.TemporaryDirectory() as folder:
            for path in self.home.glob("ledger.db*"):
                shutil.copy(path, folder)
            copy = Path(folder, "ledger.db")
            found = rows(copy, "SELECT * FROM entries ORDER BY id") if copy.exists() else []
        return [
            Written(row["prompt"], row["state"], row["request_id"], row["clip_path"] is not None)
            for row in found
        ]

    def _after(self, at_seconds: float, left: list[Written], parts: int, posts: int) -> Aftermath:
        sandbox = self.outside.sandbox
        with rb.connect(api_key=sandbox.api_key, base_url=sandbox.url, home=self.home) as session:
            forget_requests(self.home)
            session.balance()
            resumed = session.resume()
            deadline = time.monotonic() + WAIT_SECONDS
            for job in resumed:
                with contextlib.suppress(ReelbookError):  # what has no clip then is found by its absence
                    job.result(max(0.0, deadline - time.monotonic()))
            made = self.outside.made(self.prompts)
            files = {each.request_id: path for each, path in made}
            written = []
            for job in reversed(session.jobs(limit=1000)):
                file = files.get(job.request_id or "")
                whole = job.clip is not None and file is not None and filecmp.cmp(job.clip.path, file, False)
                written.append(Written(job.prompt or "", job.state, job.request_id, whole))
            spend = session.spending().of_key
        return Aftermath(
            at_seconds=at_seconds,
            received=frozenset(self.received()),
            left=left,
            parts=parts,
            resumed=len(resumed),
            after=written,
            made=[each for each, _ in made],
            posts=self.outside.posts() - posts,
            spend=spend,
            jobs=len(self.prompts),
        )


When = Callable[[Round], object]
"""Returns at the moment of the kill. It is called as the batch begins."""


def after(seconds: float) -> When:
    """Kills so many seconds after the batch began."""
    return lambda _: time.sleep(seconds)


def once_received(count: int) -> When:
    """Kills as soon as the kernel has so many ids."""
    return lambda batch: until(lambda: len(batch.received()) >= count)


def once_gone(batch: Round) -> None:
    """Waits for a kernel that kills itself."""
    until(lambda: batch.kernel.process.poll() is not None)


@contextlib.contextmanager
def round_of(outside: Outside, number: int = 0, *, sabotage: str = "") -> Iterator[Round]:
    """A round with a kernel and a home of its own. `sabotage` is code that breaks Reelbook in the kernel."""
    home = outside.home()
    prompts = [f"round {home.name} {number}, clip {place} of a red fox" for place in range(JOBS)]
    settings = {
        "REELBOOK_API_KEY": outside.sandbox.api_key.reveal(),
        "REELBOOK_BASE_URL": outside.sandbox.url,
        "REELBOOK_HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
    }
    kernel = Kernel(environment=settings)
    try:
        ready = Round(outside, kernel, home, prompts)
        assert kernel.run(sabotage + BEGIN.format(notes=str(ready.notes)) + READY).endswith("ready")
        yield ready
    finally:
        kernel.close()
        shutil.rmtree(home, ignore_errors=True)
