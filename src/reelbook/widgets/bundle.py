"""Joins a panel's files in `static/` for the page: an anywidget's module can't import others."""

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

STATIC = Path(__file__).parent / "static"

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(?P<part>_\w+)\.js";$', re.MULTILINE)
_USE = re.compile(r"^/\* @use (?P<part>_\w+)\.css \*/$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?(function|const|let|class) )", re.MULTILINE)
# To its last line: the first one, or the one that begins with the bracket that the first one opened.
_EXPORTED = re.compile(
    r"^export (?:async )?(?:function|const) (?P<name>\w+)(?:.*;\n|.*\n(?:[ \t].*\n|\n)*[\])}].*\n)",
    re.MULTILINE,
)
_WORD = re.compile(r"\w+")
# A panel's code is saved with every notebook that shows it, without its comments. A comment after code only
# counts as one where no quote follows: those slashes aren't part of a string.
_COMMENTS = re.compile(
    r"^\s*(//.*|/\*(?:[^*]|\*(?!/))*\*/)\s*\n|(?<=[;{}()\],]) +// [^\"`\n]*$", re.MULTILINE
)


@cache
def module(stem: str) -> str:
    """The ES module of panel `stem`: what it uses of each part, once, and no export but the panel's."""
    *parts, own = [_COMMENTS.sub("", text) for text in _parts(stem, "js", _IMPORT, {})]
    text = "".join(parts)
    # Removing something unused may leave something else unused.
    while (fewer := _EXPORTED.sub(partial(_if_used, Counter(_WORD.findall(text + own))), text)) != text:
        text = fewer
    own = _EXPORT.sub("", own) if stem.startswith("_") else own
    return _spare(_EXPORT.sub("", text) + own)


@cache
def style(stem: str) -> str:
    """The style of panel `stem`: the theme, the parts it names with `@use`, and its own rules."""
    own = "".join([_read("_base"), *_parts(stem, "css", _USE, {})])
    return _spare(_read("_theme") + _kept_to([stem], own))


@cache
def added_style(stem: str, *panels: str) -> str:
    """A style that `panels` get later; without any panels, one for the whole page."""
    return _spare(_kept_to(panels, _read(stem)) if panels else _read(stem))


def _kept_to(panels: Sequence[str], rules: str) -> str:
    # All styles on a page apply to all of it, and panels share class names. `:where` keeps the specificity of
    # the rules.
    return f":where({', '.join(f'.rb-of-{panel}' for panel in panels)}) {{\n{rules}}}\n"


def _if_used(words: Counter[str], exported: re.Match[str]) -> str:
    return exported[0] if words[exported["name"]] > 1 else ""


def _read(stem: str) -> str:
    return (STATIC / f"{stem}.css").read_text("utf-8")


def _parts(stem: str, kind: str, wants: re.Pattern[str], texts: dict[str, str]) -> list[str]:
    if stem not in texts:
        text = (STATIC / f"{stem}.{kind}").read_text("utf-8")
        texts[stem] = ""  # ends a cycle of imports
        for wanted in wants.finditer(text):
            _parts(wanted["part"], kind, wants, texts)
        text = wants.sub("", text)
        del texts[stem]
        texts[stem] = text
    return list(texts.values())


def _spare(text: str) -> str:
    text = _COMMENTS.sub("", text)
    return re.sub(r"^\s+", "", text, flags=re.MULTILINE)


_LOADER = """// A panel of Reelbook ({name}), packed with zlib; its source is in reelbook/widgets/static.
const unpack = async () => {{
const packed = Uint8Array.from(atob("{packed}"), (letter) => letter.charCodeAt(0));
const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
const url = URL.createObjectURL(new Blob([await new Response(plain).text()], {{ type: "text/javascript" }}));
return import(url).finally(() => URL.revokeObjectURL(url));
}};
let panel;
const draw = ({{ default: {{ render }}, look }}, given) => {{
if (look) given.el.append(Object.assign(document.createElement("style"), {{ textContent: look }}));
return render(given);
}};
export default {{ render: async (given) => draw(await (panel ??= unpack()), given) }};
"""


def packed(stem: str, *, styled: bool = True) -> str:
    """The ES module of panel `stem` with its style, unpacked when it is drawn.

    `styled` is false for one that draws nothing itself.

    A model whose module takes over two seconds to load never hears the kernel (anywidget 0.11), and a
    reopened page loads the modules of all panels at once. So what is loaded then is small.
    """
    look = f"export const look = {json.dumps(style(stem))};\n" if styled else ""
    # Under its own name the browser's tools show it readable.
    source = f"{module(stem)}\n{look}//# sourceURL=reelbook/{stem}.js\n".encode()
    data = base64.b64encode(zlib.compress(source, 9)).decode()
    return _LOADER.format(name=stem, packed=data)
