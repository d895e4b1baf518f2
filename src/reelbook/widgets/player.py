"""A clip that plays in the page, from a Clip or from a file."""

import math
import os
from io import BytesIO
from typing import Any

import traitlets

from reelbook.errors import InvalidInput
from reelbook.session import Clip, Job, Session
from reelbook.session.clip import as_clip
from reelbook.session.session import job_of

from ..text.card import ShownJob, clip_face, clip_lines
from .bundle import packed
from .clip_serving import Plays, ServesClips
from .job_actions import ShowsJob
from .static_html import card_still, small_poster

# The player has the most controls: a smaller poster keeps its code and state under 30 KB.
POSTER_BYTES = 4_500
TILES = range(1, 33)


class Player(Plays, ShowsJob, ServesClips):
    """Plays a clip, muted and in a loop. It is loaded when it comes into view.

    `Player(clip)` or `Player("clip.mp4")`. These can be given, observed, linked and set:

    - `time`: the position in seconds; `playing`: whether it plays
    - `speed`: 0.25 to 2; `loop`: whether it begins again at its end
    - `loop_range`: `(from, to)` in seconds, the part that is played; None: the whole clip
    - `view`: "clip", "poster" or "filmstrip"

    With `autoplay=False` it waits for a press, as it does where the system asks for less motion. Raises
    NotAVideo for a file that isn't a video.

    A slider that drives a player and follows it, and two players in step::

        player = reelbook.Player(clip)
        slider = ipywidgets.FloatSlider(max=clip.duration_seconds, step=0.04)
        ipywidgets.link((player, "time"), (slider, "value"))
        ipywidgets.VBox([player, slider])

        a, b = reelbook.Player(first), reelbook.Player(second)
        for name in ("time", "playing", "speed"):
            ipywidgets.link((a, name), (b, name))
        ipywidgets.HBox([a, b])
    """

    _esm = packed("player")

    loop = traitlets.Bool(True, help="Whether it begins again at its end.").tag(sync=True)
    loop_range: Any = traitlets.Tuple(
        traitlets.Float(),
        traitlets.Float(),
        default_value=None,
        allow_none=True,
        help="The part that is played, in seconds.",
    ).tag(sync=True)
    view = traitlets.Enum(["clip", "poster", "filmstrip"], "clip", help="What is seen.").tag(sync=True)
    autoplay = traitlets.Bool(True, help="Whether it starts by itself when seen.").tag(sync=True)
    poster = traitlets.Bytes(help="A small JPEG of the clip.").tag(sync=True)

    def __init__(self, clip: Clip | str | os.PathLike[str], **traits: Any) -> None:
        if not isinstance(clip, Clip | str | os.PathLike):
            raise InvalidInput(
                f"Player takes a clip or a file, not {type(clip).__name__}. `await job` gives a job's clip."
            )
        self.clip = as_clip(clip)
        self._job_played = job_of(self.clip)
        super().__init__(
            figures=clip_lines(self.clip),
            poster=small_poster(self.clip.poster(), max_bytes=POSTER_BYTES),
            **traits,
        )
        if (job := self._job_played) is not None:
            self._endings += (
                job.subscribe(self._live.changed),
                Session.of(job).subscribe(self._session_changed),
            )
        self.refresh()

    @property
    def session(self) -> Session | None:
        """The session of the clip's job; None for a file."""
        return None if self._job_played is None else Session.of(self._job_played)

    def update(self) -> None:
        job = self._job_played
        self.face = dict(clip_face(self.clip, None if job is None else ShownJob.of(job)))

    @traitlets.validate("loop_range")
    def _in_order(self, proposal: Any) -> Any:
        part = proposal["value"]
        if part is not None and not (0 <= part[0] < part[1] and math.isfinite(part[1])):
            raise traitlets.TraitError(
                f"loop_range is two times in seconds, the earlier one first, not {part}."
                " None plays the whole clip."
            )
        return part

    def clip_of(self, key: str) -> Clip:
        return self.clip

    def still(self) -> tuple[str, str]:
        face: Any = self.face
        return card_still(face, self.figures, self.poster)

    def _job_of(self, key: object) -> Job | None:
        return self._job_played

    def _on_code(self, key: Any, kind: Any) -> dict[str, Any]:
        return {"text": self.clip.as_code(kind)}

    def _on_picture(self, of: Any, tiles: Any) -> dict[str, Any]:
        from reelbook.media.clips import filmstrip

        if of == "poster":
            picture = self.clip.poster()
        elif of == "filmstrip" and isinstance(tiles, int) and tiles in TILES:
            # Tall clips get taller tiles, so that theirs are as sharp as those of wide clips.
            height = 90 if self.clip.width >= self.clip.height else 160
            picture = filmstrip(self.clip.path, tiles, tile_height=height, gap=0)
        else:
            raise InvalidInput(f"The page asked for an unknown picture: {of}.")
        file = BytesIO()
        picture.convert("RGB").save(file, "JPEG", quality=82)
        return {"buffers": [file.getvalue()]}
