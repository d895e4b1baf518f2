"""The player in a real JupyterLab: by mouse, by keyboard, linked with others, and many on one page."""

from itertools import pairwise

import av
import pytest
from playwright.sync_api import Locator

from browser.lab import PLAYS, Notebook, says, shown, tab_stops, until

PAUSED = "(part) => part.querySelector('video').paused"
# Notes where the clip is in every frame.
FRAMES = """(part) => {
  const video = part.querySelector('video');
  window.frames20 = [];
  const look = () => {
    frames20.push(video.currentTime);
    if (video.isConnected) requestAnimationFrame(look);
  };
  look();
}"""
# Whether the clip stands at a time, give or take so much.
AT = "(part) => Math.abs(part.querySelector('video').currentTime - %s) < %s"
PLAYING = "(part) => !part.querySelector('video').paused"
CLIP = "clip20 = session.text_to_video('a long boat', duration_seconds=3, once='player').result()\n"


def time_of(cell: Locator) -> float:
    at: float = cell.locator("video").evaluate("(video) => video.currentTime")
    return at


def knows(notebook: Notebook, expression: str) -> None:
    """Waits until `expression` is true in the kernel."""
    notebook.comes_to(f"bool({expression})", True)


def test_a_clip_by_mouse(notebook: Notebook) -> None:
    """Scrub, step, speed, loop a part, look at poster and filmstrip, save and copy; Python knows it all."""
    cell = notebook.run(CLIP + "player20 = rb.Player(clip20)\nplayer20")
    panel = shown(cell, ".rb-card")
    until(panel, PLAYS)
    cell.get_by_role("button", name="Pause").click()
    until(panel, PAUSED)
    line = cell.get_by_role("slider", name="Time")
    box = line.bounding_box()
    assert box is not None
    line.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    length = cell.locator("video").evaluate("(video) => video.duration")
    until(panel, AT % (length / 2, 0.1))
    until(cell, "(cell) => cell.querySelector('.rb-glimpse').style.backgroundImage.startsWith('url(\"blob:')")

    fps = notebook.value("clip20.frames_per_second")
    before = time_of(cell)
    cell.get_by_role("button", name="Frame forward").click()
    until(panel, AT % (before + 1 / fps, 0.6 / fps))
    cell.get_by_role("combobox", name="Speed").select_option("0.5")
    cell.get_by_role("button", name="From here").click()
    knows(notebook, "player20.speed == 0.5 and player20.loop_range")
    begins, ends = notebook.value("player20.loop_range")
    assert (begins > length / 2, ends) == (True, pytest.approx(length, abs=0.01))
    cell.get_by_role("slider", name="Loop ends").fill(str(begins + 0.3))
    cell.get_by_role("button", name="Play").click()
    until(panel, PLAYING)
    panel.evaluate(FRAMES)
    # Back to the beginning twice.
    until(panel, "() => frames20.filter((at, place) => at < frames20[place - 1] - 0.1).length >= 2")
    times: list[float] = notebook.page.evaluate("frames20")
    assert min(times) >= begins - 0.1
    # A frame that comes late may show the time past the end, but not the one after it.
    assert not [pair for pair in pairwise(times) if min(pair) > begins + 0.35]
    cell.get_by_role("button", name="Loop", exact=True).click()
    until(panel, PAUSED)
    assert time_of(cell) >= begins + 0.25
    cell.locator("video").evaluate(
        "(video) => video.addEventListener('play', () => { window.from20 ??= video.currentTime; })"
    )
    cell.get_by_role("button", name="Play").click()
    until(panel, "() => window.from20 !== undefined")
    assert notebook.page.evaluate("window.from20") < begins + 0.2
    until(panel, PAUSED)
    cell.get_by_role("button", name="Whole").click()
    knows(notebook, "player20.loop_range is None")
    cell.get_by_role("button", name="Loop", exact=True).click()  # it doesn't end while a slow machine looks
    knows(notebook, "player20.loop")

    cell.get_by_role("button", name="Poster").click()
    until(cell, "(cell) => cell.querySelector('img[alt=Poster]').naturalWidth === 640")
    cell.get_by_role("button", name="Filmstrip").click()
    knows(notebook, "player20.view == 'filmstrip' and not player20.playing")
    tiles = cell.get_by_role("group", name="Filmstrip").get_by_role("button")
    until(cell, "(cell) => cell.querySelectorAll('.rb-strip button').length === 16")
    cell.get_by_role("button", name="Play").click()
    knows(notebook, "player20.view == 'clip'")
    cell.get_by_role("button", name="Filmstrip").click()
    cell.get_by_role("button", name="Pause").wait_for(state="detached")  # it rests while it isn't seen
    tiles.nth(2).click()
    until(panel, PLAYING)
    knows(notebook, "player20.view == 'clip'")

    notebook.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    cell.get_by_role("button", name="Copy as code").click()
    cell.get_by_role("button", name="As a script").click()
    cell.get_by_role("button", name="Copied").wait_for()
    copied = notebook.page.evaluate("navigator.clipboard.readText()")
    assert copied == notebook.value("clip20.as_code('script')")
    with notebook.page.expect_download() as saved:
        cell.get_by_role("button", name="Save").click()
    assert saved.value.suggested_filename.endswith(".mp4")


