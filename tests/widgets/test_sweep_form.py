"""The form of a sweep: what it says while somebody types, what it buys, and what it goes on with."""

from typing import Any

import pytest
from support.waiting import until
from widgets.doubles import asks, says

import reelbook as rb
from reelbook.errors import ConfirmationNeeded, InvalidInput
from reelbook.explore import SweepRun
from reelbook.requests import options
from reelbook.sandbox.handle import Sandbox
from reelbook.widgets.matrix import Matrix
from reelbook.widgets.sweep_form import SweepForm


@pytest.fixture(autouse=True)
def known_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan knows its time."""
    monkeypatch.setattr("reelbook.explore.plan.forecast", lambda *_: (240.0, 300.0, 360.0))


AXES = {"animal": "fox, heron, bear", "seed": "1-2", "duration_seconds": "1"}


def filled(session: rb.Session, **traits: Any) -> SweepForm:
    return SweepForm(session, **{"template": "a {animal} runs", "axes": AXES, **traits})


def test_slots_become_axes_as_they_are_typed(session: rb.Session) -> None:
    """Each slot has a row above a request's own fields, with how many values there are."""
    form = SweepForm(session)
    assert form.words["note"] == "Write a prompt. {animal} is a slot, {snow|fog} a choice."
    form.template = "a {animal} in {place}"
    assert [row[0] for row in form.words["rows"]] == ["animal", "place", *options()]
    form.axes = {**form.axes, "animal": "fox, heron", "place": "snow || fog, thick"}
    assert [row[3] for row in form.words["rows"]][:5] == [2, 2, 1, None, 2]
    assert form.sweep is not None
    assert len(form.sweep.cells) == 8


def test_the_plan_is_said_before_anything_is_bought(session: rb.Session) -> None:
    """How many, how much, how long; every design with its number; the button carries the sum."""
    form = filled(session)
    lines = dict(form.words["lines"])
    assert (lines["Clips"], lines["Cost"]) == ("6", "$0.30")
    assert lines[f"Time, at {session.facts.requests_limit} requests a minute"] == "4 to 6 min"
    assert ["grid", "Full grid · 6"] in form.words["designs"]
    assert ["one-at-a-time", "One at a time · 4"] in form.words["designs"]
    assert form.words["buttons"] == [["begin", "Make 6 clips · $0.30", ""]]
    form.design, form.sample = "sample", 4
    assert form.words["buttons"] == [["begin", "Make 4 clips · $0.20", ""]]


