"""Experiments: whose name a submission carries."""

from __future__ import annotations

import asyncio

import reelbook as rb
from reelbook.session.session import current_experiment


def test_one_experiment_may_be_entered_by_several_tasks_at_a_time(session: rb.Session) -> None:
    """Each has its name until its own block ends, whichever ends first."""
    heard: list[str | None] = []

    async def both() -> None:
        first_is_out = asyncio.Event()
        second_is_in = asyncio.Event()

        async def first() -> None:
            with fog:
                await second_is_in.wait()
            heard.append(current_experiment())
            first_is_out.set()

        async def second() -> None:
            with fog:
                second_is_in.set()
                await first_is_out.wait()
                heard.append(current_experiment())
            heard.append(current_experiment())

        await asyncio.gather(first(), second())

    fog = session.experiment("fog")
    with session.experiment("rain"):
        asyncio.run(both())
        with fog:
            heard.append(current_experiment())
    assert heard == ["rain", "fog", "rain", "fog"]
    assert current_experiment() is None
