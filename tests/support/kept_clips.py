"""An executor for a sandbox of tests: each length and shape is drawn once in this process, then kept."""

from __future__ import annotations

import functools
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from reelbook.sandbox.render import Rendered, Spec, render


class KeptClips(ThreadPoolExecutor):
    """Gives real clips of the sandbox; those of one length, shape and image are the same clip."""

    def __init__(self) -> None:
        super().__init__(1)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The clip, not of the prompt that was asked for."""
        [spec] = args
        return super().submit(_kept, replace(spec, prompt="a red fox in the snow", seed=7))


@functools.cache
def _kept(spec: Spec) -> Rendered:
    return render(spec)
