"""What the service says, as frozen values (interface, "Resources and their fields").

Fields the interface doesn't name survive in `model_extra`; absent optional ones are None. A number that
arrives as text is accepted. Each state of a job is a type of its own.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationInfo

from . import states, wire
from .secret import Secret

_MOST = 1e15  # no figure of a service is larger


def _hint(value: Any) -> float | None:
    """A figure that is only a hint: anything but a finite number is absent, never an error."""
    try:
        number = float(_bare(value))
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < _MOST else None


def _cost(value: Any) -> float | None:
    """A price: what can't be one is absent, or it would make room under a spending limit."""
    number = _hint(value)
    return number if number is not None and 0 <= number < 1e9 else None


def _count(value: Any) -> int | None:
    number = _hint(value)
    return None if number is None else round(number)


def _days(value: Any) -> int | None:
    """A period in days: anything but one to a century's is absent."""
    days = _count(value)
    return days if days is not None and 1 <= days <= 36_500 else None


def _bare(value: Any) -> Any:
    """The number alone of one written with its unit, such as "$0.25" or "45%"."""
    return value.strip().removeprefix("$").removesuffix("%") if isinstance(value, str) else value


def _amount(value: Any) -> Any:
    return None if isinstance(value, bool) else _bare(value)


def _total(value: Any, info: ValidationInfo) -> Any:
    """0 for null, which many services say where nothing was requested."""
    return 0.0 if value is None and info.data.get("total_requests") == 0 else _amount(value)


def _reason(value: Any) -> Any:
    """Why it failed, as text, even where it came as an object."""
    return value if value is None or isinstance(value, str) else wire.words(value) or str(value)


def _address(value: Any) -> str | None:
    """The address of a file: a text, also as the only item of a list or the `url` of an object."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        value = value.get("url")
    return (value.strip() or None) if isinstance(value, str) else None


def _moment(value: Any) -> str | None:
    """An ISO 8601 time, as in the interface; epoch seconds or milliseconds are converted, "never" is None."""
    if value is None or isinstance(value, bool | list | Mapping):
        return None
    text = str(value).strip()
    if re.fullmatch(r"\d{9,13}(\.\d{1,9})?", text):
        seconds = float(text) / (1000 if float(text) > 1e11 else 1)
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    never = not text or text.lower() in ("0", "0.0", "never", "null", "none")
    return None if never or text.startswith(("0001-01-01", "1970-01-01T00:00:00")) else text


def _is_active(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip().lower()
        return {"active": True, "disabled": False, "inactive": False, "revoked": False}.get(value, value)
    return True if value is None else value


def _word(value: Any) -> str:
    """A submission's status word: only its id matters, so no value is an error."""
    word = value.strip() if isinstance(value, str) else ""
    return word.lower() if word.lower() in _STATES else word or wire.PENDING


def _secret(value: Any) -> Secret:
    """The key, or ValueError: an answer without it is unreadable, so that somebody looks for the key."""
    if isinstance(value, Secret):
        return value
    if not isinstance(value, str) or not value.strip():
        raise ValueError("no key")
    return Secret(value)


Hint = Annotated[float | None, BeforeValidator(_hint)]
Cost = Annotated[float | None, BeforeValidator(_cost)]
Amount = Annotated[float, Field(gt=-_MOST, lt=_MOST, allow_inf_nan=False)]  # required, so never absent
Count = Annotated[int | None, BeforeValidator(_count)]
Moment = Annotated[str | None, BeforeValidator(_moment)]
Label = Annotated[str, BeforeValidator(lambda value: "" if value is None else str(value))]
# Longer ones fit into no address.
Identifier = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]


class _Answered(BaseModel):
    # Built on first use: a third of the time it takes to import the client.
    model_config = ConfigDict(frozen=True, extra="allow", coerce_numbers_to_str=True, defer_build=True)


class Accepted(_Answered):
    """The answer to a submission: the job's id and the service's estimates.

    The interface doesn't say whether `estimated_duration_seconds` is the clip's length or the time it takes.
    """

    request_id: Identifier
    status: Annotated[str, BeforeValidator(_word)] = wire.PENDING
    estimated_cost_usd: Cost = None
    estimated_duration_seconds: Hint = None
    queue_position: Count = None  # from a class's room


