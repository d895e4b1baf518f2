"""A sweep's run against a real sandbox: what it buys, and what it never buys twice."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from cli.doubles import ROOT, environment
from ledger.doubles import heard, tell
from PIL import Image
from session.killing import dies
from support.waiting import until

import reelbook as rb
from reelbook import errors
from reelbook.executions import Execution
from reelbook.explore import RunCell, SweepRun
from reelbook.sandbox.handle import Sandbox

SECONDS = 120
TESTS = Path(__file__).parent.parent


def foxes(**axes: Any) -> rb.Sweep:
    """Six clips for 0.30 USD."""
    given: dict[str, Any] = {"animal": ["fox", "heron", "bear"], "seed": [1, 2], "duration_seconds": [1]}
    return rb.Sweep("a {animal} runs", **(given | axes))


def stills() -> rb.Sweep:
    """Three clips, each from a picture of its own."""
    pictures = [Image.new("RGB", (64, 36), colour) for colour in ("red", "green", "blue")]
    return rb.Sweep("it moves", image=pictures, duration_seconds=[1])


def sent(sandbox: Sandbox, mode: str = "text-to-video") -> int:
    """How many submissions arrived."""
    return int(sandbox.state()["requests"].get(mode, 0))


def halted(run: SweepRun, sandbox: Sandbox, count: int) -> None:
    """Lets so many of a run's submissions through, and pauses it then."""
    sandbox.fault("429", endpoint="generate", after=count, times=100, reset_seconds=10)
    run.start()
    until(lambda: accepted(run) == count)
    run.pause()
    until(lambda: run.wait(0))
    sandbox.clear_faults()


def accepted(run: SweepRun) -> int:
    """How many cells have a job that the service took."""
    return sum(each.job is not None and each.job.request_id is not None for each in run.cells)


def another(max_spend: float = 1000.0) -> closing[rb.Session]:
    """Another session with the sandbox, in the ledger like one of another kernel; closed at the end."""
    return closing(rb.connect("sandbox", max_spend=max_spend))


def test_every_cell_becomes_a_clip(session: rb.Session, sandbox: Sandbox) -> None:
    """Each is bought once; the ledger has the sweep, its cells, and its time beside the planned one."""
    run = foxes().run(session)
    assert run.state == "running"
    clips = run.results(SECONDS)
    assert [clip.request for clip in clips] == [cell.cell.request for cell in run.cells]
    assert sent(sandbox) == 6
    [record] = session.sweeps()
    assert (record.id, record.state, record.counts) == (run.id, "completed", {"completed": 6})
    assert (record.name, record.record) == ("a {animal} runs", run.sweep.to_record())
    assert record.cost_usd == pytest.approx(0.30)
    assert record.planned_seconds == run.planned_seconds
    assert 0 < record.elapsed_seconds == run.elapsed_seconds < SECONDS


@pytest.mark.anyio
async def test_a_run_is_awaited_and_tells_of_its_cells(session: rb.Session) -> None:
    """Each change of a cell and of the run is told, until one unsubscribes."""
    told: list[RunCell | None] = []
    run = SweepRun(session, foxes(animal=["fox"]))
    end = run.subscribe(told.append)
    run.start()
    clips = await run
    end()
    assert [clip.request for clip in clips] == [cell.cell.request for cell in run.cells]
    states = [each.state for each in told if each is not None and each.number == 1]
    assert states[-1] == "completed"
    assert None in told
    seen = len(told)
    run.pause()
    assert (len(told), run.state) == (seen, "completed")
    assert not session._listeners


def test_what_cannot_be_paid_is_said_before_anything_is_written(sandbox: Sandbox) -> None:
    """What needs a second word, passes the limit or isn't covered by the balance writes and sends nothing."""
    with another(max_spend=2) as session:
        costly = foxes(duration_seconds=[5])
        with pytest.raises(errors.InvalidInput, match="isn't begun yet"):
            SweepRun(session, costly).results()
        with pytest.raises(errors.ConfirmationNeeded, match=r"6 clips for about \$1\.50"):
            costly.run(session)
        with pytest.raises(errors.InvalidInput, match=r"pass the spending limit, which leaves \$2\.00"):
            foxes(duration_seconds=[10]).run(session, confirm=True)
        sandbox.settings(balance_usd=0.10)
        session.balance()
        with pytest.raises(
            errors.InvalidInput, match=r"balance of \$0\.10 doesn't cover 3 clips for about \$0\.15"
        ):
            foxes(seed=[1]).run(session)
        assert (session.sweeps(), session.jobs(), sent(sandbox)) == ((), (), 0)
        sandbox.settings(balance_usd=10)
        session.balance()
        costly.run(session, confirm_above_usd=1.50).stop()
        assert session.sweeps()[0].state == "stopped"


