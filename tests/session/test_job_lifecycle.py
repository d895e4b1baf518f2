"""Finished clips on their way to the disk: expired links, two at a time, and kernels that end in between."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.fragments import cut, fragmented
from support.live import KEY, connected
from support.raw_server import Exchange, Handler, RawServer, in_turn, raw_server
from support.waiting import until

import reelbook as rb
from reelbook import errors
from reelbook.client import AsyncClient, downloads
from reelbook.formatting import plain
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.render import Spec, render
from reelbook.text.card import ShownJob, job_face, job_lines


@pytest.fixture(scope="module")
def mp4() -> bytes:
    return render(Spec("a blue boat at sea", 1, "1:1", 7)).mp4


@contextmanager
def service_with(
    links: Callable[[], str], *, request_id: str = "req_1", **more: object
) -> Iterator[RawServer]:
    """A service whose one job is finished at once; a status tells the link from `links`, or is a 401.

    `more` stands in the status, too.
    """

    def handle(exchange: Exchange) -> None:
        if "about" in exchange.first_line:
            exchange.answer(404)
        elif exchange.first_line.startswith("POST"):
            exchange.answer(200, json.dumps({"request_id": request_id, "status": "pending"}).encode())
        elif link := links():
            done = {"request_id": request_id, "status": "completed", "video_url": link, "cost_usd": 0.05}
            exchange.answer(200, json.dumps({**done, **more}).encode())
        else:
            exchange.answer(401)

    with raw_server(handle) as service:
        yield service


@contextmanager
def clip_from(hosting: Handler, **more: Any) -> Iterator[tuple[rb.Session, RawServer]]:
    """A session with such a service, whose clip is served by `hosting`, and the server that does."""
    with raw_server(hosting) as files:
        with service_with(lambda: files.url, **more) as service, connected(service) as session:
            yield session, files


def test_an_expired_link_is_fetched_by_a_fresh_one(session: rb.Session, sandbox: Sandbox) -> None:
    """The clip comes home, and nothing was paid for it twice."""
    sandbox.fault("expired_link")
    clip = session.text_to_video("a fox", duration_seconds=1).result(30)
    assert clip.duration_seconds == 1.0
    requests = sandbox.state()["requests"]
    assert (requests["download"], requests["text-to-video"]) == (2, 1)


def test_links_that_all_expire_end_in_an_error_and_the_clip_can_be_fetched_later(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """Three fresh links are enough; the card says so, and offers to fetch again."""
    sandbox.fault("expired_link", times=99)
    job = session.text_to_video("a fox", duration_seconds=1)
    with pytest.raises(errors.LinkExpired, match=r"3 fresh links .*fetch it again later"):
        job.result(30)
    assert sandbox.state()["requests"]["download"] == 4
    face = job_face(ShownJob.of(job))
    assert (job.state, face["note"]) == ("completed", str(job.error))
    assert ["watch", "Fetch again"] in face["actions"]
    sandbox.clear_faults()
    job.watch()
    assert job.result(30).duration_seconds == 1.0
    assert job.error is None


@pytest.mark.usefixtures("home")
def test_a_finished_job_keeps_its_estimate_whatever_its_status_repeats(mp4: bytes) -> None:
    """The interface has no estimate there: one that is no number mustn't stand in for an unknown cost."""
    with clip_from(lambda e: e.answer(200, mp4), cost_usd=None, estimated_cost_usd="$0.05") as (session, _):
        job = session.text_to_video("a fox", duration_seconds=1)
        job.result(30)
        assert (job.view().price_usd, job_face(ShownJob.of(job))["money"]) == (0.05, "$0.05")


def test_a_link_that_comes_after_the_clip_is_completed_is_asked_for(home: Path, mp4: bytes) -> None:
    """Once by itself, and again whenever a person wants the clip fetched."""
    with raw_server(lambda e: e.answer(200, mp4)) as files:
        links = iter([" ", " ", files.url])
        with service_with(lambda: next(links)) as service, connected(service) as session:
            job = session.text_to_video("a fox", duration_seconds=1)
            with pytest.raises(errors.LinkExpired, match="not where it is"):
                job.result(30)
            job.watch()
            assert job.result(30).path.read_bytes() == mp4


