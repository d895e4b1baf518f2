"""A room in a process of its own that is killed within its work, and what is left of it afterwards."""

import contextlib
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx
from classroom.room.visitors import Visitor
from cli.doubles import environment, start
from support.ledgers import forget_requests, rows
from support.waiting import until

from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.places import Places

CODE = "FOX-234"
STUDENTS, CLIPS = 3, 4
LOST_EACH = 10  # of so many answers of the service one is lost


_CONFIGURED = ("REELBOOK_API_KEY", "REELBOOK_BASE_URL")


class Killable:
    """A room as a process of its own, on one port, that may be killed and started again.

    `upstream` is key and address of a service; without one it is the home's own sandbox. With `short_jobs` it
    believes that clips are made at once, as a test's are.
    """

    def __init__(
        self,
        home: Path,
        folder: Path,
        cap: float = 50,
        *,
        upstream: tuple[str, str] | None = None,
        short_jobs: bool = True,
    ) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.home, self.folder, self.cap = home, folder, cap
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[str] | None = None
        self._service = "sandbox" if upstream is None else "live"
        self._settings = dict(zip(_CONFIGURED, upstream or (), strict=False))
        if short_jobs:
            self._settings["REELBOOK_TEST_JOBS"] = "short"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing of it goes on."""
        if self.process is not None and self.process.poll() is None:
            self.kill()

    @property
    def words(self) -> list[str]:
        """The command that the teacher runs."""
        chosen = ["--code", CODE, "--port", str(self.port), "--host", "127.0.0.1", "--cap", str(self.cap)]
        chosen += ["--places", "1000"]
        words = ["classroom", "serve", "--yes", "--service", self._service]
        return [*words, "--home", str(self.home), *chosen]

    def start(self, sabotage: str | None = None) -> None:
        """Starts it, and waits until it answers."""
        if sabotage is None:
            self.process = start(*self.words, cwd=self.folder, stderr=subprocess.STDOUT, **self._settings)
        else:
            self.process = subprocess.Popen(
                [sys.executable, "-c", sabotage],
                cwd=self.folder,
                env=environment(**self._settings),
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
        # A sandbox without a limit tells one of 100 a minute, and the killed one may have used more.
        forget_requests(self.home)

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            assert self.process.returncode == -signal.SIGKILL, (
                self.process.stdout and self.process.stdout.read()
            )
            return True
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/_sandbox/about", trust_env=False).status_code == 200
        return False


def bought(home: Path) -> Counter[str]:
    """What the service was sold, by prompt, out of its own database."""
    sold = rows(Places(home).database, "SELECT json_extract(request, '$.prompt') FROM jobs")
    return Counter(prompt for (prompt,) in sold)


@dataclass(frozen=True)
class Books:
    """What the room's file says in the end: jobs by state, prompts of those not bought, and micro-USD."""

    states: Counter[str]
    not_bought: frozenset[str]
    reserved: int
    spent: int


def books(home: Path) -> Books:
    """As they are now."""
    file = home / "rooms" / CODE.replace("-", "") / "room.db"
    jobs = rows(file, "SELECT state, json_extract(request, '$.prompt'), reserved_micro, cost_micro FROM jobs")
    return Books(
        Counter(state for state, *_ in jobs),
        frozenset(prompt for state, prompt, *_ in jobs if state in ("refused", "taken back")),
        sum(reserved for *_, reserved, _ in jobs),
        sum(cost for *_, cost in jobs),
    )


def broken(room: Books, sold: Counter[str], price_micro: int) -> list[str]:
    """What isn't as it must be; `sold` is what the service was sold, by prompt."""
    states = room.states
    expected = (price_micro * states["uncertain"], price_micro * states["completed"])
    checks = {
        "bought twice": max(sold.values(), default=0) <= 1,
        "neither made nor told": set(states) <= {"completed", "uncertain", "refused"},
        "bought, and told as not": not room.not_bought & set(sold),
        f"reserved and spent aren't {expected}": (room.reserved, room.spent) == expected,
    }
    return [words for words, good in checks.items() if not good]


def joined(room: Killable, stack: contextlib.ExitStack) -> list[Visitor]:
    """Students with a key of the room's."""
    return [stack.enter_context(Visitor(room.url)).join(f"Student {number}") for number in range(STUDENTS)]


def kill_at_random(room: Killable, service: Sandbox, times: int, seed: int) -> dict[str, dict[str, Any]]:
    """Kills it so often within the orders of three students, of whose answers one in ten is lost upstream.

    What is told of each in the end, by its id.
    """
    moments = random.Random(seed)
    for number in range(times * STUDENTS * CLIPS // LOST_EACH):
        service.fault("answer_lost", endpoint="generate", after=LOST_EACH * number + LOST_EACH // 2)
    with contextlib.ExitStack() as stack:
        students = joined(room, stack)
        ordered: dict[str, Visitor] = {}
        for round_ in range(times):
            for number, student in enumerate(students):
                for clip in range(CLIPS):
                    ordered[student.ordered(f"round {round_} clip {clip} of {number}")] = student
            time.sleep(moments.uniform(0.05, 1.5))
            room.kill()
            room.start()
        return {job: student.ended(job) for job, student in ordered.items()}
