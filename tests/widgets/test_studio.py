"""The Studio and its line."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image
from widgets.doubles import FakeSession, kept_stills, says

import reelbook as rb
from reelbook.sandbox.handle import Sandbox
from reelbook.widgets.studio import Studio, tools_offered
from reelbook.widgets.sweep_form import SweepForm


@pytest.fixture
def quiet() -> Iterator[Studio]:
    """The Studio of a session without a service; closed, it hears nothing of it any more."""
    session: Any = FakeSession()
    studio = Studio(session)
    yield studio
    studio.close()
    assert session.listeners == []


def told(studio: Studio, **facts: Any) -> list[str]:
    """What the panels say once the session knows these facts."""
    session: Any = studio.session
    session.facts = replace(session.facts, **facts)
    for panel in studio.children:
        panel.refresh()
    return [panel.message["text"] for panel in studio.children]


def test_a_sent_form_puts_its_job_on_the_card(quiet: Studio) -> None:
    """Form and card are joined; the saved Studio shows the card's still form."""
    quiet.form.prompt = "a fox"
    job = quiet.form.generate()
    assert quiet.card.job is job
    assert quiet.form.message["text"] == ""
    assert "a fox" in quiet._repr_mimebundle_()["text/html"]


def test_trouble_with_the_ledger_is_said_once(quiet: Studio) -> None:
    """By the line on top, which is in every view; the form's button gives its reason all the same."""
    trouble = "The ledger can't be written: the disk is full."
    assert told(quiet, trouble=trouble) == [trouble, "", "", ""]
    made_since = Studio(quiet.session)
    for studio in (quiet, made_since):
        assert told(studio) == [trouble, "", "", ""]
        assert "the ledger can't be written" in studio.form.words["lengths"][0]["off"]
    made_since.close()


