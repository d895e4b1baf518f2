"""`reelbook generate`: what it checks, asks, sends and writes, and what Ctrl-C leaves behind."""

import errno
import json
import re
import shlex
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from cli.conftest import Run
from cli.doubles import WAIT_SECONDS, TinyClips, live_service, on_a_terminal, ran, read_until, start, tiny_mp4
from PIL import ExifTags, Image
from sandbox.doubles import http_client
from support.raw_server import Exchange, RawServer

from reelbook.errors import InvalidInput
from reelbook.media.clips import probe
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

pytestmark = [pytest.mark.browser]


def test_a_prompt_becomes_a_file(home: Path, sandbox: Sandbox, folder: Path, clips: TinyClips) -> None:
    """The cost comes first, then plain lines where nobody watches, then the file and its figures."""
    words = ("--seed", "7", "--duration", "2", "--ratio", "9:16")
    done = ran("generate", "A red fox, running!", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    [spec] = clips.specs
    assert (spec.prompt, spec.seconds, spec.aspect_ratio, spec.seed) == ("A red fox, running!", 2, "9:16", 7)
    assert probe(folder / "a-red-fox-running-7.mp4").duration_seconds == 2.0
    assert re.fullmatch(r"a-red-fox-running-7\.mp4: 2\.0 s, 64 × 36, \d+ kB, \$0\.10, sandbox\n", done.stdout)
    cost, *lines = done.stderr.splitlines()
    assert cost == "2 s × $0.05 = about $0.10, sandbox"
    states = r"Sending|(Pending|Processing|Completed): .*"
    assert [each for each in lines if not re.fullmatch(rf"The job's id: req_\w+|{states}", each)] == []
    assert "".join(lines).count("The job's id") == 1
    assert sorted(path.suffix for path in folder.glob("a-red-fox-running-7.*")) == [".json", ".mp4"]


def test_an_image_is_moved_and_what_was_changed_is_said(
    run: Run, sandbox: Sandbox, folder: Path, clips: TinyClips
) -> None:
    """The very photo is sent, upright and without hidden data."""
    hidden = Image.Exif()
    hidden[ExifTags.Base.Orientation] = 6
    Image.new("RGB", (40, 90), "orange").save(folder / "photo.jpg", exif=hidden)
    result = run("generate", "slow zoom in", "--image", "photo.jpg", "--duration", "1", "-o", "moved.mp4")
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("photo.jpg: turned upright\n1 s × $0.05 = about $0.05, sandbox\n")
    assert clips.specs[0].image is not None
    assert probe(folder / "moved.mp4").duration_seconds == 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([""], "The prompt is empty"),
        (["x", "--duration", "11"], "1 to 10 whole seconds"),
        (["x", "--ratio", "4:3"], "web app only. The API takes 16:9, 9:16, 1:1"),
        (["x", "--image", "missing.png"], "missing.png"),
        (["x", "--image", "photo.png", "--ratio", "1:1"], "no aspect ratio and no seed"),
        (["x", "--image", "photo.png", "--seed", "7"], "no aspect ratio and no seed"),
        (["x", "-o", "missing/x.mp4"], "no folder"),
        (["x", "-o", "forbidden/x.mp4"], "can't be written to"),
        (["x", "-o", "fox.mp4"], "fox.mp4 already exists. Choose another --output, or --force"),
        (["x", "-o", "new.gif"], "Name it new.mp4, not new.gif."),
        (["x", "-o", "new.WEBM"], "Name it new.mp4, not new.WEBM."),
        ([], "Give a prompt"),
        (["x", "--resume", "req_1"], "id of a job, not both."),
        (["--resume", "req_1", "--seed", "1"], "as it was sent"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_started(
    run: Run, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    """Bad usage ends in 2 without a sandbox, a session or a file; a file that is there stays as it is."""
    Image.new("RGB", (40, 40)).save(folder / "photo.png")
    (folder / "fox.mp4").write_bytes(b"mine")
    (folder / "forbidden").mkdir()
    # Root may write everywhere, so the system's answer is stood in for.
    monkeypatch.setattr("reelbook.cli.generate.os.access", lambda place, _: "forbidden" not in str(place))
    result = run("generate", *words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert not home.exists()
    assert sorted(path.name for path in folder.iterdir()) == ["forbidden", "fox.mp4", "photo.png"]
    assert (folder / "fox.mp4").read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"fail_next": "content policy"}, "“content policy”"),
        ({"balance_usd": 0.10}, "Current balance: $0.10, required: $0.25"),
    ],
)
def test_a_clip_that_cannot_be_made_says_the_service_s_reason(
    run: Run, sandbox: Sandbox, folder: Path, settings: dict[str, Any], said: str
) -> None:
    """A job that failed, or a balance that is too low: once, with exit code 1, and no file is left."""
    sandbox.settings(**settings)
    result = run("generate", "a crowd in a burning theatre")
    assert (result.exit_code, result.stderr.count(said)) == (1, 1), result.stderr
    assert list(folder.iterdir()) == []


