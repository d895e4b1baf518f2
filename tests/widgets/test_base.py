"""What every panel does."""

import base64
import concurrent.futures
import json
import logging
import threading
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from support.waiting import until
from widgets.doubles import FakeSession, asks, heard, says, work_ends

import reelbook as rb
from reelbook.errors import InvalidInput, InvalidPrompt, ServiceUnreachable
from reelbook.sandbox.handle import Sandbox
from reelbook.widgets import base
from reelbook.widgets.base import Callbacks, Panel
from reelbook.widgets.hand_over_form import HandOverForm
from reelbook.widgets.studio import Studio
from reelbook.widgets.tray import Tray

PUBLIC: dict[str, Any] = {name: getattr(rb, name) for name in rb.__all__ if name[0].isupper()}
PANELS = {name: each for name, each in PUBLIC.items() if each.__module__.startswith("reelbook.widgets.")}


class Odd(Panel):
    """A panel whose handlers fail, but for one, and that shows whether it is at work."""

    _esm = "export default {}"

    on_news = Callbacks[[str]]("`callback(news)` is called with news.")
    updates = 0

    def update(self) -> None:
        self.updates += 1
        self.live = self._busy

    def _on_theirs(self) -> None:
        raise ZeroDivisionError("division by zero")

    def _on_ours(self) -> None:
        raise InvalidPrompt("The prompt is empty.")

    def _on_double(self, number: int, unknown: object, buffers: Any) -> dict[str, Any]:
        return {"twice": 2 * number, "unknown": unknown, "buffers": [bytes(each) * 2 for each in buffers]}


def test_a_misspelt_argument_is_answered_with_the_nearest_one() -> None:
    """And with what is meant for people, not with what goes between the panel and its page."""
    with pytest.raises(
        TypeError, match=r"Did you mean prompt\? It takes: prompt, session, aspect_ratio"
    ) as told:
        rb.PromptForm(FakeSession(), promt="a fox")  # type: ignore[arg-type] # a double
    assert not {"message", "asks", "words", "live"} & set(str(told.value).replace(".", ",").split(", "))
    with pytest.raises(TypeError, match="sesion"):
        Studio(FakeSession(), sesion=1)  # type: ignore[arg-type] # a double


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


def test_each_panel_has_a_still_form_that_is_no_formula() -> None:
    """Two amounts in its text are amounts on a page with MathJax too."""
    bundle = Odd()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/html"].startswith('<div class="mathjax_ignore tex2jax_ignore">')
    assert "run the cell again" in bundle["text/html"]
    assert all(panel._repr_mimebundle_ is Panel._repr_mimebundle_ for panel in PANELS.values())


def test_a_failing_handler_is_shown_under_the_panel() -> None:
    """With its name and the line it came from; errors made for people are shown in their own words."""
    panel = Odd()
    says(panel, "theirs")
    said = "“theirs” failed. ZeroDivisionError: division by zero (_on_theirs, line "
    assert panel.message["text"].startswith(said)
    says(panel, "dismiss")
    assert panel.message["text"] == ""
    says(panel, "ours")
    assert panel.message["text"] == "The prompt is empty."


def test_callbacks_are_called_in_order_and_one_that_fails_is_shown() -> None:
    """Each panel has its own; the first one may bring a button."""
    panel, other, told = Odd(), Odd(), list[str]()

    panel.on_news(Mock(side_effect=RuntimeError("mine")))
    panel.on_news(told.append)
    assert (bool(panel.on_news), bool(other.on_news), panel.updates) == (True, False, 1)
    panel.on_news.tell("a fox")
    assert told == ["a fox"]
    assert panel.message["text"].startswith("Your on_news callback failed. RuntimeError: mine")
    assert "is called with news" in (Odd.on_news.__doc__ or "")


@pytest.mark.parametrize("content", [{"name": "nonsense"}, {"name": 3}, {}, "text", {"name": "msg; x"}])
def test_an_unknown_message_is_shown_and_not_called(content: object) -> None:
    """The page can reach the handlers made for it and nothing else."""
    panel = Odd()
    panel._handle_custom_msg(content, [])
    assert "doesn't know" in panel.message["text"]


