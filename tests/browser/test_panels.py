"""The panels in a real JupyterLab: what a person types, presses, drops and sees."""

import base64
import random
import re
from io import BytesIO

from PIL import Image
from playwright.sync_api import Locator

from browser.lab import PLAYS, SETUP, Notebook, noted, says, shown, tells, until
from browser.liveness import at_pace

PROMPT = "a red fox runs through snow at night, slow pan left"


def picture(width: int, height: int, *, noise: bool = False) -> bytes:
    """A PNG; of noise it doesn't get smaller by being saved."""
    file = BytesIO()
    pixels = random.Random(1).randbytes(width * height * 3) if noise else None
    image = (
        Image.frombytes("RGB", (width, height), pixels)
        if pixels
        else Image.linear_gradient("L").resize((width, height)).convert("RGB")
    )
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()


def hand_over(target: Locator, kind: str, data: bytes, name: str = "photo", mime: str = "image/png") -> None:
    """Drops or pastes a file on `target`, as the browser does."""
    target.evaluate(
        """(node, [kind, data, name, type]) => {
          const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
          const carried = new DataTransfer();
          carried.items.add(new File([bytes], name, {type}));
          const init = {bubbles: true, cancelable: true, composed: true};
          if (kind === 'paste') {
            node.dispatchEvent(new ClipboardEvent('paste', {...init, clipboardData: carried}));
            return;
          }
          for (const type of ['dragenter', 'dragover', 'drop']) {
            node.dispatchEvent(new DragEvent(type, {...init, dataTransfer: carried}));
          }
        }""",
        [kind, base64.b64encode(data).decode(), name, mime],
    )


def test_from_a_prompt_to_a_playing_clip(notebook: Notebook) -> None:
    """Type a prompt, press Generate, see the progress move and the clip play; the money follows."""
    # Of no other clip's length: what is known of a kind tells when a job is first asked about.
    cell = notebook.run("studio = rb.Studio(session)\nstudio.form.duration_seconds = 7\nstudio")
    shown(cell, ".rb-form")
    cell.get_by_label("Prompt").fill(PROMPT)
    cell.get_by_role("button", name="Fixed").click()
    cell.get_by_role("textbox", name="Seed").fill("7")
    with at_pace(notebook, 8):  # long enough to be seen, whatever is known of such clips
        said = noted(cell, "(cell) => cell.querySelector('.rb-card')?.innerText ?? ''")
        moved = noted(cell, "(cell) => Number(cell.querySelector('.rb-card .rb-bar')?.ariaValueNow ?? 0)")
        cell.get_by_role("button", name="Generate · $0.35").click()
        card = shown(cell, ".rb-card")
        until(card, PLAYS)
    assert max(moved()) > 0
    for words in (r"asked \d+ s ago", r"about \$0\.35"):
        assert any(re.search(words, each) for each in said()), said()
    tells(card, "Completed", "7.0 s", "640 × 360", "seed 7", "took", "$0.35")
    tells(cell, "sandbox")
    assert card.locator(".rb-badge:visible").count() == 0  # the line above says it
    assert card.locator("video").evaluate(
        "(video) => video.muted && video.loop && video.poster.startsWith('blob:')"
    )
    notebook.comes_to("[studio.card.state, studio.form.seed, studio.form.prompt]", ["completed", 7, PROMPT])
    with notebook.page.expect_download() as saved:
        cell.get_by_role("button", name="Save").click()
    assert saved.value.suggested_filename == "a-red-fox-runs-through-snow-at-night-7.mp4"


def test_an_image_dropped_on_the_form_becomes_a_playing_clip(notebook: Notebook) -> None:
    """From an image: drop it, say what moves, generate, play; neither shape nor seed is offered."""
    cell = notebook.run("studio2 = rb.Studio(session)\nstudio2")
    shown(cell, ".rb-form")
    cell.get_by_role("button", name="From an image").click()
    for hidden in ("Shape", "Seed"):
        cell.get_by_role("group", name=hidden, exact=True).wait_for(state="hidden")
    cell.get_by_label("Prompt").fill("slow zoom in")
    tells(cell, "Choose an image first.")
    hand_over(cell.locator(".rb-drop"), "drop", picture(320, 200))
    says(cell, "320 × 200 · PNG")
    cell.get_by_role("button", name="Generate").click()
    card = shown(cell, ".rb-card")
    says(cell, "Your image.")
    until(card.locator("img"), "(image) => image.complete && image.naturalWidth > 0")
    until(card, PLAYS)


