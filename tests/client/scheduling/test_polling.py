"""What to spend the next request on: single decisions, and whole batches on a virtual clock."""

import random
from itertools import pairwise

import pytest
from benchmarks.polling_bound import MeanBound
from benchmarks.polling_runs import Outcome, resumed, scheduled, ten_lines
from benchmarks.simulated_service import DISTRIBUTIONS, World, draw
from hypothesis import given, settings
from hypothesis import strategies as st

from reelbook.client.scheduling.budget import Budget
from reelbook.client.scheduling.estimates import Belief, Pace, Took
from reelbook.client.scheduling.polling import Ask, Submit, Wait, decide

RECORDS = [Took(seconds, seconds) for seconds in (50.0, 55.0, 58.0, 60.0, 62.0, 66.0, 72.0)]


def test_a_submission_goes_out_at_once_where_there_is_room() -> None:
    """Nothing is likely to have ended, so the first place is the submission's; with none, nothing is sent."""
    assert isinstance(decide([], 0, Budget(), 100.0), Wait)
    fresh = Belief(Pace(), 100.0)
    assert decide([], 1, Budget(), 100.0) == Submit()
    assert decide([fresh], 1, Budget(), 100.0) == Submit()


def test_the_job_most_likely_to_have_ended_is_asked_first() -> None:
    """Of like jobs it is the oldest, of others the one whose kind takes less time."""
    quick, slow = Pace([Took(19, 20)] * 8), Pace([Took(290, 300)] * 8)
    like = [Belief(quick, at) for at in (20.0, 10.0, 30.0)]
    assert decide(like, 0, Budget(), 60.0) == Ask(like[1])
    others = [Belief(slow, 0.0), Belief(quick, 5.0)]
    assert decide(others, 0, Budget(), 60.0) == Ask(others[1])


def test_a_job_that_is_being_asked_about_isnt_asked_again() -> None:
    """While a question is under way the job is left alone."""
    belief = Belief(Pace(RECORDS), 0.0)
    assert decide([belief], 0, Budget(), 100.0) == Ask(belief)
    belief.asked(100.0)
    assert isinstance(decide([belief], 0, Budget(), 100.0), Wait)


def test_with_nothing_known_one_question_finds_out_for_all() -> None:
    """The first job is asked about long before the typical time; the others once it is home."""
    pace = Pace()
    beliefs, budget, now = [Belief(pace, 0.0) for _ in range(4)], Budget(), 0.0
    for _ in range(4):
        budget.sent()
        budget.answered(200, {}, 0.0)
    while isinstance(decision := decide(beliefs, 0, budget, now), Wait):
        now = decision.until
    assert now < 0.5 * Belief(pace, 0.0).outlook.typical_seconds
    beliefs.pop(0).ended(now)
    assert isinstance(decide(beliefs, 0, budget, now), Ask)


def test_a_silent_job_is_asked_ever_more_rarely_but_never_forgotten() -> None:
    """The pauses grow with its age, by a minute for each hour, and there is no last question."""
    belief, budget, now, asks = Belief(Pace(), 0.0), Budget(), 0.0, list[float]()
    while now < 3 * 3600:
        decision = decide([belief], 0, budget, now)
        if isinstance(decision, Wait):
            now = decision.until
            continue
        budget.sent()
        budget.answered(200, {}, now)
        asks.append(now)
        belief.asked(now)
        belief.told(None, now)
    pauses = [later - earlier for earlier, later in pairwise(asks)]
    by_age = [
        [pause for at, pause in zip(asks, pauses, strict=False) if low <= at < high]
        for low, high in ((0, 600), (1200, 2400), (3600, 7200))
    ]
    typical = [sum(some) / len(some) for some in by_age]
    assert typical == sorted(typical)
    assert typical[-1] > 2 * typical[0]
    assert max(pauses) <= 200


def test_a_belief_that_is_quite_wrong_doesnt_starve_a_job() -> None:
    """Records of an hour don't keep a job from being asked about within minutes."""
    beliefs = [Belief(Pace([Took(3500, 3600)] * 12), 0.0) for _ in range(5)]
    budget, now = Budget(), 0.0
    for _ in range(10):
        budget.sent()
        budget.answered(200, {}, now)
    while isinstance(decision := decide(beliefs, 0, budget, now), Wait):
        now = decision.until
    assert now <= 300


def test_answers_about_one_job_dont_silence_the_others_of_its_kind() -> None:
    """One that nobody has asked about for five minutes is asked about, however unlikely its end."""
    pace, budget = Pace([Took(3500, 3600)] * 12), Budget()
    budget.sent()
    budget.answered(200, {}, 0.0)
    silent, answering = Belief(pace, 0.0), Belief(pace, 0.0)
    answering.told(None, 299.0)
    assert isinstance(decide([silent, answering], 0, budget, 299.0), Wait)
    assert decide([silent, answering], 0, budget, 300.0) == Ask(silent)


@given(
    st.sampled_from(sorted(DISTRIBUTIONS)),
    st.integers(1, 30),
    st.sampled_from([5, 10, 100]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 10_000),
)
@settings(max_examples=20, deadline=None)
def test_a_batch_comes_home_whole_without_a_429(
    distribution: str, jobs: int, limit: int, fixed: bool, progress: bool, seed: int
) -> None:
    """Every job of any batch is known in the end, and alone on the key it is never refused."""
    # The documented limit is believed at first, so a lower one is only met where it is said in time.
    world = draw(random.Random(seed), distribution, jobs, limit, fixed=fixed, progress=progress)
    outcome = scheduled(world)
    assert sorted(outcome.known_at) == list(range(jobs))
    assert outcome.service.refused == 0
    assert min(outcome.lags) >= 0


