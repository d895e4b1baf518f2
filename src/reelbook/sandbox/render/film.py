"""A scene filmed: sky, layers, subject and weather put together for every frame of a text-to-video clip."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from PIL import Image

from reelbook.sandbox.render import camera, layers, sky, weather
from reelbook.sandbox.render.layers import Layer, Stage
from reelbook.sandbox.render.mark import mark, stamp
from reelbook.sandbox.render.palette import palette
from reelbook.sandbox.render.setting import setting
from reelbook.sandbox.render.subjects import cast, play
from reelbook.sandbox.render.words import scene as read


def dice(prompt: str, seed: int) -> np.random.Generator:
    """The chance of one clip: the same prompt and seed always fall the same way."""
    digest = hashlib.blake2b(f"{seed}\n{' '.join(prompt.lower().split())}".encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest))


def film(
    prompt: str, seed: int, size: tuple[int, int], count: int, frames_per_second: int
) -> Iterator[Image.Image]:
    """The `count` frames of the clip that `prompt` and `seed` describe."""
    scene, stage, rng = read(prompt), Stage(*size), dice(prompt, seed)
    colours = palette(scene)
    place = setting(rng, stage, scene, colours)
    conditions = weather.weather(rng, stage, scene, colours)
    seconds = count / frames_per_second
    acts = cast(rng, stage, scene, colours, seconds)
    side = scene.direction or (1 if rng.random() < 0.5 else -1)
    drift = 0.0 if acts.camera_speed else camera.drift_of(scene, stage, side)
    shot = camera.Shot(scene.moves, seconds, rng.uniform(0, stage.period), drift, acts.camera_speed)
    pill = mark(min(size))
    pivot = stage.ground - 40 * stage.unit
    back, front = (
        among(place.back, conditions.fog),
        (*place.front, *(mist for mist in conditions.fog if mist.depth > 1)),
    )
    for number in range(count):
        now = number / frames_per_second
        view = camera.view(shot, stage, now)
        frame = Image.new("RGB", size)
        sky.paint(frame, place.above, view.y * 0.45, now, colours)
        light = weather.flash(conditions, now)
        if light > 0.02:
            # A flash lights the sky and what it is behind, and leaves the land as a silhouette.
            frame = Image.blend(frame, Image.new("RGB", size, (226, 226, 255)), 0.75 * light)
            weather.strike(frame, conditions, now)
        for layer in back:
            layers.lay(frame, layer, view, now)
        weather.fall(frame, conditions, view, now, behind=True)
        play(frame, acts, stage, view, shot.start, now)
        for layer in front:
            layers.lay(frame, layer, view, now)
        frame = layers.zoomed(frame, view, pivot)
        weather.fall(frame, conditions, view, now, behind=False)
        if light > 0.02:
            frame = Image.blend(frame, Image.new("RGB", size, (206, 212, 255)), 0.22 * light)
        stamp(frame, pill)
        yield frame


def among(back: tuple[Layer, ...], fog: tuple[Layer, ...]) -> list[Layer]:
    """The layers behind the subject with those of the fog put between them by depth."""
    mixed = list(back)
    for mist in fog:
        if mist.depth <= 1:
            mixed.insert(
                next((i for i, layer in enumerate(mixed) if layer.depth > mist.depth), len(mixed)), mist
            )
    return mixed
