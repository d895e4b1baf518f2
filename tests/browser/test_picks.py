"""Picks in a real JupyterLab: from a matrix to the tray, to longer clips and to a page on the disk."""

from pathlib import Path

from browser.lab import Notebook, says, shown, tells, until

STUDIO = """
session.sandbox.settings(pace=0)
sweep70 = rb.Sweep('a {animal} in {place}', animal=['red fox', 'heron'], place=['snow', 'rain', 'fog'],
                   seed=7, duration_seconds=2)
run70 = sweep70.run(session)
run70.results()
for job in session.picks():
    job.mark(picked=False)
studio70 = rb.Studio(session)
studio70.view = 'explore'
studio70._show_matrix(run70)
studio70
"""
PLAYS = "(page) => [...page.querySelectorAll('video')].every((video) => video.currentTime > 0.1)"


def test_two_picks_become_a_page_on_a_colleagues_disk(notebook: Notebook, tmp_path: Path) -> None:
    """Picked in the matrix, they are in the tray; handed over and downloaded, they play without a network."""
    cell = notebook.run(STUDIO)
    tray, page = cell.locator(".rb-of-tray"), notebook.page
    until(shown(cell, ".rb-matrix"), "(part) => part.querySelectorAll('.rb-cell img[src]').length === 6")
    assert tray.locator(".rb").is_hidden()
    for number in (1, 5):
        # The star shows under the mouse only, from which a busy notebook may scroll it away.
        cell.locator(f".rb-cell[data-n='{number}']").get_by_label("Pick").dispatch_event("click")
    tells(tray, "2 picks", "today")
    tray.scroll_into_view_if_needed()
    until(tray, "(part) => part.querySelectorAll('img[src]').length === 2")
    tray.get_by_role("button", name="Make longer…").click()
    tells(tray, "2 clips · $1.00")
    tray.get_by_role("button", name="5 s").click()
    tells(tray, "2 clips · $0.50")
    tray.get_by_role("button", name="Cancel").click()
    tray.get_by_role("button", name="Hand over").click()
    form = cell.locator(".rb-of-hand_over_form")
    form.get_by_label("Title").fill("Two of six")
    form.get_by_role("button", name="Save page").click()
    says(cell, "none found inside")
    with page.expect_download() as download:
        form.get_by_role("button", name="Download").click()
    file = tmp_path / download.value.suggested_filename
    assert file.name == "two-of-six.html"
    download.value.save_as(file)
    assert page.context.browser is not None
    phone = page.context.browser.new_context(offline=True, viewport={"width": 390, "height": 800})
    theirs = phone.new_page()
    theirs.goto(file.as_uri())
    theirs.get_by_role("button", name="Play").click()
    until(theirs.locator("body"), PLAYS)
    tells(theirs.locator("figure").first, "seed 7 · 2.0 s")
    phone.close()
    form.get_by_role("button", name="Done").click()
    form.wait_for(state="detached")
    # What a press opens has the keyboard.
    for offer, there in (("Compare", ".rb-of-compare .rb-play"), ("Judge", ".rb-judge")):
        tray.get_by_role("button", name=offer).press("Enter")
        until(cell, f"(cell) => document.activeElement.matches('{there}')")
