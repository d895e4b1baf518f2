"""The panels for people who can't see them, can't use a mouse, or both: axe-core, focus, the keyboard."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Locator

from browser.lab import PLAYS, Notebook, at_rest, focused, noted, says, shown, tells, until

THEMES = ("JupyterLab Light", "JupyterLab Dark")
IS_LIGHT = "document.body.dataset.jpThemeLight === 'true'"

JOBS = """
from PIL import Image
session.sandbox.settings(pace=0)
def made(prompt):
    job = session.text_to_video(prompt, duration_seconds=1, seed=3, once='access')
    job.result()
    return job
done, other = made('a heron in the reeds'), made('a kite over dunes')
swept = rb.Sweep('a {heron|kite} by day', seed=[1, 2], duration_seconds=1).run(session)
swept.results()
for job in session.picks(): job.mark(picked=False)
for cell in swept.cells[::3]:
    cell.job.mark(picked=True, note='quiet')
"""
TROUBLED = """
session.sandbox.settings(fail_next='content policy')
failed = session.text_to_video('a crowd', duration_seconds=1)
import contextlib
from reelbook.errors import ReelbookError
with contextlib.suppress(ReelbookError): failed.result()
session.sandbox.fault('answer_lost', endpoint='generate')
lost = session.text_to_video('a lost letter', duration_seconds=1)
with contextlib.suppress(ReelbookError): lost.result()
session.sandbox.settings(pace=900)
running = session.text_to_video('a slow snail', duration_seconds=1)
"""
# A sweep with a clip, one that failed, one whose answer was lost, one that runs and one that is left out.
MATRIX = """
import dataclasses
from reelbook.explore import SweepRun
run52 = SweepRun(session, rb.Sweep('a {animal}', animal='heron, snail', seed='1-3', duration_seconds=1))
shown52 = dict(zip(run52._cells, [done, failed, lost, running, other]))
for number, job in shown52.items():
    run52._cells[number] = dataclasses.replace(run52._cells[number], job=job)
