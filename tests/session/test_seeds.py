"""The seed of every clip: drawn where it was left random, sent, kept, and told."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import reelbook as rb
from reelbook.widgets.job_actions import send_again


def test_a_random_seed_is_drawn_and_makes_the_clip_again(session: rb.Session, home: Path) -> None:
    """What was drawn was sent: asked for by name it makes the same pictures. Every clip has its own."""
    clip = session.text_to_video("a fox", duration_seconds=1).result(30)
    request = clip.request
    assert request is not None
    assert request.seed not in (None, -1)
    again = session.text_to_video("a fox", duration_seconds=1, seed=request.seed or 0).result(30)
    assert again.path.read_bytes() == clip.path.read_bytes()
    assert f"seed={request.seed}" in clip.as_code()
    assert f"-{request.seed}.mp4" in clip.save(home).name
    assert session.receipt().rows[0].seed == request.seed
    batch = session.submit_many(["a fox"] * 4, duration_seconds=1)
    assert len({job.request.seed for job in batch if job.request} | {request.seed}) == 5


def test_a_cell_that_is_run_again_gets_its_clip_back_with_its_seed(
    session: rb.Session, run_cell: Callable[[], None]
) -> None:
    """Whatever was drawn, it asks for the same; the seed by name is another wish."""
    run_cell()
    first = session.text_to_video("a fox", duration_seconds=1)
    assert first.request is not None
    assert first.request.seed is not None
    run_cell()
    assert session.text_to_video("a fox", duration_seconds=1) is first
    assert session.text_to_video("a fox", duration_seconds=1, seed=first.request.seed) is not first


def test_a_job_that_nobody_knows_yet_says_so(session: rb.Session) -> None:
    """And a sweep in the list is a line, as it is printed."""
    assert repr(session.job("req_zzz")).endswith(": nothing is known of it yet>")
    rb.Sweep("a fox", duration_seconds=[1], name="foxes").run(session).results(30)
    (kept,) = session.sweeps()
    assert str(kept).startswith("1 “foxes”, ")
    assert str(kept).endswith(": completed, 1 completed, $0.05")
    assert repr(kept) == f"<SweepRecord {kept}>"
    assert repr(session.spending()) == str(session.spending())


def test_a_sweeps_random_seeds_are_each_drawn_and_told(session: rb.Session) -> None:
    """In its table, and in what is found by it later."""
    run = rb.Sweep("a fox", seed=[-1, -1], duration_seconds=[1]).run(session)
    clips = run.results(30)
    drawn = [clip.request.seed for clip in clips if clip.request]
    assert [cell.request.seed for cell in run.cells] == drawn
    assert len({*drawn, -1}) == 3
    assert list(run.to_pandas()["seed"]) == drawn
    assert rb.Sweep("a fox", seed=drawn, duration_seconds=[1]).plan(session).found == 2


def test_again_takes_the_same_seed_or_another(session: rb.Session) -> None:
    """The same request, or the same but for its seed, which is drawn anew."""
    first = session.text_to_video("a fox", duration_seconds=1)
    same, another = send_again(first), send_again(first, another_seed=True)
    seeds = [job.request.seed for job in (first, same, another) if job and job.request]
    assert seeds[0] == seeds[1] != seeds[2] != -1


def test_a_clip_of_a_sweep_tells_what_filled_its_template(session: rb.Session, home: Path) -> None:
    """In its file, with its seed and the time, as the ledger has it for a later kernel, too."""
    began = datetime.now(UTC).replace(microsecond=0)
    run = rb.Sweep("a {animal} in {snow|fog}", animal=["fox"], duration_seconds=[1]).run(session)
    clips = run.results(30)
    told = [rb.passport(clip.save(home)) for clip in clips]
    assert [each.template for each in told] == ["a {animal} in snow", "a {animal} in fog"]
    assert [each.slots for each in told] == [{"animal": "fox"}] * 2
    assert [each.request for each in told] == [clip.request for clip in clips]
    assert all(each.made_at is not None and each.made_at >= began for each in told)
    session.close()
    with rb.connect("sandbox") as later:
        found = later.jobs(text="snow")[0].clip
        assert found is not None
        assert found.passport() == told[0]
