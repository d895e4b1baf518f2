"""Turns the service's reply into a value or a typed error: pure, and without the key."""

import contextlib
import json
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from pydantic_core import ValidationError

from .. import errors, wire
from ..formatting import terminal_line

SAFE_HEADERS = frozenset(
    {
        *("content-type", "content-length", "date", "retry-after", "server", "x-request-id"),
        *("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"),
    }
)
EXTRACT_CHARACTERS = 300
# Ten times the documented maximum. More is a monthly quota, or nonsense, and says nothing about a minute.
MOST_A_MINUTE: Final = 10 * wire.MAX_REQUESTS_PER_MINUTE

_REFUSALS: Mapping[int, tuple[type[errors.ServiceError], str]] = {
    400: (errors.BadRequest, "The service found the request invalid."),
    401: (
        errors.AuthenticationError,
        "The service doesn't accept this API key. It may be mistyped or revoked.",
    ),
    403: (errors.PermissionRefused, "The service doesn't allow this key to do that."),
    404: (errors.NotFound, "The service doesn't know this. It may belong to another account or be gone."),
    413: (
        errors.PayloadTooLarge,
        "The image is larger than the service takes. Make it smaller and send it again.",
    ),
}
_AMOUNT = r"[^$\d]*?(-?)(?:\$\s*)?(-?\d+(?:[.,]\d+)?)"  # also "-$0.05"

Model = TypeVar("Model")


