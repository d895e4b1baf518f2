"""A process that sleeps while something is on its way loses nothing that arrives meanwhile."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import jumping_time
from support.live import client_of
from support.raw_server import Exchange, raw_server

from reelbook import deadlines
from reelbook.client import downloads, transport
from reelbook.client.transport import _Progress
from reelbook.errors import DownloadFailed, SubmissionUncertain
from reelbook.session import connector

ACCEPTED = b'{"request_id": "req_slept", "status": "pending"}'
COMPLETED = b'{"request_id": "r", "status": "completed", "video_url": "/v.mp4"}'
DEADLINE_SECONDS, ASLEEP_SECONDS = 0.5, 1.2
pytestmark = [pytest.mark.anyio, pytest.mark.browser]

SUBMITTING = """
import asyncio, sys
from reelbook.client import AsyncClient

async def main():
    async with AsyncClient("sk-planted-sleeping", sys.argv[1], deadline_seconds=0.5) as client:
        print((await client.text_to_video("a fox")).request_id)

asyncio.run(main())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no such signal here")
def test_an_answer_that_came_while_the_process_stood_still_is_read() -> None:
    """By SIGSTOP, for longer than the deadline: the id isn't lost."""
    started: list[subprocess.Popen[str]] = []

    def answers(exchange: Exchange) -> None:
        os.kill(started[0].pid, signal.SIGSTOP)
        exchange.answer(200, ACCEPTED)
        time.sleep(ASLEEP_SECONDS)
        os.kill(started[0].pid, signal.SIGCONT)

    with raw_server(answers) as service:
        command = [sys.executable, "-c", SUBMITTING, service.url]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        said, trouble = started[0].communicate(timeout=30)
    assert said.strip() == "req_slept", trouble
    assert len(service.seen) == 1


@pytest.fixture
def _asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a request has gone out, the loop stands still for longer than the deadlines of these tests."""
    heard = _Progress.__call__

    async def sleeps(progress: _Progress, event: str, info: Mapping[str, Any]) -> None:
        await heard(progress, event, info)
        if event.endswith("receive_response_headers.started"):
            time.sleep(ASLEEP_SECONDS)  # noqa: ASYNC251 - the loop is to stand still

    monkeypatch.setattr(_Progress, "__call__", sleeps)


def after_a_moment(body: bytes) -> Callable[[Exchange], None]:
    """Answers when the client sleeps already."""

    def handle(exchange: Exchange) -> None:
        time.sleep(0.2)
        exchange.answer(200, body)

    return handle


@pytest.mark.usefixtures("_asleep")
async def test_an_answer_in_pieces_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest may come a while after the waking: the time asleep doesn't count."""
    monkeypatch.setattr(deadlines, "LOOK_SECONDS", 2.0)

    def pieces(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(ACCEPTED) + ACCEPTED[:9])
        time.sleep(ASLEEP_SECONDS + 0.2)
        exchange.send(ACCEPTED[9:])

    async with client_of(pieces, deadline_seconds=DEADLINE_SECONDS) as (client, _):
        accepted = await client.text_to_video("a fox")
    assert accepted.request_id == "req_slept"


@pytest.mark.usefixtures("_asleep")
async def test_one_who_sleeps_and_finds_no_answer_still_has_a_deadline() -> None:
    """It ends soon after the waking."""
    async with client_of(Exchange.hold, deadline_seconds=DEADLINE_SECONDS) as (client, _):
        began = time.monotonic()
        with pytest.raises(SubmissionUncertain):
            await client.text_to_video("a fox")
    assert time.monotonic() - began < 30


@pytest.mark.usefixtures("_asleep")
async def test_a_status_that_came_while_the_loop_slept_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time within which an answer must begin counts in the same way, and nothing is asked twice."""
    monkeypatch.setattr(transport, "READ_SECONDS", DEADLINE_SECONDS)
    async with client_of(after_a_moment(COMPLETED)) as (client, service):
        assert (await client.status("r")).finished
    assert len(service.seen) == 1


@pytest.mark.usefixtures("_asleep")
def test_a_wait_that_slept_hears_what_came_meanwhile() -> None:
    """`timeout_seconds` counts in the same way: 20 of them are one here."""

    async def waits() -> str | None:
        async with client_of(after_a_moment(COMPLETED)) as (client, _):
            return (await client.wait("r", timeout_seconds=20)).video_url

    assert jumping_time.run(waits()) == "/v.mp4"


async def test_a_download_that_slept_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the stall nor the least pace of a download counts the time asleep: one request fetches it."""
    monkeypatch.setattr(transport, "READ_SECONDS", DEADLINE_SECONDS)
    monkeypatch.setattr(transport, "MIN_BYTES_PER_SECOND", 150)
    monkeypatch.setattr(downloads, "_playable_seconds", lambda _: 1.0)

    arrived = threading.Event()

    def once_asleep(done: int, total: int | None) -> None:
        if not arrived.is_set():
            arrived.set()
            asyncio.get_running_loop().call_later(0.01, time.sleep, ASLEEP_SECONDS)

    def pieces(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\n" + bytes(100))
        arrived.wait(60)
        time.sleep(ASLEEP_SECONDS + 0.1)
        exchange.send(bytes(100))

    async with client_of(pieces) as (client, files):
        path = await client.download("/v.mp4", tmp_path / "v.mp4", report=once_asleep)
    assert path.stat().st_size == 200
    assert len(files.seen) == 1


async def test_a_download_that_stalls_is_still_broken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No byte for the time that a read may take."""
    monkeypatch.setattr(transport, "READ_SECONDS", 0.2)
    monkeypatch.setattr(downloads, "MAX_FRUITLESS", 0)

    def stalls(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\n" + bytes(100))
        exchange.hold(5)

    async with client_of(stalls) as (client, _):
        with pytest.raises(DownloadFailed, match="deadline"):
            await client.download("/v.mp4", tmp_path / "v.mp4")


@pytest.mark.usefixtures("_asleep")
def test_a_sandbox_that_answered_while_we_slept_isnt_taken_for_a_live_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Asking who is there sleeps like everything else."""
    monkeypatch.setattr(connector, "IDENTIFY_SECONDS", DEADLINE_SECONDS)
    about = b'{"service": "reelbook-sandbox"}'
    with raw_server(after_a_moment(about)) as service:
        assert connector._about(service.url) == {"service": "reelbook-sandbox"}
