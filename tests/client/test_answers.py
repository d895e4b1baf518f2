"""From the service's reply to a value or a typed error."""

from __future__ import annotations

import json

import pytest

from reelbook import errors
from reelbook.client.answers import Reply, error_for, model, read
from reelbook.models import Accepted, CreatedKey


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
    ],
)
def test_402_tells_both_amounts(detail: str) -> None:
    """Balance and cost are read from the documented sentence."""
    error = error_for(reply(402, {"detail": detail}))
    assert isinstance(error, errors.InsufficientBalance)
    assert (error.balance_usd, error.required_usd) == (0.10, 0.25)


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
        read(reply(200, body), model(Accepted))


def test_a_body_without_its_id_names_the_field() -> None:
    """The error says what is missing."""
    with pytest.raises(errors.UnexpectedAnswer, match="request_id"):
        read(reply(200, {"status": "pending"}), model(Accepted))


def test_a_malformed_new_key_is_not_quoted() -> None:
    """The answer to a key's creation holds a secret, so an error about it keeps no extract."""
    with pytest.raises(errors.UnexpectedAnswer) as unexpected:
        read(reply(200, {"api_key": "sk-planted-2"}), model(CreatedKey))
    assert "sk-planted-2" not in f"{unexpected.value!r} {vars(unexpected.value)}"
    assert unexpected.value.__context__ is None


def test_only_harmless_headers_are_kept() -> None:
    """Cookies and the like don't get into an error."""
    error = error_for(reply(500, {}, {"set-cookie": "session=1", "retry-after": "3"}))
    assert error.answer.headers == {"retry-after": "3"}


def test_429_tells_how_long_it_asks_to_wait() -> None:
    """`Retry-After` in seconds is understood."""
    error = error_for(reply(429, {}, {"retry-after": "12"}))
    assert isinstance(error, errors.RateLimited)
    assert error.retry_after_seconds == 12.0
