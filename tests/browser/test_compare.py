"""Comparing clips in a real JupyterLab: one clock, wipe, difference, picks; by mouse and by keyboard."""

from typing import Any

from playwright.sync_api import Locator

from browser.lab import Notebook, at_rest, keep_in_view, says, shown, tab_stops, until

MAKE = """
def clip_of(prompt, seconds, seed):
    request = dict(duration_seconds=seconds, seed=seed, once=f'{prompt} {seconds} {seed}')
    return session.text_to_video(prompt, **request)
jobs40 = [clip_of('a red fox runs through snow at night', 4, 7),
          clip_of('a red fox runs through dunes', 2, 7), clip_of('a red fox runs along the sea', 4, 8)]
for job in jobs40: job.result()
"""
READY = """(cell) => {
  const videos = [...cell.querySelectorAll('video')];
  return videos.length > 1 && videos.every((video) => video.readyState > 2);
}"""
TIMES = "(cell) => [...cell.querySelectorAll('video')].map((video) => video.currentTime)"
STILL = "(cell) => [...cell.querySelectorAll('video')].every((video) => video.paused && !video.seeking)"
# The mean brightness of the difference, 0 to 255.
LIGHT = """(cell) => {
  const canvas = cell.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.reduce((sum, value, place) => sum + (place % 4 < 3 ? value : 0), 0) / (data.length * 0.75);
}"""
FRAME = 1 / 24


def opened(notebook: Notebook, code: str) -> Locator:
    """A cell that shows a comparison, its clips loaded."""
    cell = notebook.run(MAKE + code)
    shown(cell, ".rb-compare")
    until(cell, READY)
    return cell


def stands(cell: Locator) -> list[float]:
    """Where the clips are once they all stand: each is sent on until it is where it should be."""
    until(cell, STILL)
    times: list[float] = at_rest(cell, TIMES, seconds=0.5)
    return times


def apart(times: list[float]) -> float:
    return max(times) - min(times)


def test_clips_keep_one_time(notebook: Notebook) -> None:
    """After a scrub and after a step all are within a frame; a shorter clip waits at its end."""
    cell = opened(notebook, "compare40 = rb.Compare([jobs40[0], jobs40[2], jobs40[1]])\ncompare40")
    cell.get_by_role("button", name="Play all").click()
    says(cell, "3 · ended at 2.0 s")
    cell.get_by_role("button", name="Pause").click()
    stands(cell)

    line = cell.get_by_role("slider", name="Time")
    box: Any = line.bounding_box()
    line.click(position={"x": box["width"] * 0.3, "y": box["height"] / 2})
    times = stands(cell)
    assert apart(times) < FRAME
    assert abs(times[0] - 0.3 * 4) < 0.15
    cell.get_by_role("button", name="Frame forward").click()
    stepped = stands(cell)
    assert 0.4 * FRAME < stepped[0] - times[0] < 1.6 * FRAME
    assert apart(stepped) < FRAME
    line.fill("3")
    until(cell, "(cell) => Math.abs(cell.querySelector('video').currentTime - 3) < 0.05")
    assert 2 - 2 * FRAME < min(stands(cell)) < 2
    notebook.comes_to("abs(compare40.time - 3) < 0.01", True)


def test_two_clips_by_mouse(notebook: Notebook) -> None:
    """What differs is marked; wipe by dragging, the difference is seen, the picks are kept by the ledger."""
    cell = opened(notebook, "compare41 = rb.Compare(jobs40[:2])\ncompare41")
    assert cell.locator(".rb-prompt mark").all_inner_texts() == ["snow at night", "dunes"]
    cell.get_by_role("button", name="Wipe").click()
    divider = cell.get_by_role("slider", name="Divider")
    stage: Any = cell.locator(".rb-cell").first.bounding_box()
    held: Any = divider.bounding_box()
    mouse = notebook.page.mouse
    mouse.move(held["x"] + held["width"] / 2, held["y"] + 40)
    mouse.down()
    mouse.move(stage["x"] + stage["width"] * 0.8, held["y"] + 40, steps=4)
    mouse.up()
    assert divider.get_attribute("aria-valuenow") == "80"
    seen = "(cell) => [...cell.querySelectorAll('video')].map((video) => getComputedStyle(video).clipPath)"
    assert cell.evaluate(seen) == ["inset(0px 20% 0px 0px)", "inset(0px 0px 0px 80%)"]
    cell.get_by_role("button", name="Difference").click()
    until(cell, "(cell) => cell.querySelector('canvas').width === 640")
    until(cell, f"(cell) => ({LIGHT})(cell) > 5")
    plain: float = cell.evaluate(LIGHT)
    cell.get_by_role("button", name="Brighter").click()
    until(cell, f"(cell) => ({LIGHT})(cell) > {plain}")
    cell.get_by_role("button", name="Pick: clip 2").click()
    cell.get_by_role("button", name="Picked: clip 2").wait_for()
    notebook.comes_to("[compare41.view, compare41.picked == [jobs40[1].request_id]]", ["difference", True])
    # Set from Python, as a link does.
    notebook.execute("compare41.view, compare41.picked, compare41.time = 'grid', [jobs40[0].request_id], 1.0")
    cell.get_by_role("button", name="Picked: clip 1").wait_for()
    until(
        cell, "(cell) => [...cell.querySelectorAll('video')].every((v) => Math.abs(v.currentTime - 1) < .01)"
    )
    same = opened(
        notebook,
        "rb.Compare([jobs40[0].clip, jobs40[0].clip.save('copy40.mp4', overwrite=True)], view='difference')",
    )
    until(same, "(cell) => cell.querySelector('canvas').width === 640")
    same.get_by_role("button", name="Brighter").click()  # also four times as bright it is black
    until(same, f"(cell) => ({LIGHT})(cell) === 0")


