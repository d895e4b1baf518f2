"""Joining a panel's files."""

from __future__ import annotations

import re

import pytest

from reelbook.widgets import assets
from reelbook.widgets.packing import packed, pressed

PANELS = sorted(path.stem for path in assets.STATIC.glob("[a-z]*.js") if path.stem != "picker_tools")
PACKED = ["board", "card", "compare", "gallery", "player", "tools"]


@pytest.mark.parametrize("stem", PANELS)
def test_a_panel_is_one_module_that_imports_nothing(stem: str) -> None:
    """An anywidget's module can't import its neighbours: nothing is imported, only the panel is exported."""
    text = assets.module(stem)
    assert not re.search(r"^import ", text, re.MULTILINE)
    assert re.findall(r"^export .*", text, re.MULTILINE) == ["export default { render };"]


@pytest.mark.parametrize("stem", PANELS)
def test_names_of_joined_parts_do_not_meet(stem: str) -> None:
    """Every function and constant at the top level of a joined module stands there once."""
    sources = [assets.STATIC / f"{stem}.js", *assets.STATIC.glob("_*.js")]
    joined = assets.module(stem)
    names = [
        name
        for source in sources
        for name in re.findall(
            r"^(?:export )?(?:async )?(?:function|const|let) (\w+)", source.read_text("utf-8"), re.MULTILINE
        )
        if re.search(rf"(function|const|let) {name}\b", joined)
    ]
    assert sorted(names) == sorted(set(names))


def test_a_part_comes_once_and_before_what_uses_it() -> None:
    """`_dom.js` is wanted by all other parts and is in the card's module once, first."""
    text = assets.module("card")
    assert text.count("function openPanel(") == 1
    assert (
        text.index("function openPanel(") < text.index("function clipCard(") < text.index("function render(")
    )


def test_comments_are_left_at_home() -> None:
    """The code is saved with every notebook, its comments aren't; code after an address stays."""
    assert not re.search(r"^\s*(//|/\*)", assets.module("form") + assets.style("form"), re.MULTILINE)


@pytest.mark.parametrize("stem", PANELS)
def test_a_panels_code_is_small(stem: str) -> None:
    """Code and style, as they are saved, stay far enough under 30 KB for the panel's state to fit too."""
    code, look = assets.module(stem), assets.style(stem)
    if stem in PACKED:
        code, look = packed(code, stem), pressed(look)
    assert len(code.encode()) + len(look.encode()) < 26_500


@pytest.mark.parametrize("path", sorted(assets.STATIC.glob("*.js")), ids=lambda path: path.name)
def test_text_from_outside_is_never_read_as_markup(path: object) -> None:
    """No module sets markup or evaluates text."""
    source = assets.STATIC.joinpath(str(path)).read_text("utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in source


@pytest.mark.parametrize("stem", PANELS)
def test_every_panel_has_the_theme(stem: str) -> None:
    """The theme's variables come with each panel, light and dark."""
    style = assets.style(stem)
    assert "--jp-layout-color1" in style
    assert 'html[theme="dark"]' in style
    assert "prefers-color-scheme: dark" in style
    assert "@use" not in style


@pytest.mark.parametrize("stem", PANELS)
def test_a_panels_rules_are_kept_to_that_panel(stem: str) -> None:
    """A page has one style for all: outside its own block a panel brings the theme's colours alone."""
    style = assets.style(stem)
    assert f'openPanel(model, el, "{stem}", ' in assets.module(stem)
    theme, own = style.split(f":where(.rb-of-{stem}) {{")
    assert own.count("{") + 1 == own.count("}")
    assert own.endswith("}\n")
    assert not re.search(r"\.rb-(?!host\b)", theme)
