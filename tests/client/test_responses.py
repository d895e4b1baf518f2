"""From the service's reply to a value or a typed error."""

import json
import time
from email.utils import formatdate
from functools import partial

import pytest

from reelbook import errors
from reelbook.client.responses import RateHeaders, Reply, error_for, rate_headers, read
from reelbook.models import Accepted, revoked


def reply(status: int, body: object = None, headers: dict[str, str] | None = None) -> Reply:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, headers or {}, raw)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequest),
        (401, errors.AuthenticationError),
        (402, errors.InsufficientBalance),
        (403, errors.PermissionRefused),
        (404, errors.NotFound),
        (413, errors.PayloadTooLarge),
        (422, errors.BadRequest),
        (429, errors.RateLimited),
        (500, errors.ServerError),
        (503, errors.ServerError),
        (302, errors.UnexpectedAnswer),
    ],
)
def test_each_status_is_its_own_error(status: int, kind: type[errors.ServiceError]) -> None:
    """The type says what to do; the answer keeps the status."""
    error = error_for(reply(status, b"<html>"))
    assert (type(error), error.answer.status) == (kind, status)


@pytest.mark.parametrize(
    "detail",
    [
        "Insufficient balance, current balance $0.10, required $0.25",
        "Insufficient balance. Current balance: $0.10, required: $0.25.",
        "insufficient balance (current balance 0.1 USD; required 0.25 USD)",
        "Insufficient balance, current balance -$0.10, required $0.25",
        "Insufficient balance, current balance $ -0.10, required $0.25",
    ],
)
def test_402_tells_both_amounts(detail: str) -> None:
    """Balance and cost are read from the documented sentence."""
    error = error_for(reply(402, {"detail": detail}))
    assert isinstance(error, errors.InsufficientBalance)
    assert (error.balance_usd, error.required_usd) == (-0.10 if "-" in detail else 0.10, 0.25)


@pytest.mark.parametrize(
    "body",
    [
        {"detail": "no cats"},
        {"error": {"message": "no cats"}},
        {"message": "no cats"},
        {"error": "no cats"},
        {"detail": [{"msg": "no cats", "loc": ["body"]}]},
    ],
)
def test_the_services_own_words_are_found_in_any_usual_shape(body: object) -> None:
    """The body's shape isn't stated, so the usual ones are understood."""
    assert "no cats" in str(error_for(reply(400, body)))


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b"\xff\xfe", b"{", b"[1]", b"null", b'"x"'])
def test_a_body_that_is_no_json_object_is_a_clear_error(body: bytes) -> None:
    """A success without a readable body is not taken for one."""
    with pytest.raises(errors.UnexpectedAnswer, match="JSON"):
        read(reply(200, body), Accepted.model_validate)


def test_429_tells_how_long_it_asks_to_wait_and_only_harmless_headers_are_kept() -> None:
    """`Retry-After` in seconds is understood; cookies and the like don't get into an error."""
    error = error_for(reply(429, {}, {"set-cookie": "session=1", "retry-after": "12"}))
    assert isinstance(error, errors.RateLimited)
    assert (error.retry_after_seconds, error.answer.headers) == (12.0, {"retry-after": "12"})


@pytest.mark.parametrize("status", [402, 500])
def test_plain_words_are_quoted(status: int) -> None:
    """An error's body may be no JSON at all; a page isn't quoted."""
    said = error_for(reply(status, b"no cats today", {"content-type": "text/plain; charset=utf-8"}))
    assert "“no cats today”" in str(said)
    assert "It says" not in str(error_for(reply(status, b"<p>no cats", {"content-type": "text/html"})))


@pytest.mark.parametrize(
    "body",
    [
        '{"request_id": "r", "prompt": "café"}'.encode("latin-1"),
        '{"request_id": "r", "prompt": "café"}'.encode()[:-3] + b'"}',
        '{"request_id": "r"}'.encode("utf-8-sig"),
        '{"request_id": "r"}'.encode("utf-16"),
        b'{"data": {"request_id": "r", "status": "pending"}}',
        b'{"status": "success", "result": {"request_id": "r"}}',
        b'{"request_id": "r", "prompt": "\\ud83d"}',
    ],
)
def test_an_acceptance_is_understood_in_any_usual_wrapping(body: bytes) -> None:
    """The job is paid for: its id isn't lost for a charset or an envelope."""
    assert read(reply(200, body), Accepted.model_validate).request_id == "r"


def test_a_success_that_is_none_is_quoted() -> None:
    """Some services answer 200 and say in it what went wrong."""
    with pytest.raises(errors.UnexpectedAnswer, match=r"request_id\. It says: “no cats”") as unexpected:
        read(
            reply(200, {"success": False, "error": {"message": "no cats"}}),
            Accepted.model_validate,
            quote=True,
        )
    assert "no cats" in unexpected.value.answer.extract


@pytest.mark.parametrize("status", [200, 204])
def test_nothing_at_all_confirms_what_needs_no_answer(status: int) -> None:
    """A DELETE is often answered so; a submission without its id is none."""
    assert read(reply(status, b""), partial(revoked, "k")).key_id == "k"
    with pytest.raises(errors.UnexpectedAnswer, match="empty"):
        read(reply(status, b""), Accepted.model_validate)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("https://user:sk-planted-3@other.example:8443/a?k=sk-planted-3", "https://other.example:8443."),
        ("/elsewhere", "302."),
    ],
)
def test_a_redirect_says_where_it_points_and_no_more(location: str, said: str) -> None:
    """A person may have given the address without https; what else stands there may be a credential."""
    error = error_for(reply(302, b"", {"location": location}))
    assert said in str(error)
    assert "sk-planted-3" not in f"{error} {error.answer}"


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        *[(unit, 17) for unit in ("17", "1800000017", "1800000017000")],
        *[(nonsense, None) for nonsense in ("", "soon", "-5", "4000", "nan", "inf")],
    ],
)
def test_reset_is_read_in_every_unit(said: str, seconds: float | None) -> None:
    """Seconds, epochs in seconds and milliseconds by the service's own clock; an hour can't be meant."""
    headers = {"x-ratelimit-reset": said, "date": formatdate(1_800_000_000, usegmt=True)}
    assert rate_headers(headers).reset == seconds


def test_an_epoch_without_a_date_is_read_against_the_clock_here() -> None:
    """Most services send a date; the reset of one that doesn't isn't lost."""
    reset = rate_headers({"x-ratelimit-reset": str(time.time() + 60)}).reset
    assert reset is not None
    assert 0 < reset <= 60


def test_what_is_missing_or_absurd_is_none() -> None:
    """No limit below one, no more left than the limit, and nothing made up."""
    nothing = RateHeaders(None, None, None, None)
    assert rate_headers({}) == nothing
    assert rate_headers({"x-ratelimit-limit": "0", "x-ratelimit-remaining": "-1"}) == nothing
    assert rate_headers({"x-ratelimit-limit": "10", "x-ratelimit-remaining": "11"}).remaining is None
    assert rate_headers({"retry-after": "7"}).retry_after == 7


@pytest.mark.parametrize("limit", ["1001", "1000000", "1e300"])
def test_a_quota_of_a_month_is_not_taken_for_that_of_a_minute(limit: str) -> None:
    """Counting what is used up of it would fill the memory, and what is left of it says nothing of now."""
    said = rate_headers({"x-ratelimit-limit": limit, "x-ratelimit-remaining": "3"})
    assert (said.limit, said.remaining) == (None, None)
    assert rate_headers({"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "3"}).limit == 1000
