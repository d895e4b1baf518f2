"""`reelbook tools`: listed and called, with the user id from the settings alone."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from cli.conftest import Run
from support.raw_server import Exchange
from support.tool_servers import USER, result, scripted

from reelbook.sandbox.handle import Sandbox
from reelbook.session.tools import ToolRun


def test_the_sandboxs_tools_are_listed_and_called(run: Run, sandbox: Sandbox) -> None:
    """With words as arguments, read as the schema wants them; the result is JSON for a program. A tool's
    failure ends with 1, and its words go to the other stream.
    """
    listed = run("tools", "list")
    assert listed.exit_code == 0, listed.output
    assert "generate_video_from_text\tprompt [duration_seconds]" in listed.stdout
    called = run("tools", "call", "generate_video_from_text", "prompt=123", "duration_seconds=2")
    assert called.exit_code == 0, called.output
    assert json.loads(called.stdout)["estimated_cost_usd"] == 0.1
    schemas = json.loads(run("tools", "list", "--json").stdout)
    assert schemas[0]["input_schema"]["properties"]["prompt"]
    failed = run("tools", "call", "get_video_status", "--arguments", '{"request_id": "nobody"}')
    assert (failed.exit_code, failed.stdout, failed.stderr != "") == (1, "", True)


@pytest.mark.parametrize(
    "words",
    ["no-word", "=x", "duration_seconds=many", "prompt=@nowhere", "--arguments [1]", "--arguments {"],
)
def test_arguments_that_cannot_be_read_send_nothing(run: Run, sandbox: Sandbox, words: str) -> None:
    """And end with 2, as bad usage does."""
    called = run("tools", "call", "generate_video_from_text", *words.split())
    assert called.exit_code == 2, called.output
    assert "Nothing was sent" in called.stderr
    assert "generate" not in str(sandbox.state()["requests"])


def test_another_server_is_called_and_its_files_are_kept(run: Run, home: Path, folder: Path) -> None:
    """The user id comes from the environment; no control character of the server's reaches the terminal."""

    def answer(exchange: Exchange, message: dict[str, object]) -> None:
        content = [
            {"type": "text", "text": "red \x1b[31m alert"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "https://x/y", "name": "there"},
        ]
        result(exchange, message, {"content": content})

    (folder / "cat.png").write_bytes(b"\xff\xd8")
    with scripted(answer) as server:
        words = ("image=@cat.png", "--server", server.url, "--out", "kept")
        called = run("tools", "call", "buy", *words, REELBOOK_USER_ID=USER)
        sent = json.loads(server.seen[-1].body)
    assert called.exit_code == 0, called.output
    assert called.stdout.splitlines()[0] == "red [31m alert"
    assert "\x1b" not in called.output
    assert (folder / "kept" / "result-2.png").read_bytes() == b"hello"
    assert "there: https://x/y" in called.stdout
    assert sent["params"]["arguments"] == {"image": "/9g="}
    assert USER not in called.output


def test_nothing_that_was_paid_for_is_lost_with_a_folder(run: Run, home: Path, folder: Path) -> None:
    """A folder that can't be made is said before the call; a file that can't be written, after the rest."""

    def answer(exchange: Exchange, message: dict[str, object]) -> None:
        (folder / "kept").rmdir()  # as a disk that fails
        image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
        result(exchange, message, {"content": [image, {"type": "text", "text": "paid for"}]})

    (folder / "file").touch()
    with scripted(answer) as server:
        words = ("tools", "call", "buy", "--server", server.url, "--out")
        refused = run(*words, "file/kept", REELBOOK_USER_ID=USER)
        assert (refused.exit_code, "Nothing was sent." in refused.stderr) == (2, True)
        assert server.seen == []
        failed = run(*words, "kept", REELBOOK_USER_ID=USER)
    assert (failed.exit_code, failed.stdout) == (1, "paid for\n")
    assert "result-1.png" in failed.stderr


def test_an_interrupted_call_may_have_been_carried_out(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends it, and says so."""
    monkeypatch.setattr(ToolRun, "result", Mock(side_effect=KeyboardInterrupt))
    with scripted(lambda exchange, message: result(exchange, message, {"content": []})) as server:
        said = run("tools", "call", "buy", "--server", server.url, REELBOOK_USER_ID=USER)
    assert (said.exit_code, "carried out, and billed" in said.stderr) == (130, True)


def test_a_live_service_without_a_tool_server_is_not_the_sandbox(run: Run, live: object) -> None:
    """Where a service is configured, its tool server has to be too; nothing is guessed."""
    called = run("tools", "list")
    assert called.exit_code == 1
    assert "The agent tool server isn't configured" in called.stderr


def test_json_for_a_program_is_whole_and_gives_no_orders(run: Run, home: Path) -> None:
    """Long results aren't cut, and no character is lost: those that a terminal would obey are escaped."""
    value = {"long": "x" * 150_000, "said": "1\u00a0kg \u009b2J \U000e0001 ü"}

    def answer(exchange: Exchange, message: Any) -> None:
        result(exchange, message, {"content": [], "structuredContent": value})

    with scripted(answer) as server:
        said = run("tools", "call", "buy", "--server", server.url, REELBOOK_USER_ID=USER)
    assert json.loads(said.stdout) == value
    assert "\u009b" not in said.stdout
    assert "ü" in said.stdout