run52.leave_out([6])
"""
# What a panel's cell is to show before it is looked at, and what is done in it by then.
STATES: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {
    "form": [
        ("rb.PromptForm(session)", ".rb-form", ("History",)),
        ("rb.Styles(session.home).add('film grain')\nrb.PromptForm(session)", ".rb-form", ("Styles",)),
        (
            "form50 = rb.PromptForm(session, mode='image-to-video', crop='1:1',"
            " image=Image.linear_gradient('L').resize((320, 200)))\n"
            "form50.problems = {'image': 'It is broken.', 'prompt': 'It is empty.'}\n"
            "form50.say_problem('Sending failed.')\nform50",
            ".rb-part",
            (),
        ),
        ("rb.ImagePicker()", ".rb-drop", ("Recent",)),
        ("rb.ImagePicker()", ".rb-drop", ("Use the camera",)),
    ],
    "card": [
        (f"rb.JobCard({job})", ".rb-card", ()) for job in ("done", "failed", "lost", "running")
    ],
    "player": [
        ("rb.Player(done.clip, loop_range=(0.2, 0.6))", ".rb-tools", ("Shortcuts",)),
        ("rb.Player(done.clip, view='filmstrip')", ".rb-strip button", ()),
    ],
    "board": [
        ("rb.JobBoard(session, jobs=())", ".rb-board .rb-nothing", ("Tell me when clips are done",)),
        *(
            (
                "board50 = rb.JobBoard(jobs=[done, failed, lost, running])\n"
                "board50.selected = [other.request_id, done.request_id]\n"
                f"board50._on_open({key})\n"
                "board50",
                ".rb-open-row .rb-card",
                (),
            )
            for key in (f"board50._entries[{job}].key" for job in ("done", "lost", "failed", "running"))
        ),
    ],
    "gallery": [
        ("rb.Gallery(session, text='xylophone')", ".rb-nothing p", ()),
        (
            "gallery50 = rb.Gallery(session, state='any', selected=[done.request_id],"
            " opened=done.request_id)\ngallery50.on_compare(print)\ngallery50",
            ".rb-opened video",
            ("Delete file…",),
        ),
    ],
    "sweep": [
        ("rb.SweepForm(session)", ".rb-left li", ()),
        (
            "rb.SweepForm(session, template='a {animal} in {snow|fog', axes={'animal': '1-9 (-2)'})",
            ".rb-sweep",
            (),
        ),
        (
            "form51 = rb.SweepForm(session, template='a {duck|swan}')\nform51.on_run(print)\nform51",
            ".rb-sweep dl",
            (),
        ),
    ],
    "matrix": [
        ("rb.Matrix(rb.Sweep('a {duck|swan}', seed='1-2'), session)", ".rb-cell", ("Shortcuts",)),
        (MATRIX + "rb.Matrix(run52)", ".rb-cell img:not([hidden])", ("Save…",)),
        ("rb.Matrix(run52, rows='seed', opened=1)", ".rb-stage video", ()),
    ],
    "compare": [
        ("rb.Compare([done, other], picked=[done.request_id])", ".rb-tile video", ("Shortcuts",)),
        ("rb.Compare([done, other], view='wipe')", ".rb-divider", ()),
        ("rb.Compare([done, other], view='difference')", ".rb-cell canvas", ()),
        ("rb.Compare([done, running, lost])", ".rb-blank", ()),
    ],
    "judge": [
        ("rb.Judge([done, other])", ".rb-pair video", ()),
        (
            "judge50 = rb.Judge([done, other])\njudge50._on_vote(1, 'left')\njudge50.voter = 'Ada'\n"
            "judge50._on_vote(2, 'left')\njudge50.on_hand_over(print)\n"
            "judge50._on_stop()\njudge50.refresh()\njudge50",
            ".rb-rank tbody tr",
            (),
        ),
    ],
    "picks": [
        ("rb.Gallery(session, sweep=swept.id, group_by='prompt')", ".rb-group", ()),
        ("rb.Studio(session, view='gallery')", ".rb-tray", ("Make longer…",)),
        *(
            (
                f"studio52 = rb.Studio(session)\nstudio52._hand_over(studio52.tray.picks){then}\nstudio52",
                selector,
                (),
            )
            for then, selector in (
                ("", ".rb-hand fieldset"),
                ("\nstudio52.panes['foot'][1]._on_save('Two', True, True, True)", ".rb-sums p"),
            )
        ),
    ],
    # One line for each panel of the account: they share a page, as each page costs seconds.
    "account": [
        ("rb.ConnectionPanel(session)", ".rb-connection", ("Test",)),
        ("rb.KeyManager(session)", ".rb-keys tbody tr", ("New key",)),
        ("rb.KeyManager(session)", ".rb-keys tbody tr", ("Rotate",)),
        ("rb.UsageChart(session, days=7)", ".rb-usage-table summary", ("As a table",)),
        ("rb.ClassroomPanel(session)", ".rb-class", ()),
    ],
    "tools": [
        ("rb.ToolExplorer(session, selected='generate_video_from_text')", ".rb-explorer", ("Call",)),
        ("rb.ToolExplorer(session, selected='get_balance')", ".rb-explorer", ("Call",)),
    ],
    "studio": [
        (f"rb.Studio(session, view='{view}')", f".rb-of-{stem}", ())
        for view, stem in (
            ("create", "prompt_form"),
            ("explore", "sweep_form"),
            ("board", "job_board"),
            ("gallery", "gallery"),
            ("compare", "hint"),  # as Judge begins
            ("usage", "usage_chart"),
            ("keys", "key_manager"),
            ("tools", "tool_explorer"),
            ("connection", "connection_panel"),
        )
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def jobs(open_notebook: Notebook) -> Iterator[None]:
    """Clips, a failed job, one whose answer was lost and one that runs, in the notebook's kernel."""
    # The browser without windows refuses notifications, and the switch with them.
    allowed = (
        "[window.refused, window.Notification] = [Notification, class { static permission = 'granted' }]"
    )
    open_notebook.page.evaluate(allowed)
    open_notebook.run(JOBS + TROUBLED)
    assert open_notebook.value("[failed.state, lost.state]") == ["failed", "uncertain"]
    yield
    open_notebook.theme(THEMES[0])
    open_notebook.execute("running.stop_watching()\nsession.sandbox.settings(pace=3)")
    open_notebook.execute("for job in session.picks(): job.mark(picked=False)")
    open_notebook.page.evaluate(
        "() => { localStorage.removeItem('reelbook-notices'); Notification = refused; }"
    )


