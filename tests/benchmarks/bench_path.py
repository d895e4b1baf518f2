"""The way of a prompt: which modules it enters, and through how many functions a press on Generate goes.

`PYTHONPATH=src:tests python -m benchmarks.bench_path [--list]`. Modules are counted with `sys.setprofile` on
the calling thread and on the session's own, from `Session.text_to_video` to the POST and to the clip, over a
sandbox in a process of its own. The words (errors, wire, ...) are left out, and so are modules that are only
imported.

The chain are the functions of Reelbook that stand on the stack as the POST goes out. Where another task or
thread was given the work, those count too that stood there at that moment, back to the press.
"""

import asyncio
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks.command import options_of, sandbox_process

import reelbook as rb

HOUSE = Path(rb.__file__).parent
WORDS = frozenset(
    {"errors", "wire", "states", "formatting", "secret", "listeners", "suggestions", "lazy_module"}
)

_handed_over: ContextVar[tuple[str, ...]] = ContextVar("handed_over", default=())


class Walk:
    """Notes each function of the house that is entered, and how often the way changes the module."""

    def __init__(self) -> None:
        self.entered: dict[CodeType, str] = {}
        self.switches = 0
        self.to_the_post: tuple[int, int, int] | None = None
        self.post_modules: list[str] = []
        self.chain: tuple[str, ...] = ()
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
            self.chain = chain(frame)
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


def chain(frame: FrameType | None) -> tuple[str, ...]:
    """The functions that led to this frame, the first one first."""
    names: list[str] = []
    while frame is not None and not (frame.f_code.co_name == "_run" and "self" in frame.f_locals):
        module = _module(frame.f_code.co_filename)
        if module is not None:
            names.append(f"{module}.{frame.f_code.co_qualname}")
        frame = frame.f_back
    return (*_handed_over.get(), *reversed(names))


def follow(kind: type, name: str) -> None:
    """What a method of the event loop is given to do begins with the chain of who gave it."""
    method: Callable[..., Any] = getattr(kind, name)

    def followed(*args: Any, **options: Any) -> Any:
        token = _handed_over.set(chain(sys._getframe(1)))
        try:
            return method(*args, **options)
        finally:
            _handed_over.reset(token)

    setattr(kind, name, followed)


def _module(filename: str) -> str | None:
    path = Path(filename)
    if not path.is_relative_to(HOUSE):
        return None
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--list", action="store_true", help="name the modules and the functions")
    wanted = parser.parse_args()
    walk, press = Walk(), Walk()
    follow(asyncio.BaseEventLoop, "create_task")
    follow(asyncio.BaseEventLoop, "call_soon_threadsafe")
    threading.setprofile(lambda *event: (press if press.walking else walk)(*event))
    with sandbox_process() as sandbox, rb.connect("sandbox", home=sandbox.home) as session:
        session.text_to_video("warm up", duration_seconds=1).result(60)
        sys.setprofile(walk)
        walk.walking = True
        session.text_to_video("a red fox runs through snow", duration_seconds=1, seed=7).result(60)
        walk.walking = False
        sys.setprofile(None)
        form = rb.PromptForm(session, prompt="a kite", duration_seconds=1)
        press.walking = True
        form._on_generate("press", {})
        form.generate().result(60)
        press.walking = False
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
    print(f"from a press on Generate to the POST: {len(press.chain)} functions")
    if wanted.list:
        print("  " + "\n  ".join(press.chain))


if __name__ == "__main__":
    main()
