"""Clips to hand over: one page that plays by itself, or a zip with the files beside it."""

import html
import itertools
import os
import re
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import InvalidInput, NoPassport, NotAVideo
from ..explore.study import won_votes
from ..formatting import count
from ..media import boxes
from ..media import clips as media
from ..saved_files import free_file
from ..secret import holds_key
from ..session import Clip, Job, Session, passport
from ..session.clip import clip_file_name, write_beside
from ..session.session import job_of
from ..text.compare import Run, differing
from ..wire import RANDOM_SEED
from . import pages

KINDS = (".html", ".zip")
LONGEST_TITLE = 60


@dataclass(frozen=True)
class Handed:
    """A clip that is handed over, and a person's words on it. `votes`: "won 18 of 24 votes"."""

    clip: Clip
    note: str = ""
    votes: str = ""


def hand_over(
    clips: Iterable[Job | Clip | Handed],
    path: str | os.PathLike[str],
    *,
    title: str = "",
    prompts: bool = True,
    seeds: bool = True,
    notes: bool = True,
    overwrite: bool = False,
) -> Path:
    """Writes clips into one page that plays from the disk, without a network, and returns its path.

        session.pick(job, note="the light on the tail")
        rb.hand_over(session.picks(), "foxes.html", title="Foxes")

    `path` ends in .html; or in .zip, which holds the page and the files of the clips beside it. The page has
    the clips on one clock and, where wanted, their `prompts` with the words that differ marked, `seeds`, and
    the `notes` and votes of the jobs. Without prompts or seeds the clips don't say what made them either.
    Neither price nor account is ever in it. The default `title` is what the prompts have in common.

    Raises InvalidInput without clips, for one that isn't here, for another ending, if a file is in the way
    without `overwrite`, and if a key or this computer's home folder would be in the output; ReelbookError if
    the disk refuses, and NotAVideo for a clip that can't be read. The file is whole or not there at all.
    """
    path = Path(path)
    if isinstance(clips, str | Job | Clip) or not isinstance(clips, Iterable):
        raise InvalidInput(
            f"hand_over takes a list of jobs and clips, not {type(clips).__name__}: "
            'hand_over([first, second], "clips.html"). Nothing was written.'
        )
    chosen = [handed(each) for each in clips]
    if not chosen:
        raise InvalidInput("No clips were chosen. Nothing was written.")
    title = title.strip() or common_title(chosen)
    shown = [each if notes else replace(each, note="", votes="") for each in chosen]
    _refuse_private(title, shown)

    def fill(part: Path) -> None:
        about = html.escape(f"{time.strftime('%d %B %Y').lstrip('0')} · {count(len(shown), 'clip')}")
        head = f'<div class="rb-about">{about}</div><div class="rb-figures">'
        told = differing([each.clip.request.prompt if each.clip.request else "" for each in shown])
        with _copies(shown, passports=prompts and seeds) as files:
            figures = (
                _figure(each, runs if prompts else [], file, seeds=seeds)
                for each, runs, file in zip(shown, told, files, strict=True)
            )
            page = pages.page("_hand_over_page", title, itertools.chain([head], figures, ["</div>"]))
            if path.suffix.lower() == ".html":
                with part.open("w", encoding="utf-8") as out:
                    out.writelines(page)
                return
            with zipfile.ZipFile(part, "w") as archive:
                with archive.open(f"{path.stem}.html", "w") as inside:
                    inside.writelines(piece.encode() for piece in page)
                for file in sorted(files[0].parent.iterdir()):
                    archive.write(file, file.name)

    pages.write_whole(path, fill, what="The page", kinds=KINDS, overwrite=overwrite)
    return path


def common_title(clips: Iterable[Handed]) -> str:
    """A title from what the prompts have in common: "A fox in …"; "Clips" if that says nothing."""
    prompts = [each.clip.request.prompt for each in clips if each.clip.request]
    runs = next(iter(differing(prompts)), [])
    said = "".join("…" if differs else text for text, differs in runs).lstrip(" ,.…").rstrip(" ,.")
    if len(said) > LONGEST_TITLE:
        said = said[:LONGEST_TITLE].rsplit(" ", 1)[0] + "…"
    return said[:1].upper() + said[1:] if re.search(r"\w{3}", said) else "Clips"


def about_size(clips: Iterable[Clip], kind: str) -> int:
    """About how large the file will be, in bytes."""
    sizes = [each.path.stat().st_size for each in clips]
    page = sum((size + pages.POSTER_BYTES // 2) * 4 // 3 for size in sizes)
    return page + (sum(sizes) if kind == ".zip" else 0)


def handed(given: Job | Clip | Handed) -> Handed:
    """The clip with its job's note and votes. Raises InvalidInput for one that isn't on the disk."""
    if isinstance(given, Handed):
        return given
    if not isinstance(given, Job | Clip):
        kind = type(given).__name__
        raise InvalidInput(f"hand_over takes jobs and clips, not {kind}. Nothing was written.")
    job = given if isinstance(given, Job) else job_of(given)
    clip = given.clip if isinstance(given, Job) else given
    if clip is None or not clip.path.is_file():
        raise InvalidInput(f"The clip of {given!r} isn't on this disk. Nothing was written.")
    if job is None:
        return Handed(clip)
    return Handed(clip, job.note, won_votes(Session.of(job)._ledger, clip))


def _figure(handed: Handed, prompt: Sequence[Run], file: Path, *, seeds: bool) -> str:
    info, request = media.probe(file), handed.clip.request
    seed = f"seed {request.seed}" if seeds and request and request.seed not in (None, RANDOM_SEED) else ""
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
def _copies(handed: Sequence[Handed], *, passports: bool) -> Iterator[list[Path]]:
    """The clips as they are handed over, in a temporary folder: they tell what made them, but no cost."""
    with tempfile.TemporaryDirectory() as folder:
        files: list[Path] = []
        for number, each in enumerate(handed, 1):
            clip = each.clip
            said = clip.passport() if passports else None
            if passports and said is None:
                with suppress(NoPassport, NotAVideo):
                    said = passport(clip.path)  # an exported file says it itself
            name = clip_file_name(clip.request, clip.request_id) if passports else f"clip-{number}.mp4"
            file = free_file(Path(folder) / name)
            # Not by `save`: in Colab the browser would download each copy.
            if said is not None:
                said = replace(said, cost_usd=None)
                clip._copy(file, said)
                write_beside(file, said)
            else:  # without notes: an exported file tells its prompt and its price
                tags = dict.fromkeys((boxes.TITLE, boxes.COMMENT, boxes.SYNOPSIS, boxes.CREATED), "")
                try:
                    boxes.copy_with_notes(clip.path, file, tags, b"")
                except NotAVideo:  # of a kind that holds no such notes
                    shutil.copyfile(clip.path, file)
            files.append(file)
        yield files


def _refuse_private(title: str, shown: Sequence[Handed]) -> None:
    home = str(Path.home())
    for number, each in enumerate(shown, 1):
        for text in (title, each.note, each.clip.request.prompt if each.clip.request else ""):
            if holds_key(text) or (len(home) > 1 and home in text):
                raise InvalidInput(
                    "A key or this computer's home folder stands in the title or in what belongs to clip "
                    f"{number}. Nothing was written."
                )
