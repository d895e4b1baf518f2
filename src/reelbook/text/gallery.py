"""What the gallery says: of each clip in a tile, of the opened clip, and of all clips found."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from reelbook import wire

from ..formatting import count
from ..states import names
from .board import board_row
from .card import CODE_ACTION, ShownJob, job_face

# The choices: the value, its label on the page, and the states to look for in the ledger.
STATES: Final[dict[str, tuple[str, Collection[str] | None]]] = {
    "completed": ("Finished clips", names(group="completed")),
    "under way": ("Under way", names(group="under way")),
    "failed": ("Failed or refused", names(group="failed")),
    "uncertain": ("Not certain", names(group="uncertain")),
    "any": ("Everything asked for", None),
}
SORTS: Final = {"newest": "Newest first", "oldest": "Oldest first", "costliest": "Costliest first"}
MODES: Final = {"": "Text and image", "text-to-video": "From text", "image-to-video": "From an image"}
DAYS: Final = {"0": "Any time", "1": "Last day"} | {f"{days}": f"Last {days} days" for days in (7, 30, 90)}

KEYS: Final = "Tick a corner or press Space to select. Arrow keys move, Enter opens, p picks, Escape closes."
NOT_HERE: Final = "The clip's file isn't on this disk. Fetch again brings it back as long as its link works."
DELETE: Final = (
    "This deletes the clip's file from this disk. Its record stays: prompt, settings, cost, note and tags. "
    "Fetch again brings the file back as long as its link at the service works."
)
NO_MATCH: Final = "No clip matches."
DELETED: Final = "The file was deleted. The record stays."
# What the page offers whatever is in the ledger: the filters' values with their labels, and its keys.
CHOICES: Final[dict[str, Any]] = {
    "state": [[value, word] for value, (word, _) in STATES.items()],
    "mode": [list(each) for each in MODES.items()],
    "days": [list(each) for each in DAYS.items()],
    "sort": [list(each) for each in SORTS.items()],
    "keys": KEYS,
}


def tile(job: ShownJob, key: str) -> dict[str, Any]:
    """A job's tile: the board's row with parts left out, its marks, and whether its file is `here`.

    Empty values are left out, and so are `word` and `tone` of a finished clip. The gallery adds `selected`
    and, where there are groups, `group` and the prompt's `runs` with the differences marked.
    """
    # Without the clip: a tile needs nothing from its file, which would have to be read.
    row = board_row(replace(job, clip=None, picked=False))
    shown = {"id": job.request_id, "here": job.clip is not None, "picked": job.picked, "remark": job.note}
    if job.view.state != wire.COMPLETED:
        shown |= {"word": row["word"], "tone": row["tone"]}
    always = {"key": key, "prompt": row["prompt"], "about": row["about"], "money": row["money"]}
    return always | {name: value for name, value in shown.items() if value}


def opened_face(job: ShownJob, key: str, *, can_vary: bool) -> dict[str, Any]:
    """The card of the opened clip, and the person's marks."""
    face = job_face(job)
    if job.view.state == wire.COMPLETED and job.clip is None and not job.view.watched:
        face["note"] = NOT_HERE
    when = f"{job.submitted_at:%d %b %Y, %H:%M}".lstrip("0") if job.submitted_at else ""
    face["remark"] = job.note
    face["aside"] = " · ".join(filter(None, [face["aside"], when, job.request_id]))
    actions = [each for each in face["actions"] if each[0] in ("pick", "again", "save", "watch")]
    if job.request is not None:
        actions += [["vary", "Vary…"]] if can_vary else []
        actions += [CODE_ACTION]
    if job.clip is not None:
        actions += [["delete", "Delete file…"]]
    face["actions"] = actions
    delete = "" if job.clip is None else DELETE
    return {**face, "key": key, "tags": ", ".join(job.tags), "delete": delete}


def name_choices(word: str, names: Iterable[str], chosen: str) -> list[list[str]]:
    """The choices of a filter by name. The chosen one stays listed even if no clip has it any more."""
    return [["", word], *([name, name] for name in dict.fromkeys([*names, *filter(None, [chosen])]))]


def found_words(clips: int, *, more: bool, of: int | None = None) -> str:
    """How many tiles there are: "12 clips", "60 clips, more below", "4 of 12 clips"."""
    if of is not None and not more:
        return f"{clips} of {count(of, 'clip')}"
    return f"{count(clips, 'clip')}{', more below' if more else ''}"


def exported_words(path: Path, clips: int, without_file: int) -> str:
    said = f"{count(clips, 'clip')} and {'its' if clips == 1 else 'their'} settings are in {path}."
    if clips == 0:
        said = f"The settings are in {path}."
    if without_file:
        said += f" {without_file} {'has' if without_file == 1 else 'have'} no file on this disk."
    return said
