"""The jobs that a search found, page by page, over a session's real ledger."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import reelbook as rb
from reelbook.sandbox.handle import Sandbox
from reelbook.widgets import search_results
from reelbook.widgets.search_results import SearchResults


@pytest.fixture
def session(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[rb.Session]:
    monkeypatch.setattr(search_results, "PAGE", 2)
    with rb.connect("sandbox") as session:
        yield session


def submitted(session: rb.Session, *prompts: str) -> list[rb.Job]:
    jobs = [session.text_to_video(prompt, duration_seconds=1, aspect_ratio="1:1") for prompt in prompts]
    for job in jobs:
        job.result(30)
    return jobs


def prompts(found: SearchResults) -> list[str]:
    return [job.prompt or "" for job in found.jobs]


def test_pages_follow_each_other_without_a_gap(session: rb.Session) -> None:
    """The first with the search, more as they are asked for, until there are no more."""
    submitted(session, "one", "two", "three", "four", "five")
    found = SearchResults(session)
    found.search({})
    assert (prompts(found), found.more, found.turn) == (["five", "four"], True, 1)
    found.load(5)
    assert (prompts(found), found.more) == (["five", "four", "three", "two", "one"], False)
    assert all(job in found for job in found.jobs)


def test_new_jobs_take_their_place(session: rb.Session) -> None:
    """On the first page, each with its place; nothing is there twice."""
    submitted(session, "one", "two")
    found = SearchResults(session)
    found.search({})
    (new,) = submitted(session, "three")
    assert list(found.take_in()) == [(0, new)]
    assert list(found.take_in()) == []
    assert prompts(found) == ["three", "two", "one"]


def test_a_job_of_an_earlier_search_is_still_known(session: rb.Session) -> None:
    """The page may speak of it until it has the new one."""
    fox, wolf = submitted(session, "a fox", "a wolf")
    found = SearchResults(session)
    found.search({})
    found.search({"text": "wolf"})
    assert (prompts(found), fox in found) == (["a wolf"], False)
    assert (found.by_key(str(fox.number)), found.by_key("none")) == (fox, None)
    assert (found.by_id(wolf.request_id or ""), found.by_id("none")) == (wolf, None)


def test_a_closed_session_is_asked_nothing(session: rb.Session) -> None:
    """What was found stays."""
    submitted(session, "one")
    found = SearchResults(session)
    found.search({})
    session.close()
    found.load(9)
    assert list(found.take_in()) == []
    assert prompts(found) == ["one"]