@pytest.mark.parametrize(
    ("later", "said"),
    [("the same", "no other link now"), ("", r"couldn't be asked for another: .*API key")],
    ids=["the same link", "no status"],
)
@pytest.mark.usefixtures("home")
def test_without_a_fresh_link_the_service_is_asked_once_and_the_error_says_why(later: str, said: str) -> None:
    """Whether the link stays the same or a status can't be had."""
    with raw_server(lambda e: e.answer(410)) as files:
        links = iter([files.url, files.url if later else ""])
        with service_with(lambda: next(links)) as service, connected(service) as session:
            with pytest.raises(errors.LinkExpired, match=said):
                session.text_to_video("a fox", duration_seconds=1).result(30)
    assert len(files.seen) == 1
    assert sum("status" in exchange.first_line for exchange in service.seen) == 2


def test_two_clips_are_fetched_at_a_time_and_the_others_wait_for_their_turn(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third card says that it waits, and its clip comes once there is room."""
    real, under_way, may_go_on = AsyncClient.download, list[str](), asyncio.Event()

    async def held(self: AsyncClient, url: str, path: Path, **more: Any) -> Path:
        under_way.append(url)
        assert len(under_way) <= 2
        await may_go_on.wait()
        try:
            return await real(self, url, path, **more)
        finally:
            under_way.remove(url)

    monkeypatch.setattr(AsyncClient, "download", held)
    jobs = [session.text_to_video("a fox", duration_seconds=1) for _ in range(4)]
    until(lambda: all(job.state == "completed" for job in jobs))
    until(lambda: len(under_way) == 2)
    lines = sorted(plain(job_lines(job.view())[0]) for job in jobs)
    assert lines == [*["Fetching the clip · 0 %"] * 2, *["Waiting to fetch the clip"] * 2]
    session._thread.loop.call_soon_threadsafe(may_go_on.set)
    assert len({job.result(30).path for job in jobs}) == 4


KERNEL = """
import reelbook as rb
rb.connect("live").text_to_video("a fox", duration_seconds=1).result()
"""


def test_the_download_of_a_killed_kernel_is_gone_on_with(home: Path, mp4: bytes) -> None:
    """The next kernel asks only for the bytes that are missing, also by a fresh link where the signed one has
    expired meanwhile (403), and pays nothing.
    """
    half, signatures = len(mp4) // 2, itertools.count()

    def hold(exchange: Exchange) -> None:
        exchange.answer_part(mp4, until=half)
        exchange.hold()  # until the kernel is gone

    with raw_server(in_turn(hold, lambda e: e.answer(403), lambda e: e.answer_part(mp4))) as files:
        with service_with(lambda: f"{files.url}/clip.mp4?signature={next(signatures)}") as service:
            settings = {"REELBOOK_API_KEY": KEY, "REELBOOK_BASE_URL": service.url}
            kernel = subprocess.Popen([sys.executable, "-c", KERNEL], env={**os.environ, **settings})
            try:
                until(lambda: any(p.stat().st_size == half for p in home.glob("clips/*/*.part")))
            finally:
                kernel.kill()
                kernel.wait()
            with connected(service) as session:
                (job,) = session.resume()
                clip = job.result(30)
    assert clip.path.read_bytes() == mp4
    assert [exchange.header("range") for exchange in files.seen] == [None, *[f"bytes={half}-"] * 2]
    assert len({exchange.first_line for exchange in files.seen}) == 3
    assert service.posts == 1
    assert [path.name for path in clip.path.parent.iterdir()] == ["req_1.mp4"]


@pytest.mark.parametrize(
    "request_id",
    ["x" * 255, "狐" * 90, "a" * 4000, "..", "con"],
    ids=["long", "quoted", "endless", "dots", "con"],
)
def test_a_clip_is_fetched_whatever_its_id_is(request_id: str, home: Path, mp4: bytes) -> None:
    """An id that no file can be called by has its clip all the same, and later sessions find it."""
    with raw_server(lambda e: e.answer(200, mp4)) as files:
        with service_with(lambda: files.url, request_id=request_id) as service:
            with connected(service) as session:
                clip = session.text_to_video("a fox", duration_seconds=1).result(30)
            with connected(service) as session:
                job = session.job(request_id)
                assert (job.result(30).path, session.job(request_id)) == (clip.path, job)
    assert clip.path.read_bytes() == mp4
    assert clip.path.parent.parent == home / "clips"
    assert [path.name for path in clip.path.parent.iterdir()] == [clip.path.name]
    assert len(files.seen) == 1


def test_an_endless_clip_ends_at_a_bound_for_its_length(
    home: Path, mp4: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is far larger than a clip of that length is no clip: the error says how much was allowed."""
    monkeypatch.setattr(downloads, "MIN_LIMIT_BYTES", 100_000)
    monkeypatch.setattr(downloads, "LIMIT_BYTES_PER_SECOND", 1_000_000)

    def handle(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 X\r\n\r\n" + mp4 + bytes(3_000_000))

    with clip_from(handle, duration_seconds=9999) as (session, _):
        with pytest.raises(errors.DownloadFailed, match=r"more than the 2\.0 MB"):
            session.text_to_video("a fox", duration_seconds=2).result(30)
    assert not [path for path in home.glob("clips/*/*") if path.is_file()]


@pytest.mark.parametrize("progress", [99, 100])
def test_a_job_that_stays_all_but_done_counts_down_to_nothing(home: Path, progress: int) -> None:
    """Once it was asked about again and is still not completed, the card says what it waits for."""
    with (
        service_with(lambda: "nowhere", status="processing", progress=progress) as service,
        connected(service) as session,
    ):
        job = session.text_to_video("a fox", duration_seconds=1)
        asked = set[float | None]()
        job.subscribe(lambda job: asked.add(job._life.known.asked_at))
        until(lambda: len(asked - {None}) >= 3)
        line = plain(job_lines(job.view())[0])
        job.stop_watching()
    assert line == "99 % · waiting for the service"


@pytest.fixture(scope="module")
def whole() -> bytes:
    """A clip of two seconds in ten fragments."""
    return fragmented(2)


def cut_to(whole: bytes, count: int = 10) -> Handler:
    """Serves so many fragments and closes, as servers did before there were lengths."""
    data = whole if count == 10 else cut(whole, count)
    return lambda exchange: exchange.send(b"HTTP/1.1 200 X\r\n\r\n" + data)


@pytest.mark.usefixtures("home", "no_pauses")
def test_a_clip_that_was_cut_between_fragments_is_fetched_again(whole: bytes) -> None:
    """It plays, but is shorter than the service says: the whole one is what lands."""
    with clip_from(in_turn(cut_to(whole, 6), cut_to(whole)), duration_seconds=2.0) as (session, files):
        clip = session.text_to_video("a fox", duration_seconds=2).result(30)
    assert clip.path.read_bytes() == whole
    assert len(files.seen) == 2


@pytest.mark.parametrize("link", ["works", "works once"])
@pytest.mark.usefixtures("home", "no_pauses")
def test_a_short_clip_that_nothing_better_comes_of_is_kept_and_told(
    link: str, whole: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """What was paid for stays in reach: the service has no more of it."""
    again = cut_to(whole, 6) if link == "works" else lambda e: e.answer(410)
    with clip_from(in_turn(cut_to(whole, 6), again), duration_seconds=2.0) as (session, files):
        clip = session.text_to_video("a fox", duration_seconds=2).result(30)
    assert clip.path.read_bytes() == cut(whole, 6)
    assert [path.name for path in clip.path.parent.iterdir()] == [clip.path.name]
    assert len(files.seen) == 2
    told = [record.levelname for record in caplog.records if "1.2 s instead of 2.0 s" in record.message]
    assert told == ["WARNING"]


@pytest.mark.usefixtures("no_pauses")
def test_a_clip_that_is_cut_elsewhere_each_time_is_refused(home: Path, whole: bytes) -> None:
    """The error says both lengths, nothing is kept for whole, and it can be fetched later."""
    hosting = in_turn(*[cut_to(whole, count) for count in (6, 5, 4, 10)])
    with clip_from(hosting, duration_seconds=2.0) as (session, _):
        job = session.text_to_video("a fox", duration_seconds=2)
        with pytest.raises(errors.DownloadFailed, match=r"0\.8 s instead of 2\.0 s"):
            job.result(30)
        assert not [path for path in home.glob("clips/*/*") if path.is_file()]
        job.watch()
        assert job.result(30).path.read_bytes() == whole