def test_a_message_is_answered_where_it_asks_and_else_brings_the_panel_up_to_date() -> None:
    """A handler gets the parts that it names; a question is answered whatever becomes of it."""
    panel = Odd()
    given = asks(panel, "double", b"ab", number=21, more="not named")
    assert given == {"twice": 42, "unknown": None, "buffers": [b"abab"]}
    assert panel.updates == 0
    for question in ("hello", "ask", "ours"):
        assert asks(panel, question) == {}
    assert panel.updates == 3
    messages = heard(panel)
    says(panel, "dismiss")
    assert messages == []


def test_what_threads_change_goes_with_the_answer_to_any_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only answers reach the page, nothing is sent in vain and one question brings the news of all."""
    asked, other = Odd(), Odd()
    sent: list[tuple[Odd, set[str]]] = []

    def send(panel: Odd, message: dict[str, Any], buffers: object = None) -> None:
        sent.append((panel, set(message["state"])))

    for panel in (asked, other):
        panel.asks = True
        monkeypatch.setattr(panel, "_send", partial(send, panel))
    by_a_thread = threading.Thread(target=lambda: other.send_state(("message", "live")))
    by_a_thread.start()
    by_a_thread.join()
    assert (other.reaches_page, sent) == (True, [])
    heard(asked)
    says(asked, "ask")
    assert sent == [(other, {"message", "live"})]
    says(asked, "ask")
    assert len(sent) == 1


def test_panels_of_a_closed_session_freeze_quietly(
    session: rb.Session, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the page asks, each public panel and all within it keep what they show and say nothing."""
    fox = session.text_to_video("a fox", duration_seconds=1)
    clip, other = fox.result(), session.text_to_video("a heron", duration_seconds=1).result()
    sandbox.settings(pace=3600)
    running = session.text_to_video("an owl", duration_seconds=10)
    until(lambda: running.request_id)
    sweep = rb.Sweep("a {animal}", animal=["fox", "heron"], duration_seconds=1)
    before = set(base._panels)
    jobs = (fox, running)
    shown = [
        *(rb.JobCard(fox), rb.JobCard(running), rb.Player(clip), rb.Compare(jobs), rb.JobBoard(jobs=jobs)),
        *(rb.JobBoard(session), rb.Gallery(session), rb.KeyManager(session), rb.ConnectionPanel(session)),
        *(rb.ClassroomPanel(session), rb.PromptForm(session), rb.ImagePicker(), rb.SweepForm(session)),
        *(rb.Matrix(sweep, session), rb.UsageChart(session), rb.ToolExplorer(session), rb.Studio(session)),
        rb.Judge([clip, other], session),
    ]
    assert {type(each).__name__ for each in shown} == PANELS.keys()
    panels = set(base._panels) - before
    session.close()
    for panel in panels:
        for name in ("hello", "ask", "left"):
            says(panel, name)
    assert all(panel.still()[1] for panel in shown)
    assert {type(panel): panel.message["text"] for panel in panels if panel.message["text"]} == {}
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    card = shown[1]
    assert "The job goes on at the service and is billed" in card.face["note"]
    assert (card.face["actions"][0], card.live) == (["watch", "Watch again"], False)
    # What had begun before comes to its end.
    until(lambda: not any(panel._busy for panel in panels))


def test_a_key_that_is_refused_is_said_at_once(session: rb.Session) -> None:
    """Though nothing changes in any job; and when that is over."""
    jobs = [session.text_to_video(prompt, duration_seconds=1) for prompt in ("a fox", "an owl")]
    clips = [job.result(60) for job in jobs]
    panels: list[Panel] = [rb.Gallery(session), rb.Compare(jobs), rb.Judge(jobs), rb.Player(clips[0])]
    refused = "The service doesn't accept this API key."
    for trouble in (refused, None):
        session._client.key_trouble = trouble
        session._tell(None)
        for panel in panels:
            until(lambda: panel.message["text"] == (trouble or "The key is accepted now."))  # noqa: B023