def test_no_panel_waits_for_a_balance(session: rb.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for once, in the background: each answer is news, and would make a new plan ask again."""
    asked = list[str]()
    monkeypatch.setattr(rb.Session, "balance", lambda _: asked.append("and waited for"))
    monkeypatch.setattr(rb.Session, "_refresh_balance", lambda _: asked.append("in the background"))
    form = filled(session)
    form.template = "a {animal} walks"
    assert form.sweep is not None
    matrix = Matrix(form.sweep, session)
    for panel in (form, matrix):
        says(panel, "hello")
    assert "6 clips · $0.30 · 4 to 6 min" in matrix.still()[1]
    says(form, "begin")
    assert form.words["note"].startswith("This sweep was begun")
    assert asked == ["in the background"] * 2
    matrix.sweep.plan(session)
    assert asked[2:] == ["and waited for"]


@pytest.mark.parametrize(
    ("template", "axes", "field", "said"),
    [
        ("a {fox|", {}, "template", "character 3"),
        ("a {animal}", {"animal": "1-9 (-2)"}, "animal", "don't lead"),
        ("a fox", {"duration_seconds": "99"}, "", "1 to 10"),
        ("a {animal}", {}, "", "{animal} has no values yet."),
    ],
)
def test_what_is_wrong_is_said_where_it_is(
    session: rb.Session, template: str, axes: dict[str, str], field: str, said: str
) -> None:
    """Beside the field, or in place of the plan; nothing can be bought."""
    form = SweepForm(session, template=template, axes=axes)
    assert said in (form.words["problems"][field] if field else form.words["note"])
    assert form.words["buttons"] == []
    with pytest.raises(InvalidInput):
        form.begin()


def test_the_button_buys_once(session: rb.Session, sandbox: Sandbox) -> None:
    """A double press is one sweep; whoever listens gets its run, also of one that is only looked at."""
    form = filled(session)
    runs: list[SweepRun] = []
    assert not form.words["looks"]
    form.on_run(runs.append)
    assert form.words["looks"]
    says(form, "look")
    assert [(run.id, len(run.cells)) for run in runs] == [(None, 6)]
    says(form, "begin")
    says(form, "begin")
    [_, run] = runs
    run.results(30)
    assert sandbox.state()["requests"]["text-to-video"] == 6
    assert run.state == "completed"


def test_above_a_sum_it_asks_twice(session: rb.Session) -> None:
    """The page has the answer that buys; without it nothing is bought, by press or in code."""
    form = filled(session, confirm_above_usd=0.1)
    assert form.words["buttons"] == [["begin", "Make 6 clips · $0.30", "Yes, make 6 clips · $0.30"]]
    says(form, "begin")
    says(form, "begin", answer="Yes, make 5 clips · $0.25")  # what it said before a last edit
    with pytest.raises(ConfirmationNeeded):
        form.begin()
    assert session.sweeps() == ()
    says(form, "begin", answer=form.words["buttons"][0][2])
    assert len(session.sweeps()) == 1


def test_an_unfinished_sweep_is_listed_and_resumed(session: rb.Session, sandbox: Sandbox) -> None:
    """With what is missing and what that costs; afterwards it is there to be opened, with its poster."""
    run = SweepRun(session, filled(session).sweep)  # type: ignore[arg-type] # it can be read
    run.leave_out([1, 2])
    run.start()
    run.results(30)
    run.stop()
    run.take_in([1, 2])
    form = SweepForm(session)
    runs: list[SweepRun] = []
    form.on_run(runs.append)
    says(form, "hello")
    [left] = form.earlier
    assert left["name"] == "a {animal} runs"
    assert left["said"] == "4 of 6, 2 missing · $0.20 · stopped · just now"
    assert left["resume"] == "Resume, 2 clips · $0.10"
    says(form, "open", run=left["id"])
    assert runs.pop().state == "stopped"  # nothing resumes by itself
    says(form, "resume", run=left["id"])
    runs[0].results(30)
    assert sandbox.state()["requests"]["text-to-video"] == 6
    until(lambda: form.earlier[0]["said"] == "6 of 6 · $0.30 · just now")
    assert form.earlier[0]["resume"] == ""
    assert asks(form, "posters", keys=[left["id"], "99"])["buffers"][1] == b""
    assert form.clip_path(left["id"]) is not None


def test_what_is_planned_is_given_as_code(session: rb.Session) -> None:
    """As a cell and as a script; kept styles are written out; what can't be read is none."""
    rb.Styles(session.home).add("at dawn")
    form = filled(session, template="a {animal} runs __styles__")
    assert form.sweep is not None
    assert asks(form, "code", kind="cell") == {"text": form.sweep.as_code()}
    assert asks(form, "code", kind="script") == {"text": form.sweep.as_code("script")}
    assert 'wildcards={"styles": ["at dawn"]}' in form.sweep.as_code()
    form.template = "a {animal"
    assert asks(form, "code", kind="cell") == {}


def test_a_clip_of_a_sweep_is_varied_in_one_thing(session: rb.Session) -> None:
    """Its seed first, another by a press; what is there already costs nothing; an edit ends the choice."""
    form = filled(session)
    run = form.begin()
    run.results(30)
    [job] = session.jobs(sweep=run.id, where={"animal": "heron", "seed": "1"})
    form.vary(job)
    assert (form.template, form.axes["animal"], form.axes["seed"]) == ("a {animal} runs", "heron", "1-4")
    assert [each[0] for each in form.words["varies"] if each[2]] == ["seed"]
    says(form, "vary", axis="animal")
    assert form.axes["animal"] == "fox, heron, bear"
    assert [each[0] for each in form.words["varies"] if each[2]] == ["animal"]
    assert dict(form.words["lines"])["Already in the ledger"] == "3 · $0.00"
    form.template = "a {animal} swims"
    assert form.words["varies"] == []
    alone = session.text_to_video("a boat", duration_seconds=1, seed=5)
    alone.result(30)
    form.vary(alone)
    assert [each[0] for each in form.words["varies"]] == list(options())


def test_marked_words_become_a_slot(session: rb.Session) -> None:
    """Called by themselves, with themselves as its first value; the page is told where to type the others."""
    form = SweepForm(session)
    marks = [("a ", "red fox", " in snow"), ("a {red_fox} in ", "seed", "")]
    for (before, marked, after), axis in zip(marks, ["red_fox", "seed_2"], strict=True):
        told = asks(form, "slot", before=before, marked=marked, after=after, axes=form.axes)
        assert told == {"axis": axis}
    assert form.template == "a {red_fox} in {seed_2}"
    assert (form.axes["red_fox"], form.axes["seed_2"]) == ("red fox, ", "seed, ")
    assert form.sweep is not None
    assert form.sweep.cells[0].request.prompt == "a red fox in seed"
    assert asks(form, "slot", before="a ", marked="{red_fox}", after="", axes={}) == {}
    assert "Mark words without braces" in form.message["text"]
