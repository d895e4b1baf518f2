"""Ctrl-C while a job is on its way, and coming back to it."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from cli.conftest import Run
from cli.doubles import WAIT_SECONDS, TinyClips, read_until, start
from support.raw_server import Exchange, raw_server

import reelbook as rb
from reelbook.cli.carrying import carry
from reelbook.errors import SpendLimitReached
from reelbook.media.clips import probe
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.session import JobRequest


def test_ctrl_c_says_the_id_and_how_to_resume_and_resuming_gets_the_clip(
    home: Path, folder: Path, clips: TinyClips
) -> None:
    """The job goes on; the very command that was said writes the clip to the same file."""
    with server.in_thread(home, pace=600, rate_limiting=False, executor=clips) as sandbox:
        process = start("generate", "a fox", "--duration", "1", "-o", "my fox.mp4", cwd=folder)
        read_until(process, "Pending")
        said = _interrupt(process)
        assert process.returncode == 130
        assert "The job goes on at the service and is billed." in said
        [resume] = re.findall(r"^  reelbook (generate .*)$", said, re.MULTILINE)
        assert shlex.split(resume)[:3] == ["generate", "-o", "my fox.mp4"]
        assert list(folder.iterdir()) == []

        sandbox.advance(600)
        again = start(*shlex.split(resume), cwd=folder)
        stdout, stderr = again.communicate(timeout=WAIT_SECONDS)
    assert again.returncode == 0, stderr
    assert stdout.startswith("my fox.mp4: 1.0 s, 64 × 36")
    assert probe(folder / "my fox.mp4").duration_seconds == 1.0
    assert len(clips.specs) == 1


def test_ctrl_c_before_it_was_sent_takes_it_back(home: Path, folder: Path, clips: TinyClips) -> None:
    """While the key's requests are used up the job waits unsent, and Ctrl-C means: don't send."""
    with server.in_thread(home, pace=0, rate_limit=1, executor=clips) as sandbox:
        _use_up_the_budget(sandbox.url, sandbox.api_key.reveal())
        process = start("generate", "a fox", cwd=folder)
        assert "Sending" in read_until(process, "used up")
        said = _interrupt(process)
    assert (process.returncode, said) == (130, "Taken back before it was sent. Nothing was paid.\n")
    assert clips.specs == []


def test_ctrl_c_while_the_answer_is_due_waits_for_the_id(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A submission on its way may have been accepted: its id is waited for, as a paid job is found by it."""
    sent, may_answer = threading.Event(), threading.Event()

    def answer(exchange: Exchange) -> None:
        if not exchange.first_line.startswith("POST"):
            return exchange.answer(404)
        sent.set()
        may_answer.wait(WAIT_SECONDS)
        return exchange.answer(200, b'{"request_id": "r-1", "status": "pending"}')

    with raw_server(answer) as service:
        monkeypatch.setenv("REELBOOK_API_KEY", "sk-planted-cli")
        monkeypatch.setenv("REELBOOK_BASE_URL", service.url)
        process = start("generate", "a fox", "--yes", cwd=folder)
        assert sent.wait(WAIT_SECONDS)
        process.send_signal(signal.SIGINT)
        read_until(process, "Waiting for its id")
        may_answer.set()
        _, said = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 130
    assert said.endswith("reelbook generate -o a-fox.mp4 --resume r-1\n")
    assert [exchange.first_line.split()[0] for exchange in service.seen].count("POST") == 1


def test_ctrl_c_twice_gives_up_on_the_id_and_says_what_may_happen(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an id nothing can be taken up again; what it may cost is said."""
    sent, over = threading.Event(), threading.Event()

    def answer(exchange: Exchange) -> None:
        if exchange.first_line.startswith("POST"):
            sent.set()
            over.wait(WAIT_SECONDS)
        exchange.answer(404)

    with raw_server(answer) as service:
        monkeypatch.setenv("REELBOOK_API_KEY", "sk-planted-cli")
        monkeypatch.setenv("REELBOOK_BASE_URL", service.url)
        process = start("generate", "a fox", "--yes", cwd=folder)
        assert sent.wait(WAIT_SECONDS)
        process.send_signal(signal.SIGINT)
        read_until(process, "Waiting for its id")
        said = _interrupt(process)
        over.set()
    assert process.returncode == 130
    assert "may be making this clip, and may bill $0.25" in said


def test_a_clip_that_cannot_be_fetched_says_how_to_come_back(
    run: Run, home: Path, folder: Path, sandbox: Sandbox, clips: TinyClips
) -> None:
    """The job was paid for: an error after it was sent names the command that gets its clip."""
    clips.rubbish = True
    result = run("generate", "a fox", "--duration", "1", "--service", "sandbox", "--home", str(home))
    assert result.exit_code == 1
    command = rf"reelbook generate -o a-fox\.mp4 --service sandbox --home {home} --resume req_\w+"
    assert re.search(rf"To get its clip:\n  {command}\n$", result.stderr), result.stderr


def _interrupt(process: subprocess.Popen[str]) -> str:
    """Press Ctrl-C and return what is said from then on."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WAIT_SECONDS)
    return said


def _use_up_the_budget(url: str, key: str) -> None:
    import httpx

    with httpx.Client(trust_env=False) as http:
        answer = http.get(f"{url}/api/v1/billing/balance", headers={"Authorization": f"Bearer {key}"})
    assert answer.headers["X-RateLimit-Remaining"] == "0"


def test_a_limit_that_is_reached_is_what_is_said(sandbox: Sandbox) -> None:
    """No job was made then, and the refusal comes out as it is."""
    fox = JobRequest("text-to-video", "a fox", 5, aspect_ratio="16:9", seed=1)
    with (
        rb.connect("sandbox", max_spend=0.05) as session,
        pytest.raises(SpendLimitReached, match="Nothing was sent"),
    ):
        carry(session, fox, resuming="reelbook generate --resume")
