"""Where a clip from the terminal goes: found out before anything is sent, and written whole."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import InvalidInput, ReelbookError
from ..session import Clip
from ..text import dollars

# What programs would take for another kind of file.
OTHER_ENDINGS: Final = frozenset({".avi", ".gif", ".jpeg", ".jpg", ".mkv", ".png", ".webm", ".webp"})


@dataclass(frozen=True)
class Target:
    """The file a clip goes to. `force` replaces one that is there."""

    path: Path
    force: bool = False

    @classmethod
    def checked(cls, output: Path | None, default_name: str, *, force: bool) -> Target:
        """Where to write: `output`, or `default_name` in the current folder, numbered if it is taken.

        Raises InvalidInput where nothing could be written, so that it is known before a clip is paid for.
        """
        path = output or _free(Path(default_name), force)
        folder = path.absolute().parent
        if path.suffix.lower() in OTHER_ENDINGS:
            raise InvalidInput(f"A clip is an MP4 file. Name it {path.with_suffix('.mp4')}, not {path.name}.")
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder. Name a file in it, such as {path / default_name}.")
        if not folder.is_dir():
            raise InvalidInput(f"There is no folder {folder}. Make it first, or choose another --output.")
        if not os.access(folder, os.W_OK):
            raise InvalidInput(f"The folder {folder} can't be written to. Choose another --output.")
        if path.exists() and not force:
            raise InvalidInput(f"{path} is there already. Choose another --output, or --force to replace it.")
        return cls(path, force)

    def save(self, clip: Path) -> None:
        """Copy the file `clip` there, whole or not at all.

        Raises ReelbookError that says where the clip is safe.
        """
        part = self.path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            shutil.copyfile(clip, part)
            if self.path.exists() and not self.force:
                raise FileExistsError(f"{self.path} is there by now")
            os.replace(part, self.path)
        except OSError as error:
            raise ReelbookError(
                f"The clip could not be written: {error.strerror or error}. It is safe in {clip}"
            ) from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink()


def figures(clip: Clip) -> str:
    """What there is to say of a clip in the end: length, size, bytes, cost."""
    size_bytes = clip.info.size_bytes
    size = f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e6 else f"{max(1, round(size_bytes / 1e3))} kB"
    said = [f"{clip.duration_seconds:.1f} s", f"{clip.width} × {clip.height}", size]
    if clip.cost_usd is not None:
        said.append(dollars(clip.cost_usd))
    if clip.sandbox:
        said.append("sandbox")
    return ", ".join(said)


def _free(path: Path, force: bool) -> Path:
    if force or not path.exists():
        return path
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in itertools.count(2))
    return next(candidate for candidate in numbered if not candidate.exists())
