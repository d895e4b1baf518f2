"""The matrix of a sweep: what the page gets, what its buttons do, and its still form. On a real sandbox."""

import re
from pathlib import Path
from typing import Any

import pytest
from support.waiting import until
from widgets.doubles import Page, kept_stills

import reelbook as rb
from reelbook.errors import InvalidInput
from reelbook.sandbox.handle import Sandbox
from reelbook.session.request_code import request_code
from reelbook.widgets.matrix import Matrix


@pytest.fixture(autouse=True)
def known_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan knows its time."""
    monkeypatch.setattr("reelbook.explore.plan.forecast", lambda *_: (240.0, 300.0, 360.0))


def foxes(**axes: Any) -> rb.Sweep:
    """Six clips for 0.30 USD."""
    given: dict[str, Any] = {"animal": ["fox", "heron", "bear"], "seed": [1, 2], "duration_seconds": [1]}
    return rb.Sweep("a {animal} runs", **{**given, **axes})


class MatrixPage(Page):
    """What a page knows of a matrix, put together from its messages."""

    def __init__(self, matrix: Matrix) -> None:
        super().__init__(matrix)
        self.matrix = matrix
        self.says("hello")

    @property
    def head(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for each, _ in list(self.messages):
            found |= each.get("head", {})
        return found

    @property
    def cells(self) -> dict[int, dict[str, Any]]:
        found: dict[int, dict[str, Any]] = {}
        for each, _ in list(self.messages):
            for cell in each.get("cells", []):
                found.setdefault(cell["n"], {}).update(cell)
        return found


def bought(session: rb.Session, **axes: Any) -> Matrix:
    """A matrix whose clips are all here."""
    run = foxes(**axes).run(session)
    run.results(30)
    return Matrix(run)


def test_a_planned_sweep_says_what_it_costs_and_buys_at_a_press(
    session: rb.Session, sandbox: Sandbox
) -> None:
    """What is left out is neither counted nor bought; above a sum the page asks first."""
    page = MatrixPage(Matrix(foxes(), session, confirm_above_usd=0.27))
    assert page.last("sweep")["axes"] == [
        ["animal", ["fox", "heron", "bear"]],
        ["seed", ["1", "2"]],
        ["duration_seconds", ["1 s"]],
    ]
    assert {cell["word"] for cell in page.cells.values()} == {"Planned"}
    assert page.cells[2]["acts"] == [["leave_out", "Leave out"]]
    until(lambda: page.head["controls"] == [["buy", "Make 6 clips · $0.30", "Yes, make 6 clips · $0.30"]])
    assert page.head["said"].startswith("6 clips · $0.30 · ")
    page.says("buy")
    assert page.matrix.run.id is None
    for number in page.cells:
        page.says("leave_out", key=number)
    until(lambda: (page.head["said"][:7], page.head["controls"]) == ("0 clips", []))
    for number in (1, 3, 4, 5, 6):
        page.says("take_in", key=number)
    until(lambda: page.head["controls"] == [["buy", "Make 5 clips · $0.25", ""]])
    sandbox.settings(balance_usd=0.1)
    session.balance()
    until(lambda: page.head["problem"].startswith("The balance of $0.10"))
    sandbox.settings(balance_usd=7)
    page.says("buy")  # which asks for the balance
    until(lambda: page.head["problem"] == "")
    assert "text-to-video" not in sandbox.state()["requests"]
    page.says("buy")
    page.says("buy")  # a double press
    until(lambda: page.head["said"].startswith("All 5 here · 1 left out · $0.25 · planned "))
    until(lambda: all(bool(cell["clip"]) == (number != 2) for number, cell in page.cells.items()))
    assert [page.cells[number]["word"] for number in (1, 2, 3)] == ["Completed", "Left out", "Completed"]
    assert page.cells[2]["tone"] == "off"
    assert (page.head["controls"], sandbox.state()["requests"]["text-to-video"]) == ([], 5)


def test_a_failed_cell_says_why_and_is_sent_again(session: rb.Session, sandbox: Sandbox) -> None:
    """Its button buys one clip, in its place."""
    sandbox.settings(fail_next="content policy")
    run = foxes().run(session)
    with pytest.raises(rb.errors.ReelbookError):
        run.results(30)
    page = MatrixPage(Matrix(run))
    [failed] = [cell for cell in page.cells.values() if cell["word"] == "Failed"]
    assert failed["note"]
    assert failed["acts"][0] == ["again", "Send again · $0.05"]
    assert "1 failed" in page.head["said"]
    page.says("again", key=failed["n"])
    page.says("again", key=failed["n"])  # a double press
    until(lambda: page.cells[failed["n"]]["word"] == "Completed")
    assert sandbox.state()["requests"]["text-to-video"] == 7


def test_picks_and_notes_are_kept(session: rb.Session) -> None:
    """Another matrix shows them too, and what is picked in code shows in both at once."""
    matrix = bought(session)
    page = MatrixPage(matrix)
    page.says("mark", key=1, note="the best")
    for number, picked in ((1, True), (3, True), (1, False), (1, False)):  # two presses before an answer
        page.says("pick", key=number, picked=picked)
    other = MatrixPage(Matrix(matrix.run))

    def found(page: MatrixPage) -> tuple[list[int], str]:
        return [n for n, cell in page.cells.items() if cell["picked"]], page.cells[1]["remark"]

    assert found(page) == found(other) == ([3], "the best")
    jobs = [cell.job for cell in matrix.run.cells if cell.job is not None]
    session.pick(jobs[1])
    jobs[0].mark(note="not any more")
    until(lambda: found(page) == found(other) == ([2, 3], "not any more"))


def test_what_changes_while_the_head_is_worded_is_in_the_same_message(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the head might count a clip as here that its cell doesn't have yet."""
    page = MatrixPage(bought(session))
    matrix, worded = page.matrix, page.matrix._head_words
    job = matrix.run.cells[3].job
    assert job is not None

    def pick_first() -> Any:
        monkeypatch.setattr(matrix, "_head_words", worded)
        job.mark(picked=True)
        return worded()

    monkeypatch.setattr(matrix, "_head_words", pick_first)
    assert [bool(cell["clip"]) for cell in page.last("sweep")["cells"]] == [True] * 6  # in one message
    page.messages.clear()
    matrix.refresh()
    assert [message["cells"] for message, _ in page.messages] == [[{"n": 4, "picked": True}]]
    page.messages.clear()
    page.says("pick", key=4, picked=False)
    assert [message for message, _ in page.messages] == [
        {"name": "cells", "cells": [{"n": 4, "picked": False}]}
    ]


