"""The panels in a classic Notebook on Colab's versions: what passes in JupyterLab passes there too."""

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
from browser.lab import says, shown

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


def test_the_board_is_waited_for_in_a_cell(notebook: ClassicNotebook) -> None:
    """`await board.done()` keeps the page up to date while its cell runs, also where only answers arrive."""
    notebook.run("before_done = session.text_to_video('a ferry waited for', duration_seconds=1)")
    cell = notebook.run("waited = rb.JobBoard(session, jobs=[before_done])\nwaited")
    shown(cell, ".rb-board")
    notebook.run("await waited.done()")
    says(cell, "Completed")
