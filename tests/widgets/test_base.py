"""What every panel does."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ipywidgets
import pytest
from widgets.doubles import FakeSession, heard, page_sends

import reelbook as rb
import reelbook.widgets
from reelbook.errors import InvalidInput, InvalidPrompt
from reelbook.widgets import base
from reelbook.widgets.background import WorksInBackground
from reelbook.widgets.base import Panel, Still
from reelbook.widgets.image_picker import ImagePicker
from reelbook.widgets.studio import Studio


class Odd(Panel):
    """A panel whose handlers fail."""

    _esm = "export default {}"

    def _on_theirs(self, *_: object) -> None:
        raise ZeroDivisionError("division by zero")

    def _on_ours(self, *_: object) -> None:
        raise InvalidPrompt("The prompt is empty.")


def test_an_unknown_argument_is_named() -> None:
    """A misspelt argument is an error that says what there is."""
    with pytest.raises(TypeError, match=r"ImagePicker\(\) doesn't take colour\. It takes: .*image"):
        ImagePicker(colour="red")
    with pytest.raises(TypeError, match="sesion"):
        Studio(FakeSession(), sesion=1)  # type: ignore[arg-type] # a double


def test_a_misspelt_argument_is_answered_with_the_nearest_one() -> None:
    """And with what is meant for people, not with what goes between the panel and its page."""
    with pytest.raises(
        TypeError, match=r"Did you mean prompt\? It takes: prompt, session, aspect_ratio"
    ) as told:
        rb.PromptForm(FakeSession(), promt="a fox")  # type: ignore[arg-type] # a double
    assert not {"message", "asks", "words", "live"} & set(str(told.value).replace(".", ",").split(", "))


@pytest.mark.parametrize(
    "panel",
    [
        *(rb.Studio, rb.PromptForm, rb.JobBoard, rb.Gallery, rb.KeyManager, rb.UsageChart),
        *(rb.ConnectionPanel, rb.ClassroomPanel, rb.ToolExplorer),
    ],
)
def test_what_is_no_session_is_refused(panel: Any) -> None:
    """With how to make one, and without repeating what was given: it may be a key."""
    with pytest.raises(
        InvalidInput, match=r'takes a session first, not str\. rb\.connect\("sandbox"\)'
    ) as told:
        panel("sk-planted")
    assert "planted" not in str(told.value)


def test_no_still_form_becomes_a_formula() -> None:
    """Two amounts in one text are amounts on a page with MathJax too."""
    bundle = Odd()._repr_mimebundle_()
    assert bundle["text/html"].startswith('<div class="mathjax_ignore tex2jax_ignore">')
    panels = [getattr(rb, name) for name in reelbook.widgets.__all__]
    stills = [panel for panel in panels if isinstance(panel, type) and issubclass(panel, Still)]
    assert len(stills) > 10
    assert all(panel._repr_mimebundle_ is Still._repr_mimebundle_ for panel in stills)


def test_a_failing_handler_is_shown_under_the_panel() -> None:
    """An error in a callback names itself and the line it came from."""
    panel = Odd()
    page_sends(panel, {"name": "theirs"})
    said = "“theirs” failed. ZeroDivisionError: division by zero (_on_theirs, line "
    assert panel.message["text"].startswith(said)
    page_sends(panel, {"name": "dismiss"})
    assert panel.message["text"] == ""


def test_an_error_of_reelbook_is_shown_in_its_own_words() -> None:
    """Errors made for people need no class name."""
    panel = Odd()
    page_sends(panel, {"name": "ours"})
    assert panel.message["text"] == "The prompt is empty."


@pytest.mark.parametrize("content", [{"name": "nonsense"}, {"name": 3}, {}, "text", {"name": "msg; x"}])
def test_an_unknown_message_is_shown_and_not_called(content: object) -> None:
    """The page can reach the handlers made for it and nothing else."""
    panel = Odd()
    page_sends(panel, content)  # type: ignore[arg-type] # a page may send anything
    assert "doesn't know" in panel.message["text"]


def test_a_new_view_is_answered() -> None:
    """The page's hello tells it that a kernel is there."""
    panel = Odd()
    messages = heard(panel)
    page_sends(panel, {"name": "hello"})
    assert messages == [({"name": "here"}, [])]


