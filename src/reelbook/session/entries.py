"""The ledger's entries as a session's values, and a request as what is written down of it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..formatting import local
from ..ledger import Entry, Wanted
from ..media.images import thumbnail
from ..requests import JobRequest
from .clip import Clip
from .job import EarlierRun, Marks


def request_of(entry: Entry) -> JobRequest:
    """What was asked for, as far as the ledger keeps it: an image's pixels aren't."""
    return JobRequest(
        mode="image-to-video" if entry.mode == "image-to-video" else "text-to-video",
        prompt=entry.prompt,
        duration_seconds=entry.duration_seconds,
        aspect_ratio=entry.aspect_ratio,  # type: ignore[arg-type]  # checked before it was written
        seed=entry.seed,
    )


def marks_of(entry: Entry) -> Marks:
    """What a person put to the entry."""
    return Marks(entry.starred, entry.note, entry.tags)


def earlier_run_of(entry: Entry, wanted: Wanted) -> EarlierRun:
    """The run that submitted the entry, which is given back for `wanted`."""
    assert entry.place is not None
    assert wanted.place is not None
    name = entry.place.cell_id
    return EarlierRun(
        at=local(entry.intended_at),
        known_by=wanted.place.known_by(entry.place),
        notebook=None if name is None else name.notebook,
    )


def clip_of(entry: Entry, request: JobRequest, *, sandbox: bool) -> Clip | None:
    """The entry's clip, if it still lies where it was put."""
    if entry.request_id is None or entry.clip_path is None or not Path(entry.clip_path).exists():
        return None
    return Clip(
        Path(entry.clip_path),
        entry.request_id,
        request=request,
        cost_usd=entry.cost_usd,
        took_seconds=entry.took_seconds,
        sandbox=sandbox,
    )


def wanted_of(request: JobRequest, experiment: str | None) -> Wanted:
    """What is written down of a request before it is sent."""
    image = request.image
    return Wanted(
        mode=request.mode,
        prompt=request.prompt,
        duration_seconds=request.duration_seconds,
        estimated_cost_usd=request.estimated_cost_usd,
        aspect_ratio=request.aspect_ratio,
        seed=request.seed,
        image_digest=hashlib.sha256(image.data).hexdigest() if image else None,
        image_thumbnail=thumbnail(image.data) if image else None,
        experiment=experiment,
    )
