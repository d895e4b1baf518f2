"""Settings of water: the open sea, a beach, a lake, and under the surface."""

import numpy as np
from PIL import Image

from reelbook.sandbox.render import plants
from reelbook.sandbox.render.land import Built
from reelbook.sandbox.render.layers import Layer, Sprite, Stage, wrapped
from reelbook.sandbox.render.palette import Palette, mix, shaded
from reelbook.sandbox.render.relief import Grower, hills, peaks, plant
from reelbook.sandbox.render.shapes import Strip, clouded, gradient, waves
from reelbook.sandbox.render.vocabulary import WALKERS
from reelbook.sandbox.render.words import RGB, Scene


def sea(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """The open sea: wave behind wave, each with its own pace."""
    wild = 2.0 if "storm" in scene.weather else 1.5 if scene.weather & {"wind", "rain"} else 1.0
    deep: RGB = (30, 84, 108) if wild >= 2 else scene.ground_tint or (28, 104, 146)
    back: list[Layer] = [_surface(rng, stage, colours, deep)]
    rows = (0.645, 0.69, 0.745, 0.80)
    for i, row in enumerate(rows):
        depth = (0.28, 0.45, 0.7, 1.0)[i]
        back.append(
            _wave(rng, stage, colours, deep, row=row, swell=(2.5 + 3.2 * i) * wild, depth=depth, wild=wild)
        )
    front = [
        _wave(rng, stage, colours, deep, row=0.865, swell=11 * wild**0.7, depth=1.2, wild=wild),
        _wave(rng, stage, colours, shaded(deep, 0.8), row=0.955, swell=12 * wild**0.7, depth=1.55, wild=wild),
    ]
    return back, front


def _wave(
    rng: np.random.Generator,
    stage: Stage,
    colours: Palette,
    deep: RGB,
    *,
    row: float,
    swell: float,
    depth: float,
    wild: float,
) -> Layer:
    raw = waves(rng, stage.period, low=5, high=22, rough=0.36)
    # Sharpened crests and wide troughs, as real waves have.
    line = stage.height * row - stage.unit * swell * (np.abs(raw + 0.85) ** 1.15 - 0.8)
    body = colours.lit(shaded(deep, 0.72 + 0.22 * depth), depth, 0.75)
    crest = mix(body, colours.lit((204, 236, 240), depth, 0.6), 0.34 + 0.06 * wild)
    mirrored = mix(body, colours.sky[2], 0.30)
    strip = Strip.hill(stage, line, (crest, mirrored, body, body, shaded(body, 0.8)), fade=62 * stage.unit)
    foam = colours.lit((244, 250, 252), depth, 0.5)
    high = np.where(line < np.percentile(line, 12 + 9 * wild))[0]
    pixels = np.array(strip.colour)
    for x in high:
        y = round(float(line[x])) - strip.top
        thick = max(1, round(stage.unit * (0.7 + depth * wild * 0.8)))
        pixels[y : y + thick, x] = (pixels[y : y + thick, x] * 0.5 + np.array(foam) * 0.5).astype(np.uint8)
    strip.colour = Image.fromarray(pixels)
    against = 1 if rng.random() < 0.85 else -0.6
    return strip.layer(
        stage,
        depth,
        drift=(10 + 26 * depth) * wild**0.6 * stage.unit * against,
        bob=stage.unit * (0.8 + 2.2 * depth) * wild**0.7,
        bob_seconds=rng.uniform(2.6, 4.2) / wild**0.3,
        phase=rng.random(),
    )


def _surface(rng: np.random.Generator, stage: Stage, colours: Palette, deep: RGB) -> Layer:
    """The far water, lying still under the sky it mirrors."""
    line = np.full(stage.period, float(stage.horizon))
    body = colours.lit(deep, 0.3, 0.75)
    strip = Strip.hill(
        stage,
        line,
        (mix(colours.haze, body, 0.35), mix(body, colours.sky[2], 0.35), body),
        fade=80 * stage.unit,
    )
    pixels = np.array(strip.colour).astype(float)
    rows = np.arange(pixels.shape[0])
    glint = clouded(rng, stage.period, pixels.shape[0], round(60 * stage.unit), flat=9)
    share = np.clip((glint - 0.58) * 2, 0, 0.5) * np.clip(1 - rows / (90 * stage.unit), 0.1, 1)[:, None]
    pixels += (
        np.array(mix(colours.haze, colours.tone(colours.hour.sun), 0.5), dtype=float) - pixels
    ) * share[:, :, None]
    strip.colour = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    return strip.layer(stage, 0.2, drift=3 * stage.unit)


def beach(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """Sand before the sea, with palms."""
    deep, sand = (46, 150, 176), (238, 214, 164)

    def palms(height: float, _: float) -> Sprite:
        return plants.palm(rng, height, colours.lit((74, 136, 80), 0.95), colours.lit((134, 102, 74), 0.95))

    def stones(height: float, _: float) -> Sprite:
        return plants.rock(rng, height, colours.lit((150, 140, 132)))

    back = [
        hills(rng, stage, colours, (96, 128, 132), row=0.585, swell=13, depth=0.1),
        _surface(rng, stage, colours, deep),
        _wave(rng, stage, colours, deep, row=0.69, swell=3, depth=0.5, wild=1.0),
        _wave(
            rng, stage, colours, mix(deep, (150, 214, 210), 0.4), row=0.735, swell=3.5, depth=0.75, wild=1.2
        ),
    ]
    line = stage.height * 0.775 + stage.unit * 5 * waves(rng, stage.period)
    lit = colours.lit(sand)
    strip = Strip.hill(
        stage,
        line,
        (shaded(lit, 0.78), lit, shaded(lit, 1.05), shaded(lit, 0.92)),
        fade=90 * stage.unit,
        headroom=190 * stage.unit,
    )
    plant(rng, strip, stage, line, palms, 4, (130, 170), sink=7)
    plant(rng, strip, stage, line + 12 * stage.unit, stones, 7, (8, 20), sink=8)
    near = hills(
        rng,
        stage,
        colours,
        shaded(sand, 0.74),
        row=0.97,
        swell=9,
        depth=1.6,
        grow=lambda h, _: plants.tuft(rng, h, colours.lit((116, 126, 78))),
        count=40,
        tall=(14, 28),
    )
    return [*back, strip.layer(stage, 1.0)], [near]


def lake(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """Still water between mountains."""
    deep = scene.ground_tint or (58, 110, 134)

    def firs(height: float, _: float) -> Sprite:
        return plants.pine(rng, height, colours.lit((46, 82, 68), 0.42))

    back = [
        peaks(rng, stage, colours, (122, 134, 166), row=0.575, tall=150, depth=0.1, cap=(244, 248, 255)),
        hills(
            rng,
            stage,
            colours,
            (70, 100, 86),
            row=0.575,
            swell=12,
            depth=0.22,
            grow=firs,
            count=90,
            tall=(16, 30),
        ),
        _surface(rng, stage, colours, deep),
        _wave(rng, stage, colours, deep, row=0.72, swell=1.6, depth=0.6, wild=0.6),
        _wave(rng, stage, colours, deep, row=0.80, swell=2.2, depth=1.0, wild=0.6),
    ]
    reeds = shaded(colours.lit((92, 108, 62)), 0.7)
    if any(subject.kind in WALKERS for subject in scene.subjects):
        bank = hills(
            rng,
            stage,
            colours,
            (112, 132, 84),
            row=0.765,
            swell=5,
            depth=1.0,
            fade=110,
            grow=lambda h, _: plants.tuft(rng, h, reeds),
            count=40,
            tall=(8, 20),
        )
        back[-1] = bank
        return back, [
            hills(
                rng,
                stage,
                colours,
                (58, 72, 48),
                row=0.985,
                swell=8,
                depth=1.6,
                grow=lambda h, _: plants.tuft(rng, h, reeds),
                count=70,
                tall=(20, 40),
            )
        ]
    front = [
        _wave(rng, stage, colours, shaded(deep, 0.9), row=0.87, swell=3, depth=1.2, wild=0.6),
        hills(
            rng,
            stage,
            colours,
            (58, 72, 48),
            row=0.985,
            swell=8,
            depth=1.6,
            grow=lambda h, _: plants.tuft(rng, h, reeds),
            count=70,
            tall=(26, 60),
        ),
    ]
    return back, front


def underwater(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """A reef: blue distance, a sea floor with corals and weeds, slanting light."""
    far, sand = _water(colours)[2], (196, 190, 158)
    corals: tuple[RGB, ...] = (
        (236, 104, 106),
        (244, 160, 80),
        (200, 96, 168),
        (246, 204, 110),
        (120, 196, 170),
    )

    def sunk(colour: RGB, depth: float) -> RGB:
        return mix(colours.lit(colour), far, 0.86 * (1 - depth) + 0.10)

    def grow(depth: float) -> Grower:
        def one(height: float, chance: float) -> Sprite:
            if chance < 0.36:
                return plants.seaweed(rng, height * 1.35, sunk((70, 140, 96), depth))
            if chance < 0.8:
                return plants.coral(rng, height, sunk(corals[int(rng.integers(len(corals)))], depth))
            return plants.rock(rng, height * 1.2, sunk((110, 120, 130), depth))

        return one

    def floor(
        row: float, swell: float, depth: float, count: int, tall: tuple[float, float], layer_depth: float
    ) -> Layer:
        line = stage.height * row + stage.unit * swell * waves(rng, stage.period)
        strip = Strip.hill(
            stage,
            line,
            (sunk(sand, depth), sunk(shaded(sand, 0.62), depth)),
            fade=90 * stage.unit,
            headroom=tall[1] * 1.6 * stage.unit,
        )
        plant(rng, strip, stage, line, grow(depth), count, tall, sink=3)
        return strip.layer(stage, layer_depth)

    back = [
        floor(0.74, 24, 0.16, 24, (20, 44), 0.25),
        floor(0.81, 18, 0.42, 18, (32, 62), 0.55),
        floor(0.89, 12, 0.78, 14, (40, 74), 1.0),
        rays(rng, stage, colours),
    ]
    return back, [floor(1.0, 12, 0.35, 9, (60, 110), 1.6)]


def _water(colours: Palette) -> tuple[RGB, RGB, RGB, RGB]:
    bright = max(0.34, min(1.0, sum(colours.light) / 3))
    stops: tuple[RGB, ...] = ((150, 226, 230), (64, 172, 202), (22, 104, 156), (10, 58, 104))
    a, b, c, d = (colours.tone(mix(shaded(stop, bright), colours.sky[2], 0.10)) for stop in stops)
    return a, b, c, d


def water_column(rng: np.random.Generator, stage: Stage, colours: Palette) -> Image.Image:
    """The picture behind an underwater scene, in the place of a sky."""
    height = stage.height + stage.margin
    picture = np.repeat(gradient(_water(colours), height).astype(float)[:, None, :], stage.width, axis=1)
    rows, columns = np.mgrid[0:height, 0 : stage.width]
    glow = np.exp(
        -np.hypot(
            (columns - rng.uniform(0.3, 0.7) * stage.width) / (210 * stage.unit), rows / (120 * stage.unit)
        )
    )
    picture += (255 - picture) * (0.55 * glow)[:, :, None] + rng.normal(0, 0.8, (height, stage.width, 1))
    return Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8))


def rays(rng: np.random.Generator, stage: Stage, colours: Palette) -> Layer:
    """Slanting beams of light from the surface."""
    height = round(stage.height * 0.95)
    beams = np.clip(waves(rng, stage.period, low=7, high=40, rough=0.8), 0, 1) ** 1.4
    rows = np.arange(height)
    columns = (np.arange(stage.period)[None, :] + rows[:, None] * 0.42).astype(int) % stage.period
    cover = beams[columns] * (np.clip(1 - rows / height, 0, 1) ** 1.2)[:, None] * 70
    colour = Image.new("RGB", (stage.width, height), mix(_water(colours)[0], (255, 255, 255), 0.4))
    return Layer(
        colour,
        wrapped(Image.fromarray(cover.astype(np.uint8)), stage),
        0,
        0.3,
        stage.period,
        drift=9 * stage.unit,
    )