@dataclass(frozen=True)
class Reply:
    """The reply to one request: status, headers in lower case, and the body with the key masked."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def read(reply: Reply, into: Callable[[Mapping[str, Any]], Model], *, quote: bool = False) -> Model:
    """The reply's JSON object as a value made by `into`.

    Raises the typed ServiceError of the reply's status, and UnexpectedAnswer for a body that isn't JSON or
    lacks a required field. Only `quote` lets the error quote the body: it may hold a new key.
    """
    if not 200 <= reply.status < 300:
        raise error_for(reply)
    empty = not reply.body.strip()
    body: Any = None
    with contextlib.suppress(ValueError, RecursionError):
        body = {} if empty else _loaded(reply.body)  # a DELETE is often confirmed by an empty body (204)
    if not isinstance(body, Mapping):
        raise errors.UnexpectedAnswer("The service's answer is not a JSON object.", answer=summary(reply))
    # Many services wrap the whole answer in an envelope; the interface has none.
    inner = next((body[name] for name in ("data", "result") if isinstance(body.get(name), Mapping)), None)
    fields = ""
    for each in (body, inner):
        try:
            if each is not None:
                return into(each)
        except ValidationError as invalid:
            fields = fields or _fields(invalid)
    if empty:
        raise errors.UnexpectedAnswer("The service's answer is empty, and not JSON.", answer=summary(reply))
    # Raised outside the except: the ValidationError quotes its input.
    said = _quoted(terminal_line(wire.words(body))[:EXTRACT_CHARACTERS]) if quote else ""
    raise errors.UnexpectedAnswer(
        f"The service's answer lacks something, or it can't be read: {fields}.{said}",
        answer=summary(reply, extract=None if quote else ""),
    )


def error_for(reply: Reply) -> errors.ServiceError:
    """The typed error of an unsuccessful reply (interface, Errors)."""
    status, answer, said = reply.status, summary(reply), _said(reply)
    if status == 402:
        return errors.InsufficientBalance(
            f"The balance is too low. Nothing was charged.{_quoted(said)}",
            answer=answer,
            balance_usd=_amount_after("balance", said),
            required_usd=_amount_after("required", said),
        )
    if status == 429:
        wait = _retry_after(reply.headers)
        when = f" It asks you to wait {wait:.0f} s." if wait is not None else ""
        return errors.RateLimited(
            f"The key's requests are used up.{when}", answer=answer, retry_after_seconds=wait
        )
    if status < 400:
        return errors.UnexpectedAnswer(
            f"The service answered with status {status}.{_redirect_words(reply)}", answer=answer
        )
    kind, text = _REFUSALS.get(status, _REFUSALS[400])
    if status >= 500:
        kind, text = errors.ServerError, f"The service failed (status {status})."
    return kind(f"{text}{_quoted(said)}", answer=answer)


def summary(reply: Reply, *, extract: str | None = None) -> errors.Answer:
    """The part of a reply that is safe to keep in an error."""
    if extract is None:
        extract = reply.body[: EXTRACT_CHARACTERS * 4].decode("utf-8", "replace")
        extract = "".join(c if c.isprintable() else " " for c in extract)[:EXTRACT_CHARACTERS]
    return errors.Answer(reply.status, {k: v for k, v in reply.headers.items() if k in SAFE_HEADERS}, extract)


class RateHeaders(NamedTuple):
    """The limit, the requests `remaining`, the seconds until `reset`; each None where missing or absurd.

    `retry_after` is the wait in seconds that the service asks for.
    """

    limit: int | None = None
    remaining: int | None = None
    reset: float | None = None
    retry_after: float | None = None


def rate_headers(headers: Mapping[str, str]) -> RateHeaders:
    """The rate headers of one answer; `headers` has names in lower case."""
    limit = _number(headers, wire.RATE_LIMIT, 1)
    remaining = _number(headers, wire.RATE_REMAINING, 0, MOST_A_MINUTE if limit is None else limit)
    if limit is not None and limit > MOST_A_MINUTE:
        limit = remaining = None
    limit, remaining = (None if number is None else int(number) for number in (limit, remaining))
    return RateHeaders(limit, remaining, _reset_seconds(headers), _retry_after(headers))


def _reset_seconds(headers: Mapping[str, str]) -> float | None:
    """The seconds until the reset: `X-RateLimit-Reset` may be that, or an epoch in seconds or milliseconds.

    Epochs are read against the answer's own `Date`, so that a wrong clock here does no harm.
    """
    value = _number(headers, wire.RATE_RESET, 0)
    if value is not None and value > 1e8:
        seconds = value / 1000 if value > 1e11 else value
        try:
            sent = parsedate_to_datetime(headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError):
            sent = time.time()
        value = max(0.0, seconds - sent)
    return None if value is None or value > 2 * wire.RATE_WINDOW_SECONDS else value


def _retry_after(headers: Mapping[str, str]) -> float | None:
    # A date is left to the caller's own backoff.
    return _number(headers, "Retry-After", 0, 3600)


def _loaded(body: bytes) -> Any:
    """The JSON value in `body`, invalid characters replaced. Raises ValueError, RecursionError."""
    try:
        value = json.loads(body)
    except UnicodeDecodeError:
        # Another charset, or cut within a character: its id can still be read.
        value = json.loads(body.decode("utf-8", "replace"))
    if body.isascii() and b"\\u" not in body:
        return value
    # Half an emoji, left by a service that cuts texts: neither a file nor a page takes it.
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _fields(invalid: ValidationError) -> str:
    return ", ".join(sorted({".".join(map(str, e["loc"])) or "body" for e in invalid.errors()}))


def _said(reply: Reply) -> str:
    """The service's own words in an error body, whose shape isn't given except for 402."""
    try:
        return terminal_line(wire.words(_loaded(reply.body)))[:EXTRACT_CHARACTERS]
    except (ValueError, RecursionError):
        plain = reply.headers.get("content-type", "").startswith("text/plain")
        return summary(reply).extract.strip() if plain else ""


def _redirect_words(reply: Reply) -> str:
    """The origin that a redirect leads to; only that, as the rest may hold what was sent."""
    try:
        target = urlsplit(reply.headers.get("location", ""))
        port = f":{target.port}" if target.port else ""
    except ValueError:
        return ""
    if not target.scheme or not target.hostname:
        return ""
    return (
        f" It points to {target.scheme}://{target.hostname}{port}. The key isn't sent there by itself: if "
        "that is the service, give it as the address."
    )


def _quoted(said: str) -> str:
    return f" It says: “{said}”" if said else ""


def _amount_after(word: str, said: str) -> float | None:
    # The last mention: "insufficient balance, current balance $1.00" names the word twice.
    found = re.findall(word + _AMOUNT, said, re.IGNORECASE)
    return float("".join(found[-1]).replace("--", "-").replace(",", ".")) if found else None


def _number(headers: Mapping[str, str], name: str, least: float, most: float = math.inf) -> float | None:
    try:
        value = float(headers.get(name.lower(), ""))
    except ValueError:
        return None
    return value if least <= value <= most else None
