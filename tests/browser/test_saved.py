"""What stays of an afternoon's work in the saved notebook: small, without a key, and with its pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from nbconvert import HTMLExporter
from traitlets.config import Config

from browser.lab import PLAYS, SECONDS, Notebook, shown, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser]

STATE = "application/vnd.jupyter.widget-state+json"
JOBS = 50
KEY = "sk-planted-0123456789"

WORK = f"""
session.sandbox.settings(pace=0)
with session.experiment('afternoon'):
    batch = session.submit_many([f'a red fox runs through snow, take {{n}}' for n in range({JOBS})],
                                duration_seconds=1)
jobs = batch.results(300) and list(batch)
session.sandbox.settings(pace=3)
"""
# The panels of the afternoon, each in a cell of its own, and what is there once it is drawn.
SHOWN = {
    "jobs[0]": ".rb-card",
    "rb.JobCard(jobs[1])": ".rb-card",
    "rb.Player(jobs[2].clip)": ".rb-tools",
    "rb.Player(jobs[3].clip, view='filmstrip')": ".rb-strip button",
    "jobs[4].clip": ".rb-tools",
    "rb.PromptForm(session, prompt='a fox')": ".rb-form",
    "rb.ImagePicker(image=jobs[5].clip.poster())": ".rb-drop",
    "rb.JobBoard(session)": ".rb-board .rb-row",
    "rb.JobBoard(jobs=jobs)": ".rb-board .rb-row",
    "rb.Gallery(session, experiment='afternoon')": ".rb-gallery .rb-tile",
    "rb.Compare(jobs[:9])": ".rb-compare .rb-deck",
    "rb.Compare(jobs[:2], view='wipe')": ".rb-divider",
    "rb.ConnectionPanel(session)": ".rb-connection",
}


def test_an_afternoons_notebook_stays_small_and_keeps_its_pictures(
    notebook: Notebook, page: Page, tmp_path: Path
) -> None:
    """Fifty jobs and every panel, state saved: under 3 MB, no panel over 30 KB, no key, posters to see."""
    page.evaluate(
        "jupyterapp.serviceManager.settings.save("
        "'@jupyter-widgets/jupyterlab-manager:plugin', '{\"saveState\": true}')"
    )
    notebook.reload()
    notebook.run(WORK)
    assert notebook.value("len(jobs)") == JOBS
    for code, selector in SHOWN.items():
        cell = notebook.run(code)
        cell.scroll_into_view_if_needed()
        cell.locator(selector).first.wait_for(timeout=30 * SECONDS)
    studio = notebook.run("studio60 = rb.Studio(session)\nstudio60.card.job = jobs[0]\nstudio60")
    until(shown(studio, ".rb-of-card .rb-card"), PLAYS)
    for view in ("board", "gallery", "compare", "connection"):
        notebook.run(f"studio60.view = '{view}'")
    field = studio.get_by_label("API key")
    field.fill(KEY)
    studio.get_by_role("button", name="Test and use").click()
    notebook.run("studio60.view = 'create'")
    page.wait_for_timeout(2000)
    saved = notebook.save()
    text = notebook.file.read_text()
    assert KEY not in text
    assert len(text.encode()) < 3_000_000
    panels = {
        f"{model['state']['_anywidget_id']} {place}": len(json.dumps(model))
        for place, model in enumerate(saved["metadata"]["widgets"][STATE]["state"].values())
        if "_anywidget_id" in model["state"]
    }
    assert len(panels) >= len(SHOWN) + 3
    assert {name: size for name, size in panels.items() if size > 30_000} == {}
    _posters_are_seen(page, notebook.file, tmp_path)


def _posters_are_seen(page: Page, notebook: Path, folder: Path) -> None:
    """In a page without a kernel, and without the network that would bring the widgets' code.

    Where widget state is saved, nbconvert leaves the drawing to that code, unless it is told to take the
    still forms: `jupyter nbconvert --to html --ClearMetadataPreprocessor.enabled=True`.
    """
    stills = Config(ClearMetadataPreprocessor={"enabled": True})
    exporter = HTMLExporter(config=stills)  # type: ignore[no-untyped-call] # it has no types
    text, _ = exporter.from_filename(str(notebook))
    (folder / "saved.html").write_text(text)
    browser = page.context.browser
    assert browser is not None
    alone = browser.new_page()
    alone.goto(f"file://{folder / 'saved.html'}", wait_until="domcontentloaded")
    widths = alone.evaluate(
        """() => Promise.all([...document.querySelectorAll('img[src^="data:image/jpeg"]')]
          .map((image) => image.decode().then(() => image.naturalWidth)))"""
    )
    alone.close()
    assert len(widths) >= 20
    assert min(widths) > 0
