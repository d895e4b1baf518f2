"""`reelbook jobs` on a ledger that a killed program left, beside what the sandbox itself knows."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run
from cli.doubles import environment, on_a_terminal
from sandbox.doubles import Client, http_client
from support.kept_clips import KeptClips

from reelbook.media.clips import probe
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

pytestmark = [pytest.mark.browser]

# One job is done, one's file is being fetched, one runs, and one is being sent when it is killed.
SCRIPT = """
import time
import reelbook as rb
session = rb.connect("sandbox")
sandbox = session.sandbox
def until(true):
    while not true(): time.sleep(0.02)
with session.experiment("fog"):
    session.text_to_video("a red fox runs through snow at night", duration_seconds=2, seed=7).result(60)
sandbox.fault("stall", endpoint="download", seconds=3600)
fetching = session.text_to_video("an owl turns its head", duration_seconds=1)
until(lambda: sandbox.faults()[0]["happened"])
sandbox.settings(pace=3600)
running = session.text_to_video("a brown bear fishes in a river", duration_seconds=1)
until(lambda: running.request_id)
session.usage()
sandbox.fault("stall", endpoint="generate", seconds=3600)
sending = session.text_to_video("a heron at dawn", duration_seconds=3)
until(lambda: sandbox.faults()[1]["happened"])
print("ready", flush=True)
time.sleep(600)
"""


@dataclass
class Crash:
    """A home whose kernel was killed, and the sandbox that it had submitted to."""

    sandbox: Sandbox
    folder: Path
    run: Run

    def jobs(self) -> dict[str, dict[str, Any]]:
        """The listed jobs by the last word of their prompts."""
        listed = json.loads(self.run("jobs", "--json").stdout)["jobs"]
        return {job["prompt"].split()[-1]: job for job in listed}

    def truth(self, request_id: str) -> dict[str, Any]:
        """What the service says of a job."""
        with http_client(self.sandbox) as http:
            return Client(self.sandbox, http).status(request_id)


@pytest.fixture
def crash(home: Path, folder: Path, run: Run) -> Iterator[Crash]:
    """A kernel that was killed in the middle of four jobs."""
    with server.in_thread(home, rate_limiting=False, executor=KeptClips()) as sandbox:
        command = [sys.executable, "-c", SCRIPT]
        process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
        finally:
            process.kill()
            process.communicate()
        yield Crash(sandbox, folder, run)


def test_the_list_is_true_and_asks_nothing(crash: Crash) -> None:
    """What was received has its id, what was being sent is uncertain; it says what to do about each."""
    before = crash.sandbox.state()["requests"]
    jobs = crash.jobs()
    result = crash.run("jobs")
    assert crash.sandbox.state()["requests"] == before
    assert [(word, job["state"]) for word, job in jobs.items()] == [
        ("dawn", "uncertain"),
        ("river", "pending"),
        ("head", "completed"),
        ("night", "completed"),
    ]
    for job in jobs.values():
        if job["id"] is not None:
            assert crash.truth(job["id"])["status"] == job["state"]
    assert (jobs["dawn"]["id"], jobs["head"]["clip_path"]) == (None, None)
    assert probe(Path(jobs["night"]["clip_path"])).duration_seconds == 2.0
    assert jobs["night"]["experiment"] == "fog"
    assert "sandbox: $0.15 spent · $0.05 reserved · $0.15 uncertain" in result.stderr
    assert "2 clips not here yet. To get what is missing:\n  reelbook jobs resume\n" in result.stderr
    assert crash.sandbox.api_key.reveal() not in result.stdout + result.stderr
    uncertain = crash.run("jobs", "show", f"#{jobs['dawn']['number']}").stdout
    assert re.search(r"^cost +maybe \$0\.15, if it was accepted$", uncertain, re.MULTILINE)
    assert "It was not sent again." in uncertain
    runs = crash.run("jobs", "show", jobs["river"]["id"][:14]).stdout
    assert f"To get its clip:\n  reelbook jobs resume {jobs['river']['id']}\n" in runs


def test_resume_brings_every_clip_home_and_pays_nothing(crash: Crash) -> None:
    """One by the beginning of its id, then the rest; no job is made, and the uncertain one is said. The
    sandbox took it before the kill, so when that is asked, it is never called not accepted.
    """
    jobs = crash.jobs()
    owl, bear = jobs["head"]["id"], jobs["river"]["id"]
    submitted = crash.sandbox.state()["requests"]["text-to-video"]
    crash.sandbox.clear_faults()
    for _ in range(2):  # a clip that is here is only named
        result = crash.run("jobs", "resume", owl[:14])
        assert (result.exit_code, Path(result.stdout.partition(": ")[0]).stem) == (0, owl), result.stderr
    assert crash.jobs()["river"]["state"] == "pending"
    crash.sandbox.advance(3600)
    result = crash.run("jobs", "resume")
    assert result.exit_code == 0, result.stderr
    path = Path(result.stdout.partition(": ")[0])
    assert (path.stem, probe(path).duration_seconds) == (bear, 1.0)
    assert "1 clip sent, never answered" in result.stderr
    assert crash.sandbox.state()["requests"]["text-to-video"] == submitted
    after = crash.jobs()
    assert [after[word]["state"] for word in ("river", "head", "night")] == ["completed"] * 3
    assert after["river"]["cost_usd"] == crash.truth(bear)["cost_usd"]
    asked = crash.run("jobs", "resume", "--find-out")
    assert (asked.exit_code, "a heron at dawn" in asked.stdout) == (0, True), asked.stderr
    assert crash.jobs()["dawn"]["state"] in ("uncertain", "lost")
    assert crash.sandbox.state()["requests"]["text-to-video"] == submitted


def test_a_terminal_gets_a_table_and_rows_that_move(crash: Crash) -> None:
    """No line is wider than it, a shown id is enough for `show`, and what came home is a line that stays."""
    for columns in (80, 120):
        screen = lines_on_a_terminal(crash.folder, columns, "jobs")
        table = screen[: next(number for number, line in enumerate(screen) if "spent" in line)]
        assert max(map(len, table)) <= columns
        assert table[0].split()[:3] == ["When", "State", "Prompt"]
        assert ("Length" in table[0]) is (columns > 90)
    narrow = [line.split() for line in lines_on_a_terminal(crash.folder, 40, "jobs")]
    assert narrow[0] == ["State", "Prompt", "Cost", "Id"]
    assert [narrow[4][place] for place in (0, 1, 2, -2)] == ["completed", "an", "owl", "$0.05"]
    [row] = [line for line in table if "pending" in line]
    assert "about $0.05" in row
    [short] = re.findall(r"req_\w+", row)
    assert crash.run("jobs", "show", short).stdout.startswith("a brown bear fishes in a river\n")
    crash.sandbox.clear_faults()
    crash.sandbox.advance(3600)
    said = "\n".join(lines_on_a_terminal(crash.folder, 100, "jobs", "resume"))
    assert re.search(r"an owl turns its h\S* +Completed", said)
    assert len(re.findall(r"^\S+/req_\w+\.mp4: 1\.0 s", said, re.MULTILINE)) == 2
    assert "2 clips fetched." in said


def lines_on_a_terminal(folder: Path, columns: int, *words: str) -> list[str]:
    """What a command writes to a terminal of that width, line by line without its orders."""
    said, code = on_a_terminal(*words, cwd=folder, columns=columns)
    assert code == 0, said
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
