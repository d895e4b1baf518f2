"""The matrix of a sweep in a real JupyterLab: bought, filled, played on one clock, rearranged."""

import json
from textwrap import indent

from playwright.sync_api import Locator

from browser.lab import SETUP, Notebook, keep_in_view, says, shown, tells, until

BUY = """
session.sandbox.settings(pace=0)
sweep60 = rb.Sweep('a {animal} runs through {place}', animal=['red fox', 'heron', 'bear'],
                   place=['snow at night', 'dunes at noon', 'the sea shore'], seed=[1, 2], duration_seconds=2)
run60 = sweep60.run(session, confirm=True)
run60.results()
"""
# One sweep for all that look at it: eighteen clips cost a kernel more than a second.
SWEEP = f"if 'run60' not in globals():\n{indent(BUY, '    ')}"
# The kernel ends itself once ten clips are bought, before it buys more: none is on its way to the service.
SLOWLY = "from reelbook.explore import run\nrun.TICK_SECONDS = 60\n"
KILLED = """
import os, signal
def end_in_the_middle(_):
    jobs = [cell.job for cell in run60.cells if cell.job is not None]
    if jobs and all(job.request_id for job in jobs):
        os.kill(os.getpid(), signal.SIGKILL)
run60.subscribe(end_in_the_middle)
session._thread.run(lambda: end_in_the_middle(None))
"""
ALL = "rb.Matrix(run60, rows='animal', columns=['place', 'seed'])"
READY = """(cell) => {
  const cells = [...cell.querySelectorAll('.rb-cell:not(.rb-blank)')];
  return cells.length > 0 && cells.every((one) => one.querySelector('video')?.classList.contains('rb-ready'));
}"""
SOME = "(cell) => cell.querySelectorAll('td video.rb-ready').length > 3"
VIDEOS = "(cell) => cell.querySelectorAll('td video').length"
TIMES = "(cell) => [...cell.querySelectorAll('td video')].map((video) => video.currentTime)"
STILL = "(cell) => [...cell.querySelectorAll('td video')].every((video) => video.paused && !video.seeking)"
TOGETHER = f"""(cell) => {{
  const at = ({TIMES})(cell);
  return ({STILL})(cell) && Math.max(...at) - Math.min(...at) < 0.001;
}}"""
CLEAR_OF_LABELS = """(table) => table.querySelector('td:focus').getBoundingClientRect().left
  >= table.querySelector('tr:has(td:focus) th').getBoundingClientRect().right"""
# A seek that isn't the clock's.
SOUGHT = "(cell) => { cell.querySelector('td video').currentTime += 0.15; }"
# Puts one clip ahead of the others while all play, and pauses them as soon as it is there.
PAUSED_APART = """(cell) => new Promise((done) => {
  const video = cell.querySelector('td video');
  video.addEventListener('seeked', () => {
    [...cell.querySelectorAll('button')].find((button) => button.innerText === 'Pause').click();
    done();
  }, { once: true });
  video.currentTime += 0.15;
})"""
# Whether what is well in view has its clip, and what is well out of view has none.
DECODED = """(cell) => {
  const { top, bottom, left, right } = cell.querySelector('.rb-scroll').getBoundingClientRect();
  return [...cell.querySelectorAll('.rb-cell')].every((one) => {
    const box = one.getBoundingClientRect(), video = one.querySelector('video');
    const x = Math.min(box.right, right) - Math.max(box.left, left);
    const y = Math.min(box.bottom, bottom, innerHeight) - Math.max(box.top, top);
    return x > 40 && y > 40 ? video?.classList.contains('rb-ready') : x > -40 && y > -40 || !video;
  });
}"""
# The numbers of the cells that are wider than their place in the table.
OVERLAPS = """(cell) => [...cell.querySelectorAll('.rb-cell')]
  .filter((one) => one.offsetWidth > one.parentElement.clientWidth + 1).map((one) => one.dataset.n)"""
ANIMALS, PLACES = ["red fox", "heron", "bear"], ["snow at night", "dunes at noon", "the sea shore"]
# The page's Blobs that are alive, in bytes.
COUNT_BLOBS = """() => {
  const alive = (window.blobs60 = { bytes: 0 });
  const gone = new FinalizationRegistry((size) => { alive.bytes -= size; });
  const Plain = window.Blob;
  window.Blob = class extends Plain {
    constructor(...given) { super(...given); alive.bytes += this.size; gone.register(this, this.size); }
  };
}"""


def opened(notebook: Notebook, code: str) -> Locator:
    notebook.page.mouse.move(0, 0)
    cell = notebook.run(code)
    shown(cell, ".rb-matrix td .rb-cell")
    keep_in_view(cell)
    return cell


