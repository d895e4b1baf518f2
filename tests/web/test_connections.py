"""Connections are bounded in number and time, and can be broken; what is left of a body is read."""

import asyncio
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest
from sandbox.doubles import Client, Open
from starlette.types import Message
from support.waiting import until

from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.places import Places
from reelbook.web import connections, listening
from reelbook.web.connections import RequestBody

MOST = 8  # connections in all; an address may have half of them
NEIGHBOUR, OTHER = "127.0.0.2", "127.0.0.3"  # addresses that the test's own questions don't come from
QUESTION = "GET /_sandbox/about HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b'{"prompt": "a red fox"}'

Connect = Callable[..., socket.socket]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Opens connections to a sandbox, from an address of this machine; closed at the end of the test."""
    with ExitStack() as opened:

        def make(sandbox: Sandbox, said: str | bytes = b"", source: str = NEIGHBOUR) -> socket.socket:
            host, port = sandbox.url.removeprefix("http://").split(":")
            made = socket.create_connection((host, int(port)), timeout=10, source_address=(source, 0))
            opened.enter_context(made)
            made.sendall(said.encode() if isinstance(said, str) else said)
            return made

        yield make


@pytest.fixture
def small(open_sandbox: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A sandbox with room for few connections."""
    monkeypatch.setattr(listening, "most_connections", lambda: MOST)
    with open_sandbox(tmp_path) as client:
        yield client


@pytest.fixture
def serve(home: Path) -> Iterator[Callable[[str], Sandbox]]:
    """Starts a sandbox process in a shell that has limited how many files it may open."""
    started: list[subprocess.Popen[bytes]] = []

    def start(limit: str) -> Sandbox:
        command = [sys.executable, "-m", "reelbook.sandbox", str(home)]
        started.append(subprocess.Popen(["sh", "-c", f'{limit}; exec "$@"', "sh", *command]))
        until(lambda: server.find(home) is not None)
        sandbox = server.find(home)
        assert sandbox is not None
        return sandbox

    yield start
    server.stop(home)
    for process in started:
        process.wait(60)


def test_idle_connections_keep_nobody_out(
    serve: Callable[[str], Sandbox], connect: Connect, home: Path
) -> None:
    """More idle connections than the process may open files: it answers at once, and its log stays short."""
    sandbox = serve("ulimit -n 256")
    for _ in range(600):
        connect(sandbox, source="127.0.0.1")
    begun = time.monotonic()
    assert sandbox.state()["pid"] == sandbox.pid
    assert time.monotonic() - begun < connections.SECONDS["head"]  # until an idle one would make way
    assert psutil.Process(sandbox.pid).num_fds() < 256
    assert len(Places(home).log.read_bytes()) < 10_000


@pytest.mark.parametrize(
    ("limit", "raised"), [("ulimit -Sn 256; ulimit -Hn 1000", 1000), ("ulimit -Sn 256", 4224)]
)
def test_it_may_open_the_files_that_it_needs(
    serve: Callable[[str], Sandbox], limit: str, raised: int
) -> None:
    """The soft limit is raised as far as connections need it, and not beyond the hard one."""
    assert psutil.Process(serve(limit).pid).rlimit(resource.RLIMIT_NOFILE)[0] == raised


def test_a_new_connection_takes_the_place_of_the_longest_idle(small: Client, connect: Connect) -> None:
    """The oldest idle one is closed; younger ones, and one with a request under way, are not."""
    posting = connect(small.sandbox, _post(small))
    until(lambda: "text-to-video" in small.sandbox.state()["requests"])
    idle = [connect(small.sandbox) for _ in range(MOST)]
    assert [_ended(each, 0.1) for each in idle] == [True] * (MOST - 3) + [False] * 3
    posting.sendall(BODY)
    assert _status(posting) == 200


