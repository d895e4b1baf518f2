"""The gallery in a real JupyterLab: by mouse, by keyboard, and with what is not there."""

import zipfile
from pathlib import Path

from playwright.sync_api import Locator

from browser.lab import PLAYS, Notebook, keep_in_view, none_left, says, shown, tells, until

# Clips of an experiment of their own, so that what other tests made doesn't count.
MADE = """
session.sandbox.settings(pace=0)
made = {name}, []
with session.experiment(made[0]):
    for number, prompt in enumerate({prompts}):
        made[1].append(session.text_to_video(prompt, duration_seconds=1, seed=number))
for job in made[1]:
    job.result()
session.sandbox.settings(pace=3)
gallery = rb.Gallery(session, experiment=made[0])
"""


def gallery(notebook: Notebook, name: str, *prompts: str, more: str = "") -> Locator:
    """A cell that shows a gallery of clips made for the test, the newest first."""
    code = MADE.format(name=repr(name), prompts=repr(prompts))
    cell = notebook.run(f"{code}{more}\ngallery")
    shown(cell, ".rb-tile")
    return cell


# The prompts of the selected clips, as Python knows them.
SELECTED = "[job.request.prompt for job in gallery.chosen]"


def test_search_open_mark_and_delete_by_mouse(notebook: Notebook) -> None:
    """Type to find, click to play, note and tag it, delete its file after a question, fetch it again."""
    cell = gallery(notebook, "mouse", "a fox in snow", "a wolf at night", "a paper boat")
    tiles = cell.locator(".rb-tile")
    until(
        cell,
        "(cell) => [...cell.querySelectorAll('.rb-tile img')].filter((img) => img.naturalWidth).length === 3",
    )
    quiet = "(grid) => [...grid.querySelectorAll('.rb-star')].map((star) => getComputedStyle(star).opacity)"
    assert cell.locator(".rb-grid").evaluate(quiet) == [
        "1",
        "1",
        "1",
    ]  # nothing needs to be hovered to be found
    cell.get_by_label("Search prompts and notes").fill("wol")
    until(cell, "(cell) => cell.querySelectorAll('.rb-tile').length === 1")
    tiles.first.click()
    until(shown(cell, ".rb-opened"), PLAYS)
    tells(cell.locator(".rb-opened"), "seed 1")
    cell.get_by_label("Note", exact=True).fill("the best light")
    cell.locator(".rb-marks input").fill("keep, blue")
    cell.get_by_role("button", name="☆ Pick").click()
    cell.get_by_role("button", name="★ Picked").last.wait_for()
    until(
        cell, "(cell) => [...cell.querySelectorAll('option')].some((option) => option.textContent === 'blue')"
    )
    notebook.comes_to(
        "[made[1][1].note, made[1][1].tags, made[1][1].picked]", ["the best light", ["keep", "blue"], True]
    )
    cell.get_by_role("button", name="Delete file…").click()
    says(cell, "Its record stays")
    cell.get_by_role("button", name="Delete the file", exact=True).click()
    says(cell, "No file here")
    notebook.comes_to("made[1][1].clip is None and made[1][1].note", "the best light")
    cell.get_by_role("button", name="Fetch again").click()
    until(cell.locator(".rb-opened"), PLAYS)
    cell.get_by_label("Search prompts and notes").fill("xylophone")
    says(cell, "No clip matches.")
    cell.get_by_role("button", name="Clear filters").click()
    until(cell, "(cell) => cell.querySelectorAll('.rb-tile').length >= 3")
    notebook.comes_to("[gallery.text, gallery.experiment]", ["", ""])