def test_a_clip_by_keyboard(notebook: Notebook) -> None:
    """Space, arrows, comma and full stop, brackets, angle brackets, f and Escape; no cell runs."""
    cell = notebook.run(CLIP + "player21 = rb.Player(clip20, autoplay=False)\nplayer21")
    panel = shown(cell, ".rb-card")
    until(panel, "(part) => part.querySelector('video').readyState > 2")
    before = notebook.executions()
    cell.locator("video").focus()
    notebook.press("Space")
    until(panel, PLAYS)
    notebook.press("Space")
    until(panel, PAUSED)
    cell.get_by_role("slider", name="Time").focus()
    notebook.press("Home", "ArrowRight", "Shift+ArrowRight")
    until(panel, "(part) => Math.abs(part.querySelector('video').currentTime - 1.1) < 0.05")
    notebook.press("[", "ArrowRight", "]", ",", ">")
    until(panel, "(part) => part.querySelector('video').playbackRate === 1.5")
    notebook.press("?")
    says(cell, "Space plays and pauses.")
    notebook.press("Escape")
    assert not cell.locator(".rb-help").is_visible()
    notebook.press("f")
    notebook.page.wait_for_function("document.fullscreenElement")
    assert (
        panel.evaluate("() => document.fullscreenElement.querySelectorAll('video, .rb-player').length") == 2
    )
    notebook.press("f")
    notebook.page.wait_for_function("!document.fullscreenElement")
    # Every control is reached with Tab, and has a name.
    cell.locator("video").focus()
    names = tab_stops(notebook)
    player = "Play|Time|Loop begins|Loop ends|Full screen|Shortcuts|Frame back|Frame forward|Speed|Loop"
    expected = f"{player}|From here|To here|Whole|Clip|Poster|Filmstrip|☆ Pick|Save|Copy as code"
    assert expected.split("|") == names
    cell.locator("video").focus()
    notebook.press("Escape")
    assert notebook.page.evaluate("!document.activeElement.closest('.rb')")
    assert notebook.executions() == before
    knows(notebook, "player21.loop_range and player21.loop_range[1] < 2.5")
    begins, ends = notebook.value("player21.loop_range")
    assert (begins, ends) == (pytest.approx(1.1, abs=0.05), pytest.approx(2.1, abs=0.05))