def test_an_image_can_be_pasted_chosen_removed_and_large(notebook: Notebook) -> None:
    """Pasting works with the focus in the panel, choosing is a real file input, Remove takes it away.

    Six megabytes arrive as they are, in messages under 1 MiB.
    """
    cell = notebook.run(
        "picker, sizes = rb.ImagePicker(), []\n"
        "picker.on_msg(lambda _, content, buffers: sizes.append(sum(map(len, buffers or []))))\n"
        "picker"
    )
    choose = cell.get_by_role("button", name="Choose an image")
    choose.wait_for()
    hand_over(choose, "paste", picture(30, 20))
    says(cell, "30 × 20")
    cell.locator("input[type=file]").set_input_files(
        {"name": "x.png", "mimeType": "image/png", "buffer": picture(50, 40)}
    )
    says(cell, "50 × 40")
    cell.get_by_role("button", name="Remove").click()
    choose.wait_for()
    notebook.comes_to("picker.image is None", True)
    notebook.execute("sizes.clear()")
    data = picture(1450, 1450, noise=True)
    assert len(data) > 6_000_000
    hand_over(cell.locator(".rb-drop"), "drop", data)
    says(cell, "1450 × 1450")
    notebook.comes_to(
        "[len(picker.image.data), sum(sizes), max(sizes) < 2**20]", [len(data), len(data), True]
    )


def test_keys_pressed_in_a_panel_never_reach_the_notebook(notebook: Notebook) -> None:
    """Ctrl+Enter generates and runs no cell; letters insert none, from a field, a button and the video."""
    cell = notebook.run("form3 = rb.PromptForm(session, prompt='a boat')\nform3")
    prompt = cell.get_by_label("Prompt")
    prompt.wait_for()
    before = notebook.executions()
    prompt.press("a")
    cell.get_by_role("button", name="Random").press("a")
    cell.get_by_role("button", name="Random").press("d")
    cell.get_by_role("button", name="Random").press("d")
    prompt.press("Control+Enter")
    says(cell, "Sent. form3.job is job")
    assert notebook.executions() == before
    player = notebook.run("rb.Player(form3.job.result())")
    before = notebook.executions()
    until(shown(player, ".rb-card"), PLAYS)
    player.locator("video").press("Control+Enter")
    player.locator("video").press("b")
    assert notebook.executions() == before


def test_generate_says_why_it_is_off_and_sends_a_double_press_once(notebook: Notebook) -> None:
    """An empty prompt is named beside the button, and a press leads to it and sends nothing.

    Two clicks and a held Ctrl+Enter within a moment are one submission. An error in a person's callback would
    vanish in a widget's; here it is read, with its line, and can be dismissed.
    """
    cell = notebook.run(
        "from reelbook.widgets import prompt_form\n"
        "moment, prompt_form.TWICE_SECONDS = prompt_form.TWICE_SECONDS, 60  # however slow this machine is\n"
        "form4, jobs4 = rb.PromptForm(session, duration_seconds=1), []\n"
        "def mine(job):\n    jobs4.append(job)\n    raise RuntimeError('my own mistake')\n"
        "form4.on_job(mine)\nform4"
    )
    generate, prompt = cell.get_by_role("button", name="Generate"), cell.get_by_label("Prompt")
    generate.wait_for()
    tells(cell, "Write a prompt first.")
    assert generate.get_attribute("aria-disabled") == "true"
    prompt.press("Control+Enter")
    assert notebook.value("form4.job is None") is True
    prompt.fill("a {red|grey} boat")
    tells(cell, "“{red|grey}” is sent as it is. Open it in Explore to vary it.")
    prompt.fill("a boat, __styles__")
    tells(cell, "“__styles__” is sent as it is.")
    prompt.fill("a boat")
    until(cell, "(cell) => !cell.innerText.includes('Write a prompt first.')")
    tells(cell, "Say what is seen, how it moves, how the camera moves.")
    assert generate.get_attribute("aria-disabled") == "false"
    generate.dblclick()
    for _ in range(3):
        prompt.press("Control+Enter")
    trouble = cell.get_by_role("alert").filter(has_text="my own mistake")
    tells(trouble, "RuntimeError: my own mistake (mine, line 6)")
    notebook.comes_to("len(jobs4)", 1)
    notebook.execute("prompt_form.TWICE_SECONDS = moment")
    cell.get_by_role("button", name="Dismiss").click()
    trouble.wait_for(state="hidden")


