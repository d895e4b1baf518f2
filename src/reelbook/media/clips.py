"""Looks into a finished clip: its figures, single frames, poster, filmstrip and frame hashes (PyAV)."""

import hashlib
import math
import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import av
import av.error
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from PIL import Image, ImageStat

from ..errors import InvalidInput, NotAVideo

ClipPath = str | os.PathLike[str]

MOST_TILES: Final = 200  # a clip of 8 s has about as many frames

# A file from a service must not make the reader open other files or addresses, as playlists do.
_LOCAL_ONLY = {
    "protocol_whitelist": "file",
    "format_whitelist": "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,ogg,flv,gif",
}


@dataclass(frozen=True)
class ClipInfo:
    """A clip's figures, read from the file. Sizes in pixels as shown (turned upright)."""

    width: int
    height: int
    duration_seconds: float
    frames_per_second: float
    frames: int
    codec: str
    pixel_format: str
    size_bytes: int


def probe(path: ClipPath) -> ClipInfo:
    """Reads the figures of the clip at `path`, and makes sure that it is whole.

    All of it is read, and its beginning and end decoded, so a file cut off anywhere is found. It is read once
    as long as it stays as it is. Raises `NotAVideo` if it can't be opened, has no video in it, or is damaged.
    """
    place = Path(path).absolute()
    try:
        file = place.stat()
    except OSError as error:
        raise NotAVideo(f"There is no file {place}.") from error
    return _probed(place, file.st_mtime_ns, file.st_size)


@lru_cache(1024)
def _probed(path: Path, _changed_at: int, size_bytes: int) -> ClipInfo:
    with _open(path) as (container, stream):
        tick = _tick(stream)
        first = next(container.decode(stream), None)
        if first is None:
            raise NotAVideo(f"{path.name} holds no frame that can be decoded.")
        container.seek(0)
        packets = 0
        end = 0.0
        for packet in container.demux(stream):
            if packet.size == 0:
                continue
            if packet.is_corrupt:
                raise NotAVideo(f"{path.name} is cut off: it ends in the middle of a frame.")
            packets += 1
            end = max(end, ((packet.pts or 0) + (packet.duration or 0)) * tick)
        if packets < stream.frames:
            raise NotAVideo(f"{path.name} is cut off: {packets} of its {stream.frames} frames are there.")
        rate = float(stream.average_rate or stream.guessed_rate or 0) or 1.0
        slack = max(0.25, 3 / rate)
        duration = stream.duration * tick if stream.duration else end
        if end < duration - slack:  # one in fragments may announce a length and end before it
            duration = end
        last: VideoFrame | None = None
        container.seek(round(max(0.0, end - 1 / rate) * av.time_base))
        for coming in container.decode(stream):
            last = coming
        if last is None or last.time is None or last.time < end - slack:
            raise NotAVideo(f"{path.name} can't be decoded to its end.")
        upright = (first.height, first.width) if first.rotation % 180 else (first.width, first.height)
        return ClipInfo(
            *upright,
            duration_seconds=duration,
            frames_per_second=rate,
            frames=packets,
            codec=stream.codec_context.name,
            pixel_format=stream.codec_context.pix_fmt or "",
            size_bytes=size_bytes,
        )


def frame(path: ClipPath, at_seconds: float = 0.0) -> Image.Image:
    """The frame shown `at_seconds`; beyond the end, the last. Raises `NotAVideo` and `InvalidInput`."""
    if not math.isfinite(at_seconds):
        raise InvalidInput(f"{at_seconds} seconds isn't a time in a clip. Give seconds from its beginning.")
    with _open(path) as (container, stream):
        return _picture(_frame_at(container, stream, at_seconds, path))


def poster(path: ClipPath) -> Image.Image:
    """A representative frame: the first that isn't nearly black, white or plain. Raises `NotAVideo`."""
    candidates = []
    with _open(path) as (container, stream):
        length = _length(container, stream)
        for part in (0.35, 0.5, 0.7, 0.9, 0.15, 0.0):
            candidates.append(_picture(_frame_at(container, stream, part * length, path)))
            if _contrast(candidates[-1]) > 14:
                return candidates[-1]
    return max(candidates, key=_contrast)


