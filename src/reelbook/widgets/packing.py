"""A panel's code as it is saved: packed, because a notebook keeps the code of every panel that it shows.

A short loader unpacks it in the page with the browser's own DecompressionStream (since 2023 in all of them).
"""

from __future__ import annotations

import base64
import re
import zlib

_LOADER = """// A panel of Reelbook ({name}), packed with zlib; its source is in reelbook/widgets/static.
const packed = Uint8Array.from(atob("{packed}"), (letter) => letter.charCodeAt(0));
const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
const url = URL.createObjectURL(new Blob([await new Response(plain).text()], {{ type: "text/javascript" }}));
const panel = await import(url);
URL.revokeObjectURL(url);
export default panel.default;
"""


def packed(text: str, name: str) -> str:
    """The ES module `text`, whose only export is its default, as a smaller one that does the same."""
    # Under its own name the browser's tools show it readable.
    source = f"{text}\n//# sourceURL=reelbook/{name}.js\n".encode()
    data = base64.b64encode(zlib.compress(source, 9)).decode()
    return _LOADER.format(name=name, packed=data)


def pressed(style: str) -> str:
    """The CSS `style` without the spaces and semicolons that only a reader needs."""
    short = re.sub(r"\s*([{};])\s*|(?<=[\w-]): |(?<=,)\s+", lambda found: found[1] or found[0].strip(), style)
    return short.replace(";}", "}")
