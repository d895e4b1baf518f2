"""Which request is due for which fault: state without a server."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from reelbook import wire
from reelbook.sandbox.faults import Faults
from reelbook.sandbox.payloads import Refused
from reelbook.sandbox.protocol import Endpoint

TEXT = "/api/v1/generate/text-to-video"
IMAGE = "/api/v1/generate/image-to-video"
BALANCE = "/api/v1/billing/balance"
STATUS = ("GET", "/api/v1/status/req_1")


def test_a_fault_happens_to_as_many_requests_as_asked_for() -> None:
    """The first ones go well, the next ones don't, and the rest does again."""
    faults = Faults()
    faults.add({"kind": "500", "endpoint": "status", "times": 2, "after": 1})
    assert [faults.arrived(*STATUS) is not None for _ in range(5)] == [False, True, True, False, False]
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
    taken = [faults.arrived(*STATUS) for _ in range(4)]
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
    for name in (*get_args(Endpoint), "generate", "billing", "keys", "any"):
        faults = Faults()
        faults.add({"kind": "500", "endpoint": name})
        if faults.arrived(method, path):
            hit_by.append(name)
        assert faults.requests == {endpoint: 1}
    assert hit_by == list(dict.fromkeys([endpoint, group, "any"]))


def test_every_path_of_the_interface_can_have_faults() -> None:
    """One that nobody named here would be passed by, and not be counted."""
    paths = [
        path for path in vars(wire).values() if isinstance(path, str) and path.startswith(f"{wire.API}/")
    ]
    assert len(paths) >= 6
    for path in paths:
        faults = Faults()
        for method in ("GET", "POST", "DELETE"):
            for asked in (path, f"{path}/req_1"):
                faults.arrived(method, asked)
        assert faults.requests, f"{path} has no name in Endpoint (protocol.py) and none in faults.py"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/_sandbox/state"), ("GET", TEXT), ("GET", "/"), ("POST", "/_sandbox/faults")],
)
def test_nothing_but_the_service_has_faults(method: str, path: str) -> None:
    """The control plane always works, or no fault could be taken back."""
    faults = Faults()
    faults.add({"kind": "answer_lost"})
    assert faults.arrived(method, path) is None
    assert faults.listed()[0]["seen"] == 0


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"kind": "earthquake"}, "kind must be one of"),
        ({"kind": "500", "endpoint": "nowhere"}, "endpoint must be one of"),
        ({"kind": "500", "times": 0}, "times must be"),
        ({"kind": "500", "after": True}, "after must be"),
        ({"kind": "500", "seconds": 1}, "seconds is no option of 500; it has handled"),
        ({"kind": "stall", "seconds": -1}, "seconds can't be -1"),
        ({"kind": "expired_link", "endpoint": "status"}, "can happen to download only"),
    ],
)
def test_what_makes_no_sense_is_refused(wanted: dict[str, Any], reason: str) -> None:
    """And no fault is added."""
    faults = Faults()
    with pytest.raises(Refused, match=reason):
        faults.add(wanted)
    assert faults.listed() == []


def test_faults_can_be_taken_back_and_expired_links_cant() -> None:
    """Of a video's links only the latest works; the others answer as they were told to."""
    faults = Faults()
    faults.add({"kind": "500"})
    assert (faults.link("a.mp4"), faults.expired_status("a.mp4")) == (0, 404)
    faults.expire("a.mp4", 410)
    faults.clear()
    assert faults.arrived(*STATUS) is None
    assert (faults.link("a.mp4"), faults.expired_status("a.mp4")) == (1, 410)
