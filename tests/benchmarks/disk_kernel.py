"""What `bench_disk.py` runs as a kernel: it buys as a person does, and says what it sees of a failing disk.

It is given its order as JSON, writes what happens as lines of JSON with the time of the machine's clock, and
closes its session when its input ends. Whatever is refused it tries again, as a person presses again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from support.ledgers import forget_requests

import reelbook as rb
from reelbook.errors import ReelbookError, SessionClosed, SpendLimitReached
from reelbook.explore import Sweep, SweepRun
from reelbook.session import connector

SHAPE: dict[str, Any] = {"duration_seconds": 1, "aspect_ratio": "1:1"}
AGAIN_SECONDS = 0.2
LOOK_SECONDS = 0.01
SWEEP, ONCE, LIMIT = "a sweep", "once=", "max_spend"


_telling = threading.Lock()


@dataclass(frozen=True)
class Order:
    """What to buy, and where the ids that are received are noted: not on the disk that fails."""

    work: str
    prompts: list[str]
    home: str
    notes: str
    limit_usd: float | None

    def as_json(self) -> str:
        return json.dumps(asdict(self))


def tell(event: str, **more: object) -> None:
    """A line for the one who looks on."""
    with _telling:
        print(json.dumps({"at": time.monotonic(), "event": event, **more}), flush=True)


def patiently_connected(order: Order) -> rb.Session:
    """A session, as soon as one is to be had."""
    # Play money may be spent without a ledger. Here the sandbox stands for a live service.
    connector._is_sandbox = lambda about: False
    while True:
        try:
            session = rb.connect(home=order.home, max_spend=order.limit_usd)
        except ReelbookError as error:
            tell("refused", text=str(error))
            time.sleep(AGAIN_SECONDS)
            continue
        with contextlib.suppress(sqlite3.Error):
            forget_requests(Path(order.home))
        session.balance()
        return session


class Onlooker:
    """Says when a panel first speaks of the ledger, and notes each id that is received."""

    def __init__(self, session: rb.Session, notes: str) -> None:
        self.session = session
        self.panels: dict[str, rb.widgets.base.Panel] = {"form": rb.PromptForm(session)}
        self._told: set[str] = set()
        self._noted: set[str] = set()
        self._notes = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        session.subscribe(self._note)
        threading.Thread(target=self._look, daemon=True).start()

    def _note(self, job: rb.Job | None) -> None:
        if job is None:
            return
        if "card" not in self.panels:
            self.panels["card"] = rb.JobCard(job)
        if job.request_id is not None and job.request_id not in self._noted:
            self._noted.add(job.request_id)
            os.write(self._notes, f"{job.request_id}\n".encode())

    def _look(self) -> None:
        while True:
            seen = {name: _words(panel) for name, panel in self.panels.copy().items()}
            seen["facts"] = str(self.session.facts.trouble)
            for name, words in seen.items():
                if name not in self._told and "ledger" in words:
                    self._told.add(name)
                    tell("shown", where=name)
            time.sleep(LOOK_SECONDS)


def _words(panel: rb.widgets.base.Panel) -> str:
    return str([panel.message, getattr(panel, "face", None), getattr(panel, "words", None)])


def bought_by_sweep(session: rb.Session, order: Order, onlooker: Onlooker) -> None:
    """Runs a sweep; goes on with the one that an earlier kernel began; resumes it where it paused."""
    earlier = session.sweeps()
    if earlier:
        run = Sweep.open(session, earlier[0].id)
        run.resume()
    else:
        sweep = rb.Sweep("{clip}", clip=order.prompts, duration_seconds=1, aspect_ratio="1:1")
        run = SweepRun(session, sweep)
        _until_taken(lambda: run.start(confirm=True))
    onlooker.panels["matrix"] = rb.Matrix(run)
    while not (run.wait(AGAIN_SECONDS) and not any(each.missing for each in run.cells)):
        if run.state == "paused":
            with contextlib.suppress(ReelbookError):
                run.resume()


def bought_singly(session: rb.Session, order: Order) -> None:
    """Asks for one clip after the other, by a label where it is `once=`, and waits for them."""
    jobs = []
    with contextlib.suppress(SpendLimitReached):
        for prompt in order.prompts:
            once = prompt if order.work == ONCE else None
            jobs += _until_taken(lambda: [session.text_to_video(prompt, once=once, **SHAPE)])  # noqa: B023
            time.sleep(AGAIN_SECONDS)
    for job in jobs:
        with contextlib.suppress(ReelbookError):
            job.result(60)


def _until_taken(submit: Any) -> Any:
    while True:
        try:
            return submit()
        except (SpendLimitReached, SessionClosed):
            raise
        except ReelbookError as error:
            tell("refused", text=str(error))
            time.sleep(AGAIN_SECONDS)


@contextlib.contextmanager
def closed_at_end_of_input(session: rb.Session) -> Iterator[None]:
    """Closes the session when it is asked for, also while it buys."""

    def wait() -> None:
        sys.stdin.read()
        session.close()

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    with contextlib.suppress(SessionClosed):
        yield
    waiting.join()


def main(order: Order) -> None:
    """Buys, and stays until it is killed or its input ends."""
    session = patiently_connected(order)
    with closed_at_end_of_input(session):
        onlooker = Onlooker(session, order.notes)
        left_over = session.resume()
        tell("connected")
        if order.work == SWEEP:
            bought_by_sweep(session, order, onlooker)
        else:
            bought_singly(session, order)
        for job in left_over:
            with contextlib.suppress(ReelbookError):
                job.result(60)
        tell("over")


if __name__ == "__main__":
    main(Order(**json.loads(sys.argv[1])))
