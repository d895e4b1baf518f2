"""The panels in marimo, driven in a real browser: it draws anywidgets only, and each in a shadow tree."""

import re

from playwright.sync_api import Page

CALL = """([name, body, headers]) => fetch(`/api/kernel/${name}`, {
  method: "POST", headers: {...headers, "Content-Type": "application/json"}, body: JSON.stringify(body),
}).then((answer) => { if (!answer.ok) throw new Error(`${name}: ${answer.status}`); })"""
LOOK = re.compile(r"Look (\d+): (\d+) geese and (\d+) ducks bought")
# Of its text and of the ground behind it: red, green and blue, of 255 each.
COLOURS = """(node) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const parts = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const above = (each) => each.parentElement || each.getRootNode().host;
  let behind = node;
  while (!parts(getComputedStyle(behind).backgroundColor)[3]) behind = above(behind);
  const colours = [getComputedStyle(node).color, getComputedStyle(behind).backgroundColor];
  return colours.map((colour) => parts(colour).slice(0, 3));
}"""
PLAYS = "(card) => { const film = card.querySelector('video'); return film && film.videoWidth > 0; }"


def test_dark_panels_on_a_dark_page(page: Page) -> None:
    """Each panel has the colours of the page's scheme, across its shadow tree, and so has the chart.

    Of the chart, whose bars aren't drawn here, the still picture is seen.
    """
    card = page.locator(".rb-of-job_card .rb-card", has_text="a kite")
    studio = page.locator(".reelbook-studio")
    studio.get_by_role("button", name="Usage").click()
    page.wait_for_function(
        "(n) => n.naturalWidth > 100", arg=studio.locator("img.rb-undrawn").element_handle()
    )
    chart = studio.locator(".rb-usage-head")
    for panel in (card, studio.locator(".rb-line"), page.locator(".rb-matrix"), chart):
        text, ground = panel.evaluate(COLOURS)
        assert min(text) > 200
        assert max(ground) < 60
    # Nothing of the chart lies as a patch on the ground of its pane.
    assert chart.evaluate(COLOURS)[1] == studio.locator(".reelbook-usage").evaluate(COLOURS)[1]
    studio.get_by_role("button", name="Create").click()


def test_the_studio(page: Page) -> None:
    """A prompt becomes a playing clip, and views that are made at a press are drawn."""
    studio = page.locator(".reelbook-studio")
    studio.get_by_label("Prompt").fill("a red fox")
    studio.get_by_role("button", name="Generate").click()
    card = studio.locator(".rb-of-job_card")
    card.get_by_text("Completed", exact=True).wait_for()
    page.wait_for_function(PLAYS, arg=card.element_handle())
    studio.get_by_role("button", name="Gallery").click()
    studio.locator(".rb-gallery .rb-tile").first.wait_for()
    assert card.is_hidden()
    studio.get_by_role("button", name="More").click()
    studio.get_by_role("button", name="Tools").click()
    tools = studio.locator(".rb-explorer .rb-list button")
    tools.first.focus()
    for _ in range(2):  # a panel finds what has the focus within its shadow tree
        page.keyboard.press("ArrowDown")
    assert tools.nth(2).evaluate("(tool) => tool === tool.getRootNode().activeElement")


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
    """Three equal clips, the first from a thread; marimo runs the cell again, and it gets them back."""
    page.get_by_text("Run 0: 3 swans, 3 bought, known by {None}").wait_for()
    for run in (1, 2):
        run_again(page)
        page.get_by_text(f"Run {run}: 3 swans, 3 bought, known by {{'id'}}").wait_for()


GOOSE = "# {comment}\nsession.text_to_video('a goose{more}', duration_seconds=1)"


def look(shown: str) -> tuple[int, ...]:
    """The number of presses, of geese and of ducks."""
    found = LOOK.search(shown)
    assert found is not None
    return tuple(map(int, found.groups()))


def run_again(page: Page) -> tuple[int, ...]:
    """Presses the button and waits for the look of this very press: an earlier one may still be drawn."""
    presses, *_ = look(page.get_by_text(LOOK).inner_text())
    page.get_by_role("button", name="Run again").click()
    return look(page.get_by_text(f"Look {presses + 1}: ").inner_text())


def headers_of(page: Page) -> dict[str, str]:
    """What marimo's page says of itself with each of its calls."""
    with page.expect_request("**/api/kernel/*") as asked:
        run_again(page)
    return {name: value for name, value in asked.value.headers.items() if name.startswith("marimo-")}


def bought(page: Page) -> tuple[int, int]:
    """How many geese and ducks were bought, by a look that is taken now."""
    _, geese, ducks = run_again(page)
    return geese, ducks


def test_what_is_another_clip_is_bought_and_nothing_else(page: Page) -> None:
    """An edited comment buys nothing; a copied cell, another prompt and `again=True` buy one clip each."""
    headers = headers_of(page)

    def geese_after(cell: str, code: str) -> int:
        """Runs the code as that cell, as marimo's page does, and looks once more."""
        page.evaluate(CALL, ["run", {"cellIds": [cell], "codes": [code]}, headers])
        return bought(page)[0]

    assert geese_after("Goos", GOOSE.format(comment="white", more="")) == 1
    assert geese_after("Goos", GOOSE.format(comment="grey", more="")) == 1
    assert geese_after("Copy", GOOSE.format(comment="grey", more="")) == 2
    assert geese_after("Goos", GOOSE.format(comment="grey", more=" at dawn")) == 3
    assert geese_after("Goos", GOOSE.format(comment="grey", more="")) == 3
    again = GOOSE.format(comment="grey", more="").replace("=1)", "=1, again=True)")
    assert geese_after("Goos", again) == 4


def test_each_press_of_a_button_buys(page: Page) -> None:
    """A press is a wish of its own, however equal."""
    for presses in (1, 2):
        page.get_by_role("button", name="Buy a duck").click()
        assert bought(page)[1] == presses  # marimo makes one of presses that its kernel had no time for


def test_a_restarted_kernel_gets_its_clips_back(page: Page) -> None:
    """All cells run in a new kernel, which knows them by their text: no swan and no kite is bought again."""
    page.evaluate(CALL, ["restart_session", {}, headers_of(page)])
    page.reload()
    page.get_by_text("Run 0: 3 swans, 3 bought, known by {'text'}").wait_for()
