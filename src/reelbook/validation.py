"""Arguments checked before a request goes out: values in, clean values or a typed error out."""

from __future__ import annotations

import operator
from typing import Any

from . import wire
from .errors import (
    InvalidAspectRatio,
    InvalidDuration,
    InvalidInput,
    InvalidKeyRequest,
    InvalidPrompt,
    InvalidSeed,
)
from .secret import is_held, quotable


def prompt(value: Any) -> str:
    """The prompt without surrounding white space. Raises InvalidPrompt."""
    if not isinstance(value, str):
        raise InvalidPrompt(f"The prompt must be text, not {type(value).__name__}.")
    if not value.strip():
        raise InvalidPrompt("The prompt is empty. Say what is seen and how it moves.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        place = error.start
    else:
        return value.strip()
    raise InvalidPrompt(f"The prompt's character {place + 1} is half of one, such as of an emoji. Remove it.")


def duration_seconds(value: Any) -> int:
    """The length in whole seconds, 1 to 10 (interface, Limits). Raises InvalidDuration."""
    seconds = _whole(value)
    if seconds is None:
        raise InvalidDuration(f"The length must be a whole number of seconds, not {quotable(value)}.")
    if not wire.MIN_SECONDS <= seconds <= wire.MAX_SECONDS:
        raise InvalidDuration(
            f"The length must be {wire.MIN_SECONDS} to {wire.MAX_SECONDS} seconds, not {seconds}."
        )
    return seconds


def aspect_ratio(value: Any) -> wire.AspectRatio:
    """The clip's shape, one of the three that the API takes. Raises InvalidAspectRatio."""
    if isinstance(value, str) and value in wire.ASPECT_RATIOS:
        return value
    offered = ", ".join(wire.ASPECT_RATIOS)
    if value in wire.WEB_APP_ONLY_RATIOS:
        raise InvalidAspectRatio(f"{value} is offered by the web app only. The API takes {offered}.")
    raise InvalidAspectRatio(f"The aspect ratio must be one of {offered}, not {quotable(value)}.")


def seed(value: Any) -> int:
    """Any whole number; -1 asks for a random one. Raises InvalidSeed."""
    whole = _whole(value)
    if whole is None:
        raise InvalidSeed(
            f"The seed must be a whole number, not {quotable(value)}. -1 asks for a random one."
        )
    return whole


def days(value: Any) -> int:
    """A period in whole days, at least 1. Raises InvalidInput."""
    whole = _whole(value)
    if whole is None or whole < 1:
        raise InvalidInput(f"The period must be a whole number of days, 1 or more, not {quotable(value)}.")
    return whole


def identifier(value: Any, what: str) -> str:
    """A `request_id` or `key_id` as it came from the service. Raises InvalidInput."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"The {what} must be the text that the service gave, not {quotable(value)}.")
    if is_held(value):
        raise InvalidInput(f"That is a key and no {what}. Nothing was sent.")
    return value.strip()


def key_name(value: Any) -> str:
    """A label for a new key. Raises InvalidKeyRequest."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidKeyRequest("A key needs a name, so that you know it again in the list.")
    return value.strip()


def rate_limit(value: Any) -> int:
    """Requests a minute for a new key, 1 to 100 (interface, Limits). Raises InvalidKeyRequest."""
    whole = _whole(value)
    if whole is None or not 1 <= whole <= wire.MAX_REQUESTS_PER_MINUTE:
        raise InvalidKeyRequest(
            f"The rate limit must be 1 to {wire.MAX_REQUESTS_PER_MINUTE} requests a minute, not "
            f"{quotable(value)}."
        )
    return whole


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):  # A slider's 5.0 is meant as 5.
        return int(value) if value.is_integer() else None
    try:
        return operator.index(value)
    except TypeError:
        return None
