"""How the panels look in a real JupyterLab: themes, contrast, narrow windows, labels."""

from browser.lab import PLAYS, Notebook, at_rest, none_left, shown, until

STUDIO = """
both18 = [session.text_to_video(prompt, duration_seconds=1, once='looks')
          for prompt in ('a ' + 'fox' * 50, 'a kite')]
for job in both18: job.result()
both18[0].mark(picked=True, note='quiet')
run18 = rb.Sweep('a {fox|kite} at noon', seed=[1234567890, 2], duration_seconds=1).run(session)
run18.results()
studio18 = rb.Studio(session)
studio18.card.job = both18[0]
studio18._put_side_by_side(tuple(both18))
studio18._ask_which_is_better(rb.Study(both18))
studio18._hand_over(both18)
studio18.view = 'create'
studio18
"""
# The Studio's other views, and what is there once they are drawn.
VIEWS = {
    "explore": ".rb-sweep",
    "board": ".rb-board .rb-row",
    "gallery": ".rb-gallery .rb-tile",
    "compare": ".rb-compare .rb-deck",
    "judge": ".rb-judge .rb-deck",
    "usage": ".rb-usage-head",
    "keys": ".rb-of-key_manager .rb-list",
    "tools": ".rb-explorer .rb-list button",
    "connection": ".rb-connection",
}
# What the Studio hasn't, or only after more presses, and what is pressed in it. A matrix scrolls by itself.
ALONE = {
    # With a recent image its folder is named, whose path may be long.
    "from reelbook.media import images, recent_images\n"
    "recent_images.RecentImages(session.home).keep(images.prepare(PICTURE))\n"
    "rb.PromptForm(session, seed=7, mode='image-to-video', crop='1:1', image=PICTURE)": (
        ".rb-part",
        "Recent",
    ),
    "rb.PromptForm(session, seed=7)": (".rb-form", "Styles"),
    "rb.ImagePicker(image=PICTURE)": (".rb-picked img", "Use the camera"),
    "rb.Player(both18[0].clip, loop_range=(0.2, 0.6))": (".rb-tools", "Shortcuts"),
    "rb.SweepForm(session, template='a {duck|swan}')": (".rb-sweep dl", "Copy as code"),
    "rb.Gallery(session, sweep=run18.id, group_by='prompt')": (".rb-group", None),
    "rb.ClassroomPanel(session)": (".rb-class", None),
    "rb.Judge(both18)": (".rb-judge", "Stop"),
    "board18 = rb.JobBoard(jobs=both18)\nboard18.opened = board18._rows()[0].key\nboard18": (
        ".rb-open-row .rb-card",
        None,
    ),
}


def test_a_panel_has_the_themes_colours(notebook: Notebook) -> None:
    """Its surface is the theme's, as wide as what stands on it, and not a band across the page."""
    alone = notebook.run("finished_job()")
    shown(alone, ".rb-card")
    cell = notebook.run("studio12 = rb.Studio(session)\nstudio12.card.job = finished_job()\nstudio12")
    shown(cell, ".rb-card")
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        notebook.theme(theme)
        surface = notebook.page.evaluate(_SURFACE)
        assert alone.locator(".rb").first.evaluate(_GROUND) == "rgba(0, 0, 0, 0)"
        assert alone.locator(".rb-card").first.evaluate(_GROUND) == surface
        assert cell.locator(".rb").first.evaluate(_GROUND) == surface


