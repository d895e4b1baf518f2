"""The sandbox as a process: shared, found again, ended without a trace."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from cli.doubles import start
from sandbox.doubles import Client, http_client
from support.waiting import until

from reelbook.errors import SandboxError
from reelbook.sandbox import server
from reelbook.sandbox.places import Places
from reelbook.web.listening import own_address

pytestmark = [pytest.mark.browser]

ENSURE = """
import sys
from pathlib import Path
from reelbook.sandbox.server import ensure
sandbox = ensure(Path(sys.argv[1]))
print(sandbox.url, sandbox.pid)
"""


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs started by a test find the package, and a key of the person's in the environment."""
    monkeypatch.setenv("PYTHONPATH", str(Path(server.__file__).parents[2]))
    monkeypatch.setenv("REELBOOK_API_KEY", "sk-planted-in-environment")


@pytest.fixture
def started(home: Path, environment: None) -> Iterator[Client]:
    """A sandbox process of the test's own home."""
    sandbox = server.ensure(home)
    with http_client(sandbox) as http:
        yield Client(sandbox, http)


def test_processes_that_start_it_at_once_share_one(home: Path, environment: None) -> None:
    """Also where one is read from standard input, without a file and without a main guard."""
    programs = [
        subprocess.Popen(
            [sys.executable, *words, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for words in (["-c", ENSURE], ["-"])
    ]
    answers = [program.communicate(ENSURE, timeout=120)[0] for program in programs]
    sandbox = server.find(home)
    assert sandbox is not None
    assert answers == [f"{sandbox.url} {sandbox.pid}\n"] * 2


def test_a_killed_server_goes_on_after_the_next_start(started: Client, home: Path) -> None:
    """Same address, same key, same jobs: what was accepted completes in the new process."""
    started.sandbox.settings(pace=600)
    request_id = started.submit("a red fox", duration_seconds=1)
    os.kill(started.sandbox.pid, signal.SIGKILL)
    again = server.ensure(home)
    assert (again.url, again.api_key, again.user_id) == (
        started.sandbox.url,
        started.sandbox.api_key,
        started.sandbox.user_id,
    )
    assert again.pid != started.sandbox.pid
    again.settings(rate_limiting=False)
    again.advance(600)
    with http_client(again) as http:
        assert Client(again, http).wait(request_id)["status"] == "completed"


@pytest.mark.parametrize("end", ["stop", "SIGTERM", "SIGKILL"])
def test_an_ended_sandbox_leaves_no_process_and_no_notice(started: Client, home: Path, end: str) -> None:
    """However it ends, in the middle of a drawing too, its workers do; only a kill leaves the notice."""
    started.sandbox.settings(pace=0)
    started.submit("a red fox", duration_seconds=10)
    process = psutil.Process(started.sandbox.pid)
    until(lambda: len(process.children()) > 1)
    family = [process, *process.children(recursive=True)]
    if end == "stop":
        assert server.stop(home)
        assert not server.stop(home)
    else:
        process.send_signal(getattr(signal, end))
    assert psutil.wait_procs(family, timeout=120)[1] == []
    assert server.find(home) is None
    assert Places(home).server.exists() == (end == "SIGKILL")
    assert "Traceback" not in Places(home).log.read_text()


def test_it_ends_by_itself_when_nobody_uses_it(home: Path, environment: None) -> None:
    """After its idle time, counted from the end of the last job."""
    process = _serve(home, "--idle-minutes", "0.005", "--pace", "0")
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert server.find(home) is None


def test_clips_are_drawn_and_the_key_is_in_the_access_file_only(started: Client, home: Path) -> None:
    """Neither the database, the log, the notice, the arguments nor a process's environment hold a key."""
    secret = started.sandbox.api_key.reveal()
    token = started.sandbox.control_token.reveal()
    started.sandbox.settings(pace=0, rate_limiting=False)
    made = started.http.post("/api/v1/keys", json={"name": "laptop"}).json()["api_key"]
    body = started.wait(started.submit("a red fox", duration_seconds=1))
    assert (body["status"], body["duration_seconds"]) == ("completed", 1.0)
    assert started.http.get(body["video_url"]).content[4:8] == b"ftyp"
    process = psutil.Process(started.sandbox.pid)
    planted = [secret, token, made, "sk-planted-in-environment"]
    for running in (process, *process.children(recursive=True)):
        shown = " ".join(running.cmdline()) + json.dumps(running.environ())
        assert not [word for word in planted if word in shown]
    holding = {
        file.name
        for file in (home / "sandbox").rglob("*")
        if file.is_file() and any(word.encode() in file.read_bytes() for word in planted)
    }
    assert holding == {"access.json"}


def test_a_stale_notice_is_recognised(home: Path, environment: None) -> None:
    """A dead address, and an address at which something else answers by now, are no sandbox of this home."""
    other = home.with_name("other-home")
    with server.in_thread(other) as foreign:
        places = Places(home)
        places.create()
        notice = {"pid": os.getpid(), "version": "0", "instance": "gone"}
        for url in ("http://127.0.0.1:9", foreign.url):
            places.server.write_text(json.dumps({"url": url, **notice}))
            assert server.find(home) is None
        sandbox = server.ensure(home)
        assert sandbox.url != foreign.url


@pytest.mark.parametrize("port", ["taken", "", "70000"])
def test_the_port_of_last_time_is_no_obstacle(home: Path, environment: None, port: str) -> None:
    """Where another program has it, or where it can't be read, a free one is used."""
    places = Places(home)
    places.create()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        places.port.write_text(str(taken.getsockname()[1]) if port == "taken" else port)
        assert server.ensure(home).url != f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_another_version_is_replaced_unless_it_is_busy(
    home: Path, environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a job under way it stays, without one it makes room."""
    sandbox = server.ensure(home)
    monkeypatch.setattr(server, "VERSION", "another")
    sandbox.settings(pace=600)
    with http_client(sandbox) as http:
        Client(sandbox, http).submit("a red fox", duration_seconds=1)
    assert server.ensure(home).pid == sandbox.pid
    sandbox.advance(600)
    until(lambda: sandbox.state()["jobs_under_way"] == 0)
    assert server.ensure(home).pid != sandbox.pid


def test_a_start_that_fails_shows_the_end_of_the_log(home: Path, environment: None) -> None:
    """The error says what the sandbox itself said."""
    places = Places(home)
    places.create()
    places.database.write_bytes(b"this is no database" * 100)
    with pytest.raises(SandboxError, match="file is not a database") as caught:
        server.ensure(home)
    assert str(places.log) in str(caught.value)


def test_in_the_foreground_it_introduces_itself_and_ends_with_ctrl_c(home: Path, environment: None) -> None:
    """It says where it is and where its key lies, not the key; beyond loopback it warns."""
    process = _serve(home, "--host", "0.0.0.0", "--balance", "7", "--rate-limit", "20")
    until(lambda: server.find(home) is not None)
    sandbox = server.find(home)
    assert sandbox is not None
    assert sandbox.state()["balance_usd"] == 7
    with http_client(sandbox) as http:
        assert http.get("/api/v1/keys").json()["api_keys"][0]["rate_limit"] == 20
        assert http.get("/api/v1/keys", headers={"Host": "lab.example:8000"}).status_code == 200
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=120)
    assert (process.returncode, complained) == (0, "")
    assert said.startswith(f"The sandbox serves at {sandbox.url}\n")
    assert str(Places(home).access) in said
    assert "plain HTTP" in said
    if (own := own_address()) is not None:
        assert f"http://{own}:{urlsplit(sandbox.url).port}\n" in said
    assert sandbox.api_key.reveal() not in said


def test_a_sandbox_in_a_thread_is_found_and_stopped_like_any_other(home: Path) -> None:
    """And is gone when its block ends, or when its own controls end it."""
    with server.in_thread(home) as sandbox:
        assert server.ensure(home) == sandbox
    assert server.find(home) is None
    with server.in_thread(home) as sandbox:
        sandbox.stop()
        assert server.find(home) is None
        assert not server.stop(home)


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("reelbook.sandbox.server", ("starlette", "uvicorn", "av", "numpy", "PIL")),
        ("reelbook.sandbox.__main__", ("av", "numpy", "PIL", "pydantic", "httpx", "mcp")),
    ],
    ids=["a session", "the server"],
)
def test_nothing_is_loaded_before_it_is_needed(
    environment: None, module: str, others: tuple[str, ...]
) -> None:
    """A session's process loads no server; workers load what draws, and the first image loads Pillow."""
    program = f"import sys, {module}; print([name for name in {others} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"


def _serve(home: Path, *options: str) -> subprocess.Popen[str]:
    return start("sandbox", "serve", "--home", str(home), *options, cwd=None)
