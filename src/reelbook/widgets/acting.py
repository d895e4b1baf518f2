"""What the panels' buttons do with a job, beyond what a job does itself."""

from __future__ import annotations

import contextlib

from reelbook import wire
from reelbook.session import Job


def send_again(job: Job) -> Job | None:
    """Asks once more for the same clip, within the same experiment, and returns the job of that.

    None where the request isn't known whole: the ledger of an earlier kernel keeps no picture. Raises
    SpendLimitReached before anything is sent.
    """
    asked, session = job.request, job.session
    if asked is None or not asked.complete:
        return None
    with session.experiment(job.experiment) if job.experiment else contextlib.nullcontext():
        if asked.image is not None:
            return session.image_to_video(asked.image, asked.prompt, duration_seconds=asked.duration_seconds)
        return session.text_to_video(
            asked.prompt,
            duration_seconds=asked.duration_seconds,
            aspect_ratio=asked.aspect_ratio or wire.DEFAULT_ASPECT_RATIO,
            seed=wire.RANDOM_SEED if asked.seed is None else asked.seed,
        )