def test_what_threads_change_goes_with_the_answer_to_any_panel() -> None:
    """Where only answers reach the page, nothing is sent in vain and one question brings the news of all."""
    asked, other = Odd(), Odd()
    sent: list[tuple[Odd, set[str]]] = []
    for panel in (asked, other):
        panel.asks = True
        panel._send = lambda message, buffers=None, panel=panel: sent.append((panel, set(message["state"])))
    by_a_thread = threading.Thread(target=lambda: other.send_state(("message", "live")))
    by_a_thread.start()
    by_a_thread.join()
    assert (other.reaches_page, sent) == (True, [])
    heard(asked)
    page_sends(asked, {"name": "ask"})
    assert sent == [(other, {"message", "live"})]
    page_sends(asked, {"name": "ask"})
    assert len(sent) == 1


def test_a_panel_has_a_still_form_beside_the_live_one() -> None:
    """Where there is no kernel, the text and the HTML are what is left."""
    bundle = ImagePicker()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert "Run the cell again" in bundle["text/html"]


def test_panels_of_a_closed_session_freeze_quietly(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever the page asks, each public panel and all within it keep what they show and say nothing."""
    session = rb.connect("sandbox", home=home)
    assert session.sandbox is not None
    session.sandbox.settings(pace="at once", rate_limiting=False)
    fox = session.text_to_video("a fox", duration_seconds=1)
    clip = fox.result()
    session.sandbox.settings(pace=20)
    running = session.text_to_video("an owl", duration_seconds=10)
    while running.request_id is None:
        time.sleep(0.01)
    sweep = rb.Sweep("a {animal}", animal=["fox", "heron"], duration_seconds=1)
    before = set(base._panels)
    jobs = (fox, running)
    shown = [
        *(rb.JobCard(fox), rb.JobCard(running), rb.Player(clip), rb.Compare(jobs), rb.JobBoard(jobs=jobs)),
        *(rb.JobBoard(session), rb.Gallery(session), rb.KeyManager(session), rb.ConnectionPanel(session)),
        *(rb.ClassroomPanel(session), rb.PromptForm(session), rb.ImagePicker(), rb.SweepForm(session)),
        *(rb.Matrix(sweep, session), rb.UsageChart(session), rb.ToolExplorer(session), rb.Studio(session)),
    ]
    assert {type(each).__name__ for each in shown} == set(reelbook.widgets.__all__)
    panels = set(base._panels) - before
    session.close()
    for panel in panels:
        for name in ("hello", "ask", "left"):
            page_sends(panel, {"name": name})
    assert all(panel.still()[1] for panel in shown)
    assert {type(panel): panel.message["text"] for panel in panels if panel.message["text"]} == {}
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    card = shown[1]
    assert "The job goes on at the service and is billed" in card.face["note"]
    assert (card.face["actions"][0], card.live) == (["watch", "Watch again"], False)
    end = time.monotonic() + 120  # what had begun before comes to its end
    while busy := [panel for panel in panels if isinstance(panel, WorksInBackground) and panel._busy]:
        assert time.monotonic() < end, busy
        time.sleep(0.01)


def test_panels_nest_in_boxes() -> None:
    """A panel is a widget like any other."""
    picker = ImagePicker(layout=ipywidgets.Layout(width="50%"))
    assert ipywidgets.HBox([picker]).children == (picker,)


def test_the_package_names_its_panels_and_no_others() -> None:
    """Public names are there without being loaded, unknown ones are an error."""
    assert {"Studio", "JobCard"} <= set(dir(reelbook.widgets))
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = reelbook.widgets.Nonsense


def test_what_changes_while_a_still_is_drawn_is_kept_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """News from the session's thread between drawing and noting what was drawn isn't taken for drawn."""
    kept: list[str] = []
    handle = SimpleNamespace(update=lambda bundle, **_: kept.append(bundle["text/plain"]))

    class Told(Still):
        model_id, news = "1", "before"

        def still(self) -> tuple[str, str]:
            return self.news, self.news

    told = Told()

    def display(*_: object, **__: object) -> object:
        told.news = "after"
        return handle

    monkeypatch.setattr("IPython.display.display", display)
    told._ipython_display_()
    told.keep_still()
    assert kept == ["after"]
    told.keep_still()
    assert kept == ["after"]
