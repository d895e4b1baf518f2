"""Judging in a real JupyterLab: a vote takes one key, nothing is told before Stop, the standing after it."""

from browser.lab import Notebook, keep_in_view, says, shown, tab_stops, until

MAKE = """
run50 = rb.Sweep("a {animal} in snow", animal="fox, heron", seed=7, duration_seconds=1).run(session)
run50.results()
"""
BOTH = """(cell) => {
  const videos = [...cell.querySelectorAll('.rb-pair video')];
  return videos.length === 2 && videos.every((video) => video.readyState > 1);
}"""
NUMBER = "judge50.pair['n']"


def test_a_vote_takes_one_key(notebook: Notebook) -> None:
    """By arrows, by buttons; taken back, by two voters; what the clips are is nowhere before Stop."""
    cell = notebook.run(f"{MAKE}judge50 = rb.Judge(run50)\njudge50")
    shown(cell, ".rb-pair video")
    until(cell, BOTH)
    panel = cell.locator(".rb-judge")
    before = notebook.executions()
    panel.focus()
    for number, key in enumerate(("ArrowLeft", "ArrowRight", "ArrowDown"), 2):
        notebook.press(key)
        notebook.comes_to(NUMBER, number)
        until(cell, BOTH)
    notebook.comes_to("judge50.study.voters", {"": 3})
    notebook.press("u")
    notebook.comes_to("judge50.study.voters", {"": 2})
    until(cell, BOTH)
    cell.get_by_label("Who votes").fill("Ada")
    notebook.press("ArrowLeft")  # moves in the text
    notebook.press("Tab")
    notebook.comes_to("judge50.voter", "Ada")
    cell.get_by_role("button", name="B is better").click()
    notebook.comes_to("judge50.study.voters", {"": 2, "Ada": 1})
    assert not any(word in panel.evaluate("(part) => part.outerHTML") for word in ("fox", "heron", "snow"))
    panel.evaluate("(part) => { part.dataset.former = '' }")
    cell.get_by_role("button", name="Stop").focus()
    expected = "A is better, Can't say, B is better, Pause, Time, Take back the last vote, Who votes"
    assert ", ".join(tab_stops(notebook)) == expected
    # A panel that was left is drawn again, as its still form is kept: the view from before has to be gone.
    until(cell, "(cell) => !cell.querySelector('[data-former]')")
    until(cell, BOTH)

    cell.get_by_role("button", name="Stop").click()
    shown(cell, ".rb-rank tbody tr")
    says(cell, "a fox in snow")
    says(cell, " % from its beginning")
    keep_in_view(cell)
    assert notebook.page.evaluate("document.activeElement.textContent") == "Go on judging"
    cell.get_by_role("button", name="Ada · 1").click()
    says(cell, "1 vote · 2 clips")
    cell.get_by_role("button", name="Go on judging").click()
    until(cell, BOTH)
    assert notebook.executions() == before


def test_a_vote_that_could_not_be_kept_is_asked_for_again(notebook: Notebook) -> None:
    """The panel says why, and its answers work again at once."""
    cell = notebook.run(f"{MAKE}judge50 = rb.Judge(run50)\njudge50")
    until(cell, BOTH)
    notebook.run("""
from unittest import mock
full = mock.patch.object(judge50.study, "vote", side_effect=rb.errors.LedgerUnavailable("The disk is full."))
_ = full.start()""")
    cell.get_by_role("button", name="A is better").click()
    says(cell, "The disk is full.")
    notebook.run("full.stop()")
    cell.get_by_role("button", name="B is better").click()
    notebook.comes_to(NUMBER, 2)
