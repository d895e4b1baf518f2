"""The calls of the agent tools as they are kept, and what the clips cost that they bought."""

from pathlib import Path

import pytest
from ledger.doubles import KEY, SERVICE, Clock, fox, intend
from support.ledgers import told

from reelbook.errors import SpendLimitReached
from reelbook.ledger import Ledger, Spend
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
    call(ledger, "req-1", "req-2", prompt="all foxes")
    call(ledger, "req-1", request_id="req-1")
    call(ledger, "req-1", prompt="a fox")
    call(ledger, "req-2", prompt=3)
    assert [ledger.tool_calls.prompt_of(job) for job in ("req-1", "req-2", "req-3")] == ["a fox", None, None]


def test_neither_the_user_id_nor_a_secret_nor_a_picture_is_kept(ledger: Ledger, folder: Path) -> None:
    """They are masked or cut, and the call says that its arguments aren't whole. Of arguments without end
    only the beginnings of their names are kept.
    """
    deep: object = "bottom"
    for _ in range(100):
        deep = [deep]
    given = {"user": f"by {USER.reveal()}", "api_key": "sk-planted", "image": "QUJD" * 10_000, "n": 3}
    for arguments in ({"x" * 50_000: 1, "many": list(range(50_000))}, {**given, "deep": deep}):
        ledger.tool_calls.add(SERVER, USER, "buy", arguments)
    cut, endless = ledger.tool_calls.recent()
    assert (cut.arguments["user"], cut.arguments["api_key"], cut.arguments["n"]) == ("by ***", "***", 3)
    assert cut.arguments["image"].endswith("… (40,000 characters)")
    assert not cut.whole
    assert dict(endless.arguments) == {"x" * 100: "…", "many": "…"}
    for path in folder.rglob("ledger.db*"):
        assert USER.reveal().encode() not in path.read_bytes()
        assert b"sk-planted" not in path.read_bytes()


def call(ledger: Ledger, *request_ids: str, **arguments: object) -> None:
    """A tool's call that took two seconds and spoke of these jobs."""
    number = ledger.tool_calls.add(SERVER, USER, "tool", arguments)
    ledger.tool_calls.ended(number, "done", took_seconds=2.0, request_ids=request_ids)


def test_a_clip_that_a_tool_bought_counts_once(ledger: Ledger, clock: Clock) -> None:
    """As spent, however often its end is heard; from the call on, and in a limit."""
    called_at = clock.now
    call(ledger, "req-1", prompt="a fox")
    clock.now += 60
    for _ in range(2):
        ledger.tool_jobs.ended("req-1", seconds=4.0, cost_usd=0.2)
    assert ledger.spend() == Spend(0.2, 0.0, 0.0, tools_usd=0.2)
    assert ledger.spend(here=True).tools_usd == 0.2
    assert ledger.file.ledger(SERVICE, KEY).spend(here=True).spent_usd == 0.0  # of a later session
    assert ledger.file.ledger(SERVICE, Secret("sk-another")).spend().spent_usd == 0.0
    (kept,) = ledger.tool_jobs.list()
    assert (kept.prompt, kept.called_at, kept.seconds, kept.cost_usd) == ("a fox", called_at, 4.0, 0.2)
    assert [(each.at, each.usd) for each in ledger.paid(called_at)] == [(called_at + 60, 0.2)]
    assert ledger.tool_jobs.list(until=called_at) == []
    intend(ledger, fox(), limit_usd=0.5)
    with pytest.raises(SpendLimitReached, match=r"\$0\.20 spent, \$0\.25 reserved"):
        intend(ledger, fox(), limit_usd=0.5)


def test_what_no_call_bought_is_nobodys_spending_here(ledger: Ledger) -> None:
    """A job from elsewhere, one of a list, one whose state was asked for, and one that an entry counts."""
    call(ledger, "req-2", "req-3", prompt="all foxes")
    call(ledger, "req-4", request_id="req-4")
    entry = intend(ledger, fox()).entry
    ledger.accepted(entry.id, "req-5")
    ledger.status(entry.id, told("completed", cost_usd=0.25))
    call(ledger, "req-5", prompt="like this one")
    for number in range(1, 6):
        ledger.tool_jobs.ended(f"req-{number}", seconds=5.0, cost_usd=0.25)
    assert ledger.spend() == Spend(0.25, 0.0, 0.0)


@pytest.mark.parametrize(
    ("cost", "seconds", "uncertain"), [(0.0, 4.0, 0.2), (0.2, 4.0, 0.0), (0.0, 9e9, 0.0)]
)
def test_what_its_cost_is_short_of_the_price_counts_as_uncertain(
    ledger: Ledger, cost: float, seconds: float, uncertain: float
) -> None:
    """By its length, where that can be meant: what was asked for isn't known here."""
    call(ledger, "req-1", prompt="a fox")
    ledger.tool_jobs.ended("req-1", seconds=seconds, cost_usd=cost)
    assert ledger.spend() == Spend(cost, 0.0, uncertain, tools_usd=cost)
