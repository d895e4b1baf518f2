"""`reelbook generate`: what it checks, asks, sends and writes, and what Ctrl-C leaves behind."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from cli.conftest import Run
from cli.doubles import WAIT_SECONDS, TinyClips, command, environment, read_until, start, tiny_mp4
from PIL import ExifTags, Image
from support.raw_server import Exchange, RawServer, raw_server

import reelbook as rb
from reelbook.cli.generate import OutputFile, make_clip
from reelbook.errors import InvalidInput, ReelbookError, SpendLimitReached
from reelbook.media.clips import frame_hashes, probe
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.session import JobRequest

pytestmark = [pytest.mark.browser]


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
        (["x", "--duration", "11"], "1 to 10 whole seconds"),
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
        assert (result.exit_code, "no aspect ratio and no seed" in result.stderr) == (2, True)


def test_a_failed_job_says_the_service_s_reason(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """The reason is shown, the exit code is 1, and no file is left."""
    sandbox.settings(fail_next="content policy")
    result = run("generate", "a crowd in a burning theatre", "--duration", "1")
    assert (result.exit_code, result.stderr.count("“content policy”")) == (1, 1), result.stderr
    assert list(folder.iterdir()) == []


def test_a_balance_that_is_too_low_is_said_with_both_amounts(
    run: Run, sandbox: Sandbox, folder: Path
) -> None:
    """A refusal at the submission ends in 1 with what is there and what is needed."""
    sandbox.settings(balance_usd=0.10)
    result = run("generate", "a fox")
    assert (result.exit_code, "$0.10" in result.stderr, "$0.25" in result.stderr) == (1, True, True)


def test_the_sandbox_by_name_is_taken_whatever_is_configured(
    run: Run, live: RawServer, sandbox: Sandbox, folder: Path
) -> None:
    """With a key and an address in the environment, `--service sandbox` only asks that service who it is."""
    assert run("generate", "a fox", "--duration", "1", "--service", "sandbox").exit_code == 0
    assert [exchange.first_line for exchange in live.seen] == ["GET /_sandbox/about HTTP/1.1"]


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


def test_the_limit_s_end_is_said_beside_the_cost(
    run: Run, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is sent, and once."""
    monkeypatch.setenv("REELBOOK_MAX_SPEND", "0.12")
    result = run("generate", "a fox", "--duration", "2", "--service", "sandbox")
    note = "This leaves $0.02 of your limit of $0.12: not enough for another clip like it."
    assert (result.exit_code, result.stderr.splitlines()[:2]) == (
        0,
        ["2 s × $0.05 = about $0.10, sandbox", note],
    )
    assert result.stderr.count("This leaves") == 1


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
    """Without an id nothing can be watched again; what it may cost is said."""
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


def test_a_limit_that_is_reached_is_what_is_said(sandbox: Sandbox) -> None:
    """No job was made then, and the refusal comes out as it is."""
    fox = JobRequest("text-to-video", "a fox", 5, aspect_ratio="16:9", seed=1)
    with (
        rb.connect("sandbox", max_spend=0.05) as session,
        pytest.raises(SpendLimitReached, match="Nothing was sent"),
    ):
        make_clip(session, fox, resume_command="reelbook generate --resume")


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """A finished clip in the home folder."""
    path = tmp_path / "req_1.mp4"
    path.write_bytes(tiny_mp4(1))
    return path


def test_a_file_that_is_there_is_refused(folder: Path) -> None:
    """Without --force a person's file is safe, and they learn it before anything is sent."""
    (folder / "fox.mp4").write_bytes(b"mine")
    with pytest.raises(InvalidInput, match=r"fox\.mp4 is there already"):
        OutputFile.checked(Path("fox.mp4"), "a.mp4", force=False)


def test_force_replaces_it(folder: Path, clip: Path) -> None:
    """With --force the clip takes the file's place."""
    (folder / "fox.mp4").write_bytes(b"mine")
    OutputFile.checked(Path("fox.mp4"), "a.mp4", force=True).save(clip)
    assert (folder / "fox.mp4").read_bytes() == clip.read_bytes()


def test_a_name_by_default_is_numbered_when_it_is_taken(folder: Path) -> None:
    """The same prompt again doesn't stop at the first clip's file."""
    (folder / "a-fox-7.mp4").touch()
    (folder / "a-fox-7-2.mp4").touch()
    assert OutputFile.checked(None, "a-fox-7.mp4", force=False).path == Path("a-fox-7-3.mp4")


@pytest.mark.parametrize(("output", "words"), [("missing/fox.mp4", "no folder"), (".", "is a folder")])
def test_a_place_that_cannot_be_written_is_refused(folder: Path, output: str, words: str) -> None:
    """A missing folder, or a folder in the file's place, is said before anything is sent."""
    with pytest.raises(InvalidInput, match=words):
        OutputFile.checked(Path(output), "a.mp4", force=False)


@pytest.mark.parametrize("output", ["fox.gif", "fox.WEBM", "fox.png"])
def test_a_name_of_another_kind_of_file_is_refused(folder: Path, output: str) -> None:
    """A clip is an MP4, and no other program would open it by that name."""
    with pytest.raises(InvalidInput, match=rf"Name it fox\.mp4, not {output}\."):
        OutputFile.checked(Path(output), "a.mp4", force=False)


def test_a_folder_that_forbids_writing_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without the right to write is said before anything is sent."""
    # Root may write everywhere, so the system's answer is stood in for.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InvalidInput, match="can't be written to"):
        OutputFile.checked(Path("fox.mp4"), "a.mp4", force=False)


def test_a_full_disk_leaves_nothing_half_written_and_says_where_the_clip_is(
    folder: Path, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was paid for is safe, and the error says where."""

    def copyfile(_: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    with pytest.raises(ReelbookError, match=f"No space left on device. It is safe in {clip}"):
        OutputFile.checked(Path("fox.mp4"), "a.mp4", force=False).save(clip)
    assert list(folder.iterdir()) == []


def test_a_file_that_came_meanwhile_is_kept(folder: Path, clip: Path) -> None:
    """A file made while the job ran isn't replaced, and the clip stays safe."""
    target = OutputFile.checked(Path("fox.mp4"), "a.mp4", force=False)
    (folder / "fox.mp4").write_bytes(b"mine")
    with pytest.raises(ReelbookError, match="It is safe in"):
        target.save(clip)
    assert (folder / "fox.mp4").read_bytes() == b"mine"


def _only_asked_what_it_is(live: RawServer) -> None:
    assert [exchange.first_line for exchange in live.seen] == ["GET /_sandbox/about HTTP/1.1"]
    assert live.seen[0].header("authorization") is None


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