def test_a_refused_key_is_said_on_top_and_on_the_button(notebook: Notebook) -> None:
    """At once, without a press; both lead to the place where another key is typed in."""
    cell = notebook.run(
        "refused = rb.connect('live', api_key='sk-mistyped', base_url=session.base_url)\n"
        "studio9 = rb.Studio(refused)\nstudio9"
    )
    cell.get_by_text("The service refuses this key", exact=True).wait_for()
    on_top, on_the_form = cell.get_by_role("button", name="Replace key").all()
    on_the_form.click()
    cell.locator(".rb-connection").wait_for()
    cell.get_by_role("button", name="Create", exact=True).click()
    on_top.click()
    cell.locator(".rb-connection").wait_for()
    notebook.execute("refused.close()")


def test_a_panel_and_python_hold_the_same_values(notebook: Notebook) -> None:
    """What is chosen in the page is there in Python, and the other way round; linked forms follow."""
    cell = notebook.run(
        "import traitlets\nform6, form7 = rb.PromptForm(session), rb.PromptForm(session)\n"
        "link = traitlets.link((form6, 'duration_seconds'), (form7, 'duration_seconds'))\nform6"
    )
    cell.get_by_label("Length").fill("8")
    cell.get_by_role("button", name="9:16").click()
    notebook.comes_to("[form7.duration_seconds, form6.aspect_ratio]", [8, "9:16"])
    tells(cell, "8 s × $0.05")
    notebook.execute("form6.prompt = 'from Python'; form6.seed = 41; form6.duration_seconds = 2")
    until(cell.get_by_label("Prompt"), "(field) => field.value === 'from Python'")
    until(cell.get_by_role("textbox", name="Seed"), "(field) => field.value === '41'")
    tells(cell.get_by_role("button", name="Generate"), "$0.10")
    notebook.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    cell.get_by_role("button", name="Copy as code").click()
    cell.get_by_role("button", name="As curl").click()
    cell.get_by_role("button", name="Copied").click()  # a double press
    cell.get_by_role("button", name="As curl").wait_for()
    cell.get_by_role("button", name="Copied").wait_for(state="hidden")
    assert '"prompt": "from Python"' in notebook.page.evaluate("navigator.clipboard.readText()")


def test_earlier_prompts_and_styles_by_keyboard(notebook: Notebook) -> None:
    """Searched as one types, taken with Enter, left with Escape; marked words become a style."""
    cell = notebook.run(
        "session.sandbox.settings(pace=0)\n"
        "for prompt in ('a tapir wades', 'a tapir sleeps'):\n"
        "    session.text_to_video(prompt, duration_seconds=1).result()\n"
        "form70 = rb.PromptForm(session)\nform70"
    )
    prompt = cell.get_by_label("Prompt")
    cell.get_by_role("button", name="History").press("Enter")
    says(cell, "a tapir sleeps")
    notebook.page.keyboard.type("tap wad")
    until(cell, "(cell) => cell.querySelectorAll('.rb-offer').length === 1")
    notebook.press("ArrowDown", "Enter")
    until(prompt, "(field) => field.value === 'a tapir wades' && field === document.activeElement")
    cell.get_by_role("button", name="History").press("Enter")
    notebook.press("Escape")
    until(
        cell,
        "(cell) => cell.querySelector('.rb-offers').hidden && document.activeElement.innerText === 'History'",
    )
    prompt.fill("a tapir wades, amber haze")
    prompt.evaluate("(field) => field.setSelectionRange(15, 25)")
    cell.get_by_role("button", name="Styles").press("Enter")
    until(cell.get_by_label("New style"), "(field) => field.value === 'amber haze'")
    cell.get_by_role("button", name="Keep as a style").press("Enter")
    until(cell.get_by_label("New style"), "(field) => field.value === ''")
    prompt.fill("a tapir sleeps")
    cell.get_by_role("button", name="amber haze", exact=True).press("Enter")
    notebook.comes_to(
        "[form70.prompt, 'amber haze' in list(rb.Styles(session.home))]", ["a tapir sleeps, amber haze", True]
    )
    cell.get_by_role("button", name="Styles").press("Escape")
    cell.get_by_label("New style").wait_for(state="hidden")


