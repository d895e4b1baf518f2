"""Settings on land: snow, desert, forest, mountains and meadow, as hills behind hills.

Far hills fade into the sky's haze; what stands on them grows and darkens towards the front.
"""

from dataclasses import replace

import numpy as np

from reelbook.sandbox.render import plants
from reelbook.sandbox.render.layers import Layer, Sprite, Stage
from reelbook.sandbox.render.palette import Palette, mix, shaded
from reelbook.sandbox.render.relief import Grower, dunes, hills, mesas, peaks, plant
from reelbook.sandbox.render.shapes import Strip, waves
from reelbook.sandbox.render.words import RGB, Scene

Built = tuple[list[Layer], list[Layer]]


def snow(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """Snowfields before mountains, with firs."""
    white, shade, fir = scene.ground_tint or (240, 246, 255), (166, 186, 220), (48, 84, 86)

    def firs(depth: float) -> Grower:
        return lambda height, _: plants.pine(
            rng, height, colours.lit(fir, depth), snow=colours.lit((244, 248, 255), depth)
        )

    bright = mix(white, (255, 255, 255), 0.4)
    if colours.hour.moon:
        # By night snow gives back what light there is: lit like other ground it would read as blue sand.
        colours = replace(colours, light=(0.60, 0.68, 0.84))
        fir = (30, 56, 60)
    back = [
        peaks(rng, stage, colours, (128, 148, 186), row=0.60, tall=150, depth=0.12, cap=bright),
        hills(
            rng,
            stage,
            colours,
            shade,
            row=0.60,
            swell=16,
            depth=0.3,
            grow=firs(0.3),
            count=46,
            tall=(24, 42),
            crest=white,
        ),
        hills(
            rng,
            stage,
            colours,
            shade,
            row=0.68,
            swell=15,
            depth=0.55,
            grow=firs(0.55),
            count=18,
            tall=(56, 92),
            crest=bright,
        ),
        hills(
            rng,
            stage,
            colours,
            (190, 206, 234),
            row=0.77,
            swell=6,
            depth=1.0,
            fade=110,
            crest=bright,
            grow=firs(0.85),
            count=5,
            tall=(110, 150),
        ),
    ]
    front = [
        hills(rng, stage, colours, (206, 219, 242), row=0.975, swell=11, depth=1.6, fade=60, crest=bright)
    ]
    return back, front


def mountains(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """High mountains over dark wooded hills."""
    grass = _season_leaf(scene, scene.ground_tint or (104, 132, 86))
    fir = (44, 74, 62)

    def firs(depth: float) -> Grower:
        return lambda height, _: plants.pine(rng, height, colours.lit(fir, depth))

    back = [
        peaks(rng, stage, colours, (132, 140, 168), row=0.58, tall=200, depth=0.10, cap=(244, 248, 255)),
        peaks(rng, stage, colours, (98, 112, 138), row=0.66, tall=118, depth=0.24),
        hills(
            rng,
            stage,
            colours,
            (76, 104, 92),
            row=0.665,
            swell=14,
            depth=0.42,
            grow=firs(0.42),
            count=70,
            tall=(18, 34),
        ),
        hills(
            rng,
            stage,
            colours,
            grass,
            row=0.765,
            swell=8,
            depth=1.0,
            fade=120,
            grow=firs(0.8),
            count=9,
            tall=(56, 104),
        ),
    ]
    return back, [_grass(rng, stage, colours, grass)]


def desert(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """Dunes with sharp crests, mesas far off, some cacti."""
    sand = scene.ground_tint or (236, 178, 104)
    cactus = (86, 124, 72)

    def cacti(height: float, _: float) -> Sprite:
        return plants.cactus(rng, height, colours.lit(cactus, 0.9))

    return [
        mesas(rng, stage, colours, (196, 112, 80), depth=0.12),
        dunes(rng, stage, colours, sand, row=0.635, swell=26, depth=0.28),
        dunes(rng, stage, colours, sand, row=0.70, swell=28, depth=0.52),
        hills(
            rng,
            stage,
            colours,
            shaded(sand, 0.86),
            row=0.78,
            swell=7,
            depth=1.0,
            crest=shaded(sand, 1.06),
            fade=130,
            grow=cacti,
            count=4,
            tall=(58, 96),
        ),
    ], [
        hills(
            rng, stage, colours, shaded(sand, 0.74), row=0.97, swell=12, depth=1.6, crest=shaded(sand, 0.95)
        )
    ]


def _season_leaf(scene: Scene, green: RGB) -> RGB:
    if scene.season == "autumn":
        return mix(green, (190, 128, 54), 0.65)
    return mix(green, (232, 240, 250), 0.75) if scene.season == "winter" else green


AUTUMN: tuple[RGB, ...] = ((206, 98, 38), (226, 158, 48), (176, 66, 40), (236, 186, 72), (150, 84, 48))
GREENS: tuple[RGB, ...] = ((62, 112, 66), (84, 134, 70), (48, 96, 72), (104, 148, 74))


def forest(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """Rows of trees fading into the light between them; broad leaves in autumn, firs otherwise."""
    autumn = scene.season == "autumn"
    winter = scene.season == "winter" or "snowfall" in scene.weather
    leaves = AUTUMN if autumn else GREENS
    earth = scene.ground_tint or ((160, 104, 56) if autumn else (226, 234, 246) if winter else (82, 104, 58))
    white = (240, 246, 252) if winter else None

    def trees(depth: float, *, broad: float) -> Grower:
        def grow(height: float, chance: float) -> Sprite:
            leaf = colours.lit(leaves[int(rng.integers(len(leaves)))], depth)
            if chance < broad and not winter:
                return plants.broadleaf(rng, height * 0.85, leaf, colours.lit((92, 70, 54), depth))
            dark = leaf if autumn and broad > 0.5 else colours.lit((44, 84, 68), depth)
            return plants.pine(rng, height, dark, snow=colours.lit(white, depth) if white else None)

        return grow

    def trunks(height: float, _: float) -> Sprite:
        leaf = colours.lit(leaves[int(rng.integers(len(leaves)))], 0.95)
        if winter:
            return plants.pine(
                rng, height, colours.lit((40, 74, 66), 0.95), snow=colours.lit((240, 246, 252))
            )
        return plants.birch(
            rng, height, leaf, colours.lit((214, 206, 194) if autumn else (112, 92, 74), 0.95)
        )

    broad = 0.85 if autumn else 0.3
    back = [
        hills(
            rng,
            stage,
            colours,
            earth,
            row=0.56,
            swell=18,
            depth=0.12,
            grow=trees(0.12, broad=broad),
            count=64,
            tall=(44, 76),
        ),
        hills(
            rng,
            stage,
            colours,
            earth,
            row=0.635,
            swell=12,
            depth=0.32,
            grow=trees(0.32, broad=broad),
            count=40,
            tall=(80, 124),
        ),
        hills(
            rng,
            stage,
            colours,
            earth,
            row=0.705,
            swell=9,
            depth=0.6,
            grow=trees(0.6, broad=broad * 0.8),
            count=20,
            tall=(120, 178),
        ),
        hills(
            rng,
            stage,
            colours,
            earth,
            row=0.775,
            swell=5,
            depth=1.0,
            fade=110,
            grow=trunks,
            count=8,
            tall=(210, 290),
        ),
    ]
    front = [_grass(rng, stage, colours, shaded(earth, 0.7), bushes=6, leaves=leaves)]
    return back, front


def meadow(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Built:
    """Rolling green hills with trees and flowers."""
    grass = _season_leaf(
        scene, mix((132, 178, 82), scene.ground_tint, 0.35) if scene.ground_tint else (132, 178, 82)
    )
    leaves = AUTUMN if scene.season == "autumn" else GREENS
    petals: tuple[RGB, ...] = (
        (246, 214, 88),
        (238, 108, 122),
        (250, 248, 240),
        (172, 134, 220),
        (240, 140, 64),
    )

    def trees(depth: float) -> Grower:
        return lambda height, _: plants.broadleaf(
            rng,
            height,
            colours.lit(leaves[int(rng.integers(len(leaves)))], depth),
            colours.lit((96, 72, 52), depth),
        )

    def flowers(height: float, chance: float) -> Sprite:
        if chance < 0.45:
            return plants.tuft(rng, height, colours.lit(shaded(grass, 0.86)))
        return plants.blossom(
            rng, height, colours.lit(petals[int(rng.integers(len(petals)))]), colours.lit(shaded(grass, 0.7))
        )

    back = [
        hills(rng, stage, colours, (112, 148, 150), row=0.555, swell=26, depth=0.12),
        hills(
            rng,
            stage,
            colours,
            mix(grass, (80, 130, 100), 0.5),
            row=0.625,
            swell=22,
            depth=0.3,
            grow=trees(0.3),
            count=26,
            tall=(16, 30),
        ),
        hills(
            rng,
            stage,
            colours,
            mix(grass, (96, 150, 84), 0.3),
            row=0.695,
            swell=17,
            depth=0.55,
            grow=trees(0.55),
            count=9,
            tall=(40, 74),
        ),
        hills(
            rng,
            stage,
            colours,
            grass,
            row=0.775,
            swell=6,
            depth=1.0,
            fade=120,
            crest=mix(grass, (240, 236, 140), 0.3),
            grow=flowers,
            count=46,
            tall=(9, 17),
        ),
    ]
    line = stage.height * 0.955 + stage.unit * 8 * waves(rng, stage.period)
    near = colours.lit(shaded(grass, 0.62))
    strip = Strip.hill(stage, line, (near, shaded(near, 0.8)), fade=60 * stage.unit, headroom=46 * stage.unit)
    plant(rng, strip, stage, line, flowers, 80, (20, 40))
    return back, [strip.layer(stage, 1.55)]


def _grass(
    rng: np.random.Generator,
    stage: Stage,
    colours: Palette,
    colour: RGB,
    *,
    bushes: int = 3,
    leaves: tuple[RGB, ...] = GREENS,
) -> Layer:
    """The dark edge of the ground right before the camera."""
    near = colours.lit(shaded(colour, 0.6))
    line = stage.height * 0.965 + stage.unit * 9 * waves(rng, stage.period)
    strip = Strip.hill(
        stage, line, (near, shaded(near, 0.75)), fade=60 * stage.unit, headroom=52 * stage.unit
    )
    plant(rng, strip, stage, line, lambda height, _: plants.tuft(rng, height, near), 90, (14, 30))
    dark = colours.lit(shaded(leaves[0], 0.5))
    plant(
        rng,
        strip,
        stage,
        line,
        lambda height, _: plants.bush(rng, height * 1.8, dark),
        bushes,
        (26, 44),
        sink=6,
    )
    return strip.layer(stage, 1.6)
