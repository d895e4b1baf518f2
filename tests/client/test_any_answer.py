"""What isn't shown of the service: whatever it answers, a value or one of our own errors comes out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from reelbook import models, wire
from reelbook.client import rate_headers
from reelbook.client.answers import Reply, model, read
from reelbook.errors import ServiceError

READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "submission": model(models.Accepted),
    "status": partial(models.job_status, asked="r"),
    "balance": model(models.Balance),
    "usage": model(models.Usage),
    "keys": model(models.ApiKeys),
    "created": model(models.CreatedKey),
    "revoked": partial(models.revoked, "k"),
}
ENDPOINTS = st.sampled_from(sorted(READERS))
FIELDS = [
    *("request_id", "status", "estimated_cost_usd", "estimated_duration_seconds", "progress", "video_url"),
    *("duration_seconds", "cost_usd", "error", "key_id", "name", "api_key", "rate_limit", "created_at"),
    *("is_active", "last_used", "key_preview", "balance_usd", "total_spent_usd", "period_days"),
    *("total_requests", "total_seconds", "total_cost_usd", "current_balance_usd", "api_keys", "count"),
    *("message", "detail", "data", "result", "url"),
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 10**13, 0]),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["pending", "COMPLETED", "error", "\ud83d", "5", "$1", "45%", "1732222222", "\x00", ""]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=8)
    ),
    max_leaves=25,
)
STATUSES = st.sampled_from([200, 200, 200, 201, 202, 204, 302, 400, 402, 404, 418, 429, 500, 599])


@settings(max_examples=200, deadline=None)
@given(endpoint=ENDPOINTS, status=STATUSES, body=VALUES)
@example(endpoint="status", status=200, body={"request_id": "r", "status": "failed", "error": "cut \ud83d"})
def test_any_json_is_a_value_or_an_error_of_our_own(endpoint: str, status: int, body: Any) -> None:
    """Nothing but our errors comes out, and what does come can be written to a file."""
    try:
        value = read(Reply(status, {}, json.dumps(body).encode()), READERS[endpoint], quote=True)
    except ServiceError as error:
        said = f"{error} {error.answer}"
    else:
        said = f"{value!r} {getattr(value, 'error', '')} {getattr(value, 'request_id', '')}"
    said.encode()


@settings(deadline=None)
@given(
    endpoint=ENDPOINTS, status=STATUSES, body=st.binary(max_size=60) | st.text(max_size=40).map(str.encode)
)
@example(endpoint="submission", status=200, body=b'{"request_id": "\xed\xa0\xbd"}')
def test_any_bytes_are_a_value_or_an_error_of_our_own(endpoint: str, status: int, body: bytes) -> None:
    """A proxy's page, another charset, half a character: none of it surprises."""
    try:
        value = read(Reply(status, {"content-type": "text/plain"}, body), READERS[endpoint], quote=True)
    except ServiceError as error:
        said = f"{error} {error.answer}"
    else:
        said = repr(value)
    said.encode()


@settings(deadline=None)
@given(
    *[
        st.text(max_size=20)
        | st.integers().map(str)
        | st.floats().map(str)
        | st.sampled_from(["nan", "1e999", "10, 10", "9" * 5000, "Sun, 22 Nov 2026 02:00:00 GMT"])
        for _ in range(5)
    ]
)
def test_any_rate_headers_are_figures_or_absent(
    limit: str, remaining: str, reset: str, retry_after: str, date: str
) -> None:
    """What can't be read of a limit isn't believed, and a wait is never endless."""
    told = rate_headers.read(
        {
            wire.RATE_LIMIT.lower(): limit,
            wire.RATE_REMAINING.lower(): remaining,
            wire.RATE_RESET.lower(): reset,
            "retry-after": retry_after,
            "date": date,
        }
    )
    assert told.limit is None or 1 <= told.limit <= rate_headers.MOST_A_MINUTE
    assert told.remaining is None or told.remaining >= 0
    assert told.reset is None or 0 <= told.reset <= 2 * wire.RATE_WINDOW_SECONDS
    assert told.retry_after is None or 0 <= told.retry_after <= 3600
