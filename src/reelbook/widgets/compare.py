"""Two to nine clips side by side on one clock, to pick among."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from typing import Any

import traitlets

from reelbook import wire
from reelbook.errors import InvalidInput
from reelbook.session import Clip, Job, JobView, Session
from reelbook.session.clip import as_clip
from reelbook.session.session import job_of

from ..text import compare as words
from ..text.card import ShownJob
from .base import session_of
from .bundle import packed
from .clip_serving import Plays, ServesClips
from .static_html import figure_html, picture_html, small_poster

FEWEST, MOST = 2, 9
STILL_BYTES = 24_000  # of all posters in the still form together


class Compare(Plays, ServesClips):
    """Two to nine clips on one clock: play all, scrub, step, pick.

    `Compare([first, second])` takes clips, jobs and files; a job joins when it is finished. These can be
    given, observed, linked and set:

    - `time`: where the clock is, in seconds. It runs to the end of the longest clip; shorter ones hold their
      last frame
    - `playing`: whether the clock runs; `speed`: 0.25 to 2
    - `view`: "grid", and for two clips "wipe" (a divider between them) or "difference" (|a − b|)
    - `picked`: the request ids of the picked clips (for a file, its name)

    The ledger keeps the picks of the clips that it knows. Raises InvalidInput for fewer or more clips and
    NotAVideo for a file that isn't a video.

    A label that says which are picked::

        compared, label = rb.Compare([first, second]), ipywidgets.Label()
        ipywidgets.dlink((compared, "picked"), (label, "value"), ", ".join)
        ipywidgets.VBox([compared, label])
    """

    _esm = packed("compare")

    view = traitlets.Enum(["grid", "wipe", "difference"], "grid", help="How they are seen.").tag(sync=True)
    picked = traitlets.List(traitlets.Unicode(), help="Request ids of the picked clips.").tag(sync=True)
    tiles: Any = traitlets.List(help="What the page draws of each clip.").tag(sync=True)
    face = traitlets.Dict(help="What the page says of all of them.").tag(sync=True)

    def __init__(
        self,
        clips: Iterable[Clip | Job | str | os.PathLike[str]],
        session: Session | None = None,
        **traits: Any,
    ) -> None:
        if isinstance(clips, str | Clip | Job) or not isinstance(clips, Iterable):
            raise InvalidInput(
                f"Compare takes a list of clips, jobs or files, not {type(clips).__name__}: "
                "Compare([first, second])."
            )
        self.clips: tuple[Clip | Job, ...] = _different(map(_clip_or_job, clips))
        if not FEWEST <= len(self.clips) <= MOST:
            raise InvalidInput(
                f"Compare takes two to nine different clips, not {len(self.clips)}: Compare([first, second])."
            )
        self._known = known = [each if isinstance(each, Job) else job_of(each) for each in self.clips]
        own = next((Session.of(job) for job in known if job is not None), None)
        self.session = own if session is None else session_of(self, session)
        traits.setdefault("picked", [name for name, job in self._jobs.items() if job.picked])
        super().__init__(**traits)
        self._endings += tuple(job.subscribe(self._live.changed) for job in known if job is not None)
        if self.session is not None:
            self._endings += (self.session.subscribe(self._session_changed),)
        self._keep(None)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the clips in `picked`, in order; empty for a job that hasn't been accepted yet."""
        return tuple(_name(each, self.clips) for each in self.clips)

    @property
    def _jobs(self) -> dict[str, Job]:
        """The jobs that are accepted and known to a ledger, by their names in `picked`."""
        return {name: job for name, job in zip(self.names, self._known, strict=True) if name and job}

    @property
    def _in_sandbox(self) -> bool:
        return all(_shown(each).mark for each in self.clips)

    def update(self) -> None:
        shown, jobs = list(map(_shown, self.clips)), self._jobs
        names = self.names  # after the jobs: one that is accepted meanwhile has a name here, too
        unknown = [name for name in self.picked if name not in jobs]
        picked = [*unknown, *(name for name, job in jobs.items() if job.picked)]
        with self.hold_sync():
            self.picked = sorted(picked, key=names.index)
            self.tiles = words.tiles(shown, names)
            self.face = {
                "lengths": words.length_words(shown),
                "picks": words.UNKNOWN_PICK if unknown else "",
                "keys": words.KEYS.format(picks=f"1 to {len(shown)}"),
            }
            self.live = any(isinstance(each, Job) and each.running for each in self.clips)

    def clip_of(self, key: str) -> Clip | None:
        place = int(key) if key.isdecimal() else MOST
        return _shown(self.clips[place]).clip if place < len(self.clips) else None

    def still(self) -> tuple[str, str]:
        self.refresh()
        lines = [f"{words.plain_runs(tile['prompt'])} · {self._told(tile)}" for tile in self.tiles]
        figures = "".join(map(self._figure, self.tiles))
        page = f'<div style="display:flex;flex-wrap:wrap;gap:12px;align-items:end">{figures}</div>'
        return page, f"Compare: {' | '.join(lines)}"

    @traitlets.validate("picked")
    def _known_names(self, proposal: Any) -> Any:
        for name in proposal["value"]:
            if not name or name not in self.names:
                raise traitlets.TraitError(f"picked names {', '.join(filter(None, self.names))}, not {name}.")
        return proposal["value"]

    @traitlets.validate("view")
    def _possible_view(self, proposal: Any) -> Any:
        if proposal["value"] != "grid" and len(self.clips) != FEWEST:
            raise traitlets.TraitError(
                f"{proposal['value']} compares two clips; here are {len(self.clips)}. Use view='grid'."
            )
        return proposal["value"]

    @traitlets.observe("picked")
    def _keep(self, _: object) -> None:
        with self.showing_errors("Keeping the pick"):
            for name, job in self._jobs.items():
                if job.picked != (name in self.picked):
                    job.mark(picked=not job.picked)
        self.refresh()

    def _on_pick(self, place: Any, picked: Any) -> None:
        if isinstance(place, int) and 0 <= place < len(self.clips) and self.clip_path(str(place)):
            name = self.names[place]
            others = [each for each in self.picked if each != name]
            self.picked = [*others, name] if picked else others

    def _told(self, tile: dict[str, Any]) -> str:
        return words.figure_words(tile, picked=tile["name"] in self.picked)

    def _figure(self, tile: dict[str, Any]) -> str:
        most = min(6_000, STILL_BYTES // len(self.clips))
        poster = small_poster(self.clip_poster(tile["key"]), max_side=240, max_bytes=most)
        runs = [(html.escape(text), differs) for text, differs in tile["prompt"]]
        prompt = "".join(f"<u>{text}</u>" if differs else text for text, differs in runs)
        caption = f"{prompt}<br><small>{html.escape(self._told(tile))}</small>"
        edge = "outline:2px solid;outline-offset:3px;" if tile["name"] in self.picked else ""
        return figure_html(picture_html(poster), caption, f"margin:5px;width:240px;{edge}")


def _clip_or_job(given: Clip | Job | str | os.PathLike[str]) -> Clip | Job:
    if isinstance(given, Clip | Job):
        return given
    if isinstance(given, str | os.PathLike):
        clip = as_clip(given)
        _ = clip.info  # raises here, not in the page, for a file that isn't a video
        return clip
    raise InvalidInput(f"Compare takes clips, jobs and files, not {type(given).__name__}.")


def _different(clips: Iterable[Clip | Job]) -> tuple[Clip | Job, ...]:
    """Each clip once. A job and its clip are the same, and so are two clips of one file."""
    different: dict[object, Clip | Job] = {}
    for each in clips:
        unnamed = each if isinstance(each, Job) else each.path.absolute()
        different.setdefault(each.request_id or unnamed, each)
    return tuple(different.values())


def _name(each: Clip | Job, among: Iterable[Clip | Job]) -> str:
    if each.request_id or isinstance(each, Job):
        return each.request_id or ""
    alike = [other for other in among if isinstance(other, Clip) and other.path.name == each.path.name]
    return each.path.name if len(alike) == 1 else str(each.path)


def _shown(each: Clip | Job) -> ShownJob:
    """A job as it is now; a clip without one is shown as one that was finished."""
    if isinstance(each, Job):
        return ShownJob.of(each, Session.of(each).service).on_disk()
    done = JobView(state=wire.COMPLETED, watched=False, elapsed_seconds=0.0, cost_usd=each.cost_usd)
    service = "sandbox" if each.sandbox else ""
    return ShownJob(done, each.request, clip=each, prompt=each.path.name, service=service).on_disk()
