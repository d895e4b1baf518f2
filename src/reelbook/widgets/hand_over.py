"""Clips to be given away: one page that plays by itself, or a zip with the files beside it."""

from __future__ import annotations

import html
import itertools
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import InvalidInput
from ..formatting import count
from ..media import clips as media
from ..session.clip import Clip, clip_file_name, numbered
from ..text.compare import Run, differing
from . import pages

KINDS = (".html", ".zip")


@dataclass(frozen=True)
class Handed:
    """A clip that is given away, and what a person said of it. `votes`: "won 18 of 24 votes"."""

    clip: Clip
    note: str = ""
    votes: str = ""


@dataclass(frozen=True)
class HandedOver:
    """What was written: where it lies, how many clips are in it, and how large it is."""

    path: Path
    clips: int
    size_bytes: int


def write(
    handed: Sequence[Handed],
    path: Path,
    *,
    title: str,
    prompts: bool = True,
    seeds: bool = True,
    notes: bool = True,
    private: Sequence[str] = (),
    overwrite: bool = False,
) -> HandedOver:
    """Writes the page to `path`, or a zip with the page and the files; whole or not at all.

    `private` are texts that must not go out, such as the key. Raises InvalidInput without clips, for
    another ending, where a file is in the way, and where one of `private` stands in what would go out;
    ReelbookError where the disk refuses, and NotAVideo for a clip that can't be read.
    """
    if not handed:
        raise InvalidInput("No clips were chosen. Nothing was written.")
    shown = [each if notes else replace(each, note="", votes="") for each in handed]
    _refuse_private(private, title, shown)

    def fill(part: Path) -> None:
        with _copies(shown, passports=prompts and seeds) as files:
            page = page_html(shown, [*files.values()], title=title, prompts=prompts, seeds=seeds)
            if path.suffix.lower() == ".html":
                with part.open("w", encoding="utf-8") as out:
                    out.writelines(page)
                return
            with zipfile.ZipFile(part, "w") as archive:
                with archive.open(f"{path.stem}.html", "w") as inside:
                    inside.writelines(piece.encode() for piece in page)
                for name, file in files.items():
                    for each in (file, file.with_suffix(".json")):
                        if each.exists():
                            archive.write(each, Path(name).with_suffix(each.suffix))

    pages.write_whole(path, fill, what="The page", kinds=KINDS, overwrite=overwrite)
    return HandedOver(path, len(handed), path.stat().st_size)


def page_html(
    shown: Sequence[Handed], files: Sequence[Path], *, title: str, prompts: bool = True, seeds: bool = True
) -> Iterator[str]:
    """The page piece by piece, as it is large. `files` are the clips as they go out."""
    about = html.escape(f"{time.strftime('%-d %B %Y')} · {count(len(shown), 'clip')}")
    told = differing([each.clip.request.prompt if each.clip.request else "" for each in shown])
    figures = (
        _figure(each, runs if prompts else [], file, seeds=seeds)
        for each, runs, file in zip(shown, told, files, strict=True)
    )
    head = f'<div class="rb-about">{about}</div><div class="rb-figures">'
    return pages.page("_hand_over_page", title, itertools.chain([head], figures, ["</div>"]))


def _figure(handed: Handed, prompt: Sequence[Run], file: Path, *, seeds: bool) -> str:
    info, request = media.probe(file), handed.clip.request
    seed = f"seed {request.seed}" if seeds and request and request.seed not in (None, -1) else ""
    facts = " · ".join(filter(None, [seed, f"{info.duration_seconds:.1f} s"]))
    words = "".join(f"<mark>{html.escape(text)}</mark>" if new else html.escape(text) for text, new in prompt)
    votes = f"<span>{html.escape(handed.votes)}</span>" if handed.votes else ""
    lines = [
        f"<p>{words}</p>" if words else "",
        f'<p class="rb-facts"><span>{facts}</span>{votes}</p>',
        f'<p class="rb-note">{html.escape(handed.note)}</p>' if handed.note else "",
    ]
    video = pages.video(file, request.prompt if request and prompt else "A clip", max_side=640)
    return (
        f'<figure style="--rb-shape:{info.width / info.height:.4f}">{video}'
        f"<figcaption>{''.join(lines)}</figcaption></figure>"
    )


@contextmanager
def _copies(handed: Sequence[Handed], *, passports: bool) -> Iterator[dict[str, Path]]:
    """The clips as they go out, by their names: what made them is in them, but for what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, Path] = {}
        for number, each in enumerate(handed, 1):
            clip = replace(each.clip, cost_usd=None)
            plain = Path(clip_file_name(clip.request, clip.request_id) if passports else f"clip-{number}.mp4")
            name = next(free.name for free in numbered(plain) if free.name not in files)
            files[name] = clip.save(Path(folder) / name, passport=passports)
        yield files


def _refuse_private(private: Sequence[str], title: str, shown: Sequence[Handed]) -> None:
    """Raises InvalidInput where a text that must not go out stands in a title, a prompt or a note."""
    for number, each in enumerate(shown, 1):
        texts = (title, each.note, each.clip.request.prompt if each.clip.request else "")
        if any(secret and secret in text for secret in private for text in texts):
            raise InvalidInput(
                f"Your key or your account's id stands in the title or in what belongs to clip {number}. "
                "Nothing was written."
            )
