"""A plan: what is said about a sweep before anything is bought."""

from dataclasses import replace
from typing import Any

import pytest

import reelbook as rb
from reelbook.explore.plan import Plan, duration, plan
from reelbook.sandbox.handle import Sandbox


def test_a_plan_says_clips_cost_time_and_what_is_left(sandbox: Sandbox, session: rb.Session) -> None:
    """It asks once for a balance that nobody has heard, and for nothing else; no clips cost nothing."""
    requests = [rb.JobRequest.from_text("a fox", duration_seconds=2, seed=seed) for seed in (1, 2, 3)]
    planned = plan(session, requests)
    assert (planned.clips, planned.bought, planned.found) == (3, 3, 0)
    assert planned.cost_usd == pytest.approx(0.30)
    assert planned.balance_left_usd == pytest.approx(24.70)
    assert (planned.limit_left_usd, planned.problems) == (None, ())
    early, likely, late = planned.seconds
    assert 0 < early <= likely <= late
    assert replace(plan(session, requests), seconds=planned.seconds) == planned
    assert sandbox.state()["requests"] == {"balance": 1}
    sandbox.settings(balance_usd=0.2)
    session.balance()
    sandbox.settings(balance_usd=7)
    assert plan(session, requests).problems == (), "credits were added since"
    nothing = plan(session, [])
    assert (str(nothing), nothing.seconds) == ("0 clips, nothing to pay.", (0.0, 0.0, 0.0))


def test_the_time_follows_what_such_clips_took(session: rb.Session, sandbox: Sandbox) -> None:
    """Of another length too, if there is nothing else to go by."""
    short = rb.JobRequest.from_text("a fox", duration_seconds=1)
    before = plan(session, [short]).seconds
    for _ in range(3):
        session.submit(short, again=True).result(30)
    after = plan(session, [short]).seconds
    assert after[2] - after[0] < before[2] - before[0]
    longer = plan(session, [rb.JobRequest.from_text("a fox", duration_seconds=2)]).seconds
    # Each also holds the wait for the key's next request, which has grown shorter since.
    assert [s - longer[0] for s in longer] == pytest.approx([s - after[0] for s in after])


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ((5, 20, 40), "5 to 40 s"),
        ((40, 40, 40), "about 40 s"),
        ((200, 250, 380), "3 to 6 min"),
        ((12, 60, 130), "up to 2 min"),
        ((180, 180, 185), "about 3 min"),
        ((5700, 6600, 7800), "1.6 to 2.2 h"),
    ],
)
def test_a_time_is_said_as_it_is_known(seconds: tuple[float, float, float], said: str) -> None:
    """In seconds, minutes or hours, and as a range where it is one."""
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("template", "values", "note"),
    [
        ("a {animal} in {snow|fog}", ["fox", "owl"], "“a owl” in 2 prompts: write {a animal}."),
        ("an {animal}", ["owl", "unicorn", "hen"], "“an unicorn”, “an hen” in 2 prompts: write {a animal}."),
        ("a {fox|owl}", [], "“a owl” in 1 prompt: write {a {fox|owl}}."),
        ("a {animal} in a {new|old} town", ["fox"], "“a old” in 1 prompt: write {a {new|old}}."),
        (
            "A {old {fox|owl}|cat}",
            [],
            "“A old” in 2 prompts: write the article and what follows in braces.",
        ),
        ("{a animal} and a {animal}", ["fox", "hen"], ""),
        ("vitamin a owl, {animal}", ["fox"], ""),
    ],
)
def test_a_wrong_article_is_said_before_it_is_bought(
    session: rb.Session, template: str, values: list[str], note: str
) -> None:
    """If it stands before what varies; what is written out is the person's own."""
    given: Any = {"animal": values} if "{animal}" in template else {}
    planned = rb.Sweep(template, **given, seed=[1]).plan(session)
    assert " ".join(planned.notes) == note
    assert repr(planned) == str(planned)
    assert str(planned).endswith(note)


def test_a_plan_is_one_sentence_and_its_problems() -> None:
    """What is to be paid, what is left, and why it can't be bought."""
    said = Plan(18, 1.6, 2, 22.9, 3.4, (240.0, 300.0, 360.0))
    assert str(said) == (
        "18 clips, 2 of them in the ledger already, about $1.60, here in 4 to 6 min, "
        "leaves $22.90 of the balance, leaves $3.40 of the limit."
    )
    short = Plan(2, 0.2, 0, -0.1, None, (60.0, 60.0, 60.0), ("The balance doesn't cover it.",))
    assert str(short) == "2 clips, about $0.20, here in about 60 s. The balance doesn't cover it."
