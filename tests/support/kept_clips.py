"""An executor for a sandbox of tests: few clips of each length and shape are drawn, and kept."""

import contextlib
import functools
import hashlib
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import platformdirs

import reelbook.sandbox.render
from reelbook.atomic_files import write_whole
from reelbook.media.clips import probe
from reelbook.sandbox.render import Rendered, Spec, render


class KeptClips(ThreadPoolExecutor):
    """Gives real clips of the sandbox, but for each length, shape and image only so many that differ."""

    def __init__(self, *, differing: int = 1) -> None:
        super().__init__(1)
        self._differing = differing

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The clip, not of the prompt that was asked for."""
        [spec] = args
        seed = zlib.crc32(f"{spec.prompt} {spec.seed}".encode()) % self._differing
        return super().submit(_kept, replace(spec, prompt="a red fox in the snow", seed=seed))


@functools.cache
def _kept(spec: Spec) -> Rendered:
    """Drawn once for all processes and later runs, until the renderer is changed."""
    folder = platformdirs.user_cache_path("reelbook-tests") / f"clips-{_renderer()}"
    file = folder / hashlib.sha256(repr(spec).encode()).hexdigest()[:32]
    with contextlib.suppress(FileNotFoundError):
        mp4 = file.read_bytes()
        return Rendered(mp4, probe(file).duration_seconds)
    clip = render(spec)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(file, clip.mp4)
    return clip


@functools.cache
def _renderer() -> str:
    files = sorted(Path(reelbook.sandbox.render.__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