def held(notebook: Notebook) -> int:
    """Bytes that the page holds once its garbage is collected: JavaScript's heap and the Blobs it made."""
    tools = notebook.page.context.new_cdp_session(notebook.page)
    tools.send("HeapProfiler.collectGarbage")
    heap: int = tools.send("Runtime.getHeapUsage")["usedSize"]
    tools.detach()
    blobs: int = notebook.page.evaluate("blobs60.bytes")  # asked last: what was collected is told by then
    return heap + blobs


def stand(cell: Locator, columns: list[str], rows: list[str]) -> None:
    """Waits until these labels stand over the columns and beside the rows, or more of the kind."""
    wanted = json.dumps([columns, rows])
    until(
        cell,
        f"""(cell) => {wanted}.every((some, place) => {{
          const part = ['thead', 'tbody'][place];
          const found = cell.querySelectorAll(`.rb-matrix ${{part}} th > span`);
          const all = [...found].map((one) => one.innerText);
          return some.every((label, number) => all[number] === label);
        }})""",
    )


def says_what_differs(cell: Locator, *words: str) -> None:
    """Waits until these words of the cell's prompt are marked."""
    marks = "[...cell.querySelectorAll('.rb-about mark')].map((mark) => mark.innerText)"
    until(cell, f"(cell) => {marks}.join() === {json.dumps(','.join(words))}")


def test_a_sweep_is_planned_bought_and_fills(notebook: Notebook) -> None:
    """In the Studio from a template to clips: the price first, a second press above a dollar, live cells.

    One of the clips is varied then, and marked words become a slot.
    """
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
    matrix.locator(".rb-cell").last.scroll_into_view_if_needed()
    until(matrix, "(matrix) => !matrix.querySelector('tr:last-child td:last-child img').hidden")
    notebook.comes_to("[studio61.matrix.run.state, len(studio61.matrix.run.cells)]", ["completed", 8])
    form.locator(".rb-left").scroll_into_view_if_needed()  # it was listed before it had a poster
    until(form, "(form) => Boolean(form.querySelector('.rb-left img[src]'))")

    matrix.locator("td .rb-cell").first.click()
    matrix.locator(".rb-about").get_by_label("Menu").select_option("vary")
    form.get_by_role("group", name="Vary").get_by_role("button", name="Length").click()
    tells(form, "Full grid · 2", "1 · $0.00", "Make 1 clip · $0.15")
    prompt = form.locator("textarea")
    prompt.fill("a duck on a lake")
    prompt.evaluate("(field) => field.setSelectionRange(2, 6)")
    form.get_by_role("button", name="Make a slot").click()
    until(
        form.get_by_label("duck", exact=True),
        "(field) => field === document.activeElement && field.value === 'duck, '",
    )
    notebook.page.keyboard.type("swan, goose")
    tells(form, "Full grid · 6")


def test_cells_without_a_clip_keep_to_their_column(notebook: Notebook) -> None:
    """In a narrow window, too, where they are higher than a clip would be."""
    notebook.page.set_viewport_size({"width": 700, "height": 1000})
    cell = opened(notebook, "rb.Matrix(rb.Sweep('a {duck|swan|goose}', seed='1-3'), session)")
    until(cell, "(cell) => cell.querySelector('.rb-cell').offsetHeight > 90")
    assert cell.evaluate(OVERLAPS) == []


def test_a_killed_kernel_is_resumed_from_the_button(notebook: Notebook) -> None:
    """SIGKILL in the middle of a sweep: a new kernel buys exactly the missing clips, none of them twice."""
    before = notebook.value("session.sandbox.state()['total_spent_usd']")
    notebook.start(SLOWLY + BUY.replace("runs", "swims").replace("run60.results()", KILLED))
    notebook.page.get_by_role("dialog").get_by_role("button", name="Ok").click()
    for script in notebook.IS_READY:
        notebook.page.wait_for_function(script)
    reopened = "matrix66 = rb.Matrix(rb.Sweep.open(session, session.sweeps()[0].id))\nmatrix66"
    cell = opened(notebook, SETUP + reopened)
    cell.get_by_role("button", name="Resume").click()
    tells(cell, "All 18 here", "planned", "took")
    assert notebook.value("len({cell.job.request_id for cell in matrix66.run.cells})") == 18
    spent = notebook.value("session.sandbox.state()['total_spent_usd']") - before
    assert round(spent, 2) == 1.80


