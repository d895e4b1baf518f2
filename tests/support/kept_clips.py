"""An executor for a sandbox of tests: few clips of each length and shape are drawn, and kept."""

from __future__ import annotations

import functools
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

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
    return render(spec)
