"""The usage chart in a real JupyterLab: bars by mouse, days by keyboard."""

from browser.lab import Notebook, keep_in_view, says, shown, until

CHART = """
chart70 = rb.UsageChart(session)
chart70
"""
NOTHING = """
import ipywidgets
from reelbook.widgets.usage_chart import BarFigure
box70 = ipywidgets.VBox([BarFigure(print).figure])
box70.add_class('reelbook-usage')
box70
"""
# The days' names that are seen, none of which reaches into the next.
APART = """(cell) => {
  const names = [...cell.querySelectorAll('.bqplot .axis[text-anchor=middle] .tick text')]
    .map((name) => name.getBoundingClientRect()).filter((box) => box.width);
  return names.length > 1 && names.every((box, place) => !place || box.left > names[place - 1].right + 4);
}"""

# The periods stand in one row, and nothing of it is cut off.
PERIODS = """(cell) => {
  const row = cell.querySelector('.rb-seg'), tops = [...row.children].map((button) => button.offsetTop);
  return [new Set(tops).size === 1, row.scrollWidth <= row.clientWidth];
}"""


def test_a_day_is_chosen_by_mouse_and_by_keyboard(notebook: Notebook) -> None:
    """A click on a bar opens its day; the table's buttons do the same; the period is changed by a press.

    Without bars the figure is out of sight, and in a narrow chart the days' names don't run together.
    """
    cell = notebook.run(CHART)
    says(cell, "split by day with")
    assert notebook.value("chart70.history.done")
    keep_in_view(cell)
    bars = cell.locator(".bqplot .bar")
    until(shown(cell, ".bqplot"), "(chart) => chart.querySelectorAll('.bar').length === 30")
    until(bars.nth(20), "(bar) => bar.getBoundingClientRect().width > 3")
    bars.nth(20).click()
    says(cell, ": $2.00")  # how many requests is told only where no other test's clip was paid for meanwhile
    assert notebook.value("chart70._slot()") == 20
    bars.nth(20).click(modifiers=["Control"])
    cell.locator(".rb-usage-day").wait_for(state="hidden")
    assert notebook.value("chart70.selected_day") == ""
    bars.nth(20).click()
    says(cell, ": $2.00")
    shown(cell, "details summary").press("Enter")
    first = cell.locator(".rb-usage-table tbody button").last
    first.focus()
    first.press("Enter")
    cell.locator(".rb-usage-day").wait_for(state="hidden")
    assert notebook.value("chart70.selected_day") == ""
    nothing = notebook.run(NOTHING).locator(".bqplot")
    nothing.wait_for(state="attached")
    # Out of sight, and as wide as ever: on no width bqplot draws what the browser refuses.
    until(nothing, "(figure) => figure.clientWidth > 200 && getComputedStyle(figure).visibility === 'hidden'")
    notebook.execute("chart70.layout.width = '320px'")
    until(cell, "(cell) => cell.querySelector('.bqplot').clientWidth < 330")
    until(cell, APART)
    notebook.execute("chart70.layout.width = '216px'")  # as in a window of 320 px
    until(cell, "(cell) => cell.querySelector('.bqplot').clientWidth < 216")
    assert cell.evaluate(PERIODS) == [True, True]
    cell.get_by_role("button", name="7 days").press("Enter")
    says(cell, "in 7 days")
    assert notebook.value("chart70.days") == 7
    notebook.execute("chart70.history.close()")  # it asks no more
