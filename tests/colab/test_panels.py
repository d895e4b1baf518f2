"""The panels in a classic Notebook on Colab's versions: the tests they pass in JupyterLab, and its keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser import (
    test_board,
    test_compare,
    test_gallery,
    test_keys,
    test_matrix,
    test_panels,
    test_picker,
    test_player,
)
from browser.lab import PLAYS, says, shown, until

from colab.classic import ClassicNotebook

AS_IN_JUPYTERLAB: list[Callable[[Any], None]] = [
    test_panels.test_from_a_prompt_to_a_playing_clip,
    test_panels.test_an_image_dropped_on_the_form_becomes_a_playing_clip,
    test_panels.test_keys_pressed_in_a_panel_never_reach_the_notebook,
    test_panels.test_a_panel_and_python_hold_the_same_values,
    test_panels.test_a_reloaded_page_finds_its_panels_again,
    test_board.test_jobs_of_other_cells_appear_move_and_play,
    test_board.test_the_board_is_worked_by_keyboard_and_the_notebook_hears_nothing,
    test_gallery.test_the_grid_by_keyboard_alone,
    test_compare.test_two_clips_by_keyboard,
    test_player.test_a_clip_by_keyboard,
    test_picker.test_a_recent_image_is_taken_again_by_keyboard_alone,
    test_keys.test_a_key_is_made_seen_once_and_revoked,
    test_matrix.test_by_keyboard_alone,
]


@pytest.mark.parametrize("check", AS_IN_JUPYTERLAB, ids=lambda check: check.__name__.removeprefix("test_"))
def test_as_in_jupyterlab(notebook: ClassicNotebook, check: Callable[[Any], None]) -> None:
    """What holds in JupyterLab holds here too."""
    check(notebook)


def test_an_afternoon_by_keyboard_alone(notebook: ClassicNotebook) -> None:
    """Write, send, watch, pause, seek: without a mouse, and the notebook's command keys change no cell."""
    cell = notebook.run("keyed = rb.Studio(session)\nkeyed")
    shown(cell, ".rb-form")
    before = notebook.executions()
    cell.get_by_label("Prompt").focus()
    notebook.page.keyboard.type("a bat adds by day")  # a, b and d d are commands of the notebook
    notebook.press("Tab", "End")
    says(cell, "10 s × $0.05")
    notebook.press("a", "b", "d", "d", "m", "Escape", "x")
    notebook.press("Home")
    says(cell, "1 s × $0.05")
    notebook.press("Control+Enter")
    card = shown(cell, ".rb-card")
    until(card, PLAYS)
    video = cell.locator("video")
    video.focus()
    notebook.press("Space")
    until(card, "(card) => card.querySelector('video').paused")
    at = video.evaluate("(video) => video.currentTime")
    # To where there is more of the clip.
    notebook.press("Shift+ArrowLeft" if at > 0.5 else "Shift+ArrowRight")
    until(card, f"(card) => Math.abs(card.querySelector('video').currentTime - {at}) > 0.05")
    notebook.press("a", "b", "d", "d", "Escape", "ArrowDown", "Shift+Enter")
    assert notebook.executions() == before
    notebook.comes_to("keyed.form.prompt", "a bat adds by day")


def test_the_board_is_waited_for_in_a_cell(notebook: ClassicNotebook) -> None:
    """`await board.done()` keeps the page up to date while its cell runs, also where only answers arrive."""
    notebook.run("before_done = session.text_to_video('a ferry waited for', duration_seconds=1)")
    cell = notebook.run("waited = rb.JobBoard(session, jobs=[before_done])\nwaited")
    shown(cell, ".rb-board")
    notebook.run("await waited.done()")
    says(cell, "Completed")