def test_code_and_state_of_a_panel_stay_under_30_kb(session: rb.Session) -> None:
    """Both are saved with every notebook that shows it, however much it shows."""
    jobs = [session.text_to_video(f"{'a red fox in snow ' * 15}{n}", duration_seconds=1) for n in range(9)]
    clips = [job.result(30) for job in jobs]
    ids = [clip.request_id for clip in clips]
    for job in jobs:
        session.pick(job)
    animals = [f"animal number {n}" for n in range(20)]
    sweep = rb.Sweep("a {animal} runs", animal=animals, seed=list(range(10)), duration_seconds=1)
    panels = [
        *(rb.JobCard(jobs[0]), rb.Player(clips[0]), rb.Compare(clips), rb.Judge(clips)),
        *(rb.JobBoard(session, opened="7", selected=ids), rb.Gallery(session, opened=ids[0], selected=ids)),
        *(rb.Matrix(sweep, session), Tray(session), HandOverForm(session, [("9 picks", jobs)])),
    ]
    for panel in panels:
        state = json.dumps(panel.get_state(), default=lambda value: base64.b64encode(value).decode())
        assert (type(panel), len(state) < 30_000) == (type(panel), True)


def test_what_changes_while_a_still_is_drawn_is_kept_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """News from the session's thread between drawing and noting what was drawn isn't taken for drawn."""
    kept: list[str] = []
    handle = SimpleNamespace(update=lambda bundle, **_: kept.append(bundle["text/plain"]))

    class Told(Odd):
        news = "before"

        def still(self) -> tuple[str, str]:
            return self.news, self.news

    told = Told()

    def display(*_: object, **__: object) -> object:
        told.news = "after"
        return handle

    monkeypatch.setattr("IPython.display.display", display)
    told._ipython_display_()
    for _ in range(2):
        told.keep_still()
        assert kept == ["after"]


@pytest.fixture
def panel() -> Odd:
    return Odd()


def test_work_of_one_name_goes_on_once_and_says_what_it_came_to(
    panel: Odd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second press starts nothing, another name does; an interrupted press leaves the panel free."""
    gate = threading.Event()
    panel.say_problem("of before")
    with monkeypatch.context() as broken:
        broken.setattr(threading.Thread, "start", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            panel._start_work("Painting", lambda: "Done.")
    assert not panel._busy
    assert panel._start_work("Painting", lambda: f"Painted: {gate.wait(60)}.")
    assert (panel._doing(), panel.live, panel.message["text"]) == ("Painting", True, "")
    assert not panel._start_work("Painting again", lambda: None)
    assert panel._start_work("Sawing", lambda: str(gate.wait(60))[:0], name="saw")
    gate.set()
    work_ends(panel)
    assert (panel._doing(), panel.live) == ("", False)
    assert panel.message == {"text": "Painted: True.", "tone": "info"}


def test_each_step_is_taken_and_all_that_failed_is_said(panel: Odd) -> None:
    """The list is looked at even if the key couldn't be made; what isn't ours is named with what failed."""
    taken: list[str] = []
    panel._start_work(
        "Making it",
        Mock(side_effect=ServiceUnreachable("No connection.")),
        Mock(side_effect=OSError("no room for sk-planted-0123456789")),
        Mock(side_effect=concurrent.futures.CancelledError()),  # the session was closed: no news
        lambda: taken.append("looked") or "Looked.",  # type: ignore[func-returns-value] # that is meant
    )
    work_ends(panel)
    assert taken == ["looked"]
    text = "No connection. Making it failed. OSError: no room for (not shown: it looks like a key)"
    assert panel.message["text"].startswith(text)
    assert panel.message["text"].endswith("Looked.")
    assert panel.message["tone"] == "problem"
    panel._start_work("Working", lambda: panel.say_problem("My callback failed.") or "All is well.")  # type: ignore[func-returns-value] # that is meant
    work_ends(panel)
    assert panel.message["text"] == "My callback failed."  # no success hides what is shown meanwhile


def test_a_closed_panel_is_left_alone(panel: Odd) -> None:
    """The work ends, and nothing is said or refreshed."""
    gate, before = threading.Event(), set(threading.enumerate())
    panel._start_work("Working", lambda: f"Done: {gate.wait(60)}.")
    (worker,) = set(threading.enumerate()) - before
    panel.close()
    updates = panel.updates
    gate.set()
    worker.join(60)
    assert (panel.message["text"], panel.updates) == ("", updates)
