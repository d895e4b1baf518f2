"""What the service says, as values."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from reelbook.models import (
    Accepted,
    ApiKey,
    Completed,
    CreatedKey,
    Failed,
    OtherStatus,
    Pending,
    Processing,
    job_status,
)


@pytest.mark.parametrize(
    ("word", "kind"),
    [("pending", Pending), ("processing", Processing), ("completed", Completed), ("failed", Failed)],
)
def test_each_state_is_a_type_of_its_own(word: str, kind: type) -> None:
    """The status word decides the type."""
    assert type(job_status({"request_id": "r", "status": word})) is kind


def test_an_unknown_status_is_kept_by_name_and_not_finished() -> None:
    """A word the interface doesn't name is not taken for an end."""
    status = job_status({"request_id": "r", "status": "queued_elsewhere"})
    assert isinstance(status, OtherStatus)
    assert (status.status, status.finished) == ("queued_elsewhere", False)


def test_unknown_fields_survive() -> None:
    """A field the interface doesn't name is still there."""
    status = job_status({"request_id": "r", "status": "completed", "video_url": "u", "codec": "h264"})
    assert status.model_extra == {"codec": "h264"}


def test_absent_optional_fields_are_none() -> None:
    """A completed job without its optional fields is still known as completed."""
    status = job_status({"request_id": "r", "status": "completed"})
    assert isinstance(status, Completed)
    assert (status.video_url, status.duration_seconds, status.cost_usd) == (None, None, None)


def test_numbers_that_arrive_as_text_are_accepted() -> None:
    """Services that quote their numbers are understood."""
    accepted = Accepted.model_validate({"request_id": 17, "estimated_cost_usd": "0.25"})
    assert (accepted.request_id, accepted.estimated_cost_usd) == ("17", 0.25)


@pytest.mark.parametrize("hint", ["soon", None, [], "nan", "inf"])
def test_a_hint_that_is_no_number_is_absent(hint: object) -> None:
    """A malformed progress never ends a watch."""
    status = job_status({"request_id": "r", "status": "processing", "progress": hint})
    assert isinstance(status, Processing)
    assert status.progress is None


@pytest.mark.parametrize("cost", [-5, 1e14, "nan", "free"])
def test_a_price_that_cannot_be_one_is_absent(cost: object) -> None:
    """A negative one would make room under a spending limit, and the job's id must be kept whatever it is."""
    body = {"request_id": "r", "status": "completed", "cost_usd": cost, "estimated_cost_usd": cost}
    assert Accepted.model_validate(body).estimated_cost_usd is None
    status = job_status(body)
    assert isinstance(status, Completed)
    assert status.cost_usd is None


@pytest.mark.parametrize("body", [{}, {"status": "pending"}, {"request_id": "", "status": "pending"}])
def test_a_body_without_an_id_is_an_error(body: dict[str, str]) -> None:
    """A status without its request_id can't be used."""
    with pytest.raises(ValidationError):
        job_status(body)


def test_a_key_never_used_has_no_last_use() -> None:
    """`last_used` is None whether it is null or absent."""
    assert ApiKey(key_id="k", last_used=None).last_used is None
    assert ApiKey(key_id="k").last_used is None


def test_a_created_key_shows_its_secret_only_when_asked() -> None:
    """The secret is in no repr and no dump, and `reveal` gives it."""
    created = CreatedKey.model_validate({"key_id": "k", "api_key": "sk-planted-1"})
    assert "sk-planted-1" not in f"{created!r} {created} {created.model_dump()}"
    assert created.api_key.reveal() == "sk-planted-1"