def test_two_clips_by_keyboard(notebook: Notebook) -> None:
    """Space, arrows, comma, angle brackets, 1 to 9, the divider, f and Escape; no cell runs."""
    cell = opened(notebook, "compare42 = rb.Compare(jobs40[:2], picked=[jobs40[0].request_id])\ncompare42")
    before = notebook.executions()
    cell.get_by_role("slider", name="Time").focus()
    notebook.press("Space")
    until(cell, "(cell) => [...cell.querySelectorAll('video')].some((video) => !video.paused)")
    notebook.press("Space")
    until(cell, STILL)
    notebook.press("Home", "ArrowRight", "Shift+ArrowRight")
    until(cell, "(cell) => Math.abs(cell.querySelector('video').currentTime - 1.1) < 0.05")
    notebook.press(",", "<", "2")
    cell.get_by_role("button", name="Picked: clip 2").wait_for()
    cell.get_by_role("button", name="Wipe").press("Enter")
    divider = cell.get_by_role("slider", name="Divider")
    divider.focus()
    notebook.press("ArrowLeft", "Shift+ArrowRight")
    assert divider.get_attribute("aria-valuenow") == "58"
    for number in ("1", "2"):
        notebook.press(number)
        cell.get_by_role("button", name=f"Pick: clip {number}").wait_for()
    assert divider.evaluate("(part) => part === document.activeElement")
    notebook.press("?")
    says(cell, "Space plays and pauses all.")
    notebook.press("Escape", "f")
    notebook.page.wait_for_function("document.fullscreenElement")
    notebook.press("f")
    notebook.page.wait_for_function("!document.fullscreenElement")
    # Every control is reached with Tab, and has a name.
    cell.get_by_role("button", name="Pick: clip 1").focus()
    names = tab_stops(notebook)
    keep_in_view(cell)  # its still form has a pick since
    expected = "Divider|Pick: clip 2|Play all|Frame back|Frame forward|Time|Speed"
    assert f"{expected}|Grid|Wipe|Difference|Full screen|Shortcuts".split("|") == names
    cell.get_by_role("button", name="Wipe").focus()
    notebook.press("Control+Enter", "a", "Escape")
    assert notebook.page.evaluate("!document.activeElement.closest('.rb')")
    assert notebook.executions() == before
    notebook.comes_to("[compare42.speed, compare42.view]", [0.75, "wipe"])
    notebook.comes_to("abs(compare42.time - 1.06) < 0.05", True)


def test_a_comparison_gives_its_clips_back(notebook: Notebook) -> None:
    """A running job joins when it is done; a cleared output leaves no video behind."""
    cell = notebook.run(MAKE + "late43 = session.text_to_video('a boat', duration_seconds=1)\n"
                        "rb.Compare([jobs40[1], late43])")  # fmt: skip
    shown(cell, ".rb-compare")
    until(cell, READY)
    cell.get_by_role("button", name="Pick: clip 2").wait_for()
    notebook.page.evaluate("window.kept43 = [...document.querySelectorAll('.rb-compare video')]")
    notebook.page.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    notebook.page.wait_for_function("!document.querySelector('.rb-compare')")
    assert notebook.page.evaluate("kept43.filter((video) => video.src).length") == 0