def test_paused_it_buys_nothing_and_resumed_exactly_what_is_missing(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """What was sent goes on, what wasn't is taken back, and six cells are six clips and charges."""
    run = SweepRun(session, foxes())
    halted(run, sandbox, 2)
    assert (run.state, run.counts["completed"], run.counts["planned"]) == ("paused", 2, 4)
    with pytest.raises(errors.ReelbookError, match="2 of 6 clips are there"):
        run.results()
    run.stop()
    assert (run.state, session.sweeps()[0].counts) == ("stopped", {"completed": 2, "planned": 4})
    assert run.plan().clips == 4
    before = sent(sandbox)
    run.resume()
    assert len(run.results(SECONDS)) == 6
    assert (sent(sandbox) - before, run.state) == (4, "completed")
    assert session.spending().spent_usd == pytest.approx(0.30)


def test_cells_are_left_out_and_taken_in(session: rb.Session, sandbox: Sandbox) -> None:
    """Before it is begun and after; what was bought can't be left out any more."""
    run = SweepRun(session, foxes())
    run.leave_out([1, 2, 3])
    run.start()
    assert len(run.results(SECONDS)) == 3
    assert (run.state, session.sweeps()[0].counts) == ("completed", {"left out": 3, "completed": 3})
    run.take_in([1, 2])
    run.leave_out([2, 4])
    assert [each.state for each in run.cells[:4]] == ["planned", "left out", "left out", "completed"]
    assert run.plan().clips == 1
    run.resume()
    assert len(run.results(SECONDS)) == 4
    assert sent(sandbox) == 4
    with pytest.raises(errors.InvalidInput, match="cells 1 to 6, not 7"):
        run.leave_out([7])
    with pytest.raises(errors.InvalidInput, match=r"such as \[1\], not 1"):
        run.leave_out(1)  # type: ignore[arg-type] # a wrong one
    with pytest.raises(errors.InvalidInput, match=r"cells 1 to 6, not \[1\]"):
        run.send_again([1])  # type: ignore[arg-type] # a wrong one


def test_an_empty_balance_pauses_it(session: rb.Session, sandbox: Sandbox) -> None:
    """It says why; what was refused is bought with the rest once there are credits again."""
    session.balance()
    sandbox.settings(balance_usd=0.10)  # somebody else spent the rest
    run = foxes().run(session)
    with pytest.raises(
        errors.InsufficientBalance, match=r"The balance ran out\. Add credits and resume the sweep\."
    ):
        run.results(SECONDS)
    assert (run.state, run.counts["completed"]) == ("paused", 2)
    assert session.sweeps()[0].state == "paused"
    sandbox.settings(balance_usd=10)
    run.resume()
    assert len(run.results(SECONDS)) == 6
    assert session.spending().spent_usd == pytest.approx(0.30)


def test_the_limit_in_the_middle_pauses_it(sandbox: Sandbox) -> None:
    """Where something else was bought meanwhile, the cell that would pass the limit isn't."""
    with another(max_spend=0.30) as session:
        run = SweepRun(session, foxes())
        halted(run, sandbox, 4)
        with pytest.warns(errors.SpendingWarning):
            session.text_to_video("something else", duration_seconds=2).result(SECONDS)
        run.resume()
        until(lambda: run.state == "paused")
        assert "would pass the spending limit of $0.30" in str(run.trouble)
        assert run.counts == {"completed": 4, "planned": 2}


def test_an_uncertain_cell_waits_for_a_person(session: rb.Session, sandbox: Sandbox) -> None:
    """It isn't missing: resuming buys nothing for it; if it is sent again, it is paid for again."""
    sandbox.fault("answer_lost", endpoint="generate", after=1)
    run = foxes(animal=["fox", "heron"]).run(session)
    until(lambda: run.state == "completed")
    [lost] = [each for each in run.cells if each.state == "uncertain"]
    assert (run.plan().clips, sent(sandbox)) == (0, 4)
    run.resume()
    until(lambda: run.wait(0))
    assert sent(sandbox) == 4
    run.send_again(lost.number).result(SECONDS)
    assert (sent(sandbox), run.counts) == (5, {"completed": 4})
    with pytest.raises(errors.InvalidInput, match="nothing to send again"):
        run.send_again(lost.number)


def test_a_service_that_answers_nothing_isnt_sent_the_rest(session: rb.Session, sandbox: Sandbox) -> None:
    """After three lost answers it pauses, as each of the rest might be billed too."""
    sandbox.fault("answer_lost", endpoint="generate", times=3)
    sandbox.fault("429", endpoint="generate", times=100, reset_seconds=20)
    run = foxes().run(session)
    until(lambda: run.state == "paused")
    assert "leaves submissions unanswered" in str(run.trouble)
    until(lambda: run.counts == {"uncertain": 3, "planned": 3})


def test_a_failed_cell_is_sent_again_by_a_person_only(session: rb.Session, sandbox: Sandbox) -> None:
    """It may have been billed, so resuming leaves it alone."""
    sandbox.settings(fail_next="content policy")
    run = foxes(animal=["fox"]).run(session)
    with pytest.raises(errors.JobFailed, match=r"content policy.*1 of 2 clips are there"):
        run.results(SECONDS)
    run.resume()
    until(lambda: run.wait(0))
    [failed] = [each for each in run.cells if each.state == "failed"]
    run.send_again(failed.number)
    assert len(run.results(SECONDS)) == 2
    assert sent(sandbox) == 3


def test_clips_with_a_fixed_seed_are_taken_from_the_ledger(session: rb.Session, sandbox: Sandbox) -> None:
    """They cost nothing; if the file is gone or the seed is random, a clip is made."""
    first = foxes().run(session).results(SECONDS)
    plan = foxes(seed=[1, 3]).plan(session)
    assert (plan.clips, plan.found) == (6, 3)
    assert plan.cost_usd == pytest.approx(0.15)
    run = foxes(seed=[1, 3]).run(session)
    clips = run.results(SECONDS)
    assert {clip.path for clip in clips} & {clip.path for clip in first} == {
        clip.path for clip in clips if clip.request is not None and clip.request.seed == 1
    }
    assert (sent(sandbox), sum(each.found for each in run.cells)) == (9, 3)
    assert session.sweeps()[0].found == 3
    assert session.sweeps()[0].cost_usd == pytest.approx(0.15)
    first[0].path.unlink()
    assert foxes().plan(session).found == 5
    assert foxes(seed=[-1]).plan(session).found == 0


def test_a_notebook_cell_run_again_goes_on_with_its_sweep(
    session: rb.Session, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with random seeds nothing is bought twice; another cell, a script or `again` begin another one."""

    def run(cell: str | None, number: int, **options: Any) -> SweepRun:
        execution = None if cell is None else Execution(cell, f"run {number}")
        monkeypatch.setattr("reelbook.explore.run.current_execution", lambda: execution)
        return foxes(animal=["fox"], seed=[-1]).run(session, **options)

    first = run("cell", 1)
    first.results(SECONDS)
    second = run("cell", 2)
    assert (second.id, second.results(SECONDS)) == (first.id, first.results(SECONDS))
    assert sent(sandbox) == 1
    others = [run("cell", 3, again=True), run("another", 4), run(None, 5), run(None, 6)]
    for each in others:
        each.results(SECONDS)
    assert (len({each.id for each in others} | {first.id}), sent(sandbox)) == (5, 5)


def test_a_sweep_that_was_refused_is_checked_again(
    session: rb.Session, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an earlier run of the cell began it: asked twice without a yes, it buys nothing more."""
    monkeypatch.setattr("reelbook.explore.run.current_execution", lambda: Execution("cell", "run 1"))
    halted(SweepRun(session, foxes()), sandbox, 2)
    before = sent(sandbox)
    monkeypatch.setattr("reelbook.explore.run.current_execution", lambda: Execution("cell", "run 2"))
    run = SweepRun(session, foxes())
    for _ in range(2):
        with pytest.raises(errors.ConfirmationNeeded):
            run.start(confirm_above_usd=0.0)
    assert (run.state, sent(sandbox)) == ("paused", before)


def test_pictures_are_there_for_a_later_kernel(session: rb.Session, sandbox: Sandbox, home: Path) -> None:
    """The sweep is taken up by its number, with its pictures; one that is gone holds up no other cell."""
    run = SweepRun(session, stills())
    halted(run, sandbox, 1)
    gone = next(each for each in run.cells if each.state == "planned")
    session.close()
    for file in (home / "images").glob(f"{gone.request.record()['image']}*"):
        file.unlink()
    with another() as later:
        [record] = later.sweeps()
        assert (record.state, record.counts) == ("paused", {"completed": 1, "planned": 2})
        again = rb.Sweep.open(later, record.id)
        assert (again.state, again.counts) == ("paused", {"completed": 1, "planned": 2})
        before = sent(sandbox, "image-to-video")
        again.resume()
        until(lambda: again.wait(0))
        assert again.counts == {"completed": 2, "planned": 1}
        assert sent(sandbox, "image-to-video") - before == 1
        assert f"image of cell {gone.number} isn't kept" in str(again.trouble)
        with pytest.raises(errors.InvalidInput, match="no sweep 99"):
            rb.Sweep.open(later, "99")


@pytest.mark.usefixtures("short_jobs")
def test_a_run_elsewhere_is_followed_and_stopped_from_here(session: rb.Session, sandbox: Sandbox) -> None:
    """An opened run buys nothing by itself, hears what the other one buys, and can stop it."""
    sandbox.fault("429", endpoint="generate", after=2, times=100, reset_seconds=3)
    with another() as other:
        run = foxes().run(session)
        there = rb.Sweep.open(other, run.id or "")
        assert there.state == "running"
        until(lambda: accepted(run) == 2)
        there.stop()
        until(lambda: run.state == "stopped")
        until(lambda: run.counts == there.counts == {"completed": 2, "planned": 4})


def test_its_table_is_for_pandas_and_spreadsheets(session: rb.Session, tmp_path: Path) -> None:
    """A line for each cell: what it varied, what became of it, and a person's marks."""
    run = foxes(animal=["fox", "=heron"], seed=[1]).run(session)
    run.results(SECONDS)
    winner = run.cells[0].job
    assert winner is not None
    winner.mark(picked=True, note="the best")
    table = run.to_pandas()
    assert list(table["animal"]) == [each.cell.values["animal"] for each in run.cells]
    assert list(table["state"]) == ["completed", "completed"]
    assert (table["picked"][0], table["note"][0], table["cost_usd"].sum()) == (
        True,
        "the best",
        pytest.approx(0.1),
    )
    text = run.to_csv(tmp_path / "sweep.csv")
    assert "'=heron" in text
    assert (tmp_path / "sweep.csv").read_text("utf-8-sig") == text.replace("\r\n", "\n")
    alike = SweepRun(session, rb.Sweep("{number} foxes, {state}", number=[2], state=["wet"])).to_pandas()
    assert [alike[name][0] for name in ("number", "slot_number", "state", "slot_state")] == [
        *(1, "2", "planned", "wet"),
    ]


def test_its_clips_are_an_experiment(session: rb.Session) -> None:
    """By the sweep's name, or that of the experiment in which it is begun."""
    foxes(animal=["fox"], seed=[1], name="foxes").run(session).results(SECONDS)
    with session.experiment("snow"):
        run = foxes(animal=["fox"], seed=[2]).run(session)
    run.results(SECONDS)
    assert [len(session.jobs(experiment=name)) for name in ("foxes", "snow")] == [1, 1]
    assert session.receipt("foxes").total_usd == pytest.approx(0.05)


def test_waiting_can_end_before_the_run(session: rb.Session, sandbox: Sandbox) -> None:
    """The run goes on."""
    sandbox.settings(pace=3600)
    run = foxes(animal=["fox"]).run(session)
    with pytest.raises(errors.WaitTimeout, match=r"after 0\.01 s"):
        run.results(0.01)
    assert run.state == "running"


CHILD = """
import sys
from support.jumping_time import JumpingLoop
import reelbook as rb
from reelbook import timing
timing.use(timing.Timing(new_loop=JumpingLoop))
session = rb.connect()
"""
BUYS = """
sweep = rb.Sweep("a {animal} runs", animal=["fox", "heron", "bear"], seed=[1, 2], duration_seconds=[1])
sweep.run(session).results(60)
"""
RESUMES = """
run = rb.Sweep.open(session, sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
run.resume()
print(len(run.results(60)), flush=True)
"""


def child(code: str, home: Path, *words: str) -> subprocess.Popen[str]:
    """A program of its own, that connects to the sandbox."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD + code, *words],
        env=environment(PYTHONPATH=f"{ROOT}:{TESTS}", REELBOOK_HOME=str(home)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.browser
@pytest.mark.parametrize(
    ("kind", "step", "nth", "before"),
    [
        ("Sweeps", "begin", 1, True),
        ("Sweeps", "begin", 1, False),
        ("Ledger", "intend", 3, False),
        ("Ledger", "sending", 3, False),
        ("Ledger", "accepted", 3, True),
        ("Ledger", "accepted", 3, False),
        ("Ledger", "downloaded", 2, False),
    ],
)
def test_a_kill_at_any_moment_leaves_one_clip_for_each_cell(
    sandbox: Sandbox, home: Path, kind: str, step: str, nth: int, before: bool
) -> None:
    """After resuming each cell is bought once: it has its clip, or may have one and waits for a person."""
    process = child(dies(step, nth, before=before, kind=kind) + BUYS, home)
    process.communicate(timeout=SECONDS)
    assert process.returncode == -9
    with another() as session:
        records = session.sweeps()
        assert len(records) == (0 if (step, before) == ("begin", True) else 1)
        if records:
            run = rb.Sweep.open(session, records[0].id)
            assert run.state == ("completed" if step == "downloaded" else "paused")
            run.resume()
        else:
            run = foxes().run(session)
        until(lambda: run.state == "completed")
        uncertain = run.counts["uncertain"]
        assert run.counts["completed"] + uncertain == 6
        assert uncertain <= 3  # so many are out without an answer at a time
        # At most one submission was out in vain, and every other one is known.
        assert 6 - uncertain <= sent(sandbox) <= 6
        # A cell says that its clip is there a moment before the ledger does.
        until(lambda: session.spending().of_key.spent_usd == pytest.approx(0.05 * (6 - uncertain)))
        assert session.jobs(state="cancelled") == () or step in ("intend", "sending", "accepted")


@pytest.mark.browser
def test_two_processes_that_resume_one_sweep_buy_each_cell_once(
    session: rb.Session, sandbox: Sandbox, home: Path
) -> None:
    """Even at the same moment; in the end both have all clips."""
    run = SweepRun(session, foxes())
    halted(run, sandbox, 1)
    process = child(RESUMES, home, run.id or "")
    assert heard(process) == "ready"
    before = sent(sandbox)
    tell(process)
    run.resume()
    assert len(run.results(SECONDS)) == 6
    assert process.communicate(timeout=SECONDS)[0] == "6\n"
    assert sent(sandbox) - before == 5


def test_a_callback_hears_once_that_nothing_more_comes(session: rb.Session, sandbox: Sandbox) -> None:
    """When the last clip is here, at once afterwards, and when it is paused; not before it is begun."""
    told: SimpleQueue[str] = SimpleQueue()
    run = SweepRun(session, foxes())
    with pytest.raises(errors.InvalidInput, match="isn't begun"):
        run.on_done(lambda run: told.put(run.state))
    halted(run, sandbox, 2)
    run.on_done(lambda run: told.put(run.state))
    assert told.get(timeout=SECONDS) == "paused"
    run.resume()
    run.on_done(lambda run: told.put(run.state))
    assert told.get(timeout=SECONDS) == "completed"
    run.on_done(lambda run: told.put(run.state))
    assert told.get(timeout=SECONDS) == "completed"
    assert told.empty()
