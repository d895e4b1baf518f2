"""Takes the README's pictures, in a real JupyterLab: `PYTHONPATH=tests python tests/pictures/refresh.py`.

Each panel is taken on the sandbox, in JupyterLab's light and in its dark theme, in about two minutes. With
names on the command line (`refresh.py studio board`) only those pictures are taken.
"""

import contextlib
import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from benchmarks.command import sandbox_process
from browser.lab import PLAYS, Notebook, running_lab, shown, until
from browser.pages import PATIENCE, SECONDS, opened_page
from PIL import Image, ImageChops
from playwright.sync_api import Locator, Page

import reelbook as rb
from reelbook.classroom.room.serving import in_thread
from reelbook.sandbox import server

HERE = Path(__file__).parent
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
# JupyterLab's page in CSS pixels, and how many of the picture's pixels make one of them.
WIDTH, HEIGHT, SHARPNESS = 1000, 1500, 1.5
QUALITY, FILM_QUALITY = 82, 50  # WebP's, of a picture and of an animated one
FILM_WIDTH, FRAME_SECONDS, FILLED_SECONDS = 800, 0.5, 3.0
PROJECTED = 1280, 720  # the teacher's page, made small
MARGIN, EDGE = 12, 4  # what is left around a panel; what may belong to JupyterLab's cell

# Prompts, toolbars and the lines around a cell are JupyterLab's.
STYLE = """
.jp-InputPrompt, .jp-OutputPrompt, .jp-cell-toolbar, .jp-Collapser, .jp-Notebook-footer {
  display: none !important;
}
"""
SETUP = """
import reelbook as rb
session = rb.connect("sandbox")
session.sandbox.settings(pace=0, rate_limiting=False, balance_usd=50)
session.sandbox.plant_history([
    {"days_ago": days + 0.5, "seconds": 5 * clips, "requests": clips, "usd": 0.25 * clips}
    for days, clips in ((1, 4), (2, 2), (5, 6), (6, 4), (9, 8), (12, 4), (13, 6), (16, 2), (20, 8))])
foxes = session.submit_many([
    "a red fox runs through snow at night, slow pan left",
    "a red fox runs through snow at dawn, slow pan left"], duration_seconds=4, seed=7)
foxes.results()
session.submit_many([
    "a lighthouse in a storm at night", "a paper boat on a stream, macro",
    "a sailboat on the sea at sunset, slow zoom in", "a hot-air balloon over mountains in the morning",
    "an owl in a forest at night, snow", "a steam train crosses a bridge in autumn"],
    duration_seconds=3, seed=3, experiment="moods").results()
fox, dawn = (job.clip for job in foxes)
"""
# What takes so long that it can be seen under way.
UNDER_WAY = """
session.sandbox.settings(pace=30)
under_way = session.text_to_video({prompt!r}, duration_seconds=3, seed=5)
"""
MANY_STATES = """
session.sandbox.settings(pace=0, fail_next="The prompt was refused by the content filter.")
failed = session.text_to_video("a knight fights a dragon", duration_seconds=3)
import contextlib
with contextlib.suppress(rb.errors.ReelbookError): failed.result(30)
session.sandbox.fault("answer_lost", endpoint="generate")
lost = session.text_to_video("a heron at dawn", duration_seconds=5)
with contextlib.suppress(rb.errors.ReelbookError): lost.result(30)
"""
SWEEP = """
session.sandbox.settings(pace=1.5)
sweep = rb.Sweep("a {animal} in {place}", animal=["red fox", "heron", "owl"],
                 place=["snow", "a forest at night", "the desert", "the rain"], duration_seconds=2, seed=SEED)
matrix = rb.Matrix(sweep, session, rows="animal", columns="place", confirm_above_usd=5)
"""
STUDENTS = ["Ada", "Alan", "Barbara", "Dora", "Emmy", "Grace", "Hedy", "Ivan", "Kate", "Mary", "Radia", "Tim"]
CLASS_PROMPTS = (
    "a red fox runs through snow at night",
    "a lighthouse in a storm",
    "a paper boat on a stream",
    "a hot-air balloon over mountains",
    "a heron at dawn",
    "a steam train crosses a bridge",
)
PICKS = """
run = rb.Sweep("{a animal} in {place}", animal=["red fox", "heron", "owl"], place=["snow", "the rain"],
               duration_seconds=2, seed=7).run(session)
run.results()
for job in (cell.job for cell in run.cells):
    if job.prompt in ("a red fox in snow", "an owl in the rain"):
        job.mark(picked=True, note="the light on the tail" if "fox" in job.prompt else "")
"""
HANDED = """
page = rb.hand_over(session.picks(), "picks.html", title="A fox and an owl, in two weathers", overwrite=True)
"""
# The picture of the Studio leaves that one in place of the class.
TRAY = """
studio = rb.widgets.Studio(session, view="gallery")
studio.gallery.sweep = run.id
studio.gallery.group_by = "place"
studio.gallery.picked = True
"""
PROGRESS = "(cell) => cell.innerText.includes('Processing')"
HALF_WAY = "(cell) => /[3-8]\\d %/.test(cell.innerText)"
LOADED = """(cell) => [...cell.querySelectorAll('img')].filter((image) => image.offsetParent)
  .every((image) => image.complete && image.naturalWidth)"""


