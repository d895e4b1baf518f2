"""What `help()` says of the public names: each has an example, and each example runs."""

import inspect
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.kept_clips import KeptClips

import reelbook as rb
from reelbook import settings
from reelbook.classroom.room.serving import in_thread
from reelbook.sandbox import server

pytestmark = [pytest.mark.browser]

CODE = re.compile(r"(?:^ {4}.*\n|^\n)+", re.M)
NAMES = """
import asyncio, ipywidgets, traitlets
import reelbook
import reelbook as rb
jobs = session.submit_many(["a red fox in snow", "a heron in fog"], duration_seconds=2)
first, second = clips = jobs.results()
job, clip, prompts = jobs[0], first, ["a kite", "a boat"]
"""


def examples(text: str) -> list[str]:
    """The indented blocks of a docstring that are code, not a drawing."""
    return [each for each in CODE.findall(inspect.cleandoc(text) + "\n") if re.search(r"\w", each)]


@pytest.fixture
def prepared(shell: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A kernel's IPython with what examples take for granted, and settings that lead to a sandbox alone."""
    monkeypatch.chdir(tmp_path)
    Image.linear_gradient("L").convert("RGB").save("cat.png")
    with server.in_thread(home, pace=0, rate_limit=100, executor=KeptClips()) as sandbox:
        sandbox.settings(rate_limiting=False)
        session = rb.connect("sandbox")
        key = session.keys.create("live").api_key
        monkeypatch.setenv(settings.API_KEY, key.reveal())
        monkeypatch.setenv(settings.BASE_URL, session.base_url)
        monkeypatch.setenv(settings.MCP_URL, sandbox.mcp_url)
        monkeypatch.setenv(settings.USER_ID, sandbox.user_id)
        nested = "nest_asyncio2" if sys.version_info >= (3, 14) else "nest_asyncio"
        monkeypatch.setattr(f"{nested}.apply", lambda: None)  # it would patch this process for good
        shell.user_ns |= {
            "session": session,
            "api_key": key,
            "base_url": session.base_url,
            "mcp_url": sandbox.mcp_url,
            "user_id": sandbox.user_id,
        }
        with in_thread(session, "KFX-204") as room:
            shell.user_ns["address"] = room.url
            yield shell


def test_each_public_name_has_an_example_that_runs(prepared: Any) -> None:
    """The examples of all names, and of the session's methods, as they stand in `help()`."""
    prepared.run_cell(NAMES).raise_error()
    known = dict(prepared.user_ns)
    texts = {"reelbook": rb.__doc__ or ""} | {name: getattr(rb, name).__doc__ or "" for name in rb.__all__}
    methods = {
        f"Session.{name}": inspect.getdoc(member) or ""
        for name, member in vars(rb.Session).items()
        if not name.startswith("_")
    }
    assert [name for name, text in texts.items() if not examples(text)] == []

    failed = {}
    for name, text in (texts | methods).items():
        prepared.user_ns.update(known)
        for code in examples(text):
            result = prepared.run_cell(inspect.cleandoc("\n" + code))
            if error := result.error_before_exec or result.error_in_exec:
                failed[name] = "".join(traceback.format_exception_only(error)) + code
    assert failed == {}


def test_help_of_the_session_is_a_page_in_the_order_of_work() -> None:
    """It names every public member, and begins with connecting and ends with closing."""
    page = rb.Session.__doc__ or ""
    members = [name for name in vars(rb.Session) if not name.startswith("_")]
    order = [
        "connect(",
        "text_to_video(",
        "submit_many(",
        "receipt(",
        "session.jobs(",
        "resume(",
        "`close()`",
    ]

    assert [name for name in members if not re.search(rf"\b{name}\b", page)] == []
    assert sorted(order, key=page.index) == order