def test_requests_that_stay_incomplete_keep_nobody_out(small: Client, connect: Connect) -> None:
    """Where no connection is idle, the one whose body has been missing the longest makes way."""
    posting = [connect(small.sandbox, _post(small)) for _ in range(MOST // 2)]
    until(lambda: small.sandbox.state()["requests"].get("text-to-video") == len(posting))
    assert _status(connect(small.sandbox, QUESTION)) == 200
    assert [_ended(each, 0.1) for each in posting] == [True] + [False] * (MOST // 2 - 1)


def test_complete_requests_are_never_dropped(small: Client, connect: Connect) -> None:
    """Where all of an address have one under way, its newcomer gets a 503, and others are served."""
    small.sandbox.fault("stall", endpoint="balance", times=MOST // 2, seconds=0.7)
    asked = [connect(small.sandbox, _ask(small)) for _ in range(MOST // 2)]
    until(lambda: small.sandbox.state()["requests"].get("balance") == len(asked))
    assert _status(connect(small.sandbox, QUESTION)) == 503
    assert _status(connect(small.sandbox, QUESTION, OTHER)) == 200
    assert [_status(each) for each in asked] == [200] * len(asked)
    assert _status(connect(small.sandbox, QUESTION)) == 200


@pytest.mark.parametrize("slow", ["silent", "head", "second head", "body"])
def test_a_client_that_keeps_it_waiting_is_cut_off(
    open_sandbox: Open, tmp_path: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    """A head or a body that isn't there in time ends the connection, even if it trickles in all the time."""
    monkeypatch.setitem(connections.SECONDS, "body" if slow == "body" else "head", 0.3)
    with open_sandbox(tmp_path) as client:
        begun = time.monotonic()
        said = {"silent": "", "head": QUESTION[:9], "second head": QUESTION, "body": _post(client)}[slow]
        slowly = connect(client.sandbox, said)
        if slow == "second head":
            assert _status(slowly) == 200
        while not _ended(slowly, 0.02):
            assert time.monotonic() - begun < 60
            if slow != "silent":
                with suppress(ConnectionError):
                    slowly.sendall(b"x")
        assert time.monotonic() - begun > 0.3
        assert client.get("/api/v1/billing/balance").status_code == 200


def test_a_client_that_reads_nothing_is_cut_off(
    open_sandbox: Open, tmp_path: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clip whose receiver stopped reading gives its file and its connection back."""
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.3)
    with open_sandbox(tmp_path) as client:
        request_id = client.submit()
        client.sandbox.advance(100)
        video = client.wait(request_id)["video_url"].rpartition("/")[2]
        (tmp_path / "sandbox" / "videos" / video).write_bytes(bytes(30 << 20))
        unread = connect(client.sandbox, QUESTION.replace("/_sandbox/about", f"/videos/{video}"))
        me = psutil.Process()
        until(lambda: any(file.path.endswith(video) for file in me.open_files()))
        until(lambda: not any(file.path.endswith(video) for file in me.open_files()))
        received = 0
        while piece := unread.recv(1 << 20):
            received += len(piece)
        assert received < 30 << 20


def coming(*messages: Message) -> tuple[RequestBody, list[Message]]:
    """A body that arrives in these messages and then stays silent; and those not received yet."""
    left = list(messages)

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    return RequestBody(receive), left


def pieces(*data: bytes) -> Iterable[Message]:
    last = len(data) - 1
    return ({"type": "http.request", "body": each, "more_body": at < last} for at, each in enumerate(data))


@pytest.mark.anyio
async def test_an_endless_body_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are read to their end and no further; it by its bytes, or by the time."""
    body, left = coming(*pieces(b"one", b"two", b"three"), {"type": "http.disconnect"})
    assert (await body.receive())["body"] == b"one"
    await body.drain()
    assert [message["type"] for message in left] == ["http.disconnect"]
    monkeypatch.setattr(connections, "MOST_DRAINED_BYTES", 5)
    body, left = coming(*pieces(b"one", b"two", b"three", b"four"))
    await body.drain()
    assert len(left) == 2
    monkeypatch.setattr(connections, "DRAIN_SECONDS", 0.01)
    silent, _ = coming()
    await asyncio.wait_for(silent.drain(), 5)


def _ask(client: Client) -> str:
    key = client.sandbox.api_key.reveal()
    return f"GET /api/v1/billing/balance HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"


def _post(client: Client) -> str:
    """The head of a submission, whose body is still to come."""
    key = client.sandbox.api_key.reveal()
    return (
        f"POST /api/v1/generate/text-to-video HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
    )


def _status(connection: socket.socket) -> int:
    """The status of the next answer, which is read to its end."""
    head, _, body = connection.recv(65536).partition(b"\r\n\r\n")
    length = next(
        int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
    )
    while len(body) < length:
        body += connection.recv(65536)
    return int(head.split()[1])


def _ended(connection: socket.socket, within_seconds: float) -> bool:
    connection.settimeout(within_seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    finally:
        connection.settimeout(10)
