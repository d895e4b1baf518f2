"""The running total, and what is said when the limit or the balance nears its end."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.waiting import until

import reelbook as rb
from reelbook import errors
from reelbook.account.limits import Spending, spend_notices, without_spend_warnings
from reelbook.ledger import Spend
from reelbook.sandbox.handle import Sandbox

NONE = Spend(0.0, 0.0, 0.0)


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[rb.Session]:
    with rb.connect("sandbox", max_spend=0.5) as session:
        yield session


def said(cost_usd: float, spend: Spend = NONE, **known: float | None) -> list[tuple[str, int, str]]:
    near = spend_notices(cost_usd, **{"spend": spend, "limit_usd": None, "balance_usd": None, **known})  # type: ignore[arg-type]
    return [(each.kind, each.stage, each.text) for each in near]


@pytest.mark.parametrize(
    ("cost", "committed", "known"),
    [
        (0.24, 0.0, {}),
        (0.24, 0.0, {"limit_usd": 2.0, "balance_usd": 1.5}),
        (0.24, 1.35, {"limit_usd": 2.0}),
        (0.25, 1.9, {"limit_usd": 2.0}),  # which is refused
    ],
)
def test_nothing_is_said_while_limit_and_balance_are_far_off(
    cost: float, committed: float, known: dict[str, float]
) -> None:
    """Below four fifths of the limit and with five more such clips in the balance; or without either."""
    assert said(cost, Spend(committed, 0.0, 0.0), **known) == []


@pytest.mark.parametrize(
    ("committed", "stage", "text"),
    [
        (1.30, 1, "This leaves $0.60 of your limit of $3.00."),
        (1.34, 2, "This leaves $0.56 of your limit of $3.00: not enough for another clip like it."),
        (1.90, 2, "This leaves $0.00 of your limit of $3.00: not enough for another clip like it."),
    ],
)
def test_the_last_fifth_of_a_limit_is_said(committed: float, stage: int, text: str) -> None:
    """And more, if another one like it wouldn't be sent; what is uncertain counts."""
    spend = Spend(committed - 0.3, 0.2, 0.1)
    (near,) = spend_notices(1.1, spend=spend, limit_usd=3.0, balance_usd=None, each_usd=0.58)
    assert (near.kind, near.stage, near.text) == ("limit", stage, text)
    assert near.left_usd == pytest.approx(1.9 - committed)


@pytest.mark.parametrize(
    ("balance", "to_come", "stage", "text"),
    [
        (1.51, 0.0, 0, ""),
        (1.49, 0.0, 1, "This leaves about $1.24 of the balance, enough for 24 more seconds."),
        (1.75, 0.26, 1, "This leaves about $1.24 of the balance, enough for 24 more seconds."),
        (0.35, 0.0, 2, "This leaves about $0.10 of the balance, enough for 2 more seconds."),
        (0.30, 0.0, 2, "This leaves about $0.05 of the balance, enough for 1 more second."),
        (0.20, 0.0, 3, "The balance was $0.20: perhaps not enough for this."),
        (0.40, 0.25, 3, "The balance was $0.40, and clips may still cost $0.25 of it: perhaps not enough"),
    ],
)
def test_the_end_of_the_balance_is_said(balance: float, to_come: float, stage: int, text: str) -> None:
    """From fewer than five more such clips on; clips in progress are subtracted too."""
    known = {"balance_usd": balance - to_come, "to_come_usd": to_come}
    near = [(kind, at, text in words) for kind, at, words in said(0.25, Spend(9.0, 0.3, 1.0), **known)]
    assert near == ([("balance", stage, True)] if stage else [])


def test_the_running_total_is_a_sentence() -> None:
    """With what is in progress, uncertain, or from earlier."""
    assert str(Spending(0.5, 0.0, 0.0)) == "This session spent $0.50; no limit is set."
    assert str(Spending(0.5, 0.25, 0.1, limit_usd=2.0, of_key=Spend(1.5, 0.25, 0.1))) == (
        "This session spent $0.50, $0.25 is reserved for clips on their way, $0.10 is uncertain; "
        "$0.15 of the limit of $2.00 is left, $1.00 of earlier clips counted."
    )
    assert Spending(0.5, 0.0, 0.0, limit_usd=0.4, of_key=Spend(0.5, 0.0, 0.0)).left_usd == 0.0