def test_a_live_service_gets_nothing_without_a_yes(run: Run, live: RawServer, folder: Path) -> None:
    """Nothing is paid where nobody can be asked: the cost is shown, and it ends in 2. On a terminal the
    answer is no by default.
    """
    result = run("generate", "a fox")
    assert result.exit_code == 2
    assert f"about $0.25, live service at {live.url.removeprefix('http://')}\n" in result.stderr
    assert "Nothing was sent. --yes goes ahead." in result.stderr
    said, code = on_a_terminal("generate", "a fox", cwd=folder, typed="\n")
    assert (code, "Send it? [y/N]:" in said) == (1, True)
    assert said.endswith("Nothing was sent.\r\n")
    assert [exchange.first_line for exchange in live.seen] == ["GET /_sandbox/about HTTP/1.1"] * 2
    assert {exchange.header("authorization") for exchange in live.seen} == {None}


def test_yes_sends_to_a_live_service(run: Run, home: Path, folder: Path) -> None:
    """With --yes one submission goes out, and its clip is written without a sandbox mark."""

    def answer(exchange: Exchange) -> None:
        path = exchange.first_line.split()[1]
        if path.startswith("/_sandbox"):
            return exchange.answer(404)
        if path == "/clip.mp4":
            return exchange.answer(200, tiny_mp4(1), {"content-type": "video/mp4"})
        body: dict[str, object] = {"request_id": "r-1", "status": "pending"}
        if "status" in path:
            done = {"video_url": f"{service.url}/clip.mp4", "duration_seconds": 1.0, "cost_usd": 0.05}
            body |= {"status": "completed", **done}
        if "billing" in path:
            body = {"balance_usd": 1.0}
        return exchange.answer(200, json.dumps(body).encode())

    with live_service(answer) as service:
        result = run("generate", "a fox", "--duration", "1", "--yes", "-o", "fox.mp4")
    assert result.exit_code == 0, result.output
    assert re.fullmatch(r"fox\.mp4: 1\.0 s, 64 × 36, \d+ kB, \$0\.05\n", result.stdout)
    posts = [exchange for exchange in service.seen if exchange.first_line.startswith("POST")]
    assert [exchange.header("authorization") for exchange in posts] == ["Bearer sk-planted-cli"]
    assert "sk-planted-cli" not in result.output