def test_players_and_a_slider_share_a_clock(notebook: Notebook) -> None:
    """The docstring's example: a link moves the other player and the slider, and the slider both."""
    cell = notebook.run(
        CLIP + "import ipywidgets\n"
        "a22, b22 = rb.Player(clip20, autoplay=False), rb.Player(clip20, autoplay=False)\n"
        "slider22 = ipywidgets.FloatSlider(max=clip20.duration_seconds, step=0.04)\n"
        "for name in ('time', 'playing', 'speed'):\n"
        "    ipywidgets.link((a22, name), (b22, name))\n"
        "ipywidgets.link((a22, 'time'), (slider22, 'value'))\n"
        "ipywidgets.VBox([slider22, ipywidgets.HBox([a22, b22])])"
    )
    shown(cell, ".rb-card")
    ready = "(cell) => [...cell.querySelectorAll('video')].every((video) => video.readyState > 2)"
    until(cell, ready)
    cell.locator("video").first.press("ArrowRight")
    together = (
        "(cell) => [...cell.querySelectorAll('video')].every((v) => Math.abs(v.currentTime - %s) < 0.05)"
    )
    until(cell, together % 1)
    until(cell, "(cell) => Number(cell.querySelector('.widget-readout').textContent) === 1")
    notebook.execute("slider22.value = 2")
    until(cell, together % 2)
    cell.locator("video").first.press("Space")
    until(cell, "(cell) => [...cell.querySelectorAll('video')].every((video) => !video.paused)")


def test_many_players_hold_few_clips(notebook: Notebook) -> None:
    """Far out of sight a clip is given back; seen again it comes back and goes on where it was."""
    notebook.run(CLIP + "players23 = [rb.Player(clip20) for _ in range(12)]")
    cells = [notebook.run(f"players23[{place}]") for place in range(12)]
    first = shown(cells[0], ".rb-card")
    until(first, PLAYS)
    for cell in cells[1:]:
        until(shown(cell, ".rb-card"), PLAYS)
    cells[0].locator("video:not([src])").wait_for(state="attached")
    loaded = notebook.page.locator(".rb video[src]").count()
    assert 1 <= loaded <= 9
    assert cells[0].locator("video").get_attribute("poster")
    left = first.evaluate("(part) => part.querySelector('.rb-said').textContent")
    cells[0].locator("video").evaluate(
        "(video) => video.addEventListener('playing', () => { window.from23 ??= video.currentTime; })"
    )
    cells[0].scroll_into_view_if_needed()
    until(first, "() => window.from23 !== undefined")
    assert notebook.page.evaluate("window.from23") >= float(left.split()[0]) - 0.1
    # Where Python wants a clip that isn't loaded, it is once it comes.
    cells[3].locator("video:not([src])").wait_for(state="attached")
    notebook.execute("players23[3].playing = False; players23[3].time = 1.5")
    until(shown(cells[3], ".rb-card"), "(part) => part.querySelector('video').currentTime === 1.5")


@pytest.mark.parametrize(("encoder", "codec"), [("mpeg4", "mpeg4"), ("libx265", "hevc")])
def test_a_codec_that_the_browser_cannot_show_is_named(notebook: Notebook, encoder: str, codec: str) -> None:
    """Chromium plays MPEG-4 part 2 without a picture and without an error; the panel says so, as of HEVC."""
    if encoder not in av.codecs_available:
        pytest.skip(f"PyAV has no {encoder} here")
    cell = notebook.run(
        "import av, numpy as np\n"
        f"with av.open('{codec}.mp4', 'w') as file:\n"
        f"    stream = file.add_stream('{encoder}', rate=8)\n"
        "    stream.width, stream.height, stream.pix_fmt = 64, 64, 'yuv420p'\n"
        "    for n in range(16):\n"
        "        frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), n * 9, np.uint8), format='rgb24')\n"
        "        file.mux(stream.encode(frame))\n"
        "    file.mux(stream.encode())\n"
        f"rb.Player('{codec}.mp4')"
    )
    shown(cell, ".rb-card")
    says(cell, f"This browser can't show the clip's codec ({codec}).")
    with notebook.page.expect_download():
        cell.get_by_role("button", name="Save").click()
