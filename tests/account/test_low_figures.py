"""What a spending limit counts where the service's own figures are below its price."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.raw_server import Exchange, raw_server
from support.waiting import until

import reelbook as rb
from reelbook import errors
from reelbook.account.limits import without_spend_warnings

Said = dict[str, Any]

pytestmark = pytest.mark.usefixtures("home")


@contextmanager
def session_with(accepted: Said, completed: Said | None) -> Iterator[rb.Session]:
    """A session with a limit of $1.00 at a service that says this when it takes a job, and at its end."""
    ids = itertools.count(1)

    def handle(exchange: Exchange) -> None:
        name = exchange.first_line.split()[1].rpartition("/")[2]
        if exchange.first_line.startswith("POST"):
            said: Said = {"request_id": f"req_{next(ids)}", "status": "pending", **accepted}
        elif name.startswith("req_"):
            said = {"request_id": name, "status": "processing", **accepted}
            if completed is not None:
                said = {
                    "request_id": name,
                    "status": "completed",
                    "video_url": f"{service.url}/x",
                    **completed,
                }
        else:
            exchange.answer(404)
            return
        exchange.answer(200, json.dumps(said).encode())

    with raw_server(handle) as service:
        with rb.connect("live", api_key="sk-planted-low", base_url=service.url, max_spend=1.0) as session:
            yield session


def bought(session: rb.Session, known: Callable[[rb.Job], object]) -> int:
    """How many clips for $0.25 the limit lets through, each once it is `known`."""
    for number in range(30):
        try:
            with without_spend_warnings():
                job = session.text_to_video("a fox")
        except errors.SpendLimitReached:
            return number
        until(functools.partial(known, job))
    return 30


@pytest.mark.parametrize("estimate", [0.01, 0, -5, "nan", 1e-9])
def test_a_low_estimate_makes_no_room(estimate: object) -> None:
    """The price is known: four clips of five seconds are a dollar."""
    with session_with({"estimated_cost_usd": estimate}, None) as session:
        assert bought(session, lambda job: job.request_id) == 4
        assert session.spending().of_key.committed_usd == 1.0


@pytest.mark.parametrize(
    "completed",
    [{"cost_usd": 0}, {"cost_usd": 0, "duration_seconds": 5.0}, {"cost_usd": 0.01, "duration_seconds": 0.1}],
)
def test_a_low_final_cost_makes_no_room(completed: Said) -> None:
    """What was charged is shown as the service says it; the rest of the price counts as uncertain."""
    with session_with({}, completed) as session:
        assert bought(session, lambda job: job.state == "completed") == 4
        assert session.spending().of_key.spent_usd == 4 * completed["cost_usd"]
        assert session.spending().of_key.committed_usd == 1.0
        assert session.receipt().charged_usd == 4 * completed["cost_usd"]
