"""Faults: which request is due for one, and what then arrives at the client."""

import logging
import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from sandbox.doubles import CLIP, NOON, Client, Open

from reelbook import wire
from reelbook.sandbox.clock import Clock
from reelbook.sandbox.faults import ENDPOINTS, KINDS, Faults, endpoint_of
from reelbook.sandbox.handle import Sandbox
from reelbook.web import listening

TEXT = "/api/v1/generate/text-to-video"
IMAGE = "/api/v1/generate/image-to-video"
BALANCE = "/api/v1/billing/balance"


def test_a_fault_happens_to_as_many_requests_as_asked_for() -> None:
    """The first ones go well, the next ones don't, and the rest does again."""
    faults = Faults()
    faults.add({"kind": "500", "endpoint": "status", "times": 2, "after": 1})
    assert [faults.arrived("status") is not None for _ in range(5)] == [False, True, True, False, False]
    assert faults.listed() == [
        {
            "kind": "500",
            "endpoint": "status",
            "times": 2,
            "after": 1,
            "options": {"handled": False},
            "seen": 3,
            "happened": 2,
        }
    ]


def test_faults_happen_in_the_order_in_which_they_were_asked_for() -> None:
    """A request that one fault takes isn't seen by the next."""
    faults = Faults()
    for kind in ("500", "429", "html"):
        faults.add({"kind": kind})
    taken = [faults.arrived("status") for _ in range(4)]
    assert [fault and fault.kind for fault in taken] == ["500", "429", "html", None]


@pytest.mark.parametrize(
    ("method", "path", "endpoint", "group"),
    [
        ("POST", TEXT, "text-to-video", "generate"),
        ("POST", IMAGE, "image-to-video", "generate"),
        ("GET", "/api/v1/status/req_1", "status", "any"),
        ("GET", BALANCE, "balance", "billing"),
        ("GET", "/api/v1/billing/usage", "usage", "billing"),
        ("GET", "/api/v1/keys", "list-keys", "keys"),
        ("POST", "/api/v1/keys", "create-key", "keys"),
        ("DELETE", "/api/v1/keys/key_1", "revoke-key", "keys"),
        ("GET", "/videos/a.mp4", "download", "any"),
        ("POST", "/mcp", "tools", "any"),
    ],
)
def test_each_endpoint_is_hit_by_its_name_and_by_its_groups(
    method: str, path: str, endpoint: str, group: str
) -> None:
    """And by no other name."""
    hit_by = []
    for name in (*ENDPOINTS, "generate", "billing", "keys", "any"):
        faults = Faults()
        faults.add({"kind": "500", "endpoint": name})
        if faults.arrived(endpoint_of(method, path) or ""):
            hit_by.append(name)
        assert faults.requests == {endpoint: 1}
    assert hit_by == list(dict.fromkeys([endpoint, group, "any"]))


def test_every_path_of_the_interface_can_have_faults_and_no_other() -> None:
    """One without a name would be passed by, and not be counted. The controls work, to take a fault back."""
    paths = [
        path for path in vars(wire).values() if isinstance(path, str) and path.startswith(f"{wire.API}/")
    ]
    assert len(paths) >= 6
    for path in paths:
        names = [
            endpoint_of(method, path + more) for method in ("GET", "POST", "DELETE") for more in ("", "/x")
        ]
        assert any(names), f"{path} isn't in openapi.py"
    for path in ("/_sandbox/state", "/_sandbox/faults", "/"):
        assert endpoint_of("GET", path) is endpoint_of("POST", path) is None