def rounds(kind: str, jobs: int, seed: int, count: int = 3) -> list[tuple[Outcome, float]]:
    """Batches of one kind on one ledger, each beside the bound of its mean time until known."""
    rng, ledger, played = random.Random(seed), list[Took](), []
    for _ in range(count):
        world = draw(rng, kind, jobs, 10, fixed=False, progress=False)
        outcome = scheduled(world, took=ledger)
        ledger += outcome.took
        played.append((outcome, MeanBound().of(world)))
    return played


def test_a_batch_of_short_jobs_comes_home_half_by_half() -> None:
    """Twelve of 5 s at ten requests a minute: the first before a minute; from then on five in seconds."""
    (first, _), second, third = rounds("exactly 5 s", 12, 1)
    assert min(first.known_at.values()) <= 31
    for (outcome, bound), soon in ((second, 10), (third, 8)):
        assert sum(at <= soon for at in outcome.known_at.values()) == 5
        assert outcome.mean_known_at <= 1.15 * bound


@pytest.mark.parametrize(
    ("kind", "jobs", "at_first", "later"),
    [
        ("lognormal(5 s, 0.35)", 1, 1.75, 1.3),
        ("lognormal(8 s, 0.35)", 4, 2.0, 1.7),
        ("lognormal(20 s, 0.35)", 4, 1.7, 1.6),
        ("lognormal(20 s, 0.35)", 12, 1.5, 1.35),
    ],
)
def test_later_rounds_are_no_slower_than_the_first(
    kind: str, jobs: int, at_first: float, later: float
) -> None:
    """What was seen of one round brings the next one home nearer to the bound, which nobody beats."""
    ratios = [
        [outcome.mean_known_at / bound for outcome, bound in rounds(kind, jobs, seed)] for seed in range(12)
    ]
    means = [sum(column) / len(ratios) for column in zip(*ratios, strict=True)]
    assert min(map(min, ratios)) >= 1
    assert means[0] <= at_first
    assert means[2] <= later
    assert means[2] <= 1.1 * means[0]


@given(st.floats(1, 400), st.integers(0, 8), st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_one_job_leaves_room_for_a_click_whatever_is_known(took: float, known: int, seed: int) -> None:
    """With no records, or with right or wrong ones, it takes at most eight requests in any minute."""
    rng = random.Random(seed)
    records = [Took(0.5 * s, s) for s in (rng.uniform(1, 100) for _ in range(known))]
    sent = scheduled(World(10, [took]), took=records).service.sent_at
    assert all(later - earlier >= 59.999 for earlier, later in zip(sent, sent[8:], strict=False))


@pytest.mark.parametrize(("before", "after"), [(5.0, 60.0), (60.0, 5.0)])
def test_a_service_that_changes_its_pace_is_followed(before: float, after: float) -> None:
    """After three jobs of the new pace the fourth is noticed as soon as one of the old pace was."""
    ledger: list[Took] = []
    for took in [before] * 6 + [after] * 3:
        ledger += scheduled(World(10, [took]), took=ledger).took
    (lag,) = scheduled(World(10, [after]), took=ledger).lags
    assert lag <= max(3.0, 0.1 * after)


@pytest.mark.parametrize(
    ("kind", "jobs", "share"),
    [
        ("lognormal(60 s, 0.35)", 1, 1.1),
        ("lognormal(60 s, 0.35)", 50, 0.95),
        ("lognormal(5 s, 0.35)", 12, 0.8),
    ],
)
def test_it_is_worth_more_than_ten_lines(kind: str, jobs: int, share: float) -> None:
    """Submit first, then ask whom was asked longest ago: where jobs are many or short that takes longer."""
    worlds = [draw(random.Random(seed), kind, jobs, 10, fixed=False, progress=False) for seed in range(6)]
    ours, theirs = (
        sum(scheduled(world, policy).mean_known_at for world in worlds) for policy in (decide, ten_lines)
    )
    assert ours <= share * theirs


@pytest.mark.parametrize("limit", [100, 900])
def test_where_places_are_plenty_a_change_of_pace_is_noticed_at_once(limit: int) -> None:
    """Four clips of a second after six of 40 s: each is known within three seconds."""
    earlier = scheduled(World(limit, [40.0] * 6)).took
    outcome = scheduled(World(limit, [1.0] * 4), took=earlier)
    assert max(outcome.lags) <= 3
    assert outcome.service.refused == 0


@pytest.mark.parametrize("age", [1.0, 3.0, 10.0, 3600.0])
@pytest.mark.parametrize("took", [[], [Took(38.0, 42.0)] * 8], ids=["nothing known", "40 s before"])
def test_a_session_that_resumes_many_ended_jobs_knows_them_soon(age: float, took: list[Took]) -> None:
    """It doesn't know yet that the key has 900 requests a minute: one question finds out."""
    known_at = resumed(18, age, 900, took)
    assert known_at[0] == 0
    assert known_at[-1] <= 3
