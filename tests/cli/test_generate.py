"""`reelbook generate`: what it checks, asks, sends and writes."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from cli.conftest import Run
from cli.doubles import WAIT_SECONDS, TinyClips, command, environment, start, tiny_mp4
from PIL import ExifTags, Image
from support.raw_server import Exchange, RawServer, raw_server

from reelbook.media.clips import frame_hashes, probe
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox


def test_a_prompt_becomes_a_file(home: Path, sandbox: Sandbox, folder: Path) -> None:
    """The cost comes first, then plain lines where nobody watches, then the file and its figures."""
    process = start("generate", "A red fox, running!", "--seed", "7", "--duration", "2", cwd=folder)
    stdout, stderr = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 0, stderr
    assert probe(folder / "a-red-fox-running-7.mp4").duration_seconds == 2.0
    assert re.fullmatch(r"a-red-fox-running-7\.mp4: 2\.0 s, 64 × 36, \d+ kB, \$0\.10, sandbox\n", stdout)
    lines = stderr.splitlines()
    assert lines[0] == "2 s × $0.05 = about $0.10, sandbox"
    ids = [line for line in lines if re.fullmatch(r"The job's id: req_\w+", line)]
    assert len(ids) == 1
    states = [line for line in lines if re.match(r"(Sending|Pending|Processing|Completed): ", line)]
    assert lines[1:] == [line for line in lines if line in {*ids, *states}]
    assert [path.name for path in folder.iterdir()] == ["a-red-fox-running-7.mp4"]


def test_all_of_a_request_reaches_the_service(
    run: Run, sandbox: Sandbox, folder: Path, clips: TinyClips
) -> None:
    """Length, shape and seed arrive as they were given."""
    result = run("generate", "a fox", "--duration", "3", "--ratio", "9:16", "--seed", "11", "-o", "f.mp4")
    assert result.exit_code == 0, result.output
    [spec] = clips.specs
    assert (spec.prompt, spec.seconds, spec.aspect_ratio, spec.seed) == ("a fox", 3, "9:16", 11)


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
        (["x", "--duration", "11"], "1 to 10 seconds"),
        (["x", "--ratio", "4:3"], "web app only"),
        (["x", "--image", "missing.png"], "missing.png"),
        (["x", "-o", "missing/x.mp4"], "no folder"),
        ([], "Give a prompt"),
        (["x", "--resume", "req_1"], "id of a job, not both."),
        (["--resume", "req_1", "--seed", "1"], "as it was sent"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_started(
    run: Run, home: Path, folder: Path, words: list[str], said: str
) -> None:
    """Bad usage ends in 2 without a sandbox, a session or a file."""
    result = run("generate", *words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert not home.exists()
    assert list(folder.iterdir()) == []


def test_an_image_takes_neither_ratio_nor_seed(run: Run, home: Path, folder: Path) -> None:
    """What the image's endpoint has no field for isn't silently dropped."""
    Image.new("RGB", (40, 40)).save(folder / "photo.png")
    for option in (["--ratio", "1:1"], ["--seed", "7"]):
        result = run("generate", "x", "--image", "photo.png", *option)
        assert (result.exit_code, "no --ratio and no --seed" in result.stderr) == (2, True)


def test_a_failed_job_says_the_service_s_reason(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """The reason is shown, the exit code is 1, and no file is left."""
    sandbox.fail_next("content policy")
    result = run("generate", "a crowd in a burning theatre", "--duration", "1")
    assert (result.exit_code, result.stderr.count("“content policy”")) == (1, 1), result.stderr
    assert list(folder.iterdir()) == []


def test_a_balance_that_is_too_low_is_said_with_both_amounts(
    run: Run, sandbox: Sandbox, folder: Path
) -> None:
    """A refusal at the submission ends in 1 with what is there and what is needed."""
    sandbox.set_balance(0.10)
    result = run("generate", "a fox")
    assert (result.exit_code, "$0.10" in result.stderr, "$0.25" in result.stderr) == (1, True, True)


def test_the_sandbox_by_name_is_taken_whatever_is_configured(
    run: Run, live: RawServer, sandbox: Sandbox, folder: Path
) -> None:
    """With a key and an address in the environment, `--service sandbox` sends that service nothing."""
    assert run("generate", "a fox", "--duration", "1", "--service", "sandbox").exit_code == 0
    assert live.seen == []


def test_a_live_service_gets_nothing_where_nobody_can_be_asked(
    run: Run, live: RawServer, folder: Path
) -> None:
    """Without a terminal and without --yes nothing is paid: the cost is shown, and it ends in 2."""
    result = run("generate", "a fox")
    assert result.exit_code == 2
    assert f"about $0.25, live service at {live.url.removeprefix('http://')}\n" in result.stderr
    assert "Nothing was sent. --yes sends it unasked." in result.stderr
    _only_asked_what_it_is(live)


def test_a_no_at_the_terminal_sends_nothing(live: RawServer, folder: Path) -> None:
    """Asked on a terminal, the answer is no by default."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("generate", "a fox"), cwd=folder, env=environment(), stdin=theirs, stderr=subprocess.PIPE
    )
    os.close(theirs)
    os.write(ours, b"\n")
    _, said = process.communicate(timeout=WAIT_SECONDS)
    os.close(ours)
    assert process.returncode == 1
    assert "Send it? [y/N]:" in said.decode()
    assert said.decode().endswith("Nothing was sent.\n")
    _only_asked_what_it_is(live)


