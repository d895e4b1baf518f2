"""The matrix of a sweep in a real JupyterLab: bought, filled, played on one clock, rearranged."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pytest

from browser.lab import Notebook, keep_in_view, shown, tells, until

if TYPE_CHECKING:
    from playwright.sync_api import Locator

pytestmark = [pytest.mark.browser]

SWEEP = """
session.sandbox.settings(pace=0)
sweep60 = rb.Sweep('a {animal} runs through {place}', animal=['red fox', 'heron', 'bear'],
                   place=['snow at night', 'dunes at noon', 'the sea shore'], seed=[1, 2], duration_seconds=2)
run60 = sweep60.run(session, confirm=True)
run60.results()
"""
ALL = "rb.Matrix(run60, rows='animal', columns=['place', 'seed'])"
READY = """(cell) => {
  const cells = [...cell.querySelectorAll('.rb-cell:not(.rb-blank)')];
  return cells.length > 0 && cells.every((one) => one.querySelector('video')?.readyState > 2);
}"""
VIDEOS = "(cell) => cell.querySelectorAll('td video').length"
TIMES = "(cell) => [...cell.querySelectorAll('td video')].map((video) => video.currentTime)"
STILL = "(cell) => [...cell.querySelectorAll('td video')].every((video) => video.paused && !video.seeking)"
# How far all playing clips are apart at each frame of eight seconds: their clocks, and the frames on show.
APART = """(cell) => new Promise((done) => {
  const videos = [...cell.querySelectorAll('td video')], began = performance.now();
  const clocks = [], pictures = [], shown = new Map();
  for (const video of videos) {
    const note = (now, { mediaTime }) => {
      shown.set(video, mediaTime);
      video.requestVideoFrameCallback(note);
    };
    video.requestVideoFrameCallback(note);
  }
  const spread = (times) => Math.max(...times) - Math.min(...times);
  const look = () => {
    if (videos.every((video) => !video.paused && !video.seeking)) {
      clocks.push(spread(videos.map((video) => video.currentTime)));
      if (shown.size === videos.length) pictures.push(spread([...shown.values()]));
    }
    performance.now() - began < 8000 ? requestAnimationFrame(look) : done([clocks, pictures]);
  };
  requestAnimationFrame(look);
})"""
FRAME = 1 / 24


def part95(values: list[float]) -> float:
    return sorted(values)[len(values) * 95 // 100]


def opened(notebook: Notebook, code: str, ready: str = ".rb-matrix td .rb-cell") -> Locator:
    notebook.page.mouse.move(0, 0)
    cell = notebook.run(code)
    shown(cell, ready)
    keep_in_view(cell)
    return cell


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


def test_eighteen_clips_keep_one_time(notebook: Notebook) -> None:
    """Playing they are within a frame; they stand together after a pause, a step and a scrub."""
    notebook.page.set_viewport_size({"width": 1280, "height": 1000})
    cell = opened(notebook, f"{SWEEP}matrix62 = {ALL}\nmatrix62")
    assert cell.evaluate(VIDEOS) == 0  # only posters until somebody turns to it
    cell.get_by_role("button", name="Play all").click()
    until(cell, READY)
    assert cell.evaluate(VIDEOS) == 18
    until(cell, f"(cell) => ({TIMES})(cell).every((time) => time > 0.1)")
    clocks, pictures = cell.evaluate(APART)
    print(
        f"18 clips: 95 % of the time {part95(clocks) * 1000:.1f} ms apart at most, their frames "
        f"{part95(pictures) * 1000:.1f} ms, in {len(clocks)} frames"
    )
    assert len(clocks) > 5
    assert median(clocks) <= FRAME  # a busy machine may hold one up for a moment
    cell.get_by_role("button", name="Pause", exact=True).click()
    until(cell, STILL)
    line = cell.get_by_role("slider", name="Time")
    line.fill("0.5")
    until(cell, f"(cell) => ({TIMES})(cell).every((time) => Math.abs(time - 0.5) < 0.02)")
    cell.get_by_role("button", name="Frame forward").click()
    until(cell, f"(cell) => ({TIMES})(cell).every((time) => time > 0.51 && time < 0.58)")
    notebook.comes_to("0.51 < matrix62.time < 0.58", True)