def test_eighteen_clips_keep_one_time(notebook: Notebook) -> None:
    """Only posters until somebody turns to it; paused, all show one moment, however late one was."""
    cell = opened(notebook, f"{SWEEP}matrix62 = {ALL}\nmatrix62")
    assert cell.evaluate(VIDEOS) == 0
    cell.get_by_role("button", name="Play all").click()
    until(cell, READY)
    assert cell.evaluate(VIDEOS) == 18
    until(cell, f"(cell) => ({TIMES})(cell).every((time) => time > 0.1)")
    cell.evaluate(PAUSED_APART)
    until(cell, TOGETHER)
    cell.evaluate(SOUGHT)
    until(cell, TOGETHER)


def test_swapping_axes_asks_nobody(notebook: Notebook) -> None:
    """By button, by choice and by dragging: other labels, the same clips, and nothing is fetched."""
    cell = opened(
        notebook,
        f"""{SWEEP}
matrix63, asked63 = {ALL}, []
matrix63.on_msg(lambda _, content, __: asked63.append(content['name']))
for other63 in session.jobs(limit=1000): other63.stop_watching()  # what earlier tests left
import logging
class Heard(logging.Handler):
    def emit(self, record): requests63.append(record.getMessage())
requests63, httpx_log = [], logging.getLogger('httpx')
httpx_log.addHandler(Heard())
httpx_log.setLevel(logging.INFO)
matrix63""",
    )
    cell.get_by_role("button", name="Play all").click()
    until(cell, READY)
    cell.get_by_role("button", name="Pause", exact=True).click()
    stand(cell, [], ANIMALS)
    cell.get_by_role("button", name="Swap rows and columns").click()
    stand(cell, ANIMALS, ["snow at night · 1", "snow at night · 2"])
    cell.get_by_label("Rows: place").select_option("swap:animal")
    stand(cell, PLACES, ["red fox · 1"])
    grips = cell.locator(".rb-grip")
    grips.nth(1).drag_to(grips.nth(2))  # seed from the rows onto place in the columns
    stand(cell, ["1", "2"], ["red fox · snow at night"])
    until(cell, SOME)
    cell.get_by_label("Rows: place").select_option("to:pages")
    stand(cell, ["1", "2"], ANIMALS)
    cell.get_by_role("button", name="dunes at noon").click()
    until(cell, "(cell) => cell.querySelector('.rb-prompt').innerText.includes('dunes at noon')")
    # At once: a panel that was left may be drawn anew.
    asked, requests = notebook.value("[asked63, requests63]")
    assert asked.count("chunk") == 18
    assert [each for each in requests if "req_" in each] == []
    assert notebook.value("[matrix63.rows, matrix63.columns]") == [["animal"], ["seed"]]
    assert notebook.value("matrix63.page") == {"place": "dunes at noon"}


def test_by_keyboard_alone(notebook: Notebook) -> None:
    """Arrows, Enter, x, p, t, the pages, Space and Escape; the words say what differs; no cell runs."""
    cell = opened(
        notebook,
        f"""{SWEEP}
matrix64, compared64 = rb.Matrix(run60), []
matrix64.on_compare(compared64.append)
matrix64""",
    )
    before = notebook.executions()
    cell.get_by_role("button", name="Swap rows and columns").focus()
    while notebook.page.evaluate("document.activeElement.tagName") != "TD":
        notebook.press("Tab")
    notebook.press("ArrowRight", "ArrowDown")
    says_what_differs(cell, "heron", "dunes at noon")
    notebook.press("p")
    cell.get_by_role("button", name="★ Picked").wait_for()
    tells(cell.locator("thead"), "1 picked of 3")
    notebook.press("x", "Shift+ArrowLeft")
    says(cell, "Compare 2 selected")
    notebook.press("PageDown")
    until(cell, "(cell) => cell.querySelector('.rb-meta').innerText.includes('seed 2')")
    notebook.press("t")
    stand(cell, ANIMALS, PLACES)
    says_what_differs(cell, "red fox", "snow at night")
    notebook.press("Enter")
    until(shown(cell, ".rb-stage"), "(stage) => stage.querySelector('video')?.currentTime > 0.1")
    notebook.press("ArrowDown", "x")
    notebook.comes_to("len(matrix64.selected)", 3)
    notebook.press("x")
    notebook.comes_to("len(matrix64.selected)", 2)
    says_what_differs(cell, "red fox", "dunes at noon")  # it stays the opened one
    cell.get_by_label("Note").focus()
    notebook.page.keyboard.type("the best so far")  # no letter of it is a shortcut
    notebook.press("Enter", "Escape")
    cell.locator(".rb-stage").wait_for(state="hidden")
    notebook.press("Space")
    until(cell, "(cell) => [...cell.querySelectorAll('td video')].some((video) => !video.paused)")
    notebook.press("Space")
    until(cell, STILL)
    assert notebook.executions() == before
    cell.get_by_role("button", name="Compare 2 selected").press("Enter")
    notebook.comes_to("[len(jobs) for jobs in compared64]", [2])
    notebook.comes_to("sum(cell.job.note == 'the best so far' for cell in run60.cells)", 1)
    notebook.comes_to("[matrix64.page, matrix64.opened]", [{"seed": "2"}, 0])


