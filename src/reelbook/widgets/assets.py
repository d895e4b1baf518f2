"""A panel's files for the page as one text each: its module with its parts, its style with the theme.

An anywidget's module can't import its neighbours, so the real ES modules in `static/` are joined here.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(?P<part>_\w+)\.js";$', re.MULTILINE)
_USE = re.compile(r"^/\* @use (?P<part>_\w+)\.css \*/$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?(function|const|let|class) )", re.MULTILINE)
# A panel's code is saved with every notebook that shows it; its comments needn't be.
_COMMENTS = re.compile(r"^\s*(//.*|/\*(?:[^*]|\*(?!/))*\*/)\s*\n", re.MULTILINE)


@cache
def module(stem: str) -> str:
    """The ES module of panel `stem`: every part once, before what uses it, and no export but the panel's."""
    return _spare("".join(_parts(stem, "js", _IMPORT, {})))


@cache
def style(stem: str) -> str:
    """The style of panel `stem`: the theme, the parts it names with `@use`, its own rules."""
    return _spare((STATIC / "_base.css").read_text("utf-8") + "".join(_parts(stem, "css", _USE, {})))


def _parts(stem: str, kind: str, wants: re.Pattern[str], texts: dict[str, str]) -> list[str]:
    if stem not in texts:
        text = (STATIC / f"{stem}.{kind}").read_text("utf-8")
        texts[stem] = ""  # a circle ends here
        for wanted in wants.finditer(text):
            _parts(wanted["part"], kind, wants, texts)
        text = wants.sub("", text)
        if stem.startswith("_"):
            text = _EXPORT.sub("", text)
        del texts[stem]
        texts[stem] = text
    return list(texts.values())


def _spare(text: str) -> str:
    text = _COMMENTS.sub("", text)
    return re.sub(r"^\s+", "", text, flags=re.MULTILINE)
