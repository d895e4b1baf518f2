"""What a session buys and keeps while its ledger can't be written: nothing, and everything."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.ledgers import locked, read_only
from support.waiting import until

import reelbook as rb
from reelbook.errors import LedgerUnavailable, SpendingWarning, SpendLimitReached
from reelbook.explore import SweepRun
from reelbook.ledger import LedgerFile, store
from reelbook.sandbox.handle import Sandbox

SECONDS = 120


@contextlib.contextmanager
def connected(sandbox: Sandbox, home: Path) -> Iterator[rb.Session]:
    """A session with a limit of ten cents, as a kernel has one that ends without waiting for its jobs."""
    session = rb.connect(api_key=sandbox.api_key, base_url=sandbox.url, home=home, max_spend=0.10)
    yield session
    session.close()


def sent(sandbox: Sandbox) -> int:
    """How many submissions arrived."""
    return int(sandbox.state()["requests"].get("text-to-video", 0))


def waiting(session: rb.Session, sandbox: Sandbox, *prompts: str) -> list[rb.Job]:
    """Jobs that wait for their turn: three others are out, and not answered for a while."""
    sandbox.fault("stall", endpoint="generate", times=3, seconds=1)
    for prompt in ("one", "two", "three"):
        session.text_to_video(prompt, duration_seconds=1)
    until(lambda: sent(sandbox) == 3)
    return [session.text_to_video(each, duration_seconds=1) for each in prompts]


def test_nothing_is_bought_that_cannot_be_written_down(
    session: rb.Session, sandbox: Sandbox, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is refused with the reason, which standard error and the panels hear once; then all is as before."""
    told: list[str | None] = []
    session.subscribe(lambda job: told.append(session.facts.trouble) if job is None else None)
    with read_only(session._ledger):
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match=r"Nothing was sent\. .* it is read-only"):
                session.text_to_video("a fox", duration_seconds=1)
        until(lambda: told and told[-1])
        with pytest.warns(UserWarning, match="can't be written"):
            assert rb.connect("sandbox") is session
    assert sent(sandbox) == 0
    session.text_to_video("a fox", duration_seconds=1).result(SECONDS)
    until(lambda: told[-1] is None)
    said = capfd.readouterr().err
    assert (said.count("can't be written"), said.count("can be written again")) == (1, 1)


def test_a_clip_under_way_is_fetched_and_written_down_later(session: rb.Session, sandbox: Sandbox) -> None:
    """Answer, clip and cost arrive while nothing can be written, and are on the disk afterwards."""
    sandbox.fault("stall", endpoint="generate", seconds=1)
    job = session.text_to_video("a fox", duration_seconds=1)
    until(lambda: sent(sandbox))
    with read_only(session._ledger):
        clip = job.result(SECONDS)
        assert clip.path.exists()
        assert on_disk(session) == [("sending", None, None)]
        assert session.spending().spent_usd == pytest.approx(0.05)
    until(lambda: session.facts.trouble is None)
    assert on_disk(session) == [("completed", clip.request_id, str(clip.path))]


def test_a_job_written_down_before_is_not_sent_unmarked(session: rb.Session, sandbox: Sandbox) -> None:
    """What waits for its turn as the disk fails is refused; sent again it is bought once."""
    (job,) = waiting(session, sandbox, "a fox")
    with read_only(session._ledger), pytest.raises(LedgerUnavailable, match="Nothing was sent"):
        job.result(SECONDS)
    assert job.state == "refused"
    session.text_to_video("a fox", duration_seconds=1).result(SECONDS)
    assert sent(sandbox) == 4


def test_a_sweep_pauses_with_the_reason_and_goes_on(session: rb.Session, sandbox: Sandbox) -> None:
    """Each cell is bought once in the end."""
    sweep = rb.Sweep("a {animal}", animal=["fox", "heron", "bear", "owl"], duration_seconds=[1])
    sandbox.fault("429", endpoint="generate", after=2, reset_seconds=2)
    run = SweepRun(session, sweep)
    run.start()
    until(lambda: sent(sandbox) == 3)
    with read_only(session._ledger):
        until(lambda: run.state == "paused")
        assert "The ledger couldn't be written" in str(run.trouble)
        until(lambda: not run.counts["sending"])
    run.resume()
    assert len(run.results(SECONDS)) == 4
    assert session.spending().spent_usd == pytest.approx(0.20)
    assert len({each.job.request_id for each in run.cells if each.job is not None}) == 4