@dataclass(frozen=True)
class Picture:
    """What a picture shows: what `code` displays, once `selector` and `until` say that it is there."""

    code: str
    selector: str
    before: str = ""
    until: str = LOADED
    with_code: bool = False


PICTURES = {
    "studio": Picture(
        "rb.Studio()",
        ".rb-card",
        "studio = rb.Studio(session); studio.form.prompt = foxes[0].prompt\n"
        "studio.form.seed = 7; studio.card.job = foxes[0]; rb.Studio = lambda: studio",
        PLAYS,
        with_code=True,
    ),
    "form": Picture(
        "rb.PromptForm(session, mode='image-to-video', image=fox.frame(2.5), crop='1:1',"
        " prompt='slow zoom in, gentle sway')",
        ".rb-form",
    ),
    "player": Picture("rb.Player(fox, loop_range=(1, 3))", ".rb-tools", until=PLAYS),
    "compare": Picture("compare = rb.Compare(foxes, view='wipe', time=2.2); compare", ".rb-deck"),
    "gallery": Picture("rb.Gallery(session)", ".rb-tile"),
    "usage": Picture("rb.UsageChart(session, days=30)", ".rb-usage-head"),
    "keys": Picture(
        "rb.KeyManager(session)",
        ".rb-list",
        "[session.keys.create(name, rate_limit=20) for name in ('colab', 'workshop')]",
    ),
    "tray": Picture("studio", ".rb-group", PICKS + TRAY),
    "judge": Picture(
        "rb.Judge(run)", ".rb-pair video", PICKS, "(cell) => !cell.innerText.includes('Loading')"
    ),
    "tools": Picture("rb.ToolExplorer(session)", ".rb-list button"),
    "sweep": Picture(
        "rb.SweepForm(session, template='a {fox|heron} in {snow|fog} at {dawn|night}', axes={'seed': '1-2'})",
        ".rb-sweep",
    ),
    "card": Picture(
        "under_way", ".rb-card", UNDER_WAY.format(prompt="a lantern in fog, slow zoom in"), HALF_WAY
    ),
    "board": Picture(
        "rb.JobBoard(session)",
        ".rb-row",
        MANY_STATES + UNDER_WAY.format(prompt="two kites over a beach, wide shot"),
        PROGRESS,
    ),
}


def taken(cell: Locator, *, with_code: bool) -> Image.Image:
    """The cell as it looks now: what it displays, without the empty page beside it, or all of it."""
    part = cell if with_code else cell.locator(".jp-OutputArea-output").last
    picture = Image.open(BytesIO(part.screenshot())).convert("RGB")
    picture = picture.crop((0, 0, picture.width - EDGE, picture.height - EDGE))
    ground = Image.new("RGB", picture.size, picture.getpixel((picture.width - 1, picture.height - 1)))
    box = ImageChops.difference(picture, ground).getbbox() or (0, 0, *picture.size)
    return picture.crop((0, 0, min(picture.width, box[2] + MARGIN), min(picture.height, box[3] + MARGIN)))


