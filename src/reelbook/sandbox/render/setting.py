"""The place of a scene, put together: what is painted behind everything, and the layers."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from reelbook.sandbox.render import elsewhere, indoors, land, town, water
from reelbook.sandbox.render.layers import Layer, Stage
from reelbook.sandbox.render.palette import Palette
from reelbook.sandbox.render.sky import Sky, sky
from reelbook.sandbox.render.words import Scene


@dataclass(frozen=True, eq=False)
class Setting:
    """The background and the layers behind and before the subject, far to near."""

    above: Sky
    back: tuple[Layer, ...]
    front: tuple[Layer, ...]

    @property
    def clouds(self) -> tuple[Layer, ...]:
        """What moves in the sky."""
        return self.above.layers


_PLACES: dict[str, Callable[[np.random.Generator, Stage, Scene, Palette], land.Built]] = {
    "snow": land.snow,
    "desert": land.desert,
    "forest": land.forest,
    "mountains": land.mountains,
    "meadow": land.meadow,
    "sea": water.sea,
    "beach": water.beach,
    "lake": water.lake,
    "underwater": water.underwater,
    "city": town.city,
    "street": town.street,
    "indoors": indoors.indoors,
    "space": elsewhere.space,
    "abstract": elsewhere.abstract,
}


def setting(rng: np.random.Generator, stage: Stage, scene: Scene, colours: Palette) -> Setting:
    if scene.setting == "space":
        above = Sky(elsewhere.space_picture(rng, stage, scene, colours), (), (), None)
    elif scene.setting == "abstract":
        above = Sky(elsewhere.abstract_picture(rng, stage, scene, colours), (), (), None)
    elif scene.setting == "underwater":
        above = Sky(water.water_column(rng, stage, colours), (), (), None)
    else:
        above = sky(rng, stage, scene, colours)
    back, front = _PLACES[scene.setting](rng, stage, scene, colours)
    return Setting(above, tuple(seen(back, stage)), tuple(seen(front, stage)))


def seen(layers: list[Layer], stage: Stage) -> list[Layer]:
    """`layers`, far to near, each without the rows that those before it always hide."""
    kept: list[Layer] = []
    hidden = stage.height + stage.margin
    for layer in reversed(layers):
        # Layers move against each other as the camera tilts and comes nearer, and waves as they roll.
        rows = hidden + round(0.13 * stage.height + 2 * layer.bob + 6) - layer.top
        if layer.cover:
            gaps = np.flatnonzero(np.asarray(layer.cover).min(axis=1) < 255)
            solid = int(gaps[-1]) + 1 if gaps.size else 0
            if layer.top + layer.cover.height >= stage.height + stage.margin - 1:
                hidden = min(hidden, layer.top + solid + round(layer.bob))
            shown = min(max(rows, 1), layer.cover.height)
            colour = layer.colour.crop((0, 0, layer.colour.width, shown))
            layer = replace(
                layer, colour=colour, cover=layer.cover.crop((0, 0, layer.cover.width, shown)), solid=solid
            )
        kept.append(layer)
    return kept[::-1]