@pytest.fixture(autouse=True)
def silent_server(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever is broken on purpose, the server itself has no error to report."""
    yield
    records = caplog.get_records("call")
    assert [record.getMessage() for record in records if record.levelno >= logging.ERROR] == []


@pytest.fixture
def faulty(shared: Client) -> Iterator[Client]:
    """The module's sandbox, without faults of other tests."""
    yield shared
    shared.sandbox.clear_faults()


def test_every_kind_can_be_asked_for_and_taken_back(faulty: Client) -> None:
    """With defaults for all its options; the handle tells of each, and of each endpoint."""
    told = Sandbox.fault.__doc__ or ""
    assert [name for name in ENDPOINTS if not re.search(rf"\W{name}\W", told)] == []
    for kind in KINDS:
        assert re.search(rf"^ +(\S+, )?{kind}\b", told, re.MULTILINE)
        faulty.sandbox.fault(kind)
    assert [(each["kind"], each["happened"]) for each in faulty.sandbox.faults()] == [
        (kind, 0) for kind in KINDS
    ]
    faulty.sandbox.clear_faults()
    assert faulty.sandbox.faults() == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"kind": "fire"}, "kind must be one of reset_before"),
        ({}, "kind"),
        ({"kind": ["500"]}, "kind"),
        ({"kind": "500", "endpoint": "keyhole"}, "endpoint must be one of text-to-video"),
        ({"kind": "500", "endpoint": None}, "endpoint"),
        ({"kind": "500", "times": 0}, "times"),
        ({"kind": "500", "times": True}, "times"),
        ({"kind": "500", "after": -1}, "after"),
        ({"kind": "500", "after": 1.5}, "after"),
        ({"kind": "500", "seconds": 3}, "seconds isn't an option of 500; it has handled"),
        ({"kind": "answer_lost", "handled": True}, "it has none"),
        ({"kind": "500", "handled": 1}, "handled can't be 1"),
        ({"kind": "stall", "seconds": -1}, "seconds"),
        ({"kind": "stall", "seconds": "60"}, "seconds"),
        ({"kind": "drip", "seconds": 3601}, "seconds"),
        ({"kind": "429", "retry_after": 1.5}, "retry_after"),
        ({"kind": "short_body", "after_bytes": -1}, "after_bytes"),
        ({"kind": "unknown_status", "word": ""}, "word"),
        ({"kind": "expired_link", "status": 403}, "status"),
        ({"kind": "expired_link", "status": 404.0}, "status can't be 404.0"),
        ({"kind": "not_found", "endpoint": "generate"}, "not_found can happen to status only"),
        ({"kind": "broken_json", "endpoint": "download"}, "broken_json can happen to balance"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(faulty: Client, wanted: dict[str, Any], said: str) -> None:
    """The refusal says what is possible, and nothing is set."""
    token = {"X-Sandbox-Token": faulty.sandbox.control_token.reveal()}
    answer = faulty.http.post("/_sandbox/faults", json=wanted, headers=token)
    assert answer.status_code == 400
    assert said in answer.json()["detail"]
    assert faulty.sandbox.faults() == []


@pytest.mark.parametrize(
    ("kind", "options", "arrives"),
    [
        ("reset_before", {}, "reset"),
        ("reset_before", {"read": False}, "reset"),
        ("answer_lost", {}, "reset"),
        ("close", {}, ""),
        ("garbage", {}, "\x16\x03\x01\x00\x02these bytes are no HTTP\r\n\r\n"),
        ("stall", {"seconds": 0.02, "handled": False}, ""),
        ("stall", {"seconds": 0.02}, "200 whole"),
        ("short_body", {}, "200 short"),
        ("short_body", {"after_bytes": 1}, "200 short"),
        ("short_body", {"after_bytes": 99999}, "200 whole"),
        ("drip", {"seconds": 0}, "200 whole"),
        ("503", {"handled": True}, "503 whole"),
    ],
    ids=str,
)
def test_what_arrives(faulty: Client, kind: str, options: dict[str, Any], arrives: str) -> None:
    """What a fault does to the connection; the next request goes well.

    What the client makes of it, and whether the job exists, is in contract/test_faults.py.
    """
    faulty.sandbox.fault(kind, endpoint="generate", **options)
    assert _arrived(faulty) == arrives
    assert faulty.sandbox.faults()[0]["happened"] == 1
    assert _arrived(faulty) == "200 whole"


def test_a_reset_before_the_request_was_read_meets_its_sender_while_it_sends(
    faulty: Client, still: Callable[..., bytes]
) -> None:
    """Ten megabytes of an image can't have arrived."""
    faulty.sandbox.fault("reset_before", endpoint="image-to-video", read=False)
    with pytest.raises((httpx.NetworkError, httpx.RemoteProtocolError)):
        faulty.submit_image(b"\0" * 10_000_000)
    assert faulty.submit_image(still()).status_code == 200


def test_a_fault_without_effect_reads_an_upload_to_its_end(faulty: Client) -> None:
    """So that its sender sees the page or the close, and no reset in the middle of sending."""
    big = {"image": b"\0" * 10_000_000}
    faulty.sandbox.fault("html", endpoint="image-to-video")
    assert "Sign in" in faulty.http.post(IMAGE, files=big).text
    faulty.sandbox.fault("close", endpoint="image-to-video")
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        faulty.http.post(IMAGE, files=big)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, ["10", "0", "1", None]),
        ({"headers": False}, [None, None, None, None]),
        ({"headers": False, "retry_after": 7}, [None, None, None, "7"]),
        ({"reset_seconds": 30, "retry_after": 0}, ["10", "0", "30", "0"]),
    ],
    ids=str,
)
def test_a_429_tells_as_much_as_asked_for(
    faulty: Client, options: dict[str, Any], told: list[str | None]
) -> None:
    """With or without the headers of the interface, with or without Retry-After."""
    faulty.sandbox.fault("429", endpoint="balance", **options)
    answer = faulty.get(BALANCE)
    assert answer.status_code == 429
    names = (wire.RATE_LIMIT, wire.RATE_REMAINING, wire.RATE_RESET, "Retry-After")
    assert [answer.headers.get(name) for name in names] == told