def test_a_passing_trouble_is_said_as_such(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """Nobody takes it for the end: the clip comes all the same."""
    sandbox.fault("500", endpoint="status", times=3)
    result = run("generate", "a fox", "--duration", "1")
    assert (result.exit_code, "“Internal server error” Reelbook asks again.\n" in result.stderr) == (0, True)


def test_an_unknown_id_is_said_at_once(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """Resuming a job that the service doesn't know ends in 1, without minutes of asking."""
    result = run("generate", "--resume", "req_unknown")
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) <= 3, result.stderr
    assert not re.search("Pending|Accepted", result.stderr)


def test_the_limit_s_end_is_said_beside_the_cost(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """Before anything is sent, and once; a clip that would pass it isn't sent."""
    words = ("generate", "a fox", "--duration", "2", "--service", "sandbox")
    result, refused = (run(*words, REELBOOK_MAX_SPEND="0.12") for _ in range(2))
    note = "This leaves $0.02 of your limit of $0.12: not enough for another clip like it."
    assert result.exit_code == 0
    assert result.stderr.splitlines()[:2] == ["2 s × $0.05 = about $0.10, sandbox", note]
    assert result.stderr.count("This leaves") == 1
    assert (refused.exit_code, "Nothing was sent" in refused.stderr) == (1, True)
    assert sandbox.state()["requests"]["text-to-video"] == 1


def test_ctrl_c_says_the_id_and_how_to_resume_and_resuming_gets_the_clip(
    run: Run, home: Path, folder: Path, clips: TinyClips
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
        again = run(*shlex.split(resume))
    assert again.exit_code == 0, again.stderr
    assert again.stdout.startswith("my fox.mp4: 1.0 s, 64 × 36")
    assert probe(folder / "my fox.mp4").duration_seconds == 1.0
    assert len(clips.specs) == 1


def test_ctrl_c_before_it_was_sent_takes_it_back(home: Path, folder: Path, clips: TinyClips) -> None:
    """While the key's requests are used up the job waits unsent, and Ctrl-C means: don't send."""
    with server.in_thread(home, pace=0, rate_limit=1, executor=clips) as sandbox:
        with http_client(sandbox) as http:
            assert http.get("/api/v1/billing/balance").headers["X-RateLimit-Remaining"] == "0"
        process = start("generate", "a fox", cwd=folder)
        assert "Sending" in read_until(process, "used up")
        said = _interrupt(process)
    assert (process.returncode, said) == (130, "Taken back before it was sent. Nothing was paid.\n")
    assert clips.specs == []


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_while_the_answer_is_due_waits_for_the_id(home: Path, folder: Path, presses: int) -> None:
    """A job on its way may be accepted, and is found by its id. A second press gives up on it."""
    sent, may_answer = threading.Event(), threading.Event()

    def answer(exchange: Exchange) -> None:
        if not exchange.first_line.startswith("POST"):
            return exchange.answer(404)
        sent.set()
        may_answer.wait(WAIT_SECONDS)
        return exchange.answer(200, b'{"request_id": "r-1", "status": "pending"}')

    with live_service(answer) as service:
        process = start("generate", "a fox", "--yes", cwd=folder)
        assert sent.wait(WAIT_SECONDS)
        process.send_signal(signal.SIGINT)
        read_until(process, "Waiting for its id")
        if presses == 2:
            process.send_signal(signal.SIGINT)
            read_until(process, "may be making this clip, and may bill $0.25")
        may_answer.set()
        _, said = process.communicate(timeout=WAIT_SECONDS)
        if presses == 1:
            assert said.endswith("reelbook generate -o a-fox.mp4 --resume r-1\n")
    assert process.returncode == 130
    assert [exchange.first_line.split()[0] for exchange in service.seen].count("POST") == 1


@pytest.mark.parametrize(
    ("answered", "said"),
    [
        (True, r"To get its clip:\n  reelbook generate -o a-fox\.mp4 {} --resume req_\w+"),
        (False, r"not sent again\.\nTo find out from the balance:\n  reelbook jobs resume --find-out {}"),
    ],
)
def test_after_an_error_it_is_said_how_to_come_back(
    run: Run, home: Path, folder: Path, sandbox: Sandbox, clips: TinyClips, answered: bool, said: str
) -> None:
    """The job was paid for and its clip can't be fetched, or it may have been bought and its answer was lost:
    the command stands there, with the service's name and the home.
    """
    clips.rubbish = True
    if not answered:
        sandbox.fault("answer_lost", endpoint="generate")
    result = run("generate", "a fox", "--duration", "1", "--service", "sandbox", "--home", str(home))
    assert result.exit_code == 1
    named = f"--service sandbox --home {re.escape(str(home))}"
    assert re.search(f"{said.replace('{}', named)}\n$", result.stderr), result.stderr


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("atomic_write", OSError(errno.ENOSPC, "No space left on device")),
        ("target_file", InvalidInput("a-fox.mp4 already exists.")),
    ],
)
def test_a_clip_that_cannot_be_saved_is_said_to_be_kept(
    run: Run, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: Exception
) -> None:
    """The disk is full, or another program took the name meanwhile: the home has it, which is said once."""
    monkeypatch.setattr(f"reelbook.session.clip.{place}", Mock(side_effect=error))
    result = run("generate", "a fox", "--duration", "1")
    assert result.exit_code != 0
    [kept] = re.findall(r"(/\S+\.mp4)", result.stderr)
    assert Path(kept).exists()


def _interrupt(process: subprocess.Popen[str]) -> str:
    """Press Ctrl-C and return what is said from then on."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WAIT_SECONDS)
    return said
