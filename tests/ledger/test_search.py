"""Pages of entries."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from ledger.doubles import KEY, Clock, find, fox, intend
from support.ledgers import told

from reelbook.errors import InvalidInput
from reelbook.ledger import Entry, Ledger, LedgerFile, Marks

WORDS = ("red", "fox", "Foxglove", "snow", "night", "50%", "under_score", '"quoted"', "été", "雪の夜", "a-b")
Asked = tuple[dict[str, Any], Callable[[Entry], bool]]


@pytest.fixture
def filled(ledger: Ledger, clock: Clock) -> list[Entry]:
    """Two hundred jobs of all kinds, oldest first."""
    rng = random.Random(3)
    for number in range(200):
        clock.now += rng.choice((0, 1, 60))
        words = " ".join(rng.sample(WORDS, 4))
        seconds = rng.randint(1, 10)
        wanted = fox(
            prompt=words,
            duration_seconds=seconds,
            experiment=rng.choice((None, "winter", "summer")),
        )
        entry = intend(ledger, wanted).entry
        if rng.random() < 0.7:
            ledger.sending(entry.id)
            ledger.accepted(entry.id, f"req-{number}")
            ledger.status(
                entry.id, told(rng.choice(("processing", "completed", "failed")), cost_usd=seconds / 25)
            )
        if rng.random() < 0.4:
            tags = rng.sample(("keep", "blue"), rng.randint(0, 2))
            ledger.mark(entry.id, Marks(5.0 if rng.random() < 0.5 else None, tags=tuple(tags)))
    return [kept for number in range(1, 201) if (kept := ledger.get(number)) is not None]


def pages(ledger: Ledger | LedgerFile, **asked: Any) -> list[int]:
    """The numbers on all pages, seven to a page."""
    found: list[int] = []
    while page := find(ledger, **asked, limit=7, after=found[-1] if found else None):
        found += [entry.id for entry in page]
    return found


def test_pages_hold_what_matches_in_order_and_once(ledger: Ledger, filled: list[Entry]) -> None:
    """Every mixture of filters gives exactly the matching ones over all pages; a file has all accounts'."""
    middle = filled[100].intended_at
    texts: list[Asked] = [
        ({}, lambda entry: True),
        ({"text": "fox"}, lambda entry: "fox" in entry.prompt.lower()),
    ]
    others: list[Asked] = [
        ({}, lambda entry: True),
        ({"state": "failed"}, lambda entry: entry.state == "failed"),
        ({"state": ("failed", "intended")}, lambda entry: entry.state in ("failed", "intended")),
        ({"since": middle}, lambda entry: entry.intended_at >= middle),
        ({"until": middle}, lambda entry: entry.intended_at < middle),
        (
            {"min_cost_usd": 0.2, "max_cost_usd": 0.3},
            lambda entry: 0.2 <= entry.price_usd <= 0.3,
        ),
        ({"experiment": "winter"}, lambda entry: entry.experiment == "winter"),
        ({"picked": True}, lambda entry: entry.marks.picked),
        ({"picked": False}, lambda entry: not entry.marks.picked),
        ({"tag": "keep"}, lambda entry: "keep" in entry.marks.tags),
        ({"mode": "text-to-video"}, lambda entry: True),
    ]
    pairs = list(itertools.combinations_with_replacement(others, 2))
    for (text, has_text), ((one, is_one), (two, is_two)) in itertools.product(texts, pairs):
        one_counts = is_two if one.keys() == two.keys() else is_one
        matching = [each for each in filled if has_text(each) and one_counts(each) and is_two(each)]
        expected = [each.id for each in matching]
        asked = {**text, **one, **two}
        assert pages(ledger, **asked, sort="oldest") == expected, asked
        assert pages(ledger, **asked) == expected[::-1], asked
        by_cost = [
            each.id for each in sorted(matching, key=lambda each: (each.price_usd, each.id), reverse=True)
        ]
        assert pages(ledger, **asked, sort="costliest") == by_cost, asked
    foreign = intend(ledger.file.ledger("https://other.example", KEY), fox()).entry.id
    assert pages(ledger.file) == [foreign, *pages(ledger)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fox", ["a Foxglove at night", "a red fox"]),
        ("RED fo", ["a red fox"]),
        ("fox red", ["a red fox"]),
        (
            "  ",
            ["雪の夜に走る狐", "été 50% under_score", 'a "quoted" fo-x', "a Foxglove at night", "a red fox"],
        ),
        ("wolf", []),
        ('"quo', ['a "quoted" fo-x']),
        ("fo-x", ['a "quoted" fo-x']),
        ("50%", ["été 50% under_score"]),
        ("under_s", ["été 50% under_score"]),
        ("été", ["été 50% under_score"]),
        ("走る", ["雪の夜に走る狐"]),
        ("NOT", []),
        ("NEAR( fox*", []),
        ("%", ["été 50% under_score"]),
    ],
)
def test_text_is_found_by_the_beginnings_of_its_words(ledger: Ledger, text: str, expected: list[str]) -> None:
    """Any order, any case, any script and any sign."""
    for prompt in (
        "a red fox",
        "a Foxglove at night",
        'a "quoted" fo-x',
        "été 50% under_score",
        "雪の夜に走る狐",
    ):
        intend(ledger, fox(prompt=prompt))
    assert [entry.prompt for entry in find(ledger, text=text)] == expected


def test_a_page_costs_the_same_wherever_it_is(ledger: Ledger) -> None:
    """No page of any filter sorts or goes through the whole table: the plan reads an index in its order."""
    connection = ledger.store._connection
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    given: dict[str, Any]
    for given in (
        {},
        {"state": "failed"},
        {"experiment": "winter"},
        {"picked": True},
        {"since": 1.0, "until": 2.0},
        {"after": 1},
        {"sort": "costliest"},
        {"sort": "costliest", "after": 1},
    ):
        find(ledger, **given)
    connection.set_trace_callback(None)
    selects = [sql for sql in asked if sql.startswith("SELECT * FROM entries")]
    assert len(selects) == 8
    for sql in selects:
        plan = " / ".join(row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}"))
        assert "SEARCH entries USING INDEX" in plan
        assert "USE TEMP B-TREE FOR ORDER BY" not in plan


def test_a_page_is_asked_for_in_an_order_and_of_a_size(ledger: Ledger) -> None:
    """Nothing else is taken for another order, nor for all but the last."""
    entry = intend(ledger, fox()).entry
    assert find(ledger, limit=10**30) == [entry]
    limit: Any
    for limit in (None, -1, "5", 2.0):
        with pytest.raises(InvalidInput, match="whole number"):
            find(ledger, limit=limit)
        with pytest.raises(InvalidInput, match="whole number"):
            ledger.prompts("fox", limit)
        with pytest.raises(InvalidInput, match="whole number"):
            ledger.tool_calls.recent(limit)
    with pytest.raises(InvalidInput, match="'cheapest', only newest, oldest, costliest"):
        find(ledger, sort="cheapest")
    with pytest.raises(InvalidInput, match=r"tag must be one text, not \['a', 'b'\]"):
        find(ledger, tag=["a", "b"])
    with pytest.raises(InvalidInput, match="text must be one text, not 5"):
        ledger.prompts(5, 10)  # type: ignore[arg-type] # wrong on purpose
