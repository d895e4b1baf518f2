"""What the service says, as values."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from reelbook.models import (
    Accepted,
    ApiKey,
    Balance,
    Completed,
    CreatedKey,
    Failed,
    OtherStatus,
    Pending,
    Processing,
    Usage,
    job_status,
    revoked,
)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Pending, ["pending"]),
        (Processing, ["processing"]),
        (Completed, ["completed", "Completed", "succeeded", "success"]),
        (Failed, ["failed", "ERROR", "canceled", "cancelled"]),
        (OtherStatus, ["queued_elsewhere", "retrying", "expired_soon"]),
    ],
)
def test_each_state_is_a_type_of_its_own(kind: type, words: list[str]) -> None:
    """The status word decides the type. Other words for an end are understood of the job that was asked
    about, or its watch would never end; any other word is kept, and no end.
    """
    for word in words:
        status = job_status({"request_id": "r", "status": word}, "r")
        assert type(status) is kind
        assert status.finished == (kind in (Completed, Failed))
    assert job_status({"request_id": "r", "status": words[0]}).status == words[0]


def test_unknown_fields_survive_and_missing_ones_are_no_loss() -> None:
    """A field the interface doesn't name is still there, and one that is left out is None. A status without
    its id is about the job that was asked about: the clip isn't missed for want of a field that is known.
    """
    status = job_status({"status": "completed", "video_url": URL, "codec": "h264"}, "r")
    assert isinstance(status, Completed)
    assert status.model_extra == {"codec": "h264"}
    assert (status.request_id, status.video_url) == ("r", URL)
    assert (status.duration_seconds, status.cost_usd) == (None, None)


NO_STATES: list[object] = [None, {}, 3, "", "Pending", " PENDING "]


@pytest.mark.parametrize(
    ("field", "said", "known"),
    [
        *(("estimated_cost_usd", said, cost) for said, cost in (("0.25", 0.25), (-5, None), ("free", None))),
        *(("status", word, "pending") for word in NO_STATES),
    ],
)
def test_an_accepted_jobs_id_is_kept_whatever_else_is_said(field: str, said: object, known: object) -> None:
    """It is paid for by then. Quoted numbers are understood, and a price that can't be one is absent."""
    for given, request_id in ((17, "17"), (" r ", "r")):
        accepted = Accepted.model_validate({"request_id": given, field: said})
        assert (accepted.request_id, getattr(accepted, field)) == (request_id, known)


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ({}, None),
        ({"status": "pending"}, None),
        ({"request_id": "", "status": "pending"}, None),
        ({"status": "error", "message": "busy"}, "r"),
        ({"status": "success", "data": {}}, "r"),
    ],
)
def test_a_body_that_is_about_no_job_is_an_error(body: dict[str, object], asked: str | None) -> None:
    """A status without its request_id can't be used, and an envelope has a status of its own."""
    with pytest.raises(ValidationError):
        job_status(body, asked)
    if asked is not None:
        assert not job_status({**body, "request_id": "trace-1"}, asked).finished


def test_a_created_key_shows_its_secret_only_when_asked() -> None:
    """The secret is in no repr and no dump, and `reveal` gives it."""
    created = CreatedKey.model_validate({"key_id": "k", "api_key": "sk-planted-1", "name": None})
    assert "sk-planted-1" not in f"{created!r} {created} {created.model_dump()}"
    assert created.api_key.reveal() == "sk-planted-1"


URL = "https://host/v.mp4"
READ: dict[tuple[str, str], list[tuple[Any, Any]]] = {
    # Its bounds aren't stated, and so its form isn't either. What is no number never ends a watch.
    ("processing", "progress"): [
        *(("45%", 45.0), (" 45 ", 45.0), (0.45, 0.45), (10**400, None), ({"percent": 45}, None)),
        *(("soon", None), (None, None), ([], None), ("nan", None), ("inf", None)),
    ],
    # A negative one would make room under a spending limit.
    ("completed", "cost_usd"): [("0.25", 0.25), (-5, None), (1e14, None), ("nan", None), ("free", None)],
    # An object is never fetched as if it were an address.
    ("completed", "video_url"): [
        *((f"{URL} ", URL), ([URL], URL), ({"url": URL}, URL), ([{"url": URL}], URL)),
        *((["a", "b"], None), ({"path": "x"}, None), ("", None), (7, None)),
    ],
    # A person reads a sentence, not an object.
    ("failed", "error"): [
        *(("no cats", "no cats"), ({"code": 7, "message": "no cats"}, "no cats"), (["no cats"], "no cats")),
        *(({"code": 7}, "{'code': 7}"), (None, None)),
    ],
}


