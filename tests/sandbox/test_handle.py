"""The handle on a running sandbox: what it shows, and its controls over the socket."""

import pickle
from pathlib import Path

import pytest
from sandbox.doubles import Client, Open

from reelbook.errors import InvalidInput, SandboxError
from reelbook.sandbox.handle import Sandbox, handle_on


def test_a_handle_shows_its_address_and_no_key(client: Client) -> None:
    """Neither its repr nor a pickle carries what lets somebody in."""
    assert repr(client.sandbox) == f"Sandbox(url={client.sandbox.url!r})"
    assert client.sandbox.mcp_url == f"{client.sandbox.url}/mcp"
    with pytest.raises(TypeError):
        pickle.dumps(client.sandbox)


def test_a_handle_on_a_sandbox_that_ended_says_so(open_sandbox: Open, tmp_path: Path) -> None:
    """Its controls raise SandboxError, in words and without the token."""
    with open_sandbox(tmp_path) as client:
        sandbox = client.sandbox
    with pytest.raises(SandboxError, match="gives no usable answer") as caught:
        sandbox.state()
    assert sandbox.control_token.reveal() not in str(caught.value)
    assert caught.value.__cause__ is None
    assert handle_on(tmp_path, sandbox.url, sandbox.pid) == sandbox


@pytest.mark.parametrize("pace", ["fast", -1])
def test_a_pace_that_there_isnt_is_told_what_it_can_be(sandbox: Sandbox, pace: str | float) -> None:
    """Before the sandbox is asked."""
    with pytest.raises(InvalidInput, match=r'"at once", "brisk", "lifelike" or a number of seconds.*, not '):
        sandbox.settings(pace=pace)