class _Status(_Answered):
    request_id: Identifier
    status: str

    @property
    def finished(self) -> bool:
        """Whether the service will do no more for this job."""
        return isinstance(self, Completed | Failed)


class Pending(_Status):
    """Accepted, not yet running. A class's room adds how many clips go before it, and in how many seconds."""

    estimated_cost_usd: Cost = None
    queue_position: Count = None
    queue_seconds: Hint = None


class Processing(_Status):
    """Running. `progress` is the service's own indicator; its bounds aren't stated."""

    estimated_cost_usd: Cost = None
    progress: Hint = None


class Completed(_Status):
    """Finished: the clip's address, its length and its price in USD, each None where a service omits it."""

    video_url: Annotated[str | None, BeforeValidator(_address)] = None
    duration_seconds: Hint = None
    cost_usd: Cost = None


class Failed(_Status):
    """Failed after it was accepted. `error` is the service's own text; only a class's room says the cost."""

    error: Annotated[str | None, BeforeValidator(_reason)] = None
    cost_usd: Cost = None


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


# Words of other services that can't mean anything else. The interface has none of them.
_SAME_AS: Mapping[str, str] = {
    **dict.fromkeys(("complete", "succeeded", "success"), wire.COMPLETED),
    **dict.fromkeys(("failure", "error", "errored", "canceled", "cancelled"), wire.FAILED),
}


def state_of(status: JobStatus) -> str:
    """The state that the service names; kept apart where its word means something else here."""
    return f"{status.status} by the service" if status.status in states.OWN else status.status


def job_status(body: Mapping[str, Any], asked: str | None = None) -> JobStatus:
    """The job's status in the type of its state; `asked` is the job's id, used where the body has none.

    Raises pydantic's ValidationError for a body without a status.
    """
    said = str(body.get("status", "")).strip().lower()
    # Without the job's id such a word may be about the call: {"status": "error", "message": "busy"}.
    of_the_job = asked is None or str(body.get("request_id")).strip() == asked
    word = _SAME_AS.get(said, said) if of_the_job else said
    if word not in _STATES:
        return OtherStatus.model_validate(body)
    known = {**body, "status": word, "request_id": body.get("request_id") or asked}
    if word == wire.FAILED and not body.get("error"):
        known["error"] = wire.words(body) or (said if said != word else None)
    return _STATES[word].model_validate(known)


class ListedJobs(_Answered):
    """A student's own jobs in a class's room, newest first, each as in its status."""

    jobs: tuple[Mapping[str, Any], ...]


class Balance(_Answered):
    """The prepaid balance and what was spent in all, in USD (GET /api/v1/billing/balance)."""

    balance_usd: Annotated[Amount, BeforeValidator(_amount)]
    total_spent_usd: Hint = None


class Usage(_Answered):
    """What was used in the last `period_days` days (GET /api/v1/billing/usage). Lengths in seconds."""

    period_days: Annotated[int | None, BeforeValidator(_days)] = None
    total_requests: Count = None
    total_seconds: Hint = None
    total_cost_usd: Annotated[Amount, BeforeValidator(_total)]
    current_balance_usd: Hint = None
    total_spent_usd: Hint = None


class ApiKey(_Answered):
    """One API key as the list shows it: never the key itself. `last_used` is None where never used."""

    key_id: str
    name: Label = ""
    is_active: Annotated[bool, BeforeValidator(_is_active)] = True
    created_at: Moment = None
    last_used: Moment = None
    key_preview: Label = ""
    rate_limit: Hint = None


class ApiKeys(_Answered):
    """The keys of the account (GET /api/v1/keys)."""

    api_keys: tuple[ApiKey, ...]
    count: Count = None


class CreatedKey(_Answered):
    """A new key. `api_key.reveal()` returns the key itself: the service never shows it again."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    key_id: str
    api_key: Annotated[Secret, BeforeValidator(_secret)]
    name: Label = ""
    rate_limit: Hint = None
    created_at: Moment = None


class Revoked(_Answered):
    key_id: Label = ""
    message: Label = ""


def revoked(key_id: str, body: Mapping[str, Any]) -> Revoked:
    """The confirmation for the key that was asked about, whatever the service adds."""
    return Revoked.model_validate({**body, "key_id": key_id})
