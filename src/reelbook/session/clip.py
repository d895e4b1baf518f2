"""A finished clip on this machine's disk, with what made it."""

from __future__ import annotations

import contextlib
import filecmp
import functools
import importlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .. import formatting, settings, wire
from ..atomic_files import atomic_write
from ..errors import NoPassport, NotAVideo, ReelbookError
from ..lazy_module import LazyModule
from ..media import boxes
from ..saved_files import target_file, writing
from ..suggestions import SuggestsNames
from . import display, passports
from .passports import Passport
from .request_code import CodeKind, request_code

if TYPE_CHECKING:
    from PIL import Image

    from ..media import clips
    from ..media.checks import ClipChecks
    from ..requests import JobRequest
else:
    clips = LazyModule("reelbook.media.clips")


@dataclass(frozen=True, eq=False)
class Clip(display.Shown, SuggestsNames):
    """One clip: an MP4 at `path`.

        clip.path                # where the file is
        clip.filmstrip(8)        # eight of its frames side by side, a picture

    `request` is what was asked for (None for a job taken up by its id) and `made_at` when; `cost_usd` is what
    the service says it cost, `took_seconds` the time from its acceptance to its completion (None unless one
    kernel watched all of it), `sandbox` whether the local sandbox drew it and no model. A clip of a sweep has
    the `template` and what filled its `slots`. Length and size are read from the file.
    """

    path: Path
    request_id: str
    request: JobRequest | None = None
    cost_usd: float | None = None
    took_seconds: float | None = None
    sandbox: bool = False
    made_at: datetime | None = None
    template: str | None = None
    slots: Mapping[str, str] = field(default_factory=dict)

    @property
    def info(self) -> clips.ClipInfo:
        """What the file says about itself. Raises NotAVideo."""
        with self._file() as path:
            return clips.probe(path)

    @functools.cached_property
    def checks(self) -> ClipChecks:
        """Measurements of its pictures: black and frozen stretches, cuts, and how far its two ends are apart.

            clip.checks.frozen_seconds

        These are measurements, not a verdict. Takes a fraction of a second. Raises NotAVideo.
        """
        from ..media.checks import check

        image = self.request.image if self.request else None
        with self._file() as path:
            return check(path, None if image is None else image.data)

    @property
    def duration_seconds(self) -> float:
        """The actual length in seconds."""
        return self.info.duration_seconds

    @property
    def width(self) -> int:
        """The width in pixels."""
        return self.info.width

    @property
    def height(self) -> int:
        """The height in pixels."""
        return self.info.height

    @property
    def frames_per_second(self) -> float:
        return self.info.frames_per_second

    def poster(self) -> Image.Image:
        """A representative frame as a PIL image."""
        with self._file() as path:
            return clips.poster(path)

    def frame(self, at_seconds: float = 0.0) -> Image.Image:
        """The frame shown at `at_seconds` as a PIL image; negative counts from the end."""
        if at_seconds < 0:
            at_seconds = max(0.0, self.duration_seconds + at_seconds)
        with self._file() as path:
            return clips.frame(path, at_seconds)

    def filmstrip(self, tiles: int = 8) -> Image.Image:
        """`tiles` frames, 1 to 200, over the whole length side by side, as a PIL image."""
        with self._file() as path:
            return clips.filmstrip(path, tiles)

    def passport(self) -> Passport | None:
        """What made it, as `save` writes it into the file; None where only the file is known."""
        if self.request is None:
            return None
        said = Passport(
            self.request,
            request_id=self.request_id,
            service="sandbox" if self.sandbox else "live",
            cost_usd=self.cost_usd,
            made_at=self.made_at,
            template=self.template,
            slots=self.slots,
        )
        with contextlib.suppress(NotAVideo):
            seconds = round(self.duration_seconds, 3)
            return replace(said, seconds=seconds, width=self.width, height=self.height)
        return said

    def save(
        self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False, passport: bool = True
    ) -> Path:
        """Copies the clip's file to `path` and returns the new path. In Colab the browser downloads it too.

            clip.save("fox.mp4")
            rb.passport("fox.mp4").request    # what made it

        `path` is a file or a folder; the default is the working folder. In a folder the name is made of the
        prompt's first words and the seed. What made the clip is written into the copy, and as JSON beside it;
        the pictures stay as they are. `passport=False` copies the file as it came. A file that already is
        this clip is left as it is; any other is replaced only with `overwrite=True`. Raises InvalidInput
        where a file is in the way or the folder doesn't exist, ReelbookError where the disk refuses.
        """
        if not self.path.is_file():
            raise ReelbookError(f"The clip's file is no longer where it was: {self.path}.")
        named = self.request or self.request_id
        said = self.passport() if passport else None
        is_same = functools.partial(_same, self.path, said)
        with writing("The clip", f"It is safe in {self.path}."):
            target = target_file(
                path,
                clip_file_name(self.request, self.request_id) if named else self.path.name,
                remedy="Choose another name, or overwrite=True to replace it",
                overwrite=overwrite,
                is_same=is_same,
            )
            if overwrite or not is_same(target):
                with atomic_write(target) as part:
                    self._copy(part, said)
                    if target.exists() and not overwrite:
                        raise FileExistsError(f"{target} is there by now")
            if said is not None:
                write_beside(target, said)
        if settings.in_colab():
            # Colab's disk is gone with its runtime: the person's own computer keeps the clip.
            with contextlib.suppress(ImportError):
                importlib.import_module("google.colab.files").download(str(target))
        return target

    def _copy(self, target: Path, said: Passport | None) -> None:
        if said is not None:
            with contextlib.suppress(NotAVideo):
                passports.write(self.path, target, said)
                return
        shutil.copyfile(self.path, target)

    def as_code(self, kind: CodeKind = "cell") -> str:
        """The code that asks for this clip again, without the key. Running it buys another clip.

        It is a "cell" for a notebook with a `session`, a "script" with `AsyncClient`, or "curl" for a shell.
        For a clip of which only the file is known, it is the call that plays it.
        """
        if self.request is not None:
            return request_code(self.request, kind)
        return f"reelbook.Player({json.dumps(str(self.path), ensure_ascii=False)})"

    @property
    def _can_be_read(self) -> bool:
        """Whether its file is there and is a clip."""
        with contextlib.suppress(NotAVideo):
            return self.path.exists() and bool(self.info)
        return False

    @contextlib.contextmanager
    def _file(self) -> Iterator[Path]:
        """Its path, to read it; NotAVideo says how to get back a clip whose file is gone or damaged."""
        again = ""
        if self.request_id:
            again = (
                f" session.job({self.request_id!r}).watch() fetches it again, where the service still has "
                "it; that costs nothing."
            )
            if not self.path.exists():
                raise NotAVideo(f"The clip's file isn't there any more: {self.path}.{again}")
        try:
            yield self.path
        except NotAVideo as error:
            raise NotAVideo(f"{error}{again}") from None

    def __repr__(self) -> str:
        if not self._can_be_read:
            what = "is damaged" if self.path.exists() else "isn't there any more"
            return f"<Clip {self.path.name}, whose file {what}>"
        where = " sandbox" if self.sandbox else ""
        return f"<Clip {self.path.name}, {self.duration_seconds:.1f} s, {self.width}×{self.height}{where}>"


