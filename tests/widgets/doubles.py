"""A session, jobs and clips that are in whatever state a test wants, and a panel whose messages are kept."""

import concurrent.futures
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from media.pictures import film
from support.waiting import until

from reelbook.account import Facts, Spending
from reelbook.session import Clip, Job, JobRequest, JobView, Session
from reelbook.session.job_lifecycle import JobLifecycle, JobSnapshot
from reelbook.widgets.base import Panel

FOX = JobRequest("text-to-video", "a red fox runs through snow", 5, "16:9", 7)

RUNNING = JobView(
    state="processing",
    progress=0.62,
    elapsed_seconds=23.0,
    remaining_seconds=14.0,
    asked_seconds_ago=3.0,
    next_ask_in_seconds=6.0,
    estimated_cost_usd=0.25,
    balance_before_usd=24.75,
)


def view(**changes: Any) -> JobView:
    """A job's view, running unless it is told otherwise."""
    return replace(RUNNING, **changes)


@dataclass
class FakeThread:
    """As much of a session's thread as a job uses: its clock, and steps that are carried out."""

    at: float = 100.0

    def now(self) -> float:
        return self.at

    def run(self, step: Callable[[], Any]) -> Any:
        return step()

    def refuse_closed(self) -> None:
        """It is never closed."""


@dataclass(eq=False)
class FakeSession:
    """As much of a Session as the panels use, and of its jobs' control; keeps what was submitted."""

    facts: Facts = field(default_factory=lambda: Facts(25.0, 10, 10, None))
    service: str = "sandbox"
    closed: bool = False
    submitted: list[JobRequest] = field(default_factory=list)
    listeners: list[Callable[[Any], None]] = field(default_factory=list)
    asked: list[tuple[bool, concurrent.futures.Future[Any]]] = field(default_factory=list)
    thread: FakeThread = field(default_factory=FakeThread)
    home: Path = Path("/dev/null")  # nothing can be kept there

    def __post_init__(self) -> None:
        made: Any = Session._made
        made.add(self)
        self._jobs = self.services = self  # as what its jobs share

    def _known(self, request_id: str) -> None:
        """No ledger."""

    def picks(self, *, since: object = None) -> tuple[Job, ...]:
        """None: there is no ledger."""
        return ()

    def tell(self, job: Job) -> None:
        for listener in tuple(self.listeners):
            listener(job)

    def seconds_until_request(self) -> float | None:
        return self.facts.requests_back_in_seconds

    @property
    def running(self) -> tuple[Job, ...]:
        return ()

    def prompts(self, text: str = "", *, limit: int = 20) -> tuple[str, ...]:
        return tuple(request.prompt for request in self.submitted if text in request.prompt)[:limit]

    def spending(self) -> Spending:
        return Spending(0.0, 0.0, 0.0)

    def subscribe(self, callback: Callable[[Any], None]) -> Callable[[], None]:
        self.listeners.append(callback)
        return lambda: self.listeners.remove(callback)

    def _refresh_balance(self) -> concurrent.futures.Future[None]:
        return concurrent.futures.Future()

    def _reconciling(self, *, alone: bool = False) -> concurrent.futures.Future[Any]:
        self.asked.append((alone, concurrent.futures.Future()))
        return self.asked[-1][1]

    def submit(self, request: JobRequest) -> Job:
        self.submitted.append(request)
        return job(session=self, request=request)


def job(session: Any = None, request: JobRequest | None = FOX, **known: Any) -> Job:
    """A job in the state that `known` describes."""
    facts = JobSnapshot(**{"began_at": 77.0, "state": "processing", "request_id": "req-1", **known})
    owner: Any = session or FakeSession()
    return Job(1, JobLifecycle(owner, request, facts, entry_id=None), owner.tell)


def learn(job: Job, **changes: Any) -> None:
    """The session's thread hears something new."""
    job._life.learn(**changes)


def heard(panel: Panel) -> list[tuple[dict[str, Any], list[bytes]]]:
    """Keeps what `panel` sends to the page from now on."""
    messages: list[tuple[dict[str, Any], list[bytes]]] = []

    def send(content: dict[str, Any], buffers: Any = None) -> None:
        messages.append((content, [bytes(buffer) for buffer in buffers or []]))

    panel.send = send
    return messages


def says(panel: Panel, message: str, *buffers: bytes, **content: Any) -> None:
    """A message of the page, as it comes through the comm."""
    panel._handle_custom_msg({"name": message, **content}, [memoryview(buffer) for buffer in buffers])


def asks(panel: Panel, question: str, *buffers: bytes, **content: Any) -> dict[str, Any]:
    """What a question of the page is answered; `buffers` are the answer's."""
    usual, sent = panel.send, heard(panel)
    says(panel, question, *buffers, **{"ask": "a question", **content})
    panel.send = usual
    for told, parts in sent:
        if told["name"] != "answer":
            usual(told, parts)
    [(told, parts)] = [each for each in sent if each[0]["name"] == "answer"]
    answer = {name: value for name, value in told.items() if name not in ("name", "ask")}
    return {**answer, "buffers": parts} if parts else answer


class Page:
    """A view of a panel: what it was sent, and what it says."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.messages = heard(panel)

    def says(self, message: str, *buffers: bytes, **content: Any) -> None:
        says(self.panel, message, *buffers, **content)

    def asks(self, question: str, *buffers: bytes, **content: Any) -> dict[str, Any]:
        return asks(self.panel, question, *buffers, **content)

    def named(self, name: str) -> list[dict[str, Any]]:
        """The messages of that name, in order."""
        return [content for content, _ in list(self.messages) if content["name"] == name]

    def last(self, name: str) -> dict[str, Any]:
        return self.named(name)[-1]


def kept_stills(panel: Panel) -> list[str]:
    """The texts of the still forms that `panel`, shown by now, puts into the notebook from now on."""
    kept: list[str] = []
    panel._displays = (SimpleNamespace(update=lambda bundle, **_: kept.append(bundle["text/plain"])),)
    panel._still_kept = panel.still_of()
    return kept


def work_ends(panel: Panel) -> None:
    """Waits until nothing runs beside the panel any more and its page has been told."""
    until(lambda: not panel._busy)
    panel.refresh()


def clip_file(path: Path, *, size: tuple[int, int] = (64, 36), seconds: int = 1) -> Path:
    """A small real MP4."""
    shape = (size[1], size[0], 3)
    return film(path, [np.full(shape, 20 * number % 255, np.uint8) for number in range(8 * seconds)], 8)


def clip(path: Path, request: JobRequest | None = FOX, **facts: Any) -> Clip:
    """A finished clip of the sandbox."""
    known = {"cost_usd": 0.25, "took_seconds": 48.0, "sandbox": True, **facts}
    return Clip(path=clip_file(path), request_id="req-1", request=request, **known)
