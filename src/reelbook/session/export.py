"""Writes clips and what made them into one zip: the files as they are, their settings as CSV and JSON."""

import json
import os
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..atomic_files import atomic_write
from ..errors import InvalidInput
from ..formatting import csv_table
from ..requests import options
from ..saved_files import numbered, target_file, writing
from .clip import clip_file_name
from .job import Job
from .session import Session


class Exported(NamedTuple):
    """The zip's path, and how many clips are in it; the others are listed with their settings only."""

    path: Path
    clips: int
    without_file: int


def export(jobs: Sequence[Job], path: str | os.PathLike[str] | None = None) -> Exported:
    """Writes `jobs` into a zip at `path`: a file or a folder; the default is the working folder.

    Raises InvalidInput without jobs or such a folder, or where a file is in the way, and ReelbookError where
    the disk refuses; no partial file is left.
    """
    if not jobs:
        raise InvalidInput("No clips were chosen. Nothing was written.")
    target = target_file(path, time.strftime("reelbook-%Y%m%d-%H%M%S.zip"))
    with writing("The export"):
        records, files = _listed(jobs)
        with atomic_write(target) as part, zipfile.ZipFile(part, "w") as archive:
            archive.writestr("settings.csv", csv_table([*records[0]], (each.values() for each in records)))
            archive.writestr("settings.json", json.dumps(records, ensure_ascii=False, indent=2))
            for name, file in files.items():
                archive.write(file, name)
    return Exported(target, len(files), len(records) - len(files))


def _listed(jobs: Sequence[Job]) -> tuple[list[dict[str, Any]], dict[str, Path]]:
    records, files = [], {}
    for job in jobs:
        name = ""
        if job.clip is not None and job.clip.path.is_file():
            names = numbered(Path(clip_file_name(job.request, job.request_id or "")))
            name = next(each.name for each in names if each.name not in files)
            files[name] = job.clip.path
        records.append(_record(job, name))
    return records, files


def _record(job: Job, file: str) -> dict[str, Any]:
    asked = ("mode", "prompt", *options())
    return {
        "file": file,
        "request_id": job.request_id,
        "state": job.state,
        **{name: job.request and getattr(job.request, name) for name in asked},
        "cost_usd": job.view().cost_usd,
        "submitted_at": job.submitted_at.isoformat(timespec="seconds"),
        "experiment": job.experiment,
        "picked": job.picked,
        "tags": list(job.tags),
        "note": job.note,
        "sandbox": Session.of(job).service == "sandbox",
    }
