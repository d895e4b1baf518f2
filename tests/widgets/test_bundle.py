"""Joining a panel's files."""

import base64
import json
import re
import zlib
from pathlib import Path

import pytest

from reelbook.widgets import bundle
from reelbook.widgets.bundle import packed

PANELS = sorted(path.stem for path in bundle.STATIC.glob("[a-z]*.js") if path.stem != "image_picker_tools")
DRAWN = [stem for stem in PANELS if stem != "host"]  # it draws nothing itself


@pytest.mark.parametrize("stem", PANELS)
def test_a_panel_is_one_module_that_imports_nothing(stem: str) -> None:
    """Each name stands there once, no comment does, and only the panel is exported."""
    text = bundle.module(stem)
    assert not re.search(r"^import |^\s*(//|/\*)", text + bundle.style(stem), re.MULTILINE)
    assert re.findall(r"\bexport (\w+)", text) == ["default"]
    top = re.compile(r"^(?:export )?(?:async )?(?:function|const|let) (\w+)", re.MULTILINE)
    paths = [bundle.STATIC / f"{stem}.js", *bundle.STATIC.glob("_*.js")]
    found = [name for path in paths for name in top.findall(path.read_text("utf-8"))]
    names = [name for name in found if re.search(rf"(function|const|let) {name}\b", text)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("path", sorted(bundle.STATIC.glob("*.js")), ids=lambda path: path.name)
def test_a_script_keeps_to_its_columns_and_reads_no_text_as_markup(path: Path) -> None:
    """Nor does it evaluate text from outside."""
    source = path.read_text("utf-8")
    assert [line for line in source.splitlines() if len(line) > 120] == []
    assert re.findall(r"(?:inner|outer)HTML|insertAdjacentHTML|document\.write|eval\(", source) == []


@pytest.mark.parametrize("stem", PANELS)
def test_a_panels_code_is_small(stem: str) -> None:
    """Code and style, as they are saved, stay far enough under 30 KB for the panel's state to fit too."""
    assert len(packed(stem).encode()) < 28_500


def test_whatever_a_part_exports_is_used() -> None:
    """A part has nothing for a panel that isn't there."""
    texts = {path: path.read_text("utf-8") for path in bundle.STATIC.glob("*.js")}
    unused = [
        f"{path.name}: {name}"
        for path, text in texts.items()
        for name in re.findall(r"^export (?:async )?(?:function|const) (\w+)", text, re.MULTILINE)
        if name != "pickerTools"  # the picker's kernel sends it
        if not any(re.search(rf"\b{name}\b", other) for each, other in texts.items() if each != path)
    ]
    assert unused == []


@pytest.mark.parametrize("stem", DRAWN)
def test_a_panels_rules_are_kept_to_that_panel(stem: str) -> None:
    """A page has one style for all: outside its own block it brings the theme's colours, light and dark."""
    assert f'panel("{stem}", ' in bundle.module(stem)
    theme, own = bundle.style(stem).split(f":where(.rb-of-{stem}) {{")
    assert own.count("{") + 1 == own.count("}")
    assert own.endswith("}\n")
    assert not re.search(r"\.rb-(?!host\b)", theme)
    for word in ("--jp-layout-color1", 'html[theme="dark"]', "prefers-color-scheme: dark"):
        assert word in theme


@pytest.mark.parametrize("stem", DRAWN)
def test_a_packed_module_holds_module_and_style_whole(stem: str) -> None:
    """What the loader unpacks is the panel's own text, in less than half the room."""
    text, loader = bundle.module(stem), packed(stem)
    found = re.search(r'atob\("([^"]+)"\)', loader)
    assert found is not None
    whole = zlib.decompress(base64.b64decode(found[1])).decode()
    assert whole.startswith(text)
    assert f"export const look = {json.dumps(bundle.style(stem))};" in whole
    assert len(found[1]) < len(whole) / 2


def test_a_packed_module_loads_at_once() -> None:
    """anywidget gives it two seconds, whatever else the page is busy with: nothing is awaited by then."""
    inside = re.compile(r"^const unpack = async \(\) => \{$.*?^\};$", re.DOTALL | re.MULTILINE)
    at_once = inside.sub("", packed("player"))
    assert [line for line in at_once.splitlines() if "await" in line and "async (given) =>" not in line] == []
    assert len(at_once) < 500
