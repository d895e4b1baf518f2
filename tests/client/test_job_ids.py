"""Whose answer it is, when a service answers with another job's id."""

from __future__ import annotations

from typing import Any

import pytest

from reelbook.client.client import MIXED_UP_ANSWERS, JobIds
from reelbook.errors import UnexpectedAnswer
from reelbook.models import JobStatus, job_status


def said(request_id: str, status: str = "processing", **fields: Any) -> JobStatus:
    """What a service answers."""
    return job_status({"request_id": request_id, "status": status, **fields}, asked=request_id)


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