def test_a_panel_within_a_panel_leaves_trouble_to_the_line(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of the tools, which says it by itself only outside the Studio."""
    facts = replace(session.facts, trouble="The ledger can't be written: the disk is full.")
    monkeypatch.setattr(rb.Session, "facts", facts)
    studio, alone = Studio(session, view="tools"), rb.ToolExplorer(session)
    said = []
    for panel in (studio.line, studio.panes["tools"][0].panel, alone.panel):
        panel.refresh()
        said.append(panel.message["text"])
    assert said == [facts.trouble, "", facts.trouble]


def test_a_key_that_the_service_refuses_is_said_and_replaced(quiet: Studio) -> None:
    """In the header, under it and on the button, both of which lead to the connection."""
    trouble, refused = "The service doesn't accept this API key.", "The service refuses this key"
    assert told(quiet, key_trouble=trouble) == [trouble, "", "", ""]
    assert quiet.line.facts == {"service": "sandbox", "refused": refused, "running": 0}
    words = quiet.form.words
    assert (words["replace_key"], words["lengths"][4]["low"]) == ("Replace key", f"{refused}.")
    says(quiet.form, "replace_key")
    assert quiet.view == "connection"
    assert told(quiet, key_trouble=None)[0] == "The key is accepted now."
    assert (quiet.line.facts["balance"], quiet.form.words["replace_key"]) == ("$25.00", "")


def test_a_view_that_cannot_be_opened_says_why(session: rb.Session) -> None:
    """Under the line; what was shown stays."""
    studio = Studio(session)
    session.close()
    studio.view = "usage"
    assert studio.line.message["text"].startswith("This session is closed.")
    assert studio.pane == "create"


def test_the_notebook_keeps_the_latest_clip_once_a_person_turns_away(quiet: Studio) -> None:
    """Not before there is one: without a change nothing is drawn anew."""
    kept = kept_stills(quiet)
    says(quiet, "left")
    assert kept == []
    quiet.form.prompt = "a fox"
    quiet.form.generate()
    says(quiet, "left")
    (text,) = kept
    assert text.startswith("a fox")
    assert quiet.still_of() == quiet.card.still_of()


@pytest.fixture
def studio(session: rb.Session) -> Iterator[Studio]:
    studio = Studio(session)
    yield studio
    studio.close()


def planned(studio: Studio) -> tuple[SweepForm, list[rb.JobRequest]]:
    """The sweep's form, once it is what is shown, and what it would ask for."""
    form = studio.sweep_form
    assert (studio.view, shown(studio)) == ("explore", ["SweepForm"])
    assert form is not None
    assert form.sweep is not None
    return form, [cell.request for cell in form.sweep.cells]


def shown(studio: Studio) -> list[str]:
    """The panels that can be seen below the line."""
    return [type(panel).__name__ for panel in studio.panes[studio.pane]]


def test_each_view_shows_its_panel_and_no_other(studio: Studio) -> None:
    """A panel is made when it is first looked at, and stays."""
    assert shown(studio) == ["PromptForm", "JobCard"]
    assert studio.gallery is None
    for view, panel in (
        ("explore", "SweepForm"),
        ("board", "JobBoard"),
        ("gallery", "Gallery"),
        ("compare", "Hint"),
        ("judge", "Hint"),
        ("usage", "UsageChart"),
        ("keys", "KeyManager"),
        ("tools", "ToolExplorer"),
        ("connection", "ConnectionPanel"),
    ):
        studio.line.view = view
        assert (studio.view, shown(studio)) == (view, [panel])
    gallery = studio.gallery
    studio.view = "gallery"
    assert studio.gallery is gallery
    for empty in ("board", "gallery"):
        studio.view = empty
        says(getattr(studio, empty), "create")
        assert studio.view == "create"


def test_a_sweep_is_shown_below_its_form(studio: Studio) -> None:
    """Another one takes its place; what is selected in it is judged or compared."""
    studio.view = "explore"
    form = studio.sweep_form
    assert form is not None
    form.template, form.axes = "a {animal}", {"animal": "fox, heron", "duration_seconds": "1"}
    says(form, "look")
    first = studio.matrix
    says(form, "begin")
    assert shown(studio) == ["SweepForm", "Matrix"]
    assert studio.matrix is not None
    assert studio.matrix is not first
    studio.matrix.run.results(60)
    studio.matrix.selected = [1, 2]
    says(studio.matrix, "compare")
    compared = studio.compare
    says(studio.matrix, "compare")
    assert (studio.view, shown(studio)) == ("compare", ["Compare"])
    assert studio.compare is not compared
    says(studio.matrix, "judge")
    assert (studio.view, shown(studio)) == ("judge", ["Judge"])


def test_a_template_in_the_form_is_planned_as_a_sweep(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep's form opens with the template, the length, the shape and the seed: nothing comes later."""
    studio.form.prompt, studio.form.duration_seconds, studio.form.seed = "a {red|grey} fox", 3, 7
    sent: list[dict[str, str]] = []
    monkeypatch.setattr(studio, "send_state", lambda key: sent.append(getattr(studio.sweep_form, "axes", {})))
    says(studio.form, "plan", prompt=studio.form.prompt)
    _, requests = planned(studio)
    assert [axes.get("seed") for axes in sent] == ["7"]
    assert [each.prompt for each in requests] == ["a red fox", "a grey fox"]
    assert {(each.duration_seconds, each.seed) for each in requests} == {(3, 7)}


def test_another_session_begins_the_studio_anew(studio: Studio, sandbox: Sandbox) -> None:
    """Every panel is of the new session, the old ones listen no more."""
    before = studio.session
    studio.view = "connection"
    with rb.connect(api_key=sandbox.api_key, base_url=sandbox.url) as session:
        studio._use(session)
        assert (studio.session, studio.form.session, studio.view) == (session, session, "create")
        assert shown(studio) == ["PromptForm", "JobCard"]
        assert not before._listeners
        studio.close()


def test_tools_are_offered_where_there_is_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the sandbox, and where an address is configured; with the extra only."""
    session: Any = FakeSession()
    assert tools_offered(session)
    session.service = "live"
    assert not tools_offered(session)
    monkeypatch.setenv("REELBOOK_MCP_URL", "https://tools.example.org/mcp")
    assert tools_offered(session)
    monkeypatch.setattr("reelbook.widgets.studio.is_installed", lambda: False)
    assert not tools_offered(session)


def test_a_fresh_clip_leads_to_a_pick_a_comparison_and_a_small_sweep(studio: Studio) -> None:
    """Compare takes the clip made before; Vary plans its seed and the next three, and buys nothing."""
    first, second = (
        studio.session.text_to_video(word, duration_seconds=1, seed=7, once=word)
        for word in ("a fox", "an owl")
    )
    first.result(30)
    studio.card.job = first
    says(studio.card, "compare")
    second.result(30)
    studio.card.job = second
    studio.card.refresh()
    assert [name for name, _ in studio.card.face["actions"]][-3:] == ["compare", "vary", "code"]
    says(studio.card, "pick", picked=True)
    assert second.picked
    assert ["pick", "★ Picked"] in studio.card.face["actions"]
    says(studio.card, "compare")
    assert studio.compare is not None
    assert studio.view == "compare"
    studio.session.pick(first)
    studio.tray.refresh()
    says(studio.tray, "judge")
    assert studio.judge is not None
    assert (studio.view, len(studio.judge.study.clips)) == ("judge", 2)
    says(studio.card, "vary")
    form, _ = planned(studio)
    assert (form.template, form.axes["seed"], form.axes["duration_seconds"]) == ("an owl", "7-10", "1")
    assert len(studio.session.jobs()) == 2
    photo = studio.session.image_to_video(Image.new("RGB", (64, 64)), "it snows", duration_seconds=2)
    studio._vary(photo)  # it has no seed, so the form is filled in
    assert (studio.view, studio.form.mode, studio.form.prompt) == ("create", "image-to-video", "it snows")