def on_ground(frame: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The frame of a film, as large as the largest one, and then made small."""
    whole = Image.new("RGB", size, frame.getpixel((frame.width - 1, frame.height - 1)))
    whole.paste(frame)
    return whole.resize((FILM_WIDTH, round(FILM_WIDTH * size[1] / size[0])))


def save(frames: list[Image.Image], name: str) -> None:
    """Stores a picture, or several frames as an animated one that begins anew after its end."""
    path = HERE / f"{name}.webp"
    if len(frames) == 1:
        frames[0].save(path, quality=QUALITY, method=6)
    else:
        times = [int(FRAME_SECONDS * SECONDS)] * (len(frames) - 1) + [int(FILLED_SECONDS * SECONDS)]
        frames[0].save(
            path,
            save_all=True,
            append_images=frames[1:],
            duration=times,
            loop=0,
            quality=FILM_QUALITY,
            method=4,
        )
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", file=sys.stderr)


def take(notebook: Notebook, name: str, picture: Picture) -> None:
    """One picture, in each theme."""
    notebook.run(picture.before)
    cell = notebook.run(picture.code)
    shown(cell, picture.selector)
    for theme, its_name in THEMES.items():
        notebook.theme(its_name)
        until(cell, picture.until)
        notebook.page.wait_for_timeout(SECONDS)  # what is drawn last has no sign of its own
        save([taken(cell, with_code=picture.with_code)], f"{name}-{theme}")


def film(notebook: Notebook) -> None:
    """The matrix of a sweep while it fills, in each theme; and filled, for who wants less motion."""
    for seed, (theme, its_name) in enumerate(THEMES.items()):
        notebook.theme(its_name)
        notebook.run(SWEEP.replace("SEED", str(seed + 1)))
        cell = notebook.run("matrix")
        button = shown(cell, ".rb-matrix").get_by_role("button", name="Make 12 clips")
        frames = [taken(cell, with_code=False)]
        button.click()
        for _ in range(int(PATIENCE / FRAME_SECONDS)):
            notebook.page.wait_for_timeout(FRAME_SECONDS * SECONDS)
            frames.append(taken(cell, with_code=False))
            if "All 12 here" in cell.inner_text():
                break
        else:
            raise AssertionError(f"The matrix never filled; it says: {cell.inner_text()}")
        until(cell, LOADED)
        frames.append(taken(cell, with_code=False))
        save([frames[-1]], f"matrix-{theme}")
        size = max(frame.width for frame in frames), max(frame.height for frame in frames)
        save([on_ground(frame, size) for frame in frames], f"matrix-fills-{theme}")


def classroom(page: Page, home: Path) -> None:
    """The teacher's page, as it is projected, of a class in which some clips are done and others wait."""
    with rb.connect("sandbox", home=home) as session, contextlib.ExitStack() as opened:
        assert session.sandbox is not None
        session.sandbox.settings(pace=0, rate_limiting=False, balance_usd=100)
        choices = {"name": "Film class", "places": 30, "cap_usd": 2, "class_cap_usd": 40}
        room = opened.enter_context(in_thread(session, "KFX-204", **choices))
        url, room.url = room.url, "http://192.168.1.5:8080"  # what the page shows
        joined = [rb.join(url, room.code, name=name, home=home) for name in STUDENTS]
        for student in joined:
            opened.callback(student.close)
        for student, prompt in zip(joined, CLASS_PROMPTS, strict=False):
            student.text_to_video(prompt, duration_seconds=3, seed=3).result()
        session.sandbox.settings(pace=60)
        for student in joined:
            student.submit_many(["two kites over a beach"] * 3, duration_seconds=2)
        page.set_viewport_size({"width": 1920, "height": 1080})
        page.goto(f"{url}/room")
        page.get_by_label("Token").fill(room.token.reveal())
        page.get_by_label("Token").press("Enter")
        page.locator("video").nth(len(CLASS_PROMPTS) - 1).wait_for()
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(3 * SECONDS)  # the clips' first frames have no sign of their own
            picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
            save([picture.resize(PROJECTED)], f"classroom-{theme}")


def handed(notebook: Notebook) -> None:
    """The page that hands over picks, opened from the disk."""
    notebook.run(PICKS + HANDED)
    assert notebook.page.context.browser
    for theme in ("light", "dark"):
        page = notebook.page.context.browser.new_page(
            viewport={"width": WIDTH, "height": 600}, device_scale_factor=SHARPNESS, color_scheme=theme
        )
        page.goto(f"file://{notebook.value('str(page.resolve())')}")
        page.wait_for_timeout(SECONDS)
        save([Image.open(BytesIO(page.screenshot())).convert("RGB")], f"handed-{theme}")
        page.close()


OTHERS = {"matrix": film, "handed": handed}


def main() -> None:
    """Takes the pictures that are named on the command line, or all of them."""
    wanted = sys.argv[1:] or [*PICTURES, *OTHERS, "classroom"]
    with sandbox_process() as sandbox, opened_page() as first:
        folder = sandbox.home.parent
        assert first.context.browser
        if "classroom" in wanted:
            classroom(first, folder / "class")
            server.stop(folder / "class")
            wanted.remove("classroom")
        with running_lab(folder) as url:
            page = first.context.browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SHARPNESS
            )
            page.set_default_timeout(PATIENCE * SECONDS)
            notebook = Notebook(page, url, folder)
            page.add_style_tag(content=STYLE)
            notebook.run(SETUP)
            for name in wanted:
                OTHERS[name](notebook) if name in OTHERS else take(notebook, name, PICTURES[name])


if __name__ == "__main__":
    main()
