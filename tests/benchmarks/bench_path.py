"""The way of a prompt: which modules it enters, from `Session.text_to_video` to the POST and to the clip.

`python tests/benchmarks/bench_path.py [--list]`. Counted with `sys.setprofile` on the calling thread and on
the session's own, over a sandbox in a process of its own. The words (errors, wire, ...) are left out, and so
are modules that are only imported.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from pathlib import Path
from types import CodeType, FrameType

import reelbook as rb
from reelbook.sandbox import server

HOUSE = Path(rb.__file__).parent
WORDS = frozenset({"errors", "wire", "secret", "listeners", "suggestions", "lazy_module"})


class Walk:
    """Notes each function of the house that is entered, and how often the way changes the module."""

    def __init__(self) -> None:
        self.entered: dict[CodeType, str] = {}
        self.switches = 0
        self.to_the_post: tuple[int, int, int] | None = None
        self.post_modules: list[str] = []
        self.walking = False
        self._last: dict[int, str] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if not self.walking or event != "call":
            return
        code = frame.f_code
        sends = code.co_name == "send" and code.co_filename.endswith("httpx/_client.py")
        if sends and self.to_the_post is None and frame.f_locals["request"].method == "POST":
            self.to_the_post = self.figures()
            self.post_modules = self.modules()
        module = _module(code.co_filename)
        if module is None or module in WORDS:
            return
        self.entered.setdefault(code, module)
        thread = threading.get_ident()
        self.switches += self._last.get(thread, module) != module
        self._last[thread] = module

    def modules(self) -> list[str]:
        """The modules entered so far, in the order of the way."""
        return list(dict.fromkeys(self.entered.values()))

    def figures(self) -> tuple[int, int, int]:
        """Modules and functions entered, and switches between modules."""
        return len(self.modules()), len(self.entered), self.switches


def _module(filename: str) -> str | None:
    path = Path(filename)
    if not path.is_relative_to(HOUSE):
        return None
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the modules")
    wanted = parser.parse_args()
    walk = Walk()
    threading.setprofile(walk)
    with tempfile.TemporaryDirectory() as home:
        session = rb.connect("sandbox", home=home)
        try:
            session.text_to_video("warm up", duration_seconds=1).result(60)
            sys.setprofile(walk)
            walk.walking = True
            session.text_to_video("a red fox runs through snow", duration_seconds=1, seed=7).result(60)
            walk.walking = False
            sys.setprofile(None)
        finally:
            session.close()
            server.stop(Path(home))
    assert walk.to_the_post is not None
    for name, figures, modules in (
        ("the POST", walk.to_the_post, walk.post_modules),
        ("the clip", walk.figures(), walk.modules()),
    ):
        lines = sum(len((HOUSE / (m.replace(".", "/") + ".py")).read_text().splitlines()) for m in modules)
        print(
            "to {}: {} modules ({:,} lines), {} functions, {} switches between modules".format(
                name, figures[0], lines, *figures[1:]
            )
        )
        if wanted.list:
            print("  " + "\n  ".join(modules))


if __name__ == "__main__":
    main()
