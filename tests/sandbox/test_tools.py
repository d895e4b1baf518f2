"""The door of the sandbox's agent tools: who may come in, and what is loaded for them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from sandbox.agents import EITHER, LIST, post
from sandbox.doubles import Client, InstantExecutor

from reelbook.sandbox.server import in_thread


@pytest.mark.parametrize("user_id", [None, "", "user-0000000000000000", "ünknown"])
def test_without_the_user_id_nobody_comes_in(shared: Client, user_id: str | None) -> None:
    """An unknown or absent one is a 401 in JSON; the API key doesn't help."""
    headers: dict[Any, Any] = {"Authorization": f"Bearer {shared.sandbox.api_key.reveal()}"}
    if user_id is not None:
        headers[b"X-User-ID"] = user_id.encode()
    answer = httpx.post(shared.sandbox.mcp_url, headers=headers, json=LIST, trust_env=False)
    assert (answer.status_code, answer.json()) == (
        401,
        {"detail": "X-User-ID is missing or names nobody here"},
    )


def test_pages_of_other_origins_and_names_are_refused(shared: Client) -> None:
    """A web page that learnt the user id can't use it, nor can a name that was made to point here."""
    user = {"X-User-ID": shared.sandbox.user_id}
    assert post(shared, {**user, "Origin": "https://example.com"}).status_code == 403
    assert post(shared, {**user, "Origin": shared.sandbox.url}).status_code == 200
    assert post(shared, {**user, "Host": "example.com"}).status_code == 421


def test_without_the_extra_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A 501 that names the extra, as often as it is asked for, and tools once it is there."""
    with in_thread(tmp_path, executor=InstantExecutor()) as sandbox:
        headers = {**EITHER, "X-User-ID": sandbox.user_id}
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "reelbook.sandbox.tool_server", None)
            for _ in range(2):
                answer = httpx.post(sandbox.mcp_url, headers=headers, json=LIST, trust_env=False)
                assert answer.status_code == 501
                assert "pip install 'mcp>=2.3,<3'" in answer.json()["detail"]
        assert httpx.post(sandbox.mcp_url, headers=headers, json=LIST, trust_env=False).status_code == 200
    assert not caplog.records


def test_the_protocol_s_package_is_loaded_for_those_who_may_come_in(tmp_path: Path) -> None:
    """Neither the start nor a stranger's request imports it, and it leaves the root logger alone."""
    script = f"""
import logging, sys, urllib.request, urllib.error
from pathlib import Path
from concurrent.futures import ThreadPoolExecutor
from reelbook.sandbox.server import in_thread

def ask(**headers):
    headers = {{"Content-Type": "application/json", "Accept": "application/json"}} | headers
    request = urllib.request.Request(sandbox.mcp_url, {json.dumps(LIST).encode()!r}, headers)
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code

with in_thread(Path({str(tmp_path)!r}), executor=ThreadPoolExecutor(1)) as sandbox:
    steps = [ask(), "mcp" in sys.modules]
    steps += [ask(**{{"X-User-ID": sandbox.user_id}}), "mcp" in sys.modules, logging.getLogger().handlers]
print(steps)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[401, False, 200, True, []]\n", "")