def test_a_lock_is_waited_for_as_long_as_the_caller_waits(
    session: rb.Session, sandbox: Sandbox, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Meanwhile it is said, the other jobs go on, and what was asked for is bought once."""
    first = session.text_to_video("before", duration_seconds=1)
    until(lambda: first.request_id is not None)
    jobs: list[rb.Job] = []
    asking = threading.Thread(target=lambda: jobs.append(session.text_to_video("a fox", duration_seconds=1)))
    with locked(home):
        asking.start()
        until(lambda: session.facts.trouble is not None)
        assert "has locked it" in str(session.facts.trouble)
        first.result(SECONDS)
        assert asking.is_alive()
        assert sent(sandbox) == 1
    asking.join(SECONDS)
    jobs[0].result(SECONDS)
    assert sent(sandbox) == 2
    assert "has locked it" in capfd.readouterr().err


def test_a_press_doesnt_keep_the_kernel_waiting_for_a_lock(
    session: rb.Session, sandbox: Sandbox, home: Path
) -> None:
    """The form says who holds it and what is safe; its button is off until the lock is gone."""
    form = rb.PromptForm(session, prompt="a fox", duration_seconds=1)
    with locked(home):
        form._heard(form, {"name": "generate", "ask": "1", "values": {}}, [])
        assert form.message["tone"] == "problem"
        assert "has locked it" in form.message["text"]
        until(lambda: form.words["lengths"][0]["off"])
    until(lambda: form.message["text"] == "The ledger can be written again.")
    until(lambda: not form.words["lengths"][0]["off"])
    assert sent(sandbox) == 0
    form.close()


def test_a_job_that_meets_a_lock_before_it_is_sent_waits(
    session: rb.Session, sandbox: Sandbox, home: Path
) -> None:
    """It isn't refused; it can be taken back; and let alone it is sent once."""
    job, other = waiting(session, sandbox, "a fox", "an owl")
    with locked(home):
        until(lambda: "has locked it" in (job.view().error or ""))
        assert other.cancel()
    job.result(SECONDS)
    assert (job.view().error, other.state, sent(sandbox)) == (None, "cancelled", 4)


def test_the_next_kernel_buys_nothing_again(
    sandbox: Sandbox, home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A label of `once` and a limit hold over two sessions, the first of which ends with a failing disk."""
    monkeypatch.setattr(store, "_CLOSING_SECONDS", 0)
    sandbox.fault("stall", endpoint="generate", seconds=1)
    with connected(sandbox, home) as session:
        job = session.text_to_video("a fox", duration_seconds=1, once="fox")
        until(lambda: sent(sandbox))
        broken = read_only(session._ledger)
        broken.__enter__()
        until(lambda: job.request_id is not None)
        with pytest.raises(LedgerUnavailable):
            session.text_to_video("an owl", duration_seconds=1, once="owl")
    assert f"Ids that it doesn't have: {job.request_id}." in capfd.readouterr().err
    assert on_disk(session) == [("sending", None, None)]
    with connected(sandbox, home) as session:
        again = session.text_to_video("a fox", duration_seconds=1, once="fox")
        assert again.state == "uncertain"
        with pytest.warns(SpendingWarning):
            session.text_to_video("an owl", duration_seconds=1, once="owl").result(SECONDS)
        with pytest.raises(SpendLimitReached):
            session.text_to_video("a bear", duration_seconds=1)
    assert sent(sandbox) == 2


def on_disk(session: rb.Session) -> list[tuple[str, str | None, str | None]]:
    """State, id and clip of all entries, as another kernel reads them."""
    with LedgerFile.open(session.home) as ledger:
        return [(each.state, each.request_id, each.clip_path) for each in ledger.find()]