def test_a_failed_card_says_why_and_offers_again_with_its_price(notebook: Notebook) -> None:
    """What happened, what the balance tells, what next; the mark stays though there is no stage."""
    cell = notebook.run(
        "session.sandbox.settings(fail_next='content policy')\njob8 = session.text_to_video('a crowd')\njob8"
    )
    says(cell, "Failed")
    tells(cell.locator(".rb-card"), "content policy", "isn't documented", "Again…", "Copy id", "sandbox")
    cell.get_by_role("button", name="Again…").click()
    tells(cell.locator(".rb-card"), "Same seed · $0.25", "Another seed · $0.25")


def test_two_views_of_one_player_both_play(notebook: Notebook) -> None:
    """Each view fetches its own pieces; one resting out of sight doesn't pause the other, Python does."""
    notebook.run("clip14 = finished_job().clip\nplayer14 = rb.Player(clip14)")
    first, second = notebook.run("player14"), notebook.run("player14")
    until(shown(second, ".rb-card"), PLAYS)
    first.scroll_into_view_if_needed()
    until(shown(first, ".rb-card"), PLAYS)
    notebook.comes_to("player14.playing", True)
    notebook.execute("player14.playing = False")
    until(shown(first, ".rb-card"), "(card) => card.querySelector('video').paused")


def test_a_clip_goes_on_when_the_notebook_takes_its_cell_out_and_puts_it_back(notebook: Notebook) -> None:
    """Leaving the page pauses a video, which is no wish of the person; a press on the clip is one."""
    notebook.run(SETUP)
    cell = notebook.run("rb.Player(finished_job().clip)")
    player = shown(cell)
    until(player, PLAYS)
    player.evaluate(
        """(panel) => new Promise((done) => {
          const node = panel.closest('.jp-OutputArea-output');
          const place = node.parentNode;
          node.remove();
          setTimeout(() => { place.append(node); done(); }, 300);
        })"""
    )
    until(player, "(panel) => !panel.querySelector('video').paused")
    cell.locator("video").click()
    until(player, "(panel) => panel.querySelector('video').paused")
    notebook.page.wait_for_timeout(300)
    assert player.evaluate("(panel) => panel.querySelector('video').paused")


def test_a_view_that_is_drawn_anew_ends(notebook: Notebook) -> None:
    """JupyterLab closes none: in a page that stays open its timers and listeners would be more and more."""
    cell = notebook.run("studio18 = rb.Studio(session)\nstudio18")
    former = shown(cell, ".rb-form").element_handle()
    views = notebook.page.evaluate("rbPanels.size")
    notebook.execute("studio18._displays[0].update(studio18._repr_mimebundle_(), raw=True)")
    notebook.page.wait_for_function("(former) => !former.isConnected", arg=former)
    shown(cell, ".rb-form")
    until(cell, f"() => rbPanels.size === {views}")


def test_a_reloaded_page_finds_its_panels_again(notebook: Notebook) -> None:
    """The kernel lives, so the form holds what was typed and the clip plays again."""
    cell = notebook.run("studio17 = rb.Studio(session)\nstudio17.card.job = finished_job()\nstudio17")
    shown(cell, ".rb-form")
    cell.get_by_label("Prompt").fill("typed before")
    cell.get_by_label("Prompt").blur()
    until(shown(cell, ".rb-card"), PLAYS)
    notebook.comes_to("studio17.form.prompt", "typed before")
    notebook.save()
    notebook.reload()
    until(shown(cell, ".rb-card"), PLAYS)
    until(cell.get_by_label("Prompt"), "(field) => field.value === 'typed before'")


def test_a_lost_kernel_leaves_the_poster_and_says_what_to_do(notebook: Notebook) -> None:
    """A view opened after the kernel is gone shows the poster, and how to play the clip.

    On a page that is loaded after that there is no view, and the still form takes its place.
    """
    cell = notebook.run("player15 = rb.Player(finished_job().clip)\nplayer15")
    until(shown(cell, ".rb-card"), PLAYS)
    notebook.page.evaluate(
        "jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart().then(() => null)"
    )
    notebook.page.evaluate(
        """() => { const area = jupyterapp.shell.currentWidget.content.activeCell.outputArea;
          const [output] = area.model.toJSON(); area.model.clear(); area.model.add(output); }"""
    )
    says(cell, "The clip is on the kernel's disk; run the cell again to play it.")
    assert cell.locator("video").get_attribute("poster")
    notebook.save()
    notebook.reload()
    still = cell.locator(".jp-OutputArea-output img")
    still.wait_for()
    assert still.evaluate("(image) => image.naturalWidth") > 100
    assert "Error displaying widget" not in cell.inner_text()
    notebook.run(SETUP)