def test_a_session_counts_its_own_and_the_limit_counts_all(session: rb.Session, sandbox: Sandbox) -> None:
    """A later session begins at nothing, and has what the first one left of the limit."""
    assert (session.spending(), session.spending().left_usd) == (Spending(0.0, 0.0, 0.0, limit_usd=0.5), 0.5)
    session.text_to_video("a fox", duration_seconds=2).result(30)
    assert session.spending() == Spending(0.1, 0.0, 0.0, limit_usd=0.5, of_key=Spend(0.1, 0.0, 0.0))
    sandbox.settings(pace=3600)
    job = session.text_to_video("a hen", duration_seconds=1)
    until(lambda: job.request_id)
    assert session.spending() == Spending(0.1, 0.05, 0.0, limit_usd=0.5, of_key=Spend(0.1, 0.05, 0.0))
    session.close()
    with rb.connect("sandbox", max_spend=0.5) as later:
        assert later.spending() == Spending(0.0, 0.0, 0.0, limit_usd=0.5, of_key=Spend(0.1, 0.05, 0.0))
        assert later.spending().left_usd == 0.35
        assert later.facts.requests_left == 10


def test_each_threshold_is_warned_of_once(session: rb.Session) -> None:
    """At four fifths, and when another one wouldn't fit; not at every call between."""
    session.submit_many(["1", "2", "3"], duration_seconds=2)
    with pytest.warns(errors.SpendingWarning, match=r"\$0\.10 of your limit of \$0\.50\.$") as near:
        session.text_to_video("4", duration_seconds=2)
    assert Path(near[0].filename) == Path(__file__)  # the line that submits, not one of Reelbook's
    session.submit_many(["5"], duration_seconds=1)  # as much is left as this one costs: nothing more to say
    with pytest.warns(errors.SpendingWarning, match="not enough for another") as end:
        session.submit_many(["6"], duration_seconds=1)
    assert [Path(each.filename) for each in end] == [Path(__file__)]
    with pytest.raises(errors.SpendLimitReached):
        session.text_to_video("7", duration_seconds=1)


def test_what_costs_nothing_or_was_said_isn_t_warned_of(session: rb.Session) -> None:
    """An earlier job that is given back; and what a form or a terminal has said before it sends."""
    with without_spend_warnings():
        first = session.text_to_video("a fox", duration_seconds=9, once="fox")
    assert session.text_to_video("a fox", duration_seconds=9, once="fox") is first


def test_a_warning_that_is_an_error_sends_nothing(session: rb.Session, sandbox: Sandbox) -> None:
    """What was recorded is taken back: nothing is paid for, and nothing counts towards the limit."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(errors.SpendingWarning, match=r"leaves \$0\.05") as raised:
                session.text_to_video("a fox", duration_seconds=9)
    assert raised.value.left_usd == 0.05
    assert session.spending() == Spending(0.0, 0.0, 0.0, limit_usd=0.5)
    assert [job.state for job in session.jobs()] == ["cancelled", "cancelled"]
    assert "text-to-video" not in sandbox.state()["requests"]


def test_a_topped_up_balance_may_be_warned_of_again(sandbox: Sandbox) -> None:
    """Only by what was heard: the warning itself asks nothing."""
    sandbox.settings(pace=3600)
    with rb.connect("sandbox") as session:
        for balance in (0.30, 25.0, 0.30):
            sandbox.settings(balance_usd=balance)
            session.balance()
            asked = sandbox.state()["requests"]["balance"]
            notes = session._spending_notes(0.1)
            assert bool(notes) == (balance < 1)
            if notes:
                with pytest.warns(errors.SpendingWarning, match="of the balance|perhaps not enough"):
                    session.text_to_video("a fox", duration_seconds=2)
            else:
                session.text_to_video("a fox", duration_seconds=2)
            assert sandbox.state()["requests"]["balance"] == asked


def test_what_was_spent_since_the_balance_was_heard_is_taken_from_it(sandbox: Sandbox) -> None:
    """Code doesn't ask for the balance again, and is warned all the same, also in a later session."""
    sandbox.settings(balance_usd=1.0)
    with rb.connect("sandbox") as session:
        assert session._spending_notes(0.65) == ()
        session.balance()
        session.text_to_video("a fox", duration_seconds=3).result(30)
        with pytest.warns(errors.SpendingWarning, match=r"about \$0\.70 of the balance, enough for 14 more"):
            session.text_to_video("a hen", duration_seconds=3).result(30)
    with rb.connect("sandbox") as later:
        assert later._spending_notes(0.65) == (
            "This leaves about $0.05 of the balance, enough for 1 more second.",
        )