def test_axes_stand_where_they_are_put(session: rb.Session) -> None:
    """Rows and columns are chosen by name; the first two without a word; another name is refused."""
    assert (Matrix(foxes(), session).rows, Matrix(foxes(), session).columns) == (["animal"], ["seed"])
    matrix = Matrix(foxes(), session, rows="seed")
    assert (matrix.rows, matrix.columns) == (["seed"], ["animal"])
    matrix.columns = ["animal", "seed"]
    assert matrix.columns == ["animal", "seed"]
    with pytest.raises(InvalidInput, match="no axis 'place'"):
        Matrix(foxes(), session, rows="place")
    strange: Any = "a fox"
    with pytest.raises(InvalidInput, match="takes a sweep, not str"):
        Matrix(strange, session)


def test_what_is_arranged_in_the_page_is_what_python_has(session: rb.Session) -> None:
    """The page is told once it is so, also where it can't be; other traits aren't its business."""
    page = MatrixPage(Matrix(foxes(), session))
    values = {"rows": ["seed"], "columns": [], "selected": [2], "shape": 3.0}
    assert page.asks("set", values=values) == {}
    assert (page.matrix.rows, page.matrix.columns, page.matrix.selected) == (["seed"], [], [2])
    assert page.matrix.shape == 16 / 9
    assert page.asks("set", values={"rows": ["place"]}) == {}
    assert page.matrix.rows == ["seed"]
    assert "no axis 'place'" in page.matrix.message["text"]


