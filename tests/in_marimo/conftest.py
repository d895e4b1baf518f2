"""One marimo with one open notebook for all tests of this package."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from browser.lab import free_port, running_server, server_environment
from browser.pages import CHROMIUM, opened_page, unbroken
from playwright.sync_api import Page

from in_marimo.environment import marimo_python
from reelbook.sandbox import server

# The first steps of the lessons: the Studio, a job, a sweep. At a press marimo runs the last cell again.
NOTEBOOK = """
import marimo

app = marimo.App(width="medium")


@app.cell
def _():
    import reelbook as rb

    session = rb.connect("sandbox")
    session.sandbox.settings(pace=0.5, rate_limiting=False, balance_usd=25)
    session.sandbox.plant_history([{"days_ago": 2.5, "seconds": 20, "requests": 4, "usd": 1.0}])
    return rb, session


@app.cell
def _(rb, session):
    studio = rb.Studio(session)
    studio
    return


@app.cell
def _(session):
    job = session.text_to_video("a kite", duration_seconds=1, once="marimo")
    job
    return


@app.cell
def _(rb, session):
    sweep = rb.Sweep("a {animal}", animal=["fox", "heron"], duration_seconds=1)
    matrix = rb.Matrix(sweep, session)
    matrix
    return


@app.cell
def _():
    import marimo as mo

    press = mo.ui.button(value=0, on_click=lambda presses: presses + 1, label="Run again")
    press
    return mo, press


@app.cell
async def _(mo, press, session):
    import asyncio

    swans = [await asyncio.to_thread(session.text_to_video, "a swan", duration_seconds=1)]
    swans += [session.text_to_video("a swan", duration_seconds=1) for _ in range(2)]
    known = {swan.earlier_run and swan.earlier_run.known_by for swan in swans}
    mo.md(f"Run {press.value}: {len({swan.entry_id for swan in swans})} swans, "
        f"{len(session.jobs(text='a swan'))} bought, known by {known}")
    return


@app.cell
def _(mo, session):
    def duck(_):
        session.text_to_video("a duck", duration_seconds=1)

    buy = mo.ui.button(on_click=duck, label="Buy a duck")
    buy
    return


@app.cell
def _(mo, press, session):
    geese, ducks = (len(session.jobs(text=bird)) for bird in ("a goose", "a duck"))
    mo.md(f"Look {press.value}: {geese} geese and {ducks} ducks bought")
    return
"""


@pytest.fixture(scope="package")
def marimo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if CHROMIUM is None:
        pytest.skip("chromium isn't installed: the panels can't be tried in a browser")
    folder = tmp_path_factory.mktemp("marimo")
    environment = server_environment(folder)
    for name in ("CONFIG", "STATE", "CACHE"):
        environment[f"XDG_{name}_HOME"] = str(folder / name.lower())
    (folder / "work" / "notebook.py").write_text(NOTEBOOK)
    # The cells run as soon as the page is open, and it is dark.
    (folder / "work" / "pyproject.toml").write_text(
        '[tool.marimo.runtime]\nauto_instantiate = true\n[tool.marimo.display]\ntheme = "dark"\n'
    )
    port = free_port()
    command = [
        *(marimo_python(), "-m", "marimo", "edit", "notebook.py", "--headless", "--no-token"),
        *("--skip-update-check", "--host=127.0.0.1", f"--port={port}"),
    ]
    with running_server(command, environment, folder, port) as url:
        yield url
    server.stop(folder / "home")


@pytest.fixture(scope="package")
def page(marimo: str) -> Iterator[Page]:
    with opened_page() as page:
        with unbroken(page), nothing_sent_after_its_close(page):
            page.goto(marimo)
            yield page


@contextmanager
def nothing_sent_after_its_close(page: Page) -> Iterator[None]:
    """No widget goes on sending once marimo has closed it: ten seconds later the page would fail for it."""
    heard: set[str] = set()
    closed: set[str] = set()
    late: Counter[str] = Counter()

    def read(frame: str | bytes) -> None:
        said = json.loads(frame)
        if said.get("op") != "model-lifecycle":
            return
        model, method = said["data"]["model_id"], said["data"]["message"]["method"]
        heard.add(model)
        if method == "close":
            closed.add(model)
        elif model in closed:
            late[model] += 1

    page.on("websocket", lambda socket: socket.on("framereceived", read))
    yield
    assert heard, "marimo names its messages otherwise by now"
    # One may have been on its way, from another thread, when marimo closed the widget.
    assert max(late.values(), default=0) <= 1
