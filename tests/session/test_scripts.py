"""Sessions in plain Python: scripts, standard input, running loops, Ctrl-C and the end of the interpreter."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.kept_clips import KeptClips

from reelbook.ledger import Ledger, LedgerFile
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

pytestmark = [pytest.mark.browser]

SCRIPT = """
import reelbook as rb
session = rb.connect("sandbox")
clip = session.text_to_video("a fox", duration_seconds=1).result(60)
print("length", clip.duration_seconds)
"""

ASYNC_SCRIPT = """
import asyncio
import reelbook as rb

async def main():
    session = rb.connect("sandbox")
    clip = await session.text_to_video("a fox", duration_seconds=1)
    print("length", clip.duration_seconds)

asyncio.run(main())
"""

NESTED_SCRIPT = """
import asyncio
import reelbook as rb
rb.allow_nested_loops()

async def inner():
    return (await rb.connect("sandbox").text_to_video("a fox", duration_seconds=1)).duration_seconds

async def cell():
    return asyncio.run(inner())

print("length", asyncio.run(cell()))
"""


@pytest.fixture
def running(home: Path) -> Iterator[Sandbox]:
    """A sandbox outside the script, as fast as it can be."""
    with server.in_thread(home, rate_limiting=False, executor=KeptClips()) as sandbox:
        yield sandbox


def python(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments], input=stdin, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    ("how", "script"),
    [("file", SCRIPT), ("stdin", ASYNC_SCRIPT)],
    ids=["file", "stdin, asyncio"],
)
def test_a_clip_is_made_without_a_main_guard(running: Sandbox, tmp_path: Path, how: str, script: str) -> None:
    """A file and standard input both work, end by themselves and leave nothing on stderr."""
    if how == "file":
        (tmp_path / "script.py").write_text(script)
        ended = python(str(tmp_path / "script.py"))
    else:
        ended = python("-", stdin=script)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("length 1.0\n", "", 0)


def test_nested_loops_work_when_allowed(running: Sandbox) -> None:
    """`asyncio.run` inside a running loop works after allow_nested_loops(), sessions included."""
    ended = subprocess.run([sys.executable, "-c", NESTED_SCRIPT], capture_output=True, text=True, timeout=60)
    assert (ended.stdout, ended.returncode) == ("length 1.0\n", 0), ended.stderr


UNPATCHABLE = """
import asyncio
import reelbook as rb
class Strange(asyncio.AbstractEventLoop): pass
asyncio.set_event_loop(Strange())
try:
    rb.allow_nested_loops()
except RuntimeError as error:
    print(error)
"""


def test_a_loop_that_cant_be_nested_is_said_with_another_way() -> None:
    """Await works in every cell."""
    ended = subprocess.run([sys.executable, "-c", UNPATCHABLE], capture_output=True, text=True)
    assert ended.stdout.startswith("This event loop can't be nested")
    assert "Use `await` in the cell" in ended.stdout


def test_a_script_that_ends_in_the_middle_of_a_watch_ends_at_once(running: Sandbox) -> None:
    """The interpreter doesn't hang on the session's thread."""
    running.settings(pace=3600)
    ended = python(
        "-c",
        "import reelbook as rb, time; job = rb.connect('sandbox').text_to_video('a fox')\n"
        "while not job.request_id: time.sleep(0.01)",
    )
    assert (ended.stderr, ended.returncode) == ("", 0)
    assert running.state()["jobs_under_way"] == 1


def test_a_script_that_ends_before_all_is_sent_says_so_and_how_to_send_it(
    running: Sandbox, home: Path
) -> None:
    """One message on stderr with the number of clips; what was left can be sent when a person asks."""
    running.settings(pace=3600, rate_limiting=True)
    ended = python(
        "-c",
        "import reelbook as rb\n"
        "session = rb.connect('sandbox')\n"
        "for number in range(12): session.text_to_video(f'fox {number}', duration_seconds=1)\n",
    )
    count = 12 - running.state()["jobs_under_way"]
    assert count >= 2
    assert ended.returncode == 0
    assert ended.stderr.startswith(f"Reelbook: {count} clips were not sent before the program ended.")
    assert "session.resume(unsent=True)" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    with LedgerFile.open(home) as file:
        (account,) = file.accounts()
        assert len(Ledger(file, account).left_unsent()) == count


def test_with_waits_until_all_that_was_submitted_is_sent(running: Sandbox) -> None:
    """It doesn't wait for the clips."""
    running.settings(pace=3600)
    ended = python(
        "-c",
        "import reelbook as rb\n"
        "with rb.connect('sandbox') as session:\n"
        "    for number in range(5): session.text_to_video(f'fox {number}', duration_seconds=1)\n",
    )
    assert (ended.stderr, ended.returncode) == ("", 0)
    assert running.state()["jobs_under_way"] == 5


@pytest.mark.usefixtures("home")
def test_a_sandbox_that_ended_is_started_again_for_an_open_session() -> None:
    """After the sandbox was stopped, the next submission of an open session starts it and arrives."""
    ended = python(
        "-c",
        "import reelbook as rb\n"
        "from reelbook.sandbox import server\n"
        "with rb.connect('sandbox') as session:\n"
        "    server.stop(session.home)\n"
        "    session.text_to_video('a fox', duration_seconds=1)\n"
        "print(server.find(session.home).state()['jobs_under_way'])",
    )
    assert (ended.stdout, ended.stderr) == ("1\n", "")