@pytest.mark.parametrize(
    ("state", "field", "said", "known"), [(*of, *each) for of, pairs in READ.items() for each in pairs]
)
def test_what_a_job_says_is_read_in_any_usual_form(state: str, field: str, said: Any, known: Any) -> None:
    """What can't be what it should be is absent, and the job is known all the same."""
    status = job_status({"request_id": "r", "status": state, field: said})
    assert getattr(status, field) == known


@pytest.mark.parametrize(
    ("body", "reason"),
    [({"message": "no cats"}, "no cats"), ({"status": "canceled"}, "canceled"), ({}, None)],
)
def test_why_a_job_failed_is_looked_for_beside_its_error(body: dict[str, str], reason: str | None) -> None:
    """Some services say it in a message, or by the state's name alone."""
    status = job_status({"request_id": "r", "status": "failed", "error": None, **body})
    assert isinstance(status, Failed)
    assert status.error == reason


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("2026-11-22T02:00:00Z", "2026-11-22T02:00:00Z"),
        ("2026-11-22T02:00:00", "2026-11-22T02:00:00"),
        (1_763_776_800, "2025-11-22T02:00:00+00:00"),
        ("1763776800", "2025-11-22T02:00:00+00:00"),
        (1_763_776_800_000, "2025-11-22T02:00:00+00:00"),
        (None, None),
        ("", None),
        ("never", None),
        (0, None),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00Z", None),
        ({}, None),
    ],
)
def test_a_keys_times_are_iso_8601_or_never(said: Any, moment: str | None) -> None:
    """What stands for a key that was never used isn't shown: each of these would look like a use."""
    assert ApiKey(key_id="k", last_used=said).last_used == moment


@pytest.mark.parametrize(
    ("said", "active"), [(None, True), (0, False), ("true", True), ("Active", True), ("revoked", False)]
)
def test_a_key_that_says_little_doesnt_hide_the_others(said: Any, active: bool) -> None:
    """One field that is null must not make the whole list unreadable."""
    key = ApiKey.model_validate(
        {"key_id": 7, "name": None, "key_preview": None, "rate_limit": None, "is_active": said}
    )
    assert (key.key_id, key.name, key.key_preview, key.is_active) == ("7", "", "", active)


def test_a_sum_over_no_requests_is_nothing() -> None:
    """Databases say null of it. Of some requests null is no sum."""
    body = {"total_requests": 0, "total_seconds": None, "total_cost_usd": None}
    assert Usage.model_validate(body).total_cost_usd == 0
    with pytest.raises(ValidationError):
        Usage.model_validate({**body, "total_requests": 3})


@pytest.mark.parametrize("said", ["12.5", "$12.5", 12.5])
def test_a_balance_is_read_in_any_usual_form(said: object) -> None:
    """With its sign or without."""
    assert Balance.model_validate({"balance_usd": said}).balance_usd == 12.5


# What nobody can do without, and what can't be it. With a sum that isn't one there is nothing to reckon.
NO_SUM: list[object] = [None, True, "much", 1e308, 10**400, -(10**400), "inf", "nan"]
NEEDED: list[tuple[type[BaseModel], str, list[object]]] = [
    (Accepted, "request_id", ["  ", "", None, True, "x" * 4001]),
    (CreatedKey, "api_key", [None, "", " ", 5, {"value": "sk"}]),
    (Balance, "balance_usd", NO_SUM),
    (Usage, "total_cost_usd", NO_SUM),
]


@pytest.mark.parametrize(("kind", "name", "said"), [(k, n, each) for k, n, bad in NEEDED for each in bad])
def test_what_is_needed_and_cannot_be_read_is_an_error(
    kind: type[BaseModel], name: str, said: object
) -> None:
    """A job is asked about by its id, a key exists by then, and a limit leans on the balance."""
    with pytest.raises(ValidationError):
        kind.model_validate({"key_id": "k", "status": "pending", name: said})


@pytest.mark.parametrize("body", [{}, {"key_id": None, "message": None}, {"key_id": "K", "message": "gone"}])
def test_a_revocation_is_about_the_key_that_was_named(body: dict[str, object]) -> None:
    """Also where the service says no more than yes, or writes its id another way."""
    assert revoked("k", body).key_id == "k"
