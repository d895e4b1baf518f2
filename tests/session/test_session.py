"""Finding jobs in the books, marking them, experiments, and clips whose file is gone."""

import asyncio
import errno
import time
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reelbook.errors import DownloadFailed, InvalidInput, ReelbookError
from reelbook.ledger.search import named_states
from reelbook.session import Job, Session, connect
from reelbook.session.session import current_experiment, job_of


def finished(session: Session, prompt: str, *, seed: int = -1) -> Job:
    """A job whose clip is here."""
    job = session.text_to_video(prompt, duration_seconds=1, seed=seed)
    job.result(30)
    return job


def test_marks_are_kept_and_found_by_the_next_session(session: Session, home: Path) -> None:
    """Star, note and tags are kept tidy in the ledger; the job that carries them is found by each of them."""
    fox, wolf = finished(session, "a fox", seed=1), finished(session, "a wolf", seed=2)
    fox.mark(picked=True, tags=["keep", " keep ", "", " for the  talk "])
    fox.mark(note="  the tail is odd\n")
    assert (fox.picked, fox.note, fox.tags) == (True, "the tail is odd", ("keep", "for the talk"))
    wolf.mark(tags="keep")
    assert session.tags() == {"for the talk": 1, "keep": 2}
    session.close()
    with connect("sandbox") as again:
        assert [job.note for job in again.jobs(picked=True)] == ["the tail is odd"]
        assert [job.request_id for job in again.jobs(tag="for the talk")] == [fox.request_id]
        assert [job.request_id for job in again.jobs(text="tail")] == [fox.request_id]
        assert [job.request_id for job in again.jobs(picked=False)] == [wolf.request_id]


def test_earlier_prompts_are_listed_once_and_the_last_one_first(session: Session) -> None:
    """Found by the beginnings of their words."""
    for prompt in ("a heron", "a fox at dawn", "a fox in fog", "a fox in fog", "a fox in fog", "a heron"):
        session.text_to_video(prompt, duration_seconds=1, again=True)
    assert session.prompts() == ("a heron", "a fox in fog", "a fox at dawn")
    assert session.prompts(limit=2) == ("a heron", "a fox in fog")
    assert session.prompts("fo da") == ("a fox at dawn",)
    assert session.prompts("xylophone") == ()


def test_pages_follow_each_other_in_every_order(session: Session) -> None:
    """`after` is the last job of the page before."""
    jobs = [session.text_to_video(f"clip {seconds}", duration_seconds=seconds) for seconds in (2, 3, 1)]
    orders = {"newest": jobs[::-1], "oldest": jobs, "costliest": [jobs[1], jobs[0], jobs[2]]}
    for sort, expected in orders.items():
        first = session.jobs(sort=sort, limit=2)  # type: ignore[arg-type] # its three words
        rest = session.jobs(sort=sort, limit=2, after=first[-1])  # type: ignore[arg-type] # as above
        assert [*first, *rest] == expected, sort


def test_a_deleted_clip_keeps_its_record_and_is_fetched_again(session: Session) -> None:
    """Its record and marks stay; watching brings the file back, paid once; no later kernel does unasked."""
    job = finished(session, "a fox")
    job.mark(picked=True)
    path, spent = job.result().path, session.spending().of_key.spent_usd
    job.delete_clip()
    assert not path.exists()
    assert job.clip is None
    assert isinstance(job.error, DownloadFailed)
    assert (job.state, job.picked, job.view().cost_usd) == ("completed", True, 0.05)
    assert job.result(30).path == path
    path.unlink()  # as when somebody emptied the folder
    job.watch()
    assert job.result(30).path.exists()
    assert session.spending().of_key.spent_usd == spent
    job.delete_clip()
    session.close()
    with connect("sandbox") as again:
        assert (again.resume(), [each.clip for each in again.jobs()]) == ((), [None])


