"""The panels in marimo, driven in a real browser: it draws anywidgets only, and each in a shadow tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser]

PLAYS = "(card) => { const film = card.querySelector('video'); return film && film.videoWidth > 0; }"


def test_the_studio(page: Page) -> None:
    """A prompt becomes a playing clip; views made at a press are drawn; the chart shows its still picture."""
    studio = page.locator(".reelbook-studio")
    studio.get_by_label("Prompt").fill("a red fox")
    studio.get_by_role("button", name="Generate").click()
    card = studio.locator(".rb-of-job_card")
    card.get_by_text("Completed", exact=True).wait_for()
    page.wait_for_function(PLAYS, arg=card.element_handle())
    studio.get_by_role("button", name="Gallery").click()
    studio.locator(".rb-gallery .rb-tile").first.wait_for()
    assert card.is_hidden()
    studio.get_by_role("button", name="Usage").click()
    picture = studio.locator("img.rb-undrawn")
    picture.wait_for()
    page.wait_for_function("(picture) => picture.naturalWidth > 100", arg=picture.element_handle())
    studio.get_by_role("button", name="More").click()
    studio.get_by_role("button", name="Tools").click()
    studio.locator(".rb-explorer .rb-list button").first.wait_for()


def test_a_bare_job_and_a_matrix(page: Page) -> None:
    """A job as a cell's last line is its card; a sweep is bought in its matrix and plays."""
    card = page.locator(".rb-of-job_card", has_text="a kite")
    card.scroll_into_view_if_needed()
    card.get_by_text("Completed", exact=True).wait_for()
    page.wait_for_function(PLAYS, arg=card.element_handle())
    matrix = page.locator(".rb-of-matrix")
    matrix.scroll_into_view_if_needed()
    matrix.get_by_role("button", name="Make 2 clips").click()
    page.wait_for_function(
        "(matrix) => matrix.querySelectorAll('.rb-cell img:not([hidden])').length === 2",
        arg=matrix.element_handle(),
    )


def test_a_cell_that_runs_again_buys_once(page: Page) -> None:
    """Three equal clips, one from a thread; marimo runs the cell again by itself, and it gets them back."""
    page.get_by_text("Run 0: 3 swans, 3 bought, known by {None}").wait_for()
    for run in (1, 2):
        page.get_by_role("button", name="Run again").click()
        page.get_by_text(f"Run {run}: 3 swans, 3 bought, known by {{'id'}}").wait_for()