@pytest.mark.parametrize("panel", STATES)
@pytest.mark.usefixtures("jobs")
def test_axe_finds_nothing_serious(notebook: Notebook, panel: str) -> None:
    """In each state of a panel, light and dark; every control shows its focus, and one region is polite."""
    cells: list[Locator] = []
    for code, selector, presses in STATES[panel]:
        cell = notebook.run(code)
        shown(cell, selector)
        for name in presses:
            button = cell.get_by_role("button", name=name, exact=True).or_(
                cell.get_by_role("switch", name=name)
            )
            button.or_(cell.locator("summary", has_text=name)).first.click()
        cells.append(cell)
    at_rest(notebook.page.locator("body"), "() => document.querySelectorAll('.rb *').length", seconds=0.3)
    found = []
    # The page keeps the second: to change the theme costs more than to look.
    themes = THEMES if notebook.page.evaluate(IS_LIGHT) else THEMES[::-1]
    for theme in themes:
        notebook.theme(theme)
        found += [f"{theme}: {each}" for each in findings(cells, only_colours=theme != themes[0])]
        for cell, (code, *_) in zip(cells, STATES[panel], strict=True):
            notebook.press("Shift")  # what is focused from now on is focused by keyboard
            wrong = [*cell.evaluate(UNSEEN_FOCUS), *cell.evaluate(REGIONS)]
            found += [f"{theme}: {code.splitlines()[-1]}: {each}" for each in wrong]
    assert found == [], "\n" + "\n".join(found)


