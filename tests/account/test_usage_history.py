"""Usage over time from a real sandbox: what is told equals what was planted, within the budget."""

import json
import random
import threading
import time
from dataclasses import replace

import pytest
from account.usage_service import Service, busy
from support.live import session_of
from support.raw_server import Exchange

import reelbook as rb
from reelbook.ledger import Sample
from reelbook.sandbox.handle import Sandbox
from reelbook.wire import DAY_SECONDS


def planted(sandbox: Sandbox, days: int = 90, share: float = 1 / 3) -> list[dict[str, float]]:
    """An uneven past: a share of the days busy, each with several clips."""
    chance = random.Random(4)
    past: list[dict[str, float]] = [
        {
            "days_ago": day + chance.uniform(0.05, 0.95),
            "seconds": (seconds := chance.randint(1, 60)),
            "requests": chance.randint(1, 9),
            "usd": seconds / 20,
        }
        for day in chance.sample(range(days), round(days * share))
        for _ in range(chance.randint(1, 3))
    ]
    sandbox.plant_history(past)
    return past


@pytest.mark.parametrize("days", [30, 90])
def test_what_is_told_is_what_was_planted(session: rb.Session, sandbox: Sandbox, days: int) -> None:
    """Every span, to the last day, in USD, seconds and requests; no more questions than days."""
    past = planted(sandbox)
    now = time.time()
    history = session.usage_history(days).wait(60)
    assert all(span.split for span in history.spans)
    for span in history.spans:
        inside = [e for e in past if span.from_at < now - e["days_ago"] * DAY_SECONDS <= span.to_at]
        assert span.usd == pytest.approx(sum(each["usd"] for each in inside), abs=1e-6)
        assert span.seconds == pytest.approx(sum(each["seconds"] for each in inside), abs=0.01)
        assert span.requests == pytest.approx(sum(each["requests"] for each in inside))
    assert history.asked == sandbox.state()["requests"]["usage"] < days
    assert (history.done, history.trouble) == (True, "")
    table = history.to_pandas()
    assert list(table.columns) == ["from", "to", "usd", "seconds", "requests", "split"]
    assert table["usd"].sum() == pytest.approx(sum(span.usd for span in history.spans))


def test_what_the_ledger_keeps_is_not_asked_again(session: rb.Session, sandbox: Sandbox) -> None:
    """Even by another session, and thousands of kept answers don't hold it up: each finished clip leaves one,
    and of a few hours the newest is enough. One by a clock that was ahead, and has been set right since,
    overrules nothing.
    """
    planted(sandbox, 30)
    first = session.usage_history(30).wait(60)
    truth = [round(span.usd, 6) for span in first.spans]
    session.close()
    with rb.connect("sandbox") as later:
        second = later.usage_history(30).wait(60)
        assert (second.asked, [round(span.usd, 6) for span in second.spans]) == (1, truth)
        ahead = Sample(time.time() + DAY_SECONDS, period_days=30, total_cost_usd=99.0, total_spent_usd=99.0)
        later._ledger.samples.add(ahead)
        for number in range(500):
            later._ledger.samples.add(
                replace(ahead, at=time.time() - 7200 - number, total_cost_usd=1.0, total_spent_usd=1.0)
            )
        third = later.usage_history(30).wait(60)
    assert len(third._known.answers) < len(truth) + 10
    assert [round(span.usd, 6) for span in third.spans] == truth
    assert third.spans[-1].to_at < time.time() + 1


@pytest.mark.parametrize(
    ("days", "shortest", "longest", "covered", "most_requests"),
    [(7, 30, 30, 30, 2), (90, 1, 30, 30, 20), (30, 14, 365, 30, 12)],
)
def test_a_service_with_periods_of_its_own_is_told_in_those(
    home: object, days: int, shortest: int, longest: int, covered: int, most_requests: int
) -> None:
    """The interface gives no bounds of `days`: what can't be split isn't asked about again and again."""
    clips = Service(busy(1, 90, 1 / 5, now=time.time()))

    def handle(exchange: Exchange) -> None:
        asked = int(exchange.first_line.split()[1].rpartition("=")[2])
        told = clips.usage(min(max(asked, shortest), longest), time.time())
        body = {"period_days": told.days, "total_requests": told.requests, "total_seconds": told.seconds}
        body |= {"total_cost_usd": told.usd, "total_spent_usd": told.spent_usd}
        exchange.answer(200, json.dumps(body).encode(), headers={"X-RateLimit-Limit": "1000"})

    with session_of(handle) as (session, _):
        history = session.usage_history(days).wait(60)
        assert (history.days, history.asked) == (covered, len(clips.answers))
        assert history.asked <= most_requests
        assert history.total is not None
        assert history.total.usd == pytest.approx(sum(span.usd for span in history.spans))
        assert len(history.spans) > 1 or shortest == covered


@pytest.mark.usefixtures("real_time")
def test_it_keeps_to_the_budget_and_starves_nobody(session: rb.Session, sandbox: Sandbox) -> None:
    """Nothing is refused for too many requests, and a person's question is answered at once meanwhile."""
    planted(sandbox, 30)
    sandbox.settings(rate_limiting=True)
    heard = threading.Event()
    history = session.usage_history(30)
    history.subscribe(heard.set)
    assert heard.wait(60)
    session.balance()
    assert not history.done
    assert sandbox.state()["requests"]["usage"] < 10
    history.close()


def test_its_own_clips_are_marked(session: rb.Session, sandbox: Sandbox) -> None:
    """Each paid clip with its experiment, and whether this session made it."""
    with session.experiment("light"):
        session.text_to_video("a fox", duration_seconds=1).result(30)
    session.text_to_video("a crow", duration_seconds=2).result(30)
    history = session.usage_history(7).wait(30)
    assert sorted((own.usd, own.experiment, own.here) for own in history.own()) == [
        (0.05, "light", True),
        (0.1, None, True),
    ]
    assert history.total is not None
    assert history.total.usd == pytest.approx(0.15)
