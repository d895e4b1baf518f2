"""The images of a home's jobs: the last ones are kept as they were sent, and found by later kernels."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..media.recent import RecentImages
from .entries import request_of
from .requests import JobRequest

if TYPE_CHECKING:
    from ..ledger import Entry


class Pictures:
    """What `RecentImages` keeps, from the side of the jobs. The ledger knows an image by its digest only."""

    def __init__(self, home: Path) -> None:
        self._recent = RecentImages(home)

    def keep(self, requests: Iterable[JobRequest]) -> None:
        """Keeps the images of what is sent. One that can't be kept is no reason not to send."""
        images = {id(image): image for request in requests if (image := request.image) is not None}
        for image in images.values():
            with contextlib.suppress(OSError):
                self._recent.keep(image)

    def request(self, entry: Entry) -> JobRequest:
        """What was asked for, with its image where that is still among the recent ones."""
        request = request_of(entry)
        if entry.image_digest is None:
            return request
        return replace(request, image=self._recent.find(entry.image_digest))
