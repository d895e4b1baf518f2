"""What the service says, as frozen values (interface, "Resources and their fields").

Fields the interface doesn't name survive in `model_extra`; absent optional ones are None. A number that
arrives as text is accepted. Each state of a job is a type of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from . import wire
from .secret import Secret


def _hint(value: Any) -> float | None:
    """A figure that is only a hint: what is no finite number is absent, never an error."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1e15 else None


def _cost(value: Any) -> float | None:
    """A price: what can't be one is absent, or it would make room under a spending limit."""
    number = _hint(value)
    return number if number is not None and 0 <= number < 1e9 else None


def _count(value: Any) -> int | None:
    """A whole number, or absent."""
    number = _hint(value)
    return None if number is None else round(number)


Hint = Annotated[float | None, BeforeValidator(_hint)]
Cost = Annotated[float | None, BeforeValidator(_cost)]
Count = Annotated[int | None, BeforeValidator(_count)]
Text = Annotated[str | None, BeforeValidator(lambda value: value if value is None else str(value))]
Amount = Annotated[float, Field(allow_inf_nan=False)]


class _Answered(BaseModel):
    # Built on first use: a third of the time it takes to import the client.
    model_config = ConfigDict(frozen=True, extra="allow", coerce_numbers_to_str=True, defer_build=True)


class Accepted(_Answered):
    """The answer to a submission: the job's id and the service's estimates.

    `estimated_duration_seconds` is given by the service without saying whether it means the clip's length
    or the time it takes to make.
    """

    request_id: str = Field(min_length=1)
    status: str = wire.PENDING
    estimated_cost_usd: Cost = None
    estimated_duration_seconds: Hint = None


class _Status(_Answered):
    request_id: str = Field(min_length=1)
    status: str

    @property
    def finished(self) -> bool:
        """Whether the service will do no more for this job."""
        return isinstance(self, Completed | Failed)


class Pending(_Status):
    """Accepted, not yet running."""

    estimated_cost_usd: Cost = None


class Processing(_Status):
    """Running. `progress` is the service's own indicator; its bounds aren't stated."""

    estimated_cost_usd: Cost = None
    progress: Hint = None


class Completed(_Status):
    """Finished. `video_url` is where the clip lies, `duration_seconds` its real length, `cost_usd` its price.

    All three may be None where a service leaves them out: that a job is done is known all the same.
    """

    video_url: Text = None
    duration_seconds: Hint = None
    cost_usd: Cost = None


class Failed(_Status):
    """Failed after it was accepted. `error` is the service's own text."""

    error: Text = None


class OtherStatus(_Status):
    """A state that the interface doesn't name: not finished yet, and shown by its name."""

    estimated_cost_usd: Cost = None
    progress: Hint = None


JobStatus = Pending | Processing | Completed | Failed | OtherStatus

_STATES: Mapping[str, type[JobStatus]] = {
    wire.PENDING: Pending,
    wire.PROCESSING: Processing,
    wire.COMPLETED: Completed,
    wire.FAILED: Failed,
}


def job_status(body: Mapping[str, Any]) -> JobStatus:
    """The job's status in the type of its state. Raises pydantic's ValidationError for a body without one."""
    word = str(body.get("status", "")).strip().lower()
    return _STATES.get(word, OtherStatus).model_validate(
        {**body, "status": word} if word in _STATES else body
    )


class Balance(_Answered):
    """The prepaid balance and what was spent in all, in USD (GET /api/v1/billing/balance)."""

    balance_usd: Amount
    total_spent_usd: Hint = None


class Usage(_Answered):
    """What was used in the last `period_days` days (GET /api/v1/billing/usage). Lengths in seconds."""

    period_days: Count = None
    total_requests: Count = None
    total_seconds: Hint = None
    total_cost_usd: Amount
    current_balance_usd: Hint = None
    total_spent_usd: Hint = None


class ApiKey(_Answered):
    """One API key as the list shows it: never the key itself. `last_used` is None where never used."""

    key_id: str
    name: str = ""
    is_active: bool = True
    created_at: Text = None
    last_used: Text = None
    key_preview: str = ""
    rate_limit: Hint = None


class ApiKeys(_Answered):
    """The keys of the account (GET /api/v1/keys)."""

    api_keys: tuple[ApiKey, ...]
    count: int | None = None


class CreatedKey(_Answered):
    """A new key. `api_key.reveal()` gives the key itself: the service never shows it again."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    key_id: str
    api_key: Annotated[Secret, BeforeValidator(lambda value: Secret.of(value))]
    name: str = ""
    rate_limit: Hint = None
    created_at: Text = None


class Revoked(_Answered):
    """The confirmation that a key was revoked."""

    key_id: str = ""
    message: str = ""
