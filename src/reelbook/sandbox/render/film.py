"""A scene filmed: sky, layers, subject and weather put together for every frame of a text-to-video clip."""

import hashlib
from collections.abc import Iterator

import numpy as np
from PIL import Image

from reelbook.sandbox.render import camera, layers, sky, weather
from reelbook.sandbox.render.layers import Layer, Stage, View
from reelbook.sandbox.render.mark import mark, stamp
from reelbook.sandbox.render.palette import Palette, palette
from reelbook.sandbox.render.setting import Setting, setting
from reelbook.sandbox.render.subjects import Acts, cast, play
from reelbook.sandbox.render.weather import Weather
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
    shot = camera.shot(rng, stage, scene, seconds, acts.camera_speed)
    pill = mark(min(size))
    for number in range(count):
        now = number / frames_per_second
        frame = shoot(stage, colours, place, conditions, camera.view(shot, stage, now), now, acts, shot.start)
        stamp(frame, pill)
        yield frame


def shoot(
    stage: Stage,
    colours: Palette,
    place: Setting,
    conditions: Weather,
    view: View,
    seconds: float,
    acts: Acts,
    start: float = 0.0,
) -> Image.Image:
    """The frame of a moment `seconds` into the clip, drawn from back to front."""
    size = (stage.width, stage.height)
    frame = Image.new("RGB", size)
    sky.paint(frame, place.above, view.y * 0.45, seconds, colours)
    light = weather.flash(conditions, seconds)
    if light > 0.02:
        # A flash lights the sky and what it is behind, and leaves the land as a silhouette.
        frame = Image.blend(frame, Image.new("RGB", size, (226, 226, 255)), 0.75 * light)
    for layer in place.clouds:
        layers.lay(frame, layer, view, seconds)
    weather.strike(frame, conditions, seconds)
    for layer in among(place.back, conditions.fog):
        layers.lay(frame, layer, view, seconds)
    weather.fall(frame, conditions, view, seconds, behind=True)
    play(frame, acts, stage, view, start, seconds)
    for layer in (*place.front, *(mist for mist in conditions.fog if mist.depth > 1)):
        layers.lay(frame, layer, view, seconds)
    frame = layers.zoomed(frame, view, stage.ground - 40 * stage.unit)
    weather.fall(frame, conditions, view, seconds, behind=False)
    return (
        Image.blend(frame, Image.new("RGB", size, (206, 212, 255)), 0.22 * light) if light > 0.02 else frame
    )


def among(back: tuple[Layer, ...], fog: tuple[Layer, ...]) -> list[Layer]:
    """The layers behind the subject with those of the fog put between them by depth."""
    mixed = list(back)
    for mist in fog:
        if mist.depth <= 1:
            mixed.insert(
                next((i for i, layer in enumerate(mixed) if layer.depth > mist.depth), len(mixed)), mist
            )
    return mixed
