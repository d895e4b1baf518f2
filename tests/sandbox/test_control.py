"""The control plane, and the handle that speaks to it."""

import json
from typing import Any

import httpx
import pytest
from sandbox.doubles import Client

from reelbook import __version__
from reelbook.errors import SandboxError


def test_about_is_open_to_all(client: Client) -> None:
    """Anyone may ask what serves here; it takes no key and says nothing that is secret."""
    about = httpx.get(f"{client.sandbox.url}/_sandbox/about", trust_env=False).json()
    assert len(about.pop("instance")) == 16
    assert about == {"service": "reelbook-sandbox", "version": __version__, "pace": 10.0}


@pytest.mark.parametrize("token", [None, b"", b"wrong", "ü".encode()])
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "settings"), ("POST", "clock"), ("POST", "stop"), ("GET", "state"), ("POST", "faults")],
)
def test_everything_else_wants_the_token(shared: Client, token: bytes | None, method: str, path: str) -> None:
    """Neither nothing, nor a wrong token, nor the API key opens the controls."""
    headers = {} if token is None else {b"X-Sandbox-Token": token}
    answer = shared.http.request(method, f"/_sandbox/{path}", headers=headers, json={})
    assert (answer.status_code, list(answer.json())) == (403, ["detail"])
    assert shared.get("/api/v1/billing/balance").status_code == 200


def test_settings_change_what_they_name_and_nothing_else(client: Client) -> None:
    """The state tells how it stands. Each control does one thing; None takes back a failure to come."""
    client.submit()
    expected = client.sandbox.state()
    told = {"jobs_under_way": 1, "pace": 10.0, "balance_usd": 25.0, "pid": client.sandbox.pid}
    assert expected.items() >= told.items()
    assert expected["idle_seconds"] < 5
    changes: dict[str, Any]
    for changes in (
        {"pace": "at once"},
        {"balance_usd": 3.0},
        {"rate_limiting": True},
        {"max_image_bytes": 1000, "fail_next": "no"},
        {"fail_next": None},
    ):
        client.sandbox.settings(**changes)
        expected |= changes
        state = client.sandbox.state()
        assert state == expected | {"idle_seconds": state["idle_seconds"]}


@pytest.mark.parametrize(
    "settings",
    [
        {"pace": "slow"},
        {"pace": -1},
        {"rate_limiting": 1},
        {"balance_usd": -0.01},
        {"balance_usd": "25"},
        {"balance_usd": True},
        {"max_image_bytes": 1.5},
        {"fail_next": 7},
        {"colour": "red"},
        {"pace": 1, "balance_usd": None},
    ],
    ids=json.dumps,
)
def test_a_setting_that_makes_no_sense_changes_nothing(shared: Client, settings: dict[str, Any]) -> None:
    """It is a 400 that names it; what stood beside it isn't applied either."""
    before = shared.sandbox.state()
    token = {"X-Sandbox-Token": shared.sandbox.control_token.reveal()}
    answer = shared.http.post("/_sandbox/settings", json=settings, headers=token)
    assert answer.status_code == 400
    assert any(name in answer.json()["detail"] for name in settings)
    after = shared.sandbox.state()
    assert {**before, "now": 0, "idle_seconds": 0} == {**after, "now": 0, "idle_seconds": 0}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("settings", {"fail_next": "half a \ud83d"}),
        ("settings", {"\ud83d": 1}),
        ("faults", {"kind": "unknown_status", "word": "\ud83d"}),
        ("faults", {"kind": "stall", "\ud83d": 1}),
    ],
    ids=json.dumps,
)
def test_half_a_character_is_no_text(shared: Client, path: str, body: dict[str, Any]) -> None:
    """JSON can carry it, and no answer could quote it: it is refused, and nothing is changed."""
    token = {"X-Sandbox-Token": shared.sandbox.control_token.reveal(), "Content-Type": "application/json"}
    answer = shared.http.post(f"/_sandbox/{path}", content=json.dumps(body), headers=token)
    assert (answer.status_code, "surrogate" in answer.json()["detail"]) == (400, True)
    assert (shared.sandbox.state()["fail_next"], shared.sandbox.faults()) == (None, [])


def test_time_only_moves_forward(shared: Client) -> None:
    """A negative number of seconds is refused."""
    with pytest.raises(SandboxError, match="advance_seconds"):
        shared.sandbox.advance(-1)
