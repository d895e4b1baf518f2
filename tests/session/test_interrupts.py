"""Stop and Ctrl-C at any moment: what is under way goes on, nothing is stranded, the session stays usable."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.ledgers import locked
from support.waiting import until

import reelbook as rb
from reelbook.account.limits import SpendWarner
from reelbook.event_thread import Future
from reelbook.ledger import LedgerFile
from reelbook.sandbox.handle import Sandbox
from reelbook.session import Session, connector

FOX: Any = {"duration_seconds": 1, "aspect_ratio": "1:1", "seed": 7}


def stop() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def stopped(call: Callable[[], object], *, after: float) -> None:
    """Calls it, and presses Stop so many seconds later: in the call, or right behind it."""

    def call_and_wait() -> None:
        threading.Timer(after, stop).start()
        call()
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        call_and_wait()


def test_stop_between_intent_and_sending_strands_nothing(
    session: rb.Session, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clip that was written down by then is the session's: running, and bought once."""
    look = SpendWarner.look

    def stop_before(self: SpendWarner, *given: object) -> None:
        stop()
        look(self, *given)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(SpendWarner, "look", stop_before)
    with pytest.raises(KeyboardInterrupt):
        session.text_to_video("a fox", **FOX, once="fox")
    monkeypatch.undo()
    again = session.text_to_video("a fox", **FOX, once="fox")
    assert again.from_earlier_run
    assert again.result(30).path.exists()
    assert sandbox.state()["requests"]["text-to-video"] == 1
    assert session.spending().of_key.reserved_usd == 0


def test_stop_in_a_wait_for_the_lock_ends_it_at_once_and_buys_nothing(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """What isn't written down by then isn't submitted; the next submission is."""
    with locked(session.home):
        began = time.monotonic()
        stopped(lambda: session.text_to_video("a fox", **FOX), after=0.1)
        took = time.monotonic() - began
    assert session.text_to_video("an owl", **FOX).result(30).path.exists()
    assert [job.prompt for job in session.jobs()] == ["an owl"]
    assert sandbox.state()["requests"]["text-to-video"] == 1
    assert took < 5  # not slept to its end


def test_stop_while_answers_are_awaited_loses_no_id(session: rb.Session, sandbox: Sandbox) -> None:
    """Stop is pressed in a wait for the lock, then five paid answers come: all five ids are on the disk."""
    sandbox.fault("stall", endpoint="generate", seconds=0.5, times=5)
    jobs = [session.text_to_video(f"fox {number}", **FOX) for number in range(5)]
    until(lambda: sandbox.state()["requests"].get("text-to-video") == 5)
    with locked(session.home) as holder:
        free = threading.Timer(0.18, holder.rollback)
        free.start()
        stopped(lambda: session.text_to_video("stopped", **FOX), after=0.1)
        free.join()
    ids = {job.result(30).request_id for job in jobs}
    with LedgerFile.open(session.home) as other:
        assert other.store.trouble is None
        assert ids <= {entry.request_id for entry in other.find()}
    assert len(ids) == 5
    assert session.facts.trouble is None


def test_stop_while_a_session_is_made_leaves_it_to_the_next_connect(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made once, whole, and found by the next call; what there is to say of it is said then."""
    made: list[object] = []
    goes_on = threading.Event()

    def slow(*given: object, **options: object) -> rb.Session:
        made.append(given)
        goes_on.wait(30)
        return Session(*given, **options)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(connector, "Session", slow)
    stopped(lambda: rb.connect("sandbox"), after=0.1)
    goes_on.set()
    session = rb.connect("sandbox")
    assert session.text_to_video("a fox", **FOX).result(30).path.exists()
    assert len(made) == 1
    session.close()


@pytest.mark.browser
def test_interrupts_at_random_moments_lose_strand_and_buy_nothing_twice() -> None:
    """Over all that a session does, while another kernel writes to the same ledger. See the benchmark."""
    tests = Path(__file__).parent.parent
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_interrupts", "--times", "8", "--seed", "7"],
        env={**os.environ, "PYTHONPATH": str(tests)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "broken promises: none" in ended.stdout


def test_an_interrupted_look_at_a_future_leaves_it_to_be_settled() -> None:
    """A future of Python's own keeps its lock then, and who sets the result waits for ever."""
    interrupts = 0

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(100):
            future: Future[int] = Future()
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0003)
                while True:
                    future.done()
                    future.wait(0.00001)
            except KeyboardInterrupt:
                interrupts += 1
            setter = threading.Thread(target=future.set_result, args=(1,), daemon=True)
            setter.start()
            setter.join(60)
            assert not setter.is_alive()
            assert future.result() == 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert interrupts == 100
