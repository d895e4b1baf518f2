"""What a spending limit counts where the service's own figures are below its price."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from support.live import session_of
from support.raw_server import Exchange
from support.waiting import until

from reelbook import errors
from reelbook.account.limits import without_spend_warnings

FREE = {"cost_usd": 0}


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("accepted", "completed"),
    [
        *(({"estimated_cost_usd": estimate}, {}) for estimate in (0.01, 0, -5, "nan", 1e-9)),
        *(({}, low) for low in (FREE, FREE | {"duration_seconds": 5.0})),
        ({}, {"cost_usd": 0.01, "duration_seconds": 0.1}),
    ],
)
def test_a_low_figure_makes_no_room(accepted: dict[str, Any], completed: dict[str, Any]) -> None:
    """Four clips of five seconds are a dollar, whatever estimate or final cost the service says.

    What was charged is shown as the service says it; the rest of the price counts as uncertain.
    """
    ids = itertools.count(1)
    state = "completed" if completed else "pending"

    def handle(exchange: Exchange) -> None:
        said = {"request_id": exchange.first_line.split()[1].rpartition("/")[2], **accepted}
        if exchange.first_line.startswith("POST"):
            said |= {"request_id": f"req_{next(ids)}", "status": "pending"}
        elif "req_" in exchange.first_line:
            said |= {"status": state, "video_url": "https://cdn.example/x", **completed}
        else:
            exchange.answer(404)
            return
        exchange.answer(200, json.dumps(said).encode())

    with session_of(handle, max_spend=1.0) as (session, _), without_spend_warnings():
        for _ in range(4):
            session.text_to_video("a fox")
            until(lambda: {job.state for job in session.jobs()} == {state})
        with pytest.raises(errors.SpendLimitReached):
            session.text_to_video("a fox")
        assert session.spending().of_key.committed_usd == 1.0
        assert session.spending().of_key.spent_usd == 4 * completed.get("cost_usd", 0)
        assert session.receipt().charged_usd == 4 * completed.get("cost_usd", 0)
