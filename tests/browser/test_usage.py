"""The usage chart in a real JupyterLab: bars by mouse, days by keyboard."""

from __future__ import annotations

import pytest

from browser.lab import Notebook, says, shown, until

pytestmark = [pytest.mark.browser]

CHART = """
chart70 = rb.UsageChart(session)
chart70
"""


def test_a_day_is_chosen_by_mouse_and_by_keyboard(notebook: Notebook) -> None:
    """A click on a bar opens its day; the table's buttons do the same; the period is changed by a press."""
    cell = notebook.run(CHART)
    says(cell, "split by day with", 60)
    assert notebook.value("chart70.history.done")
    notebook.page.wait_for_timeout(1000)  # the notebook swaps the view for the whole one, as nobody is at it
    bars = cell.locator(".bqplot .bar")
    until(shown(cell, ".bqplot"), "(chart) => chart.querySelectorAll('.bar').length === 30")
    until(bars.nth(20), "(bar) => bar.getBoundingClientRect().width > 3")
    bars.nth(20).click()
    says(cell, ": $2.00")  # how many requests is told only where no other test's clip was paid for meanwhile
    assert notebook.value("chart70._slot()") == 20
    shown(cell, "details summary").press("Enter")
    first = cell.locator(".rb-usage-table tbody button").last
    first.focus()
    first.press("Enter")
    cell.locator(".rb-usage-day").wait_for(state="hidden")
    assert notebook.value("chart70.selected_day") == ""
    cell.get_by_role("button", name="7 days").press("Enter")
    says(cell, "in 7 days")
    assert notebook.value("chart70.days") == 7
    notebook.run("chart70.history.close()")  # it asks no more