def filmstrip(path: ClipPath, tiles: int = 8, *, tile_height: int = 90, gap: int = 2) -> Image.Image:
    """`tiles` frames spread evenly over the clip, side by side, each `tile_height` pixels high, `gap` apart.

    Raises `NotAVideo`, and `InvalidInput` for fewer than one tile or pixel, or more than 200 tiles.
    """
    if tiles not in range(1, MOST_TILES + 1) or tile_height < 1 or gap < 0:
        raise InvalidInput(f"A filmstrip has 1 to {MOST_TILES} tiles, each of at least one pixel.")
    with _open(path) as (container, stream):
        length = _length(container, stream)
    times = [(i + 0.5) * length / tiles for i in range(tiles)]
    pictures = list(pictures_at(path, times, math.inf, tile_height))
    width = pictures[0].width
    strip = Image.new("RGB", (tiles * (width + gap) - gap, tile_height), (128, 128, 128))
    for i, picture in enumerate(pictures):
        strip.paste(picture, (i * (width + gap), 0))
    return strip


def pictures_at(
    path: ClipPath, times: Iterable[float], width: float, height: float
) -> Generator[Image.Image, None, None]:
    """Yields what is shown at each of these ascending times, in seconds, as large as fits into that size.

    Decodes the clip once, on one thread, as many clips may be read side by side. Raises `NotAVideo`.
    """
    with _open(path, threads=False) as (container, stream):
        decoded = container.decode(stream)
        shown = coming = next(decoded, None)
        if shown is None:
            raise NotAVideo(f"{Path(path).name} holds no frame that can be decoded.")
        picture: Image.Image | None = None
        for at in times:
            while coming is not None and (coming.time or 0.0) <= at:
                shown, picture, coming = coming, None, next(decoded, None)
            picture = picture or _picture(shown, (width, height))
            yield picture


def frame_hashes(path: ClipPath) -> tuple[str, ...]:
    """A SHA-256 for each decoded frame; equal pictures have equal ones in any file. Raises `NotAVideo`."""
    with _open(path) as (container, stream):
        pixels = (picture.to_ndarray(format="rgb24") for picture in container.decode(stream))
        return tuple(hashlib.sha256(each.tobytes()).hexdigest() for each in pixels)


@contextmanager
def _open(path: ClipPath, *, threads: bool = True) -> Iterator[tuple[InputContainer, VideoStream]]:
    # Absolute, so that no name can be read as an address.
    place = Path(path).absolute()
    if not place.is_file():
        raise NotAVideo(f"There is no file {place}.")
    try:
        with av.open(str(place), options=_LOCAL_ONLY) as container:
            if not container.streams.video:
                raise NotAVideo(f"{Path(path).name} has no video in it.")
            stream = container.streams.video[0]
            stream.thread_type = "AUTO" if threads else "NONE"
            yield container, stream
    except av.error.FFmpegError as exc:
        raise NotAVideo(f"{Path(path).name} can't be played: {exc.strerror or exc}.") from exc


def _tick(stream: VideoStream) -> float:
    return float(stream.time_base or 1)


def _length(container: InputContainer, stream: VideoStream) -> float:
    if stream.duration:
        return stream.duration * _tick(stream)
    return (container.duration or 0) / av.time_base


def _frame_at(container: InputContainer, stream: VideoStream, seconds: float, path: ClipPath) -> VideoFrame:
    rate = float(stream.average_rate or 25)
    container.seek(round(min(max(0.0, seconds), _length(container, stream)) * av.time_base))
    shown: VideoFrame | None = None
    for coming in container.decode(stream):
        # A hundredth of a frame of tolerance: times in a file are rounded.
        if shown is not None and (coming.time or 0.0) > seconds + 0.01 / rate:
            break
        shown = coming
    if shown is None:
        raise NotAVideo(f"{Path(path).name} can't be decoded at {seconds:.2f} s.")
    return shown


def _picture(decoded: VideoFrame, within: tuple[float, float] | None = None) -> Image.Image:
    """The frame, upright; as large as fits `within` that width and height."""
    wide, high = decoded.width, decoded.height
    if decoded.rotation % 180:
        wide, high = high, wide
    scale = 1.0 if within is None else min(within[0] / wide, within[1] / high)
    size = {"width": max(1, round(decoded.width * scale)), "height": max(1, round(decoded.height * scale))}
    picture: Image.Image = decoded.to_image(**size)  # type: ignore[no-untyped-call] # PyAV leaves its keywords untyped
    return picture.rotate(decoded.rotation, expand=True) if decoded.rotation else picture


def _contrast(picture: Image.Image) -> float:
    """How much there is to see: the spread of brightness, from 0 (plain) to about 127."""
    small = picture.convert("L").resize((32, 32))
    return float(ImageStat.Stat(small).stddev[0])
