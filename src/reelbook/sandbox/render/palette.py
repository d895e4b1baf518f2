"""The colours of a scene: the sky of an hour, the light it casts, and how mood and distance change a colour.

Every colour that is drawn passes through `Palette.lit` or `Palette.tone`, so that one picture keeps one mood.
"""

from dataclasses import dataclass, replace

from reelbook.sandbox.render.words import RGB, Scene

Light = tuple[float, float, float]


@dataclass(frozen=True)
class Hour:
    """The sky from its top to the horizon, what shines in it, and the light it casts (factors)."""

    sky: tuple[RGB, RGB, RGB, RGB]
    sun: RGB
    height: float
    glow: float
    light: Light
    stars: float = 0.0
    moon: bool = False


HOURS = {
    "dawn": Hour(
        ((62, 84, 140), (134, 124, 172), (236, 160, 152), (255, 216, 164)), (255, 240, 208), 0.16, 0.95,
            (0.98, 0.84, 0.80)
    ),
    "morning": Hour(
        ((74, 148, 210), (136, 192, 230), (202, 226, 236), (255, 238, 208)), (255, 248, 224), 0.42, 0.6, (1.0,
            0.97, 0.92)
    ),
    "noon": Hour(
        ((30, 108, 200), (70, 152, 224), (138, 196, 238), (214, 236, 248)), (255, 253, 240), 0.86, 0.75,
            (1.06, 1.04, 1.0)
    ),
    "day": Hour(
        ((44, 124, 204), (88, 162, 224), (150, 204, 238), (218, 238, 246)), (255, 252, 232), 0.62, 0.55, (1.0,
            1.0, 1.0)
    ),
    "golden": Hour(
        ((72, 128, 186), (150, 176, 194), (240, 206, 150), (255, 226, 160)), (255, 240, 190), 0.30, 1.0, (1.0,
            0.89, 0.70)
    ),
    "sunset": Hour(
        ((40, 38, 94), (122, 58, 112), (226, 92, 92), (255, 170, 88)), (255, 222, 140), 0.10, 1.15, (0.92,
            0.66, 0.60)
    ),
    "dusk": Hour(
        ((18, 24, 62), (48, 46, 104), (114, 80, 136), (226, 128, 124)), (255, 190, 150), 0.02, 0.5, (0.56,
            0.48, 0.68), 0.35
    ),
    "night": Hour(
        ((6, 10, 30), (12, 22, 56), (22, 42, 86), (46, 78, 128)), (246, 242, 220), 0.66, 0.42, (0.40, 0.47,
            0.66), 1.0, True
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Feel:
    """What a mood does to every colour: a tint and its share, saturation and brightness as factors."""

    tint: RGB = (128, 128, 128)
    share: float = 0.0
    saturation: float = 1.0
    brightness: float = 1.0


_FEELS = {
    "calm": Feel((176, 208, 220), 0.10, 0.9),
    "happy": Feel((255, 224, 130), 0.06, 1.2, 1.04),
    "sad": Feel((92, 112, 136), 0.22, 0.55, 0.88),
    "scary": Feel((40, 54, 48), 0.28, 0.6, 0.72),
    "dreamy": Feel((238, 178, 232), 0.22, 1.05, 1.04),
    "angry": Feel((190, 30, 24), 0.24, 1.2, 0.92),
    "jealous": Feel((62, 134, 62), 0.26, 1.05, 0.94),
    "love": Feel((255, 128, 156), 0.20, 1.1),
    "neon": Feel((120, 40, 190), 0.14, 1.3),
    "noir": Feel((120, 122, 126), 0.0, 0.0, 0.92),
    "vintage": Feel((196, 152, 96), 0.28, 0.55),
}

# The hues that a mood brings to a scene without things: abstract ribbons, shapes, neon.
MOOD_HUES: dict[str, tuple[RGB, RGB, RGB]] = {
    "calm": ((96, 178, 190), (150, 206, 208), (226, 226, 206)),
    "happy": ((255, 186, 60), (250, 120, 96), (86, 196, 188)),
    "sad": ((74, 100, 148), (110, 134, 168), (166, 172, 186)),
    "scary": ((58, 40, 74), (104, 30, 48), (46, 70, 66)),
    "dreamy": ((178, 130, 226), (244, 164, 206), (140, 196, 240)),
    "angry": ((206, 34, 30), (250, 112, 40), (96, 10, 24)),
    "jealous": ((26, 104, 62), (110, 170, 50), (206, 204, 72)),
    "love": ((226, 62, 98), (250, 142, 140), (250, 196, 178)),
    "neon": ((240, 40, 160), (40, 210, 240), (140, 60, 250)),
    "noir": ((60, 60, 64), (130, 130, 134), (214, 214, 214)),
    "vintage": ((178, 120, 74), (120, 138, 110), (226, 190, 130)),
}


@dataclass(frozen=True)
class Palette:
    """The colours of one scene, ready to draw with."""

    hour: Hour
    feel: Feel
    sky: tuple[RGB, RGB, RGB, RGB]
    haze: RGB
    light: Light
    sun_shows: float

    def tone(self, colour: RGB) -> RGB:
        """`colour` in the scene's mood, unlit: for what shines by itself."""
        return _felt(colour, self.feel)

    def lit(self, colour: RGB, depth: float = 1.0, haze: float = 0.7) -> RGB:
        """`colour` in the scene's light at a depth from 0 (at the horizon, lost in haze) to 1 (here)."""
        shaded = tuple(channel * factor for channel, factor in zip(colour, self.light, strict=True))
        near = _felt(_rgb(shaded), self.feel)
        return mix(near, self.haze, haze * (1 - max(0.0, min(depth, 1.0))) ** 1.3)

    def subject(self, colour: RGB) -> RGB:
        """`colour` for the subject: lit, but never so dark that it gets lost."""
        light = tuple(0.42 + 0.58 * factor for factor in self.light)
        return _felt(_rgb(tuple(c * factor for c, factor in zip(colour, light, strict=True))), self.feel)


def palette(scene: Scene) -> Palette:
    hour = HOURS[scene.time]
    feel = _FEELS.get(scene.mood or "", Feel())
    grey = 0.0
    if scene.weather & {"storm"}:
        grey = 0.78
    elif scene.weather & {"rain", "fog"}:
        grey = 0.6
    elif "dust" in scene.weather:
        grey = 0.5
    elif scene.weather & {"snowfall", "clouds"}:
        grey = 0.30
    dim = 0.62 if "storm" in scene.weather else 0.84 if grey >= 0.6 else 1.0
    sky = []
    for i, stop in enumerate(hour.sky):
        if scene.sky_tint:
            stop = mix(stop, mix(scene.sky_tint, (255, 255, 255), 0.12 * i), 0.55)
        stop = _overcast(stop, grey, dim)
        if "dust" in scene.weather:
            stop = mix(stop, shaded((222, 172, 108), dim * min(1.0, hour.light[1])), 0.72)
        sky.append(_felt(stop, feel))
    shade = 1 - 0.30 * grey
    if scene.setting == "space":
        hour = replace(hour, light=(0.98, 0.97, 1.0))
    light = (hour.light[0] * shade, hour.light[1] * shade, hour.light[2] * shade * (1 + 0.06 * grey))
    haze = sky[3]
    if "fog" in scene.weather:
        haze = mix(haze, (226, 230, 234) if not hour.moon else (92, 108, 136), 0.45)
    return Palette(hour, feel, (sky[0], sky[1], sky[2], sky[3]), haze, light, max(0.0, 1 - grey * 1.35))


def mix(a: RGB, b: RGB, share: float) -> RGB:
    """`a` with `share` (0 to 1) of `b`."""
    return _rgb(tuple(x + (y - x) * share for x, y in zip(a, b, strict=True)))


def shaded(colour: RGB, factor: float) -> RGB:
    """`colour` darker (a factor below 1) or lighter."""
    if factor > 1:
        return mix(colour, (255, 255, 255), min(1.0, factor - 1))
    return _rgb(tuple(channel * factor for channel in colour))


def brightness(colour: RGB) -> float:
    """How bright `colour` is, from 0 to 255 (Rec. 601 luma)."""
    return 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]


def _overcast(colour: RGB, share: float, dim: float) -> RGB:
    luma = brightness(colour)
    return shaded(mix(colour, _rgb((luma * 0.94, luma * 0.99, luma * 1.07)), share), dim)


def _felt(colour: RGB, feel: Feel) -> RGB:
    luma = brightness(colour)
    saturated = tuple(luma + (channel - luma) * feel.saturation for channel in colour)
    tinted = mix(_rgb(saturated), feel.tint, feel.share * (0.4 + 0.6 * (1 - luma / 255)))
    return (
        shaded(tinted, feel.brightness)
        if feel.brightness < 1
        else _rgb(tuple(c * feel.brightness for c in tinted))
    )


def _rgb(values: tuple[float, ...]) -> RGB:
    r, g, b = (max(0, min(255, round(value))) for value in values)
    return r, g, b