def test_nothing_scrolls_sideways_in_a_narrow_window(notebook: Notebook) -> None:
    """At 700 px the panes stand one above the other, and there and at 320 px each panel keeps to its cell.

    Nor does anything around a panel scroll up and down.
    """
    cell = notebook.run(STUDIO)
    shown(cell, ".rb-of-job_card .rb-card")
    until(cell, f"(cell) => Math.abs(({_BELOW})(cell)) < 40")
    notebook.run(
        "session.sandbox.settings(pace=900)\n"
        "slow18 = session.text_to_video('a slow snail', duration_seconds=1)"
    )
    try:
        notebook.page.set_viewport_size({"width": 700, "height": 1000})
        until(cell, f"(cell) => ({_BELOW})(cell) > 200")
        assert cell.evaluate(_NAMES_BELOW_FACTS)
        for width in (700, 320):
            notebook.page.set_viewport_size({"width": width, "height": 1000})
            for view, selector in {"create": ".rb-form", **VIEWS}.items():
                notebook.execute(f"studio18.view = {view!r}")
                shown(cell, selector)
                none_left(cell, _WIDE)
        for made, (selector, pressed) in ALONE.items():
            cell = notebook.run(
                made.replace(
                    "PICTURE", "__import__('PIL.Image').Image.linear_gradient('L').resize((320, 200))"
                )
            )
            shown(cell, selector)
            if pressed is not None:
                cell.get_by_role("button", name=pressed, exact=True).click()
            none_left(cell, _WIDE)
    finally:
        notebook.execute("slow18.stop_watching()\nsession.sandbox.settings(pace=3)")


def test_a_panel_looks_the_same_whatever_else_is_on_the_page(notebook: Notebook) -> None:
    """A page has one style for all that it shows: no panel's rules move anything in another."""
    cell = notebook.run(STUDIO)
    until(shown(cell, ".rb-of-job_card .rb-card"), PLAYS)
    before = at_rest(cell, _PLACES)  # what a clip cost is known a little later than the clip
    for view, selector in VIEWS.items():
        notebook.execute(f"studio18.view = {view!r}")
        shown(cell, selector)
    notebook.execute("studio18.compare.say('Saved.')\nstudio18.view = 'compare'")
    until(shown(cell, ".rb-of-compare"), _SET_IN)
    shown(notebook.run("rb.Player(both18[0].clip)"), ".rb-tools")
    shown(notebook.run("rb.ImagePicker()"), ".rb-drop")
    notebook.execute("studio18.view = 'create'")
    until(shown(cell, ".rb-of-job_card .rb-card"), PLAYS)
    assert at_rest(cell, _PLACES) == before


# Whether a message of the panel begins where the panel's text does.
_SET_IN = """(panel) => panel.querySelector('.rb-message').getBoundingClientRect().left
  >= panel.querySelector('figcaption').getBoundingClientRect().left"""
# How many pixels the card stands below the form.
_BELOW = """(cell) => {
  const top = (selector) => cell.querySelector(selector).getBoundingClientRect().top;
  return top('.rb-of-job_card .rb-card') - top('.rb-form');
}"""
_NAMES_BELOW_FACTS = """(cell) => {
  const box = (part) => cell.querySelector(part).getBoundingClientRect();
  return box('.rb-facts').bottom <= box('.rb-nav').top + 1;
}"""
_GROUND = "(node) => getComputedStyle(node).backgroundColor"
# The theme's own, as a browser writes colours.
_SURFACE = """() => {
  const node = document.body.appendChild(document.createElement('i'));
  node.style.color = 'var(--jp-layout-color1)';
  const { color } = getComputedStyle(node);
  node.remove();
  return color;
}"""
# What scrolls sideways within the cell or, around a panel, at all; and what stands out of it.
_WIDE = """(cell) => [...cell.querySelectorAll('.jp-OutputArea, .jp-OutputArea *')]
  .filter((node) => node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 2
    && !['hidden', 'clip', 'visible'].includes(getComputedStyle(node).overflowX)
    || node.scrollHeight > node.clientHeight && !node.closest('.rb')
    && getComputedStyle(node).overflowY === 'auto'
    || node.getBoundingClientRect().right
      > (node.closest('.jp-OutputArea-output') || cell).getBoundingClientRect().right + 1)
  .map((node) => node.getAttribute('class') || node.tagName)"""
# Where everything in the form and the card is; the play button's picture changes with time.
_PLACES = """(cell) => [...cell.querySelectorAll(':is(.rb-of-prompt_form, .rb-of-job_card) .rb *')]
  .filter((node) => node.getClientRects().length && node.tagName !== 'I').map((node) => {
    const from = node.closest('.rb').getBoundingClientRect(), box = node.getBoundingClientRect();
    return [node.tagName, node.className, box.x - from.x, box.y - from.y, box.width, box.height].join(' ');
  })"""
