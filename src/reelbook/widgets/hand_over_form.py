"""The form that hands clips over: which, as a page or a zip, with what, and what was saved."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets

from reelbook.formatting import plain_name
from reelbook.saved_files import free_file
from reelbook.session import Job, Session

from ..text import tray as words
from .base import Callbacks
from .bundle import packed
from .clip_serving import ServesClips
from .handing_over import KINDS, about_size, common_title, hand_over, handed


class HandOverForm(ServesClips):
    """Asks which clips to hand over and how. An offer is a label and its jobs: ("2 picks of today", jobs)."""

    _esm = packed("hand_over_form")

    which = traitlets.Int(0, min=0, help="Which of the offers.").tag(sync=True)
    kind = traitlets.Enum(KINDS, KINDS[0], help="A page or a zip.").tag(sync=True)
    prompts = traitlets.Bool(True, help="Whether the prompts go out.").tag(sync=True)
    seeds = traitlets.Bool(True, help="Whether the seeds go out.").tag(sync=True)
    notes = traitlets.Bool(True, help="Whether the notes go out.").tag(sync=True)
    title = traitlets.Unicode(help="Stands above the clips; empty: made from the prompts.").tag(sync=True)
    face = traitlets.Dict(help="What the page draws.").tag(sync=True)
    result = traitlets.Dict(help="What was saved; empty: nothing yet.").tag(sync=True)

    on_close = Callbacks[[]]("`callback()` is called when the form is closed.")

    def __init__(self, session: Session, offers: Sequence[tuple[str, Sequence[Job]]], **traits: Any) -> None:
        self.session = session
        here = [(label, [job for job in jobs if job.clip is not None]) for label, jobs in offers]
        self.offers = [(label, jobs) for label, jobs in here if jobs]
        super().__init__(**traits)
        self.refresh()

    @property
    def jobs(self) -> Sequence[Job]:
        return self.offers[self.which][1] if self.which < len(self.offers) else ()

    @traitlets.observe("which", "kind")
    def _chosen(self, _: object) -> None:
        self.refresh()

    def update(self) -> None:
        there = [job.clip for job in self.jobs if job.clip is not None and job.clip.path.is_file()]
        self.face = {
            "offers": [label for label, _ in self.offers],
            "title": common_title(map(handed, self.jobs)) if len(there) == len(self.jobs) else "",
            "never": words.NEVER_INSIDE,
            "button": words.save_words(self.kind, about_size(there, self.kind)),
            "busy": self._busy,
        }

    def _on_save(self, title: str, prompts: bool, seeds: bool, notes: bool) -> None:
        """The choices come with the press, as they may not have arrived as traits yet."""
        chosen = {"prompts": prompts, "seeds": seeds, "notes": notes}
        with self.hold_trait_notifications():
            self.title, self.prompts, self.seeds, self.notes = title, prompts, seeds, notes

        def save() -> None:
            said = title.strip() or self.face["title"]
            stem = "-".join(re.findall(r"\w+", said.lower()))
            name = plain_name(f"{stem or 'clips'}{self.kind}", room=10)
            path = free_file(Path(name))
            self.saved = hand_over(self.jobs, path, title=said, **chosen)
            inside = [name for name, is_in in chosen.items() if is_in]
            self.result = words.saved_words(path, len(self.jobs), inside)

        self._start_work("Handing over", save)

    def _on_close(self) -> None:
        self.on_close.tell()