def test_the_selected_clips_are_compared_and_exported(notebook: Notebook, folder: Path) -> None:
    """Ctrl and Shift with a click, the box in the corner; the callback gets them, and a zip holds them."""
    more = """
compared = []
gallery.on_compare(lambda jobs: compared.append([job.request.prompt for job in jobs]))
"""
    cell = gallery(notebook, "chosen", "a fox", "a wolf", "a boat", "a whale", more=more)
    tiles = cell.locator(".rb-tile")
    tiles.nth(0).click(modifiers=["Control"])
    says(cell, "Select at least two to compare.")
    assert cell.get_by_role("button", name="Compare").is_disabled()
    tiles.nth(2).click(modifiers=["Shift"])
    says(cell, "3 selected")
    cell.locator(".rb-grid li").nth(1).hover()
    cell.get_by_role("checkbox", name="Select").nth(1).click()
    says(cell, "2 selected")
    cell.get_by_role("button", name="Compare").click()
    notebook.comes_to("compared", [["a whale", "a wolf"]])
    before = set((folder / "work").glob("reelbook-*.zip"))
    cell.get_by_role("button", name="Export").click()
    says(cell, "2 clips and their settings are in")
    (path,) = set((folder / "work").glob("reelbook-*.zip")) - before
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == [
            "a-whale-3.mp4",
            "a-wolf-1.mp4",
            "settings.csv",
            "settings.json",
        ]
    assert cell.locator(".rb-opened").is_hidden()
    # A clip of another cell takes its place at the top.
    late = "session.text_to_video('a late wolf', duration_seconds=1)"
    notebook.run(f"with session.experiment('chosen'): {late}")
    until(cell, "(cell) => cell.querySelector('.rb-tile .rb-prompt').textContent === 'a late wolf'")


def test_the_grid_by_keyboard_alone(notebook: Notebook) -> None:
    """Arrows move, Space selects, p picks, Enter opens, arrows then open the next, Escape closes."""
    cell = gallery(notebook, "keys", "a fox", "a wolf", "a boat")
    runs = notebook.executions()
    cell.locator(".rb-tile[tabindex='0']").focus()
    notebook.press("Space", "ArrowRight", "Shift+ArrowRight")
    notebook.comes_to(SELECTED, ["a boat", "a wolf", "a fox"])
    keep_in_view(cell)
    cell.locator(".rb-tile[tabindex='0']").focus()
    notebook.press("p", "Enter")
    until(shown(cell, ".rb-opened"), PLAYS)
    cell.locator(".rb-opened").get_by_role("button", name="★ Picked").wait_for()
    notebook.comes_to("made[1][0].picked and gallery.opened == made[1][0].request_id", True)
    keep_in_view(cell)
    cell.locator(".rb-tile[tabindex='0']").focus()
    notebook.press("ArrowLeft")
    until(cell, "(cell) => cell.querySelector('.rb-opened .rb-prompt').textContent === 'a wolf'")
    notebook.press("Escape")
    cell.locator(".rb-opened").wait_for(state="hidden")
    until(cell, "() => document.activeElement.querySelector('.rb-prompt')?.textContent === 'a wolf'")
    assert notebook.executions()[: len(runs)] == runs


def test_a_clip_opened_in_a_narrow_window_comes_into_view(notebook: Notebook) -> None:
    """It stands above the tiles there, and nothing is cut off at the side.

    Opened by keyboard from the last of the tiles it is seen and plays.
    """
    notebook.page.set_viewport_size({"width": 700, "height": 480})
    cell = gallery(notebook, "narrow", *(f"fox {number}" for number in range(9)))
    last = cell.locator(".rb-tile").last
    last.evaluate("(tile) => tile.scrollIntoView({ block: 'end' })")
    last.press("Enter")
    until(cell.locator(".rb-opened"), PLAYS)
    assert cell.locator("video").evaluate(
        """(video) => {
          const { left, top } = video.getBoundingClientRect();
          return document.elementFromPoint(left + 5, top + 5) === video;
        }"""
    )
    edge = "cell.getBoundingClientRect().right + 1"
    none_left(
        cell,
        f"""(cell) => [...cell.querySelectorAll('.rb, .rb *')]
          .filter((node) => node.getBoundingClientRect().right > {edge})
          .map((node) => node.className || node.tagName)""",
    )


def test_two_axes_are_chosen_before_the_kernel_answers(notebook: Notebook) -> None:
    """The second choice doesn't take the first one back."""
    cell = notebook.run(
        "run62 = rb.Sweep('a {animal} in {place}', animal=['fox', 'owl'], place=['snow', 'rain'],"
        " duration_seconds=1).run(session)\nrun62.results()\n"
        "gallery62 = rb.Gallery(session, sweep=run62.id)\ngallery62"
    )
    shown(cell, ".rb-axes select").first.evaluate("""(first) => {
      for (const [at, value] of [[0, 'fox'], [1, 'rain']]) {
        const select = first.parentElement.children[at];
        select.value = value;
        select.dispatchEvent(new Event('change'));
      }
    }""")
    notebook.comes_to("gallery62.where", {"animal": "fox", "place": "rain"})