NUMBER_BYTES: Final = 10  # what a number adds to a name that is taken


def as_clip(given: Clip | str | os.PathLike[str]) -> Clip:
    """The clip itself; of a file, a clip of which nothing else is known."""
    return given if isinstance(given, Clip) else Clip(path=Path(given), request_id="")


def clip_file_name(request: JobRequest | None, request_id: str) -> str:
    """The file name of a saved clip: the prompt's first words and the seed."""
    words = re.findall(r"\w+", request.prompt.lower()) if request else []
    stem = "-".join(words[:8])[:60].strip("-") or formatting.file_name(f"clip-{request_id[:12]}")
    if request is not None and request.seed not in (None, wire.RANDOM_SEED):
        # A second dash would read as an option, or as a dash.
        stem += f"-{str(request.seed).replace('-', 'minus-')}"
    return formatting.plain_name(f"{stem}.mp4", room=NUMBER_BYTES)


def _same(clip: Path, said: Passport | None, other: Path) -> bool:
    """Whether the `other` file is this clip, byte for byte or with its passport in it."""
    if not other.is_file():
        return False
    if filecmp.cmp(clip, other, shallow=False):
        return True
    there = None
    with contextlib.suppress(NotAVideo):
        there = passports.of_notes(boxes.read_notes(other))
    return said is not None and there is not None and said.request_id == there.request_id


def write_beside(clip: Path, said: Passport) -> None:
    """Writes the passport as JSON beside the clip. Another file of that name is left alone."""
    file = clip.with_suffix(".json")
    with contextlib.suppress(NoPassport):
        if not file.exists() or passports.passport(file):
            with atomic_write(file) as part:
                part.write_text(json.dumps(said.record(), ensure_ascii=False, indent=2), "utf-8")
