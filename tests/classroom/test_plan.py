"""What opening a classroom would do, and how long requests take under a limit."""

from __future__ import annotations

import pytest

import reelbook as rb
from reelbook.account import Facts
from reelbook.classroom.classroom import close_classroom, open_classroom
from reelbook.classroom.plan import plan_classroom, seconds_for
from reelbook.sandbox.handle import Sandbox


@pytest.mark.parametrize(
    ("requests", "left", "back", "seconds"),
    [(5, 10, None, 0), (32, 10, None, 180), (11, 10, None, 60), (1, 0, 20.0, 20), (30, 0, 20.0, 140)],
)
def test_how_long_so_many_requests_take(requests: int, left: int, back: float | None, seconds: float) -> None:
    """What is left goes at once; then as many a minute as the key may send."""
    facts = Facts(None, left, 10, back)
    assert seconds_for(requests, facts) == seconds


def test_the_plan_is_what_opening_does(sandbox: Sandbox) -> None:
    """For a fresh class, one that is gone on with, and one whose name an earlier class has."""
    with rb.connect("sandbox") as session:
        for called, students, keys in (
            ("Drawing", ["Ada", "Grace"], 2),
            ("Drawing", ["Grace", "Alan"], 1),
        ):
            plan = plan_classroom(session, students, name=called, address=sandbox.url)
            assert (plan.problems, plan.keys) == ({}, keys)
            opened = open_classroom(
                session, students, name=called, address=None if plan.continued else sandbox.url
            )
            assert opened.made == keys
            assert (str(plan.folder), plan.name) == (opened.classroom.folder, opened.classroom.name)
        assert plan.max_cost_usd == 6.0
        close_classroom(session)
        again = plan_classroom(session, ["Ada"], name="Drawing")
        assert (again.name, again.keys, again.continued) == ("Drawing (2)", 1, None)
