"""The calls of the agent tools, as they are kept."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ledger.doubles import Clock

from reelbook.ledger import Ledger
from reelbook.ledger.rescue import rescue
from reelbook.secret import Secret

USER = Secret("user-planted-7f3a")
SERVER = "https://tools.example/mcp"


def test_a_call_is_there_before_its_result(ledger: Ledger, clock: Clock) -> None:
    """Without an outcome first, with it and the jobs that it spoke of afterwards; the newest first."""
    number = ledger.tool_calls.add(SERVER, USER, "buy", {"prompt": "a fox"})
    (call,) = ledger.tool_calls.recent()
    assert (call.tool, call.arguments, call.whole, call.outcome) == ("buy", {"prompt": "a fox"}, True, None)
    assert (call.at, call.origin) == (clock.now, "https://tools.example:443")
    ledger.tool_calls.ended(number, "done", took_seconds=1.5, request_ids=("req-1",))
    ledger.tool_calls.add(SERVER, USER, "look", {})
    newest, call = ledger.tool_calls.recent()
    assert newest.tool == "look"
    assert (call.outcome, call.took_seconds, call.request_ids, call.error) == ("done", 1.5, ("req-1",), None)


def test_the_prompt_of_a_job_is_that_of_the_call_that_made_it(ledger: Ledger) -> None:
    """The first call that spoke of it alone and had a prompt; a list of jobs tells nothing of each."""
    for arguments, jobs in (
        ({"prompt": "all foxes"}, ("req-1", "req-2")),
        ({"request_id": "req-1"}, ("req-1",)),
        ({"prompt": "a fox"}, ("req-1",)),
        ({"prompt": 3}, ("req-2",)),
    ):
        number = ledger.tool_calls.add(SERVER, USER, "tool", arguments)
        ledger.tool_calls.ended(number, "done", took_seconds=1.0, request_ids=jobs)
    assert [ledger.tool_calls.prompt_of(job) for job in ("req-1", "req-2", "req-3")] == ["a fox", None, None]


def test_neither_the_user_id_nor_a_secret_nor_a_picture_is_kept(ledger: Ledger, folder: Path) -> None:
    """They are masked or cut, and the call says that its arguments aren't whole."""
    deep: object = "bottom"
    for _ in range(100):
        deep = [deep]
    ledger.tool_calls.add(
        SERVER,
        USER,
        "buy",
        {
            "user": f"by {USER.reveal()}",
            "api_key": "sk-planted",
            "image": "QUJD" * 10_000,
            "n": 3,
            "deep": deep,
        },
    )
    (call,) = ledger.tool_calls.recent()
    assert (call.arguments["user"], call.arguments["api_key"], call.arguments["n"]) == ("by ***", "***", 3)
    assert call.arguments["image"].endswith("… (40,000 characters)")
    assert not call.whole
    for path in folder.rglob("ledger.db*"):
        assert USER.reveal().encode() not in path.read_bytes()
        assert b"sk-planted" not in path.read_bytes()


def test_arguments_without_end_are_left_out(ledger: Ledger) -> None:
    """Only their names are kept, as far as those are short."""
    ledger.tool_calls.add(SERVER, USER, "buy", {"many": list(range(50_000))})
    ledger.tool_calls.add(SERVER, USER, "buy", {"x" * 50_000: 1})
    assert [dict(call.arguments) for call in ledger.tool_calls.recent()] == [{}, {"many": "…"}]


def test_calls_survive_a_damaged_ledger(ledger: Ledger) -> None:
    """They are copied with the rest of what can be read."""
    from reelbook.ledger.opening import open_memory

    ledger.tool_calls.add(SERVER, USER, "buy", {})
    target = open_memory()
    ledger._store.read(lambda source: rescue(source, target))
    assert [row["tool"] for row in target.execute("SELECT tool FROM tool_calls")] == ["buy"]
    assert isinstance(target, sqlite3.Connection)
    target.close()
