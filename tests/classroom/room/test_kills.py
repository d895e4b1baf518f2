"""The room is killed within its work, and started again with the same home and the same code."""

from __future__ import annotations

import contextlib
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from classroom.room.visitors import Visitor
from cli.doubles import environment, start
from support.waiting import until

from reelbook.classroom.room.turns import UNSENT
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.places import Places

pytestmark = pytest.mark.browser  # processes take long to start

CODE = "FOX-234"
STUDENTS, CLIPS = 3, 4
ROUNDS = 3

# Ends the process itself at the nth such step that has an effect, just before it or just after.
DEADLY = """
import os, signal, sys
from reelbook.classroom.room.store import RoomStore
from reelbook.cli import main
from reelbook.ledger import Ledger
from reelbook.session import Session
real, calls = {step}, 0
def deadly(*args, **options):
    global calls
    calls += {step!r} != "RoomStore.hand_over" or "queued" in args[0].counts()
    if calls == {nth} and {before}:
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*args, **options)
    if calls == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
{step} = deadly
sys.argv = ["reelbook", *{words!r}]
main()
"""
STEPS = ("RoomStore.hand_over", "Session.submit", "Ledger.sending", "Ledger.accepted", "RoomStore.settle")


class Killable:
    """A room as a process of its own, on one port, that may be killed and started again."""

    def __init__(self, home: Path, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.home, self.folder = home, folder
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[str] | None = None

    @property
    def words(self) -> list[str]:
        """The command that the teacher runs."""
        chosen = ["--code", CODE, "--port", str(self.port), "--host", "127.0.0.1", "--cap", "5"]
        return ["classroom", "serve", "--service", "sandbox", "--home", str(self.home), *chosen]

    def start(self, sabotage: str | None = None) -> None:
        """Starts it, and waits until it answers."""
        if sabotage is None:
            self.process = start(
                *self.words, cwd=self.folder, stderr=subprocess.STDOUT, REELBOOK_TEST_JOBS="short"
            )
        else:
            self.process = subprocess.Popen(
                [sys.executable, "-c", sabotage],
                cwd=self.folder,
                env=environment(REELBOOK_TEST_JOBS="short"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        until(self._answers)

    def kill(self) -> None:
        """SIGKILL, and waits until it is gone."""
        assert self.process is not None
        self.process.kill()
        self.gone()

    def gone(self) -> None:
        """Waits until it is gone."""
        assert self.process is not None
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        # A fresh session takes the limit for 10 a minute, and what the killed one used of it for used up:
        # without this each start would wait for that, a minute or two. This takes the wait away, no more.
        with contextlib.closing(sqlite3.connect(self.home / "ledger.db", timeout=10)) as connection:
            with connection:
                connection.execute("DELETE FROM requests")

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            assert self.process.returncode == -signal.SIGKILL, (
                self.process.stdout and self.process.stdout.read()
            )
            return True
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/room/about", trust_env=False).status_code == 200
        return False


@pytest.fixture
def outside(home: Path) -> Sandbox:
    """A sandbox in a process of its own, whose clips take a moment."""
    sandbox = server.ensure(home)
    sandbox.settings(pace=0.3, rate_limiting=False, balance_usd=100)
    return sandbox


@pytest.fixture
def killable(home: Path, outside: Sandbox, tmp_path: Path) -> Iterator[Killable]:
    room = Killable(home, tmp_path)
    yield room
    if room.process is not None and room.process.poll() is None:
        room.kill()


def bought(home: Path) -> Counter[str]:
    """What the service was sold, by prompt, out of its own database."""
    with contextlib.closing(sqlite3.connect(Places(home).database, timeout=10)) as connection:
        return Counter(
            row[0] for row in connection.execute("SELECT json_extract(request, '$.prompt') FROM jobs")
        )


def reserved_and_spent(home: Path) -> tuple[int, int, int, int]:
    """The students' sums and those of the jobs, in micro-USD."""
    file = home / "rooms" / "FOX234" / "room.db"
    with contextlib.closing(sqlite3.connect(file, timeout=10)) as connection:
        students = connection.execute(
            "SELECT total(reserved_micro), total(spent_micro) FROM students"
        ).fetchone()
        jobs = connection.execute("SELECT total(reserved_micro), total(cost_micro) FROM jobs").fetchone()
    return tuple(map(int, (*students, *jobs)))  # type: ignore[return-value]  # four of them


def joined(room: Killable, stack: contextlib.ExitStack) -> list[Visitor]:
    return [stack.enter_context(Visitor(room.url)).join(f"Student {number}") for number in range(STUDENTS)]


def test_killed_at_random_moments_nothing_is_lost_or_bought_twice(
    killable: Killable, outside: Sandbox, home: Path
) -> None:
    """Two answers of the service are lost, too: every id is known to the end, and the sums are right."""
    moments = random.Random(24)
    killable.start()
    outside.fault("answer_lost", endpoint="generate", after=7, times=2)
    with contextlib.ExitStack() as stack:
        students = joined(killable, stack)
        ordered: dict[str, tuple[Visitor, str]] = {}
        for round_ in range(ROUNDS):
            for student in students:
                for clip in range(CLIPS):
                    prompt = f"round {round_} clip {clip} of {students.index(student)}"
                    ordered[student.ordered(prompt)] = student, prompt
            time.sleep(moments.uniform(0.05, 1.5))
            killable.kill()
            killable.start()
        told = {job: student.ended(job) for job, (student, _) in ordered.items()}
    sold = bought(home)

    assert len(told) == ROUNDS * STUDENTS * CLIPS
    assert max(sold.values()) == 1
    done = [each for each in told.values() if each["status"] == "completed"]
    uncertain = [each for each in told.values() if each.get("uncertain")]
    assert len(done) + len(uncertain) == len(told)
    assert 2 <= len(uncertain) <= 2 + ROUNDS * UNSENT
    reserved, spent, jobs_reserved, jobs_spent = reserved_and_spent(home)
    assert (reserved, spent) == (jobs_reserved, jobs_spent)
    assert (reserved, spent) == (50_000 * len(uncertain), 50_000 * len(done))


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_around_a_step_it_goes_on(killable: Killable, home: Path, step: str, before: bool) -> None:
    """Before and after a clip is handed over, written down, sent, answered and settled.

    Only those that were on their way to the service are uncertain; everything else is made, once.
    """
    killable.start(DEADLY.format(step=step, nth=2, before=before, words=killable.words))
    prompts = ["first", "second", "third"]
    with Visitor(killable.url) as ada:
        ada.join("Ada")
        jobs = []
        with contextlib.suppress(httpx.TransportError):
            for prompt in prompts:
                jobs.append(ada.ordered(prompt, repeat_key=prompt))
        killable.gone()
        killable.start()
        again = [ada.ordered(prompt, repeat_key=prompt) for prompt in prompts]
        told = [ada.ended(job) for job in again]
    uncertain = sum(each.get("uncertain", False) for each in told)

    assert jobs == again[: len(jobs)]
    assert uncertain <= UNSENT
    assert [each["status"] for each in told].count("completed") == 3 - uncertain
    sold = bought(home)
    assert max(sold.values()) == 1
    assert 3 - uncertain <= len(sold) <= 3
    reserved, spent = 50_000 * uncertain, 50_000 * (3 - uncertain)
    assert reserved_and_spent(home) == (reserved, spent, reserved, spent)