def findings(cells: list[Locator], *, only_colours: bool) -> list[str]:
    """What axe-core finds in the cells' panels that is serious or critical, a line for each element.

    Another theme changes nothing but colours. What is scrolled past is passed over by axe.
    """
    # The panels only: what the kernel itself may say above them isn't ours.
    outputs = [cell.locator(".jp-OutputArea-output:has(.rb)").first.element_handle() for cell in cells]
    page = cells[0].page
    page.evaluate(AXE_SCRIPT)
    # JupyterLab's body has no height and hides what is outside it: axe would take everything for hidden.
    page.evaluate("document.body.style.height = '100vh'")
    cells[0].evaluate("(cell) => cell.scrollIntoView()")
    # All at once: each time it looks at the whole of JupyterLab first.
    result: dict[str, list[dict[str, Any]]] = page.evaluate(
        "([outputs, options]) => axe.run(outputs, { resultTypes: ['violations'], ...options })",
        [outputs, {"runOnly": ["color-contrast", "link-in-text-block"]} if only_colours else {}],
    )
    page.evaluate("document.body.style.height = ''")
    assert "color-contrast" in [each["id"] for each in result["passes"]], "something lies over the panels"
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:300]} {' '.join(node['failureSummary'].split())}"
        for each in result["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.usefixtures("jobs")
def test_the_studio_from_text_to_a_comparison_by_keyboard_alone(notebook: Notebook) -> None:
    """Tab goes in reading order; write, generate, watch, find, compare and come back; no cell hears of it."""
    cell = notebook.run("session.sandbox.settings(pace=1)\nstudio51 = rb.Studio(session)\nstudio51")
    shown(cell, ".rb-form")
    before = notebook.executions()
    cell.get_by_role("button", name="Create", exact=True).focus()  # as if Tab had come to the panel
    names = [focused(notebook)]
    while names[-1] != "Random":
        notebook.press("Tab")
        names.append(focused(notebook))
    expected = "Create|Explore|Board|Gallery|Compare|Judge|Usage|More|From text|From an image|History"
    expected += "|Styles|From a clip…|Prompt|Length|16:9|9:16|1:1|Random"
    assert expected.split("|") == [re.sub(r"\s+\d+$", "", name) for name in names]  # how many jobs run
    tab_to(notebook, "Prompt", back=True)
    notebook.page.keyboard.type("a badger and a duck")
    notebook.press("Control+Enter")
    until(shown(cell, ".rb-of-job_card .rb-card"), PLAYS)
    tab_to(notebook, "Pause")
    notebook.press("Space")
    until(cell, "(cell) => cell.querySelector('.rb-of-job_card video').paused")
    look_at(notebook, "Board")
    shown(cell, ".rb-board .rb-row")
    tab_to(notebook, "a badger")
    notebook.press("Enter")
    until(cell.locator(".rb-open-row"), PLAYS)
    notebook.press("Escape")
    cell.locator(".rb-open-row").wait_for(state="hidden")
    assert "a badger" in focused(notebook)
    look_at(notebook, "Gallery")
    shown(cell, ".rb-gallery .rb-tile")
    tab_to(notebook, "a badger")
    notebook.press("Space", "ArrowRight", "Space")
    says(cell, "2 selected")
    tab_to(notebook, "Compare", back=True)
    notebook.press("Enter")
    shown(cell, ".rb-compare")
    until(cell, "() => document.activeElement.matches('.rb-of-compare .rb-play')")
    notebook.press("Enter")
    until(
        cell,
        "(cell) => [...cell.querySelectorAll('.rb-compare video')].filter((one) => !one.paused).length === 2",
    )
    look_at(notebook, "Create")
    shown(cell, ".rb-form")
    tab_to(notebook, "Prompt")
    assert notebook.page.evaluate("document.activeElement.value") == "a badger and a duck"
    notebook.press("Escape")
    assert notebook.executions() == before
    notebook.comes_to("studio51.view", "create")
    look_at(notebook, "Gallery")
    tab_to(notebook, "a kite")
    notebook.execute("studio51.view = 'compare'")  # drawn already
    until(cell, "() => document.activeElement.matches('.rb-of-compare .rb-play')")


@pytest.mark.usefixtures("jobs")
def test_a_panel_that_a_press_opened_takes_a_focus_that_nothing_has(notebook: Notebook) -> None:
    """It waits until the pressed control is gone, and ends waiting once the person presses something else."""
    page, on_body = notebook.page, "() => document.activeElement === document.body"
    for pressed, then in (([], "() => document.activeElement.matches('.rb-play')"), (["Shift"], on_body)):
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<button id=pressed>')")
        page.locator("#pressed").press("Enter")
        cell = notebook.run("rb.Compare([job for job in session.jobs() if job.clip][:2])")
        page.locator("#pressed").focus()
        shown(cell, ".rb-compare")
        page.wait_for_timeout(300)
        assert page.evaluate("document.activeElement.id") == "pressed"
        notebook.press(*pressed)
        page.evaluate("document.getElementById('pressed').remove()")
        until(cell, then)
        assert at_rest(cell, then, seconds=0.3)


@pytest.mark.usefixtures("jobs")
def test_picks_are_handed_over_by_keyboard_alone(notebook: Notebook) -> None:
    """The focus goes on in the form that a press opened, and back to the tray once it is closed."""
    cell = notebook.run("rb.Studio(session)")
    shown(cell, ".rb-tray")
    cell.get_by_role("button", name="Create", exact=True).focus()
    tab_to(notebook, "Make longer…")
    notebook.press("Enter")
    shown(cell, ".rb-longer")
    tab_to(notebook, "Cancel")
    notebook.press("Enter")
    until(cell, FOCUS.replace("NAME", "Make longer…"))
    tab_to(notebook, "Hand over", back=True)
    notebook.press("Enter")
    until(cell, "() => document.activeElement.type === 'radio'")
    assert focused(notebook).endswith("picks of today")
    tab_to(notebook, "Save page")
    notebook.press("Enter")
    until(cell, FOCUS.replace("NAME", "Download"))
    tab_to(notebook, "Done")
    notebook.press("Enter")
    until(cell, FOCUS.replace("NAME", "Hand over"))


def test_a_waiting_clip_is_taken_back_by_keyboard_alone(notebook: Notebook) -> None:
    """The focus goes on to Again, which rests first: a key that is held down buys nothing."""
    notebook.execute(
        "session.sandbox.settings(rate_limiting=True)\n"
        "key = session.keys.create('narrow', rate_limit=1).api_key.reveal()\n"
        "narrow = rb.connect('live', api_key=key, base_url=session.base_url)\n"
        "narrow.balance()\nsession.sandbox.settings(rate_limiting=False)\n"
        "studio53 = rb.Studio(narrow)"
    )
    for panel in ("studio53.card", "studio53"):
        notebook.execute("studio53.card.job = narrow.text_to_video('a heron that waits', duration_seconds=1)")
        cell = notebook.run(panel)
        rests = noted(cell, "(cell) => cell.querySelector('[data-act=again]')?.disabled ?? null")
        cell.get_by_role("button", name="Don't send").focus()
        pressed_at = time.monotonic()
        notebook.press("Enter")
        tells(cell, "Nothing was paid.")
        took = time.monotonic() - pressed_at
        until(cell, FOCUS.replace("NAME", "Again · $0.05"))
        assert True in rests() or took > 1.4  # on a busy machine the rest may be over by then
    notebook.execute("narrow.close()")


FOCUS = "() => document.activeElement.innerText === 'NAME'"


def tab_to(notebook: Notebook, name: str, *, back: bool = False) -> None:
    """Presses Tab until the control of that name has the focus."""
    passed: list[str] = []
    while len(passed) < 40:
        notebook.press("Shift+Tab" if back else "Tab")
        passed.append(focused(notebook))
        if passed[-1].startswith(name):
            return
    raise AssertionError(f"Tab never came to {name}, only to {passed}")


def look_at(notebook: Notebook, view: str) -> None:
    """Goes back to the Studio's line and chooses a view."""
    tab_to(notebook, view, back=True)
    notebook.press("Enter")
    current = notebook.page.locator(".rb-nav [aria-current=page]")
    until(current, f"(button) => button.innerText.startsWith('{view}')")


# Controls that look the same with the focus as without it. A divider shows it on its handle; a stage cuts off
# what is around its clip.
UNSEEN_FOCUS = """(cell) => {
  const controls = '.rb :is(button, input, textarea, select, a[href], [tabindex]):not(:disabled, .rb-hidden)';
  const ring = (node) => ['', '::before', '::after'].map((part) => {
    const { outlineStyle, outlineWidth, outlineColor, outlineOffset } = getComputedStyle(node, part || null);
    const cut = node.tagName === 'VIDEO' && parseFloat(outlineOffset) > 0;
    return outlineStyle === 'none' || parseFloat(outlineWidth) < 2 || cut ? '' : outlineColor;
  });
  document.activeElement.blur();
  const all = [...cell.querySelectorAll(controls)];
  const before = new Map(all.map((node) => [node, ring(node)]));
  const unseen = all.filter((node) => {
    if (!node.getClientRects().length) return false;
    node.focus();
    if (document.activeElement !== node) return false;
    return ring(node).every((colour, part) => !colour || colour === before.get(node)[part]);
  });
  document.activeElement.blur();
  return unseen.map((node) => `the focus isn't seen on ${node.outerHTML.slice(0, 200)}`);
}"""
REGIONS = """(cell) => [...cell.querySelectorAll('.rb')]
  .map((panel) => [panel, panel.querySelectorAll('[aria-live=polite]').length])
  .filter(([, count]) => count !== 1)
  .map(([panel, count]) => `${count} polite regions in ${panel.getAttribute('aria-label')}`)"""
