"""The matrix of a sweep in a real JupyterLab: planned, bought and filled."""

from __future__ import annotations

import pytest

from browser.lab import Notebook, shown, tells, until

pytestmark = [pytest.mark.browser]


def test_a_sweep_is_planned_bought_and_fills(notebook: Notebook) -> None:
    """In the Studio from a template to clips: the price first, a second press above a dollar, live cells."""
    cell = notebook.run("session.sandbox.settings(pace=3)\nstudio61 = rb.Studio(session)\nstudio61")
    shown(cell, ".rb-form")
    cell.get_by_label("Prompt").fill("a {duck|swan} on a {lake|river}")
    cell.get_by_role("button", name="Plan 4 clips · $1.00").click()
    form = shown(cell, ".rb-sweep")
    form.get_by_label("Length").fill("1")
    form.get_by_label("Seed").fill("5-6")
    tells(form, "Full grid · 8", "$0.40", "Make 8 clips · $0.40")
    form.get_by_label("Length").fill("4")
    form.get_by_role("button", name="Make 8 clips · $1.60").click()
    form.get_by_role("button", name="No", exact=True).click()
    form.get_by_label("Length").fill("1")
    form.get_by_role("button", name="Make 8 clips · $0.40").click()
    matrix = shown(cell, ".rb-matrix")
    tells(matrix, "All 8 here", "planned", "took")
    until(matrix, "(matrix) => matrix.querySelectorAll('.rb-cell img:not([hidden])').length > 3")
    notebook.comes_to("[studio61.matrix.run.state, len(studio61.matrix.run.cells)]", ["completed", 8])
