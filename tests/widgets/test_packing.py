"""Packing a panel's code."""

from __future__ import annotations

import base64
import re
import zlib

from reelbook.widgets import assets
from reelbook.widgets.packing import packed, pressed


def test_a_packed_module_holds_the_module_whole() -> None:
    """What the loader unpacks is the panel's own text, in less than half the room."""
    text = assets.module("player")
    loader = packed(text, "player")
    found = re.search(r'atob\("([^"]+)"\)', loader)
    assert found is not None
    assert zlib.decompress(base64.b64decode(found[1])).decode().startswith(text)
    assert len(loader) < len(text) / 2
    assert re.findall(r"^export .*", loader, re.MULTILINE) == ["export default panel.default;"]


def test_a_pressed_style_means_the_same() -> None:
    """Spaces and a last semicolon go, but no space that parts selectors, lengths or the sides of a sum."""
    style = """a .b,
.c > i {
  margin: 0 4px; width: calc(100% - 8px); }
@media (x: y) { p:not([a="b c"]) { top: 0 } }"""
    expected = 'a .b,.c > i{margin:0 4px;width:calc(100% - 8px)}@media (x:y){p:not([a="b c"]){top:0}}'
    assert pressed(style) == expected
    for stem in ("card", "gallery", "player"):
        plain = assets.style(stem)
        assert re.sub(r"\s", "", pressed(plain)) == re.sub(r"\s", "", plain).replace(";}", "}")
        assert len(pressed(plain)) < len(plain)
