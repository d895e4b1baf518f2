"""What stays of an afternoon's work in the saved notebook: small, without a key, and with its pictures."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from browser.lab import PLAYS, Notebook, shown, until
from reelbook.lazy_module import LazyModule

nbconvert: Any = LazyModule("nbconvert")

STATE = "application/vnd.jupyter.widget-state+json"
JOBS = 50
KEY = "sk-planted-0123456789"

WORK = f"""
import ipywidgets
session.sandbox.settings(pace=0)
with session.experiment('afternoon'):
    batch = session.submit_many([f'a red fox runs through snow, take {{n}}' for n in range({JOBS})],
                                duration_seconds=1)
jobs = batch.results() and list(batch)
swept60 = rb.Sweep('a {{fox|heron}} by day', seed=[1, 2], duration_seconds=1).run(session, confirm=True)
swept60.results()
session.sandbox.settings(pace=3)
shown60 = []
"""
# The panels of the afternoon, each in a cell of its own: what is there once it is drawn, and how many
# pictures a page made of the notebook has of it.
SHOWN: dict[str, tuple[str, int]] = {
    "rb.JobCard(jobs[1])": (".rb-card", 1),
    "rb.Player(jobs[2].clip)": (".rb-tools", 1),
    "rb.Player(jobs[3].clip, view='filmstrip')": (".rb-strip button", 1),
    "rb.PromptForm(session, prompt='a fox')": (".rb-form", 0),
    "rb.ImagePicker(image=jobs[5].clip.poster())": (".rb-drop", 1),
    "rb.JobBoard(session)": (".rb-board .rb-row", 5),
    "rb.JobBoard(jobs=jobs)": (".rb-board .rb-row", 5),
    "rb.Gallery(session, experiment='afternoon')": (".rb-gallery .rb-tile", 4),
    "rb.Compare(jobs[:9])": (".rb-compare .rb-deck", 9),
    "rb.Compare(jobs[:2], view='wipe')": (".rb-divider", 2),
    "rb.Judge(jobs[:9])": (".rb-judge .rb-deck", 0),
    "rb.SweepForm(session, template='a {fox|heron}')": (".rb-sweep dl", 0),
    "rb.Matrix(swept60)": (".rb-matrix img:not([hidden])", 4),
    "rb.ConnectionPanel(session)": (".rb-connection", 0),
    "rb.KeyManager(session)": (".rb-keys", 0),
    "rb.UsageChart(session)": (".rb-usage-foot:has-text('split by day')", 1),
    "rb.ClassroomPanel(session)": (".rb-class", 0),
    "rb.ToolExplorer(session, selected='get_balance')": (".rb-explorer", 0),
}
STUDIO = "studio60 = rb.Studio(session)\nstudio60"


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
    shown(notebook.run("jobs[0]"), ".rb-card")
    for code, (selector, _) in SHOWN.items():
        cell = notebook.run(f"shown60.append({code})\nshown60[-1]")
        cell.evaluate("(cell) => cell.scrollIntoView()")  # whatever is drawn in it meanwhile
        cell.locator(selector).first.wait_for()
    assert notebook.value("shown60[2].view") == "filmstrip"  # it didn't play itself away
    studio = notebook.run(STUDIO)
    shown(studio, ".rb-form")
    notebook.execute("studio60.card.job = jobs[0]")
    until(shown(studio, ".rb-of-job_card .rb-card"), PLAYS)
    for view in ("board", "gallery", "compare", "usage", "keys", "connection"):
        notebook.execute(f"studio60.view = '{view}'")
    field = studio.get_by_label("API key", exact=True)
    field.fill(KEY)
    studio.get_by_role("button", name="Test and use").click()
    notebook.run("studio60.view = 'create'").click()  # which is to turn away from the Studio
    page.wait_for_timeout(2000)
    saved = notebook.save()
    assert sizes(saved) == {}
    _posters_are_seen(page, notebook.file, tmp_path)

    # In a box of the person's own a panel is saved with the box.
    notebook.run("desk60 = ipywidgets.VBox(shown60)")
    page.wait_for_timeout(1000)
    saved = notebook.save()
    text = notebook.file.read_text()
    assert KEY not in text
    assert len(text.encode()) < 3_000_000
    panels = sizes(saved)
    assert len(panels) >= len(SHOWN)
    assert {name: size for name, size in panels.items() if size > 30_000} == {}


def sizes(saved: dict[str, Any]) -> dict[str, int]:
    """The panels whose state is saved, and how many bytes of the notebook each takes."""
    return {
        f"{model['state']['_anywidget_id']} {place}": len(json.dumps(model))
        for place, model in enumerate(saved["metadata"]["widgets"][STATE]["state"].values())
        if "_anywidget_id" in model["state"]
    }


def _posters_are_seen(page: Page, notebook: Path, folder: Path) -> None:
    """In a page without a kernel, and without the network that would bring the widgets' code."""
    exporter = nbconvert.HTMLExporter()
    text, _ = exporter.from_filename(str(notebook))
    (folder / "saved.html").write_text(text)
    browser = page.context.browser
    assert browser is not None
    alone = browser.new_page()
    alone.route("http*://**", lambda route: route.abort())
    alone.goto(f"file://{folder / 'saved.html'}", wait_until="domcontentloaded")
    widths: dict[str, list[int]] = alone.evaluate(
        """async () => {
          const found = {};
          for (const cell of document.querySelectorAll('.jp-CodeCell')) {
            const images = [...cell.querySelectorAll('.jp-OutputArea img')];
            const code = cell.querySelector('.jp-InputArea-editor').innerText.trim();
            await Promise.all(images.map((image) => image.decode()));
            found[code] = images.map((image) => image.naturalWidth);
          }
          return found;
        }"""
    )
    alone.close()
    wanted = {f"shown60.append({code})\nshown60[-1]": pictures for code, (_, pictures) in SHOWN.items()}
    wanted |= {"jobs[0]": 1, STUDIO: 1}
    assert {code: len(found) for code, found in widths.items() if code in wanted} == wanted
    assert all(min(found, default=1) > 0 for found in widths.values())