def test_only_handled_requests_use_up_the_limit(open_sandbox: Open, tmp_path: Path) -> None:
    """A fault before the service costs nothing; one behind it costs what the request costs."""
    with open_sandbox(tmp_path, rate_limiting=True, clock=Clock(NOON)) as client:
        client.sandbox.fault("500", times=3)
        client.sandbox.fault("429")
        assert [client.get(BALANCE).status_code for _ in range(4)] == [500, 500, 500, 429]
        client.sandbox.fault("500", handled=True)
        assert client.get(BALANCE).headers["x-ratelimit-remaining"] == "9"
        assert client.get(BALANCE).headers["x-ratelimit-remaining"] == "8"


def test_a_job_may_be_unknown_or_in_an_unknown_state_for_a_while(faulty: Client) -> None:
    """A 404 right after the submission, then a word that nobody documented, then the truth."""
    request_id = faulty.submit()
    faulty.sandbox.fault("not_found")
    faulty.sandbox.fault("unknown_status", word="warming up")
    answer = faulty.get(f"/api/v1/status/{request_id}")
    assert (answer.status_code, answer.json()) == (404, {"detail": "No such request_id"})
    assert faulty.status(request_id)["status"] == "warming up"
    assert faulty.wait(request_id)["status"] == "completed"


@pytest.mark.parametrize("status", [404, 410])
def test_an_expired_link_stays_so_and_the_status_gives_a_new_one(faulty: Client, status: int) -> None:
    """Each time it expires; the new link serves the same clip."""
    request_id = faulty.submit()
    links = [faulty.wait(request_id)["video_url"]]
    for _ in range(2):
        faulty.sandbox.fault("expired_link", status=status)
        assert faulty.get(links[-1]).status_code == status
        assert faulty.get(links[-1]).status_code == status
        links.append(faulty.status(request_id)["video_url"])
        assert faulty.get(links[-1]).content == CLIP
    faulty.sandbox.clear_faults()
    assert [faulty.get(link).status_code for link in links] == [status, status, 200]
    assert len(set(links)) == 3


def test_a_client_that_gives_up_ends_its_stall(
    open_sandbox: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing waits on for somebody who is gone, and the sandbox stops at once."""
    monkeypatch.setattr(listening, "GRACE_SECONDS", 60)
    with open_sandbox(tmp_path) as client:
        client.sandbox.fault("stall", times=2, seconds=3600)
        client.sandbox.fault("drip", seconds=3600)
        for _ in range(3):
            with pytest.raises(httpx.ReadTimeout):
                client.get(BALANCE, timeout=0.05)
        leaving = time.monotonic()
    assert time.monotonic() - leaving < 30, "a graceful stop waits for what is still under way"


def _arrived(client: Client) -> str:
    """What a submission gets: a reset, bytes that are no HTTP, or a status with a whole or short body."""
    body = '{"prompt": "a fox"}'
    request = (
        f"POST {TEXT} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"Authorization: Bearer {client.sandbox.api_key.reveal()}\r\n\r\n{body}"
    )
    where = urlsplit(client.sandbox.url)
    with socket.create_connection((where.hostname, where.port), timeout=60) as connection:
        connection.sendall(request.encode())
        got = b""
        try:
            while piece := connection.recv(65536):
                got += piece
        except ConnectionResetError:
            return f"{got.decode('latin-1')}reset"
    head, _, content = got.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 "):
        return got.decode("latin-1")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: ")]
    announced = int(lengths[0].split()[1])
    return f"{head[9:12].decode()} {'whole' if len(content) == announced else 'short'}"
