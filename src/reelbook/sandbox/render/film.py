"""A scene filmed: sky, layers, subject and weather put together for every frame of a text-to-video clip."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from PIL import Image

from reelbook.sandbox.render import camera, layers, sky, weather
from reelbook.sandbox.render.layers import Stage
from reelbook.sandbox.render.mark import mark, stamp
from reelbook.sandbox.render.palette import palette
from reelbook.sandbox.render.setting import setting
from reelbook.sandbox.render.subjects import cast, play
from reelbook.sandbox.render.words import scene as read


def dice(prompt: str, seed: int) -> np.random.Generator:
    """The chance of one clip: the same prompt and seed always fall the same way."""
    digest = hashlib.blake2b(f"{seed}\n{' '.join(prompt.lower().split())}".encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest))


def film(prompt: str, seed: int, size: tuple[int, int], count: int, frames_per_second: int) -> Iterator[Image.Image]:
    """The `count` frames of the clip that `prompt` and `seed` describe."""
    scene, stage, rng = read(prompt), Stage(*size), dice(prompt, seed)
    colours = palette(scene)
    place = setting(rng, stage, scene, colours)
    conditions = weather.weather(rng, stage, scene, colours)
    seconds = count / frames_per_second
    acts = cast(rng, stage, scene, colours, seconds)
    side = scene.direction or (1 if rng.random() < 0.5 else -1)
    shot = camera.Shot(
        scene.moves, seconds, rng.uniform(0, stage.period), camera.drift_of(scene, stage, side), acts.camera_speed
    )
    if acts.camera_speed:
        shot = camera.Shot(scene.moves, seconds, shot.start, 0.0, acts.camera_speed)
    pill = mark(min(size))
    pivot = stage.ground - 40 * stage.unit
    fog = [*conditions.fog]
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
        for layer in place.back:
            for mist in [m for m in fog if m.depth <= layer.depth and m.depth < 1]:
                pass
            layers.lay(frame, layer, view, now, pivot)
        for mist in fog[:2]:
            layers.lay(frame, mist, view, now, pivot)
        weather.fall(frame, conditions, view, now, behind=True)
        play(frame, acts, stage, view, now, pivot)
        for layer in place.front:
            layers.lay(frame, layer, view, now, pivot)
        for mist in fog[2:]:
            layers.lay(frame, mist, view, now, pivot)
        weather.fall(frame, conditions, view, now, behind=False)
        if light > 0.02:
            frame = Image.blend(frame, Image.new("RGB", size, (206, 212, 255)), 0.22 * light)
        stamp(frame, pill)
        yield frame
