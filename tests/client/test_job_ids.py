"""Whose answer it is, when a service answers with another job's id."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from reelbook.client.client import MIXED_UP_ANSWERS, JobIds
from reelbook.errors import UnexpectedAnswer
from reelbook.models import JobStatus, job_status


def said(request_id: str, status: str = "processing", **fields: Any) -> JobStatus:
    """What a service answers."""
    return job_status({"request_id": request_id, "status": status, **fields}, asked=request_id)


def test_an_unknown_id_is_taken_for_another_name_of_the_same_job(caplog: pytest.LogCaptureFixture) -> None:
    """The id that was asked about counts; it is logged once."""
    ids = JobIds()
    with caplog.at_level(logging.WARNING):
        assert [ids.own("mine", said(strange)).request_id for strange in ("x", "y", "mine")] == ["mine"] * 3
    assert len(caplog.records) == 1


def test_another_jobs_answer_isnt_believed_at_first() -> None:
    """A cache mixes up two answers; a service that always says the other id means this job."""
    ids = JobIds()
    ids.add("other")
    for _ in range(MIXED_UP_ANSWERS):
        with pytest.raises(UnexpectedAnswer, match="“other”, which is another job"):
            ids.own("mine", said("other"))
    assert ids.own("mine", said("other")).request_id == "mine"


def test_a_right_answer_begins_the_count_anew() -> None:
    """Mix-ups that come now and then stay mix-ups."""
    ids = JobIds()
    ids.add("other")
    for _ in range(2 * MIXED_UP_ANSWERS):
        with pytest.raises(UnexpectedAnswer):
            ids.own("mine", said("other"))
        ids.own("mine", said("mine"))


def test_another_jobs_end_is_never_believed() -> None:
    """A failure would cost a clip that was paid for; the same link is the other job's clip."""
    ids = JobIds(is_known=lambda request_id: request_id == "earlier")
    ids.own("other", said("other", "completed", video_url="/other.mp4", duration_seconds=5))
    for _ in range(MIXED_UP_ANSWERS + 2):
        for strange in (
            said("earlier", "failed", error="no"),
            said("other", "completed", video_url="/other.mp4", duration_seconds=5),
        ):
            with pytest.raises(UnexpectedAnswer):
                ids.own("mine", strange)
    own = said("other", "completed", video_url="/mine.mp4", duration_seconds=5)
    assert ids.own("mine", own).request_id == "mine"