def test_it_leads_on_where_somebody_answers(session: rb.Session) -> None:
    """The page offers it then; whoever answers gets the cell's job, or the selected ones in that order."""
    matrix = bought(session)
    answered: list[object] = []
    assert matrix.offers == []
    matrix.on_compare(answered.append)
    matrix.on_vary(answered.append)
    assert matrix.offers == ["compare", "vary"]
    matrix.selected = [4, 2]
    page, jobs = MatrixPage(matrix), [cell.job for cell in matrix.run.cells]
    page.says("compare")
    page.says("vary", key=3)
    assert answered == [(jobs[3], jobs[1]), jobs[2]]


def test_a_cell_and_the_whole_sweep_are_given_as_code(session: rb.Session) -> None:
    """The cell as its clip gives it, planned or here; the sweep as its form does."""
    matrix = Matrix(foxes(), session)
    page = MatrixPage(matrix)
    assert page.asks("code", kind="curl", key=2)["text"] == request_code(
        matrix.sweep.cells[1].request, "curl"
    )
    assert page.asks("code", kind="cell")["text"] == matrix.sweep.as_code()


def test_the_still_form_is_a_table_with_labels(session: rb.Session) -> None:
    """Posters under the columns' labels, beside those of the rows; small."""
    matrix = bought(session)
    page, text = matrix.still()
    assert page.count("<img") == 6
    for label in ("fox", "heron", "bear", ">1<", ">2<"):
        assert label in page
    assert text.startswith("Matrix: a {animal} runs · All 6 here · $0.30")
    planned, _ = Matrix(foxes(seed=[8, 9]), session).still()
    assert planned.count("Planned") == 6


def test_the_notebook_keeps_the_grid_at_rest(session: rb.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not while clips are under way, and not for one who uses it; later changes are kept, too."""
    matrix = bought(session, seed=[1])
    page, kept = MatrixPage(matrix), kept_stills(matrix)
    with monkeypatch.context() as busy:
        busy.setattr(Matrix, "_running", True)
        matrix.rows = "seed"
        page.says("left")
        assert kept == []
        page.says("entered")
    matrix.refresh()
    assert kept == []
    page.says("left")
    assert len(kept) == 1
    matrix.rows = "animal"
    matrix.refresh()
    assert len(kept) == 2


def test_it_is_saved_as_it_stands(
    session: rb.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Swapped axes are swapped in the file; the page's button writes beside what is there already."""
    monkeypatch.chdir(tmp_path)
    matrix = bought(session)
    page = MatrixPage(matrix)
    matrix.rows, matrix.columns = "seed", []
    written = matrix.save("grid.html").read_text("utf-8")
    assert re.findall(r'<th scope="row">(.*?)</th>', written) == ["1", "2"] * 3
    assert re.findall(r"<h2>(.*?)</h2>", written) == ["animal fox", "animal heron", "animal bear"]
    page.says("save", kind="html")
    until(lambda: matrix.message["text"] == f"The grid is in {tmp_path / 'grid-2.html'}.")


def test_the_head_finds_out_about_all_that_was_not_answered(
    session: rb.Session, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At one press, with one question for the usage; then the person's word is asked for, once too."""
    # Figures taken between the two submissions would tell of one of them.
    monkeypatch.setattr(session._balance, "answer_lost", lambda: None)
    session.usage()
    sandbox.fault("answer_lost", endpoint="generate", times=2)
    run = foxes(animal=["fox"]).run(session)
    until(lambda: [cell.state for cell in run.cells] == ["uncertain"] * 2 and run.state != "running")
    page = MatrixPage(Matrix(run))
    assert page.head["controls"] == [["find_out", "Find out about 2 clips"]]
    asked = sandbox.state()["requests"]["usage"]
    page.says("find_out")
    until(
        lambda: (
            page.head["controls"]
            == [["find_out", "Find out about 2 clips"], ["only_me", "Only I use this account"]]
        )
    )
    assert sandbox.state()["requests"]["usage"] == asked + 1
    page.says("only_me")
    until(lambda: {cell["word"] for cell in page.cells.values()} == {"Lost"})
    assert page.head["controls"] == []
