"""The board in a real JupyterLab: rows that move, open and play, by mouse and by keyboard."""

import pytest
from playwright.sync_api import Locator

from browser.lab import PLAYS, Notebook, at_rest, says, shown, until

TOP = "(node) => node.getBoundingClientRect().top"


def row(cell: Locator, prompt: str) -> Locator:
    return cell.locator(".rb-row", has_text=prompt).first


def test_jobs_of_other_cells_appear_move_and_play(notebook: Notebook) -> None:
    """The board stays idle in its cell; what another cell submits comes by itself, ends, opens and plays."""
    cell = notebook.run("board20 = rb.JobBoard(session)\nboard20")
    shown(cell, ".rb-board")
    notebook.run(
        "with session.experiment('board 20'):\n"
        "    batch20 = session.submit_many(['board 20: a heron', 'board 20: a kite'], duration_seconds=1)"
    )
    row(cell, "20: a heron").wait_for()
    says(cell, "board 20")
    kite = row(cell, "20: a kite")
    kite.locator(".rb-chip.rb-done").wait_for()
    until(kite, "(row) => row.querySelector('img').naturalWidth > 0")
    kite.click()
    until(cell.locator(".rb-open-row"), PLAYS)
    cell.get_by_role("button", name="Select", exact=True).click()
    says(cell, "Selected")
    notebook.comes_to(
        "[job.request.prompt for job in board20.jobs if job.request_id in board20.selected]",
        ["board 20: a kite"],
    )
    kite.click()
    cell.locator("video").wait_for(state="detached")


def test_the_board_is_worked_by_keyboard_and_the_notebook_hears_nothing(notebook: Notebook) -> None:
    """Arrows go through the rows, Enter opens one, Escape closes it, and no cell runs or appears."""
    notebook.run("batch21 = session.submit_many(['one', 'two'], duration_seconds=1)")
    notebook.value("len(batch21.results())")
    cell = notebook.run("batch21")
    shown(cell, ".rb-row")
    assert not cell.locator(".rb-row .rb-bar:visible").count()  # nothing is under way
    before = notebook.executions()
    row(cell, "two").focus()
    notebook.press("ArrowDown")
    until(row(cell, "one"), "(row) => row === document.activeElement && row.tabIndex === 0")
    assert cell.locator('.rb-row[tabindex="0"]').count() == 1
    notebook.press("Enter")
    until(cell.locator(".rb-open-row"), PLAYS)
    assert row(cell, "one").get_attribute("aria-expanded") == "true"
    notebook.press("Control+Enter", "a", "Escape")
    cell.locator("video").wait_for(state="detached")
    assert notebook.executions() == before


def test_a_row_at_the_windows_edge_opens_into_view(notebook: Notebook) -> None:
    """What a person opens by keyboard is seen and plays; what Python opens doesn't move the page."""
    cell = notebook.run(
        "from IPython.display import HTML\n"
        "board23 = rb.JobBoard(jobs=[finished_job()])\n"
        "[only23] = board23._entries.values()\n"
        "board23.observe(lambda change: setattr(board23, 'opened', only23.key), 'selected')\n"
        "display(HTML('<div style=\"height: 1500px\">far</div>'), board23)"
    )
    shown(cell, ".rb-row")
    edge, box = row(cell, "a boat"), cell.locator(".rb-open-row")
    edge.evaluate("(row) => row.scrollIntoView({ block: 'end' })")
    top = edge.evaluate(TOP)
    edge.click(modifiers=["Control"])
    until(box, "(box) => !box.hidden && box.querySelector('video')")
    assert at_rest(edge, TOP, seconds=0.3) == pytest.approx(top, abs=1)
    edge.press("Escape")
    box.wait_for(state="hidden")
    edge.press("Enter")
    until(box, PLAYS)
    assert edge.evaluate(TOP) < top
    assert box.evaluate("(box) => box.getBoundingClientRect().bottom < innerHeight + 1")


def test_where_no_update_comes_by_itself_the_board_asks(notebook: Notebook) -> None:
    """With nothing sent but answers, as in Colab, an idle board learns of a job when a person comes to it."""
    notebook.page.mouse.move(0, 0)  # a pointer that lies on the board is a person who came to it
    # A session of its own: while one waits for requests to come back, its boards ask by themselves.
    cell = notebook.run(
        "own22 = rb.connect('sandbox', max_spend=1000)\n"
        "board22 = rb.JobBoard(own22, limit=0)\nboard22.asks = True\nboard22"
    )
    shown(cell, ".rb-board")
    notebook.page.wait_for_timeout(7000)  # a board that was live asks for six seconds more
    notebook.run(
        "board22.send_state = lambda *args, **kwargs: None\n"
        "job22 = own22.text_to_video('a lone larch', duration_seconds=1)"
    )
    notebook.page.wait_for_timeout(500)
    assert row(cell, "larch").count() == 0
    notebook.execute("del board22.send_state")
    cell.locator(".rb").first.dispatch_event("pointerenter")
    row(cell, "larch").locator(".rb-chip.rb-done").wait_for()
