"""Earlier prompts and styles beside a prompt: what the page gets when it asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from widgets.doubles import FakeSession, heard, page_sends

from reelbook.requests import JobRequest
from reelbook.widgets.prompt_form import PromptForm
from reelbook.widgets.prompt_tools import EARLIER


@pytest.fixture
def session(tmp_path: Path) -> Any:
    prompts = ["a fox in fog", "a fox at dawn", "a heron"]
    return FakeSession(submitted=[JobRequest.from_text(each) for each in prompts], home=tmp_path)


def test_earlier_prompts_are_sent_as_they_are_asked_for(session: Any) -> None:
    """In answer to that question alone; the state, which is saved with a notebook, holds none of them."""
    form = PromptForm(session)
    messages = heard(form)
    page_sends(form, {"name": "history", "id": "1", "text": "fox"})
    page_sends(form, {"name": "history", "id": "2", "text": "xylophone"})
    assert messages[0][0] == {
        "name": "offered",
        "id": "1",
        "items": ["a fox in fog", "a fox at dawn"],
        "note": "",
    }
    assert messages[1][0]["note"] == "No earlier prompt has these words."
    page_sends(form, {"name": "history", "id": "3"})
    session.submitted += [JobRequest.from_text(f"a fox {n}") for n in range(2 * EARLIER)]
    page_sends(form, {"name": "history", "id": "4"})
    assert [len(message["items"]) for message, _ in messages] == [2, 0, 3, EARLIER]
    assert "in fog" not in json.dumps(form.get_state(), default=str)


def test_styles_are_kept_and_removed_from_the_page(session: Any) -> None:
    """Each answer has all that are left; what can't be kept is said under the panel."""
    form = PromptForm(session, prompt="a fox, __styles__")
    form.on_plan(print)
    messages = heard(form)
    for text in ("film grain", "at dawn", "in fog"):
        page_sends(form, {"name": "keep_style", "id": "1", "text": text})
    page_sends(form, {"name": "remove_style", "id": "2", "text": "at dawn"})
    assert messages[-1][0]["items"] == ["film grain", "in fog"]
    assert "styles.txt" in messages[-1][0]["note"]
    form.refresh()
    assert form.plan == "Plan 2 clips · $0.50"
    page_sends(form, {"name": "keep_style", "id": "3", "text": "#"})
    assert "Nothing was kept" in form.message["text"]
