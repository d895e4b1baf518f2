"""Clips to be given away: one page that plays by itself, or a zip with the files beside it."""

from __future__ import annotations

import base64
import html
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..atomic_files import atomic_write
from ..errors import InvalidInput, ReelbookError
from ..formatting import count
from ..media import clips as media
from ..media.images import thumbnail
from ..session.clip import Clip, clip_file_name, numbered
from ..text.compare import Run, differing
from .bundle import module, pressed, style

KINDS = (".html", ".zip")
POSTER_BYTES = 20_000

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; media-src data:; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title><style>{look}</style></head>
<body class="rb-host rb-of-_hand_over_page" style="margin:0"><main class="rb">
<h1>{title}</h1><div class="rb-about">{about}</div><div class="rb-figures">{figures}</div></main>
<script type="module">{code}</script></body></html>
"""


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
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise InvalidInput(
            f"Clips are handed over as {' or '.join(KINDS)}, not {kind or 'without an ending'}."
        )
    if not handed:
        raise InvalidInput("No clips were chosen. Nothing was written.")
    if not path.absolute().parent.is_dir():
        raise InvalidInput(
            f"There is no folder {path.absolute().parent}. Make it first. Nothing was written."
        )
    if path.exists() and not overwrite:
        raise InvalidInput(f"{path} is there already: overwrite=True replaces it. Nothing was written.")
    shown = [each if notes else replace(each, note="", votes="") for each in handed]
    _refuse_private(private, title, shown)
    try:
        with _copies(shown, passports=prompts and seeds) as files, atomic_write(path) as part:
            page = page_html(shown, [*files.values()], title=title, prompts=prompts, seeds=seeds)
            if kind == ".html":
                with part.open("w", encoding="utf-8") as file:
                    file.writelines(page)
            else:
                with zipfile.ZipFile(part, "w") as archive:
                    with archive.open(f"{path.stem}.html", "w") as inside:
                        inside.writelines(piece.encode() for piece in page)
                    for name, file in files.items():
                        for each in (file, file.with_suffix(".json")):
                            if each.exists():
                                archive.write(each, Path(name).with_suffix(each.suffix))
            size = part.stat().st_size
    except OSError as error:
        raise ReelbookError(
            f"The page could not be written: {error.strerror or error}. The clips are where they were."
        ) from error
    return HandedOver(path, len(handed), size)


def page_html(
    shown: Sequence[Handed], files: Sequence[Path], *, title: str, prompts: bool = True, seeds: bool = True
) -> Iterator[str]:
    """The page piece by piece, as it is large. `files` are the clips as they go out."""
    before, after = _PAGE.split("{figures}")
    about = f"{time.strftime('%-d %B %Y')} · {count(len(shown), 'clip')}"
    yield before.format(
        title=html.escape(title), look=pressed(style("_hand_over_page")), about=html.escape(about)
    )
    told = differing([each.clip.request.prompt if each.clip.request else "" for each in shown])
    for each, runs, file in zip(shown, told, files, strict=True):
        yield _figure(each, runs if prompts else [], file, seeds=seeds)
    yield after.format(code=module("_matrix_page").replace("</", "<\\/"))


def _figure(handed: Handed, prompt: Sequence[Run], file: Path, *, seeds: bool) -> str:
    clip = handed.clip
    info = media.probe(file)
    poster = thumbnail(media.poster(file), max_side=640, max_bytes=POSTER_BYTES)
    request = clip.request
    seed = f"seed {request.seed}" if seeds and request and request.seed not in (None, -1) else ""
    facts = " · ".join(filter(None, [seed, f"{info.duration_seconds:.1f} s"]))
    words = "".join(f"<mark>{html.escape(text)}</mark>" if new else html.escape(text) for text, new in prompt)
    lines = [
        f"<p>{words}</p>" if words else "",
        f'<p class="rb-facts"><span>{facts}</span>'
        + (f"<span>{html.escape(handed.votes)}</span>" if handed.votes else "")
        + "</p>",
        f'<p class="rb-note">{html.escape(handed.note)}</p>' if handed.note else "",
    ]
    label = request.prompt if request and prompt else "A clip"
    return (
        f'<figure style="--rb-shape:{info.width / info.height:.4f}">'
        f'<video muted playsinline aria-label="{html.escape(label)}"'
        f' data-seconds="{info.duration_seconds:.4f}" data-fps="{info.frames_per_second:.3f}"'
        f' poster="data:image/jpeg;base64,{_text(poster)}"'
        f' data-clip="data:video/mp4;base64,{_text(file.read_bytes())}"></video>'
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


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