def test_a_clip_whose_folder_takes_no_writes_is_neither_deleted_nor_put_aside(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is said, the file stays as it is, and once the folder can be written both work."""
    job = finished(session, "a fox")
    path = job.result().path
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:200])

    def refuse(path: Path, *_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    with monkeypatch.context() as disk:
        disk.setattr(Path, "replace", refuse)
        disk.setattr(Path, "unlink", refuse)
        for act, done in ((job.watch, "put aside"), (job.delete_clip, "deleted")):
            with pytest.raises(ReelbookError, match=f"couldn't be {done}: Permission denied. It is still"):
                act()
    assert (job.clip, path.stat().st_size) == (job.result(), 200)
    job.watch()
    assert job.result(30).duration_seconds == 1
    assert path.with_suffix(".damaged").stat().st_size == 200


def test_a_clip_is_picked_by_job_clip_or_id(session: Session) -> None:
    """With a note; picked again it keeps its place. One that the ledger doesn't know can't be picked."""
    fox, wolf, owl = (finished(session, f"a {animal}", seed=1) for animal in ("fox", "wolf", "owl"))
    session.pick(wolf, note="the light")
    session.pick(fox.result())
    session.pick(str(owl.request_id))
    session.pick(wolf)
    assert [(job, job.note) for job in session.picks()] == [(wolf, "the light"), (fox, ""), (owl, "")]
    fox.mark(picked=False)
    assert session.picks() == (wolf, owl)
    assert session.picks(since=time.time() + 60) == ()
    assert job_of(owl.result()) is owl
    with pytest.raises(InvalidInput, match="Nothing was picked"):
        session.pick("somebody else's")


def test_times_are_moments_days_or_epoch_seconds(session: Session) -> None:
    """A text, which the ledger would compare as one, is refused: it would hide what was spent."""
    today = date.today()
    job = finished(session, "a fox")
    later = today + timedelta(2)
    for since in (today, datetime.now() - timedelta(hours=1), time.time() - 3600, int(time.time()) - 3600):
        assert session.jobs(since=since, until=later) == (job,)
        assert len(session.receipt(since=since).rows) == 1
    assert session.jobs(since=later) == ()
    assert session.jobs(since=date.min, until=datetime.max) == (job,)
    assert session.jobs(since=datetime.max) == session.jobs(until=datetime.min) == ()
    text: Any = "2026-11-01"
    for ask in (session.jobs, session.receipt, session.picks):
        with pytest.raises(InvalidInput, match=text):
            ask(since=text)


def test_a_state_or_a_mode_that_there_isnt_is_refused(session: Session) -> None:
    """An empty list would say that no job has it; what isn't sent yet is sending."""
    for mode in ("image", 5, ["text-to-video"]):
        with pytest.raises(InvalidInput, match="The modes are text-to-video and image-to-video"):
            session.jobs(mode=mode)  # type: ignore[arg-type] # wrong on purpose
    for wrong in ("finished", ["completed", "finished"]):
        with pytest.raises(InvalidInput, match=r"No job has the state 'finished'\. The states are sending,"):
            session.jobs(state=wrong)
    with pytest.raises(InvalidInput, match="A state is a word"):
        session.jobs(state=[5])  # type: ignore[list-item] # wrong on purpose
    job = finished(session, "a fox")
    assert session.jobs(state=("Completed", "not-accepted")) == (job,)
    assert session.jobs(state=()) == session.jobs(mode="image-to-video") == ()
    assert set(named_states("sending", session._ledger)) == {"sending", "intended"}


def test_one_experiment_may_be_entered_by_several_tasks_at_a_time(session: Session) -> None:
    """Each has its name until its own block ends, whichever ends first."""
    heard: list[str | None] = []

    async def both() -> None:
        first_is_out = asyncio.Event()
        second_is_in = asyncio.Event()

        async def first() -> None:
            with fog:
                await second_is_in.wait()
            heard.append(current_experiment())
            first_is_out.set()

        async def second() -> None:
            with fog:
                second_is_in.set()
                await first_is_out.wait()
                heard.append(current_experiment())
            heard.append(current_experiment())

        await asyncio.gather(first(), second())

    fog = session.experiment("fog")
    with session.experiment("rain"):
        asyncio.run(both())
        with fog:
            heard.append(current_experiment())
    assert heard == ["rain", "fog", "rain", "fog"]
    assert current_experiment() is None