def test_yes_sends_to_a_live_service(
    run: Run, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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

    with raw_server(answer) as service:
        monkeypatch.setenv("REELBOOK_API_KEY", "sk-planted-cli")
        monkeypatch.setenv("REELBOOK_BASE_URL", service.url)
        result = run("generate", "a fox", "--duration", "1", "--yes", "-o", "fox.mp4")
    assert result.exit_code == 0, result.output
    assert re.fullmatch(r"fox\.mp4: 1\.0 s, 64 × 36, \d+ kB, \$0\.05\n", result.stdout)
    posts = [exchange for exchange in service.seen if exchange.first_line.startswith("POST")]
    assert [exchange.header("authorization") for exchange in posts] == ["Bearer sk-planted-cli"]
    assert "sk-planted-cli" not in result.output


def test_half_a_configuration_is_said(
    run: Run, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key without an address ends in 1 with what is missing."""
    monkeypatch.setenv("REELBOOK_API_KEY", "sk-planted-cli")
    result = run("generate", "a fox")
    assert (result.exit_code, "address is missing" in result.stderr) == (1, True)
    assert "sk-planted" not in result.output


def test_an_unknown_id_is_said_at_once(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """Resuming a job that the service doesn't know ends in 1, without minutes of asking."""
    result = run("generate", "--resume", "req_unknown")
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) <= 3, result.stderr
    assert not re.search("Pending|Accepted", result.stderr)


def test_a_seed_draws_the_same_clip_twice(run: Run, home: Path, folder: Path) -> None:
    """Against the sandbox's own process and its real drawing: equal frames, H.264, 640 × 360."""
    sandbox = server.ensure(home)
    sandbox.settings(pace="at once", rate_limiting=False)
    for name in ("one.mp4", "two.mp4"):
        result = run("generate", "a fox", "--seed", "7", "--duration", "1", "-o", name)
        assert result.exit_code == 0, result.output
    info = probe(folder / "two.mp4")
    assert (info.codec, info.width, info.height, info.duration_seconds) == ("h264", 640, 360, 1.0)
    assert frame_hashes(folder / "one.mp4") == frame_hashes(folder / "two.mp4")


def _only_asked_what_it_is(live: RawServer) -> None:
    assert [exchange.first_line for exchange in live.seen] == ["GET /_sandbox/about HTTP/1.1"]
    assert live.seen[0].header("authorization") is None