def test_two_hundred_cells_stay_small(notebook: Notebook) -> None:
    """Only cells in view have a video, those far away give their clips back; no label covers the focus."""
    notebook.reload()  # what earlier tests left in the page doesn't count
    notebook.page.evaluate(COUNT_BLOBS)
    cell = opened(
        notebook,
        f"""{SWEEP}
import dataclasses
sweep65 = rb.Sweep('a {{animal}}', animal=[f'animal {{n}}' for n in range(20)], seed=list(range(10)))
run65 = rb.Matrix(sweep65, session).run
jobs = [cell.job for cell in run60.cells]
run65._cells = {{n: dataclasses.replace(cell, job=jobs[n % 18]) for n, cell in run65._cells.items()}}
rb.Matrix(run65)""",
    )
    cell.get_by_role("button", name="Play all").click()
    until(cell, SOME)
    cell.get_by_role("button", name="Pause", exact=True).click()
    most, largest = 0, 0
    scroller = cell.locator(".rb-scroll")
    scroller.evaluate("(part) => part.scrollIntoView({ block: 'center' })")
    for place in (0, 50, 100):
        scroller.evaluate(
            "(part, at) => { part.scrollTop = (part.scrollHeight - part.clientHeight) * at / 100; }", place
        )
        until(cell, DECODED)
        most = max(most, cell.evaluate(VIDEOS))
        largest = max(largest, held(notebook))
    print(f"200 cells: {most} videos at most, {largest / 1e6:.0f} MB of heap and Blobs")
    assert most < 100
    assert largest < 150e6
    scroller.locator("td[tabindex='0']").focus()
    notebook.press(*["ArrowRight"] * 9, *["ArrowLeft"] * 8)
    assert scroller.evaluate(CLEAR_OF_LABELS)


def test_a_double_click_does_not_answer_whether_to_buy(notebook: Notebook) -> None:
    """Above a sum the first click asks; the button that answers is off until a second click is a decision."""
    cell = notebook.run(
        "sweep61 = rb.Sweep('a {animal} naps', animal=['fox', 'owl'], duration_seconds=1)\n"
        "matrix61 = rb.Matrix(sweep61, session, confirm_above_usd=0.05)\nmatrix61"
    )
    buy = cell.get_by_role("button", name="Make 2 clips · $0.10")
    is_off = "(cell) => cell.querySelector('[data-act=buy]').ariaDisabled"
    notebook.run("session.sandbox.settings(balance_usd=0.05)\nsession.balance()")
    until(cell, f"{is_off} === 'true'")
    notebook.run("session.sandbox.settings(balance_usd=25)")
    buy.click(force=True)  # while it is off this asks for the balance
    until(cell, f"{is_off} === 'false'")
    buy.dblclick()
    answer = cell.get_by_role("button", name="Yes, make 2 clips · $0.10")
    answer.wait_for()
    assert answer.is_disabled()
    assert notebook.value("matrix61.run.id") is None
    answer.click()
    notebook.comes_to("matrix61.run.id is None", False)


def test_an_edit_takes_back_the_question_whether_to_buy(notebook: Notebook) -> None:
    """Also one that leaves the price as it is; "No" does the same, and the answer buys."""
    form = notebook.run(
        "form62 = rb.SweepForm(session, template='a {fox|owl} yawns', confirm_above_usd=0.05)\n"
        "form62.axes = {'seed': '1', 'duration_seconds': '1'}\nform62"
    )
    make, answer = (
        form.get_by_role("button", name=f"{verb} 2 clips · $0.10", exact=True)
        for verb in ("Make", "Yes, make")
    )
    make.click()
    form.get_by_role("button", name="No", exact=True).click()
    make.click()
    answer.wait_for()
    form.get_by_role("textbox", name="Prompt").fill("a {fox|owl} sneezes")
    make.wait_for()
    form.get_by_role("textbox", name="Prompt").press("Control+Enter")
    notebook.comes_to("form62.sweep.template", "a {fox|owl} sneezes")
    assert notebook.value("form62._begun") is False
    answer.click()
    notebook.comes_to("form62._begun", True)
    until(form, "(form) => document.activeElement === form.querySelector('textarea')")  # the button has gone
