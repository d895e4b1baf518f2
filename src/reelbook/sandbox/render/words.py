"""A prompt read into a scene: pure words and numbers, no drawing. The tables are in `vocabulary`."""

import re
from dataclasses import dataclass

from reelbook.sandbox.render import vocabulary as known

RGB = tuple[int, int, int]


@dataclass(frozen=True)
class Subject:
    """What moves in the scene. `traits` are looks such as "old" or "stripes"; `size` is a factor."""

    kind: str
    colour: RGB | None = None
    count: int = 1
    size: float = 1.0
    traits: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Move:
    """One camera move. `sign` is +1 for right, up and in, -1 for left, down and out; `pace` is a factor."""

    kind: str
    sign: int = 1
    pace: float = 1.0


@dataclass(frozen=True)
class Scene:
    """Everything that the words of a prompt decide. None and empty where they say nothing."""

    time: str
    setting: str
    weather: frozenset[str] = frozenset()
    season: str | None = None
    mood: str | None = None
    sky_tint: RGB | None = None
    ground_tint: RGB | None = None
    subjects: tuple[Subject, ...] = ()
    action: str | None = None
    direction: int = 0
    moves: tuple[Move, ...] = ()
    pace: float = 1.0
    unknown: tuple[str, ...] = ()


def scene(prompt: str) -> Scene:
    """Read `prompt` into a scene. Any text gives one: words that mean nothing here are kept as `unknown`."""
    text = prompt.lower()
    camera, rest = camera_moves(text)
    tokens = _without_negated(re.findall(r"[a-z]+(?:-[a-z]+)?", rest))
    time = _first(tokens, known.TIMES)
    settings = _all(tokens, known.SETTINGS)
    weather = set(_all(tokens, known.WEATHER))
    subjects = _subjects(tokens)
    season = _first(tokens, known.SEASONS)
    if season is None and re.search(r"\bfall\b(?! (down|off|from))", rest) and "leaves" in weather:
        season = "autumn"
    mood = _first(tokens, known.MOODS)
    setting = _setting(settings, subjects, mood, bool((time and time != "night") or weather - {"stars"}))
    sky_tint, ground_tint = _tints(tokens)
    return Scene(
        time=time or _usual_time(setting, weather, mood),
        setting=setting,
        weather=frozenset(_implied(weather, setting, season, tokens)),
        season=season,
        mood=mood,
        sky_tint=sky_tint,
        ground_tint=ground_tint,
        subjects=subjects,
        action=_first(tokens, known.ACTIONS),
        direction=_direction(rest, camera),
        moves=camera,
        pace=_pace(rest),
        unknown=_unknown(tokens),
    )


def lookup(word: str, table: dict[str, str]) -> str | None:
    """What `word` is called in `table`, plural and verb endings aside."""
    for form in _forms(word):
        if form in table:
            return table[form]
    return None


def _forms(word: str) -> list[str]:
    forms = [word]
    if word.endswith("ies"):
        forms.append(word[:-3] + "y")
    if word.endswith("ves"):
        forms += [word[:-3] + "f", word[:-3] + "fe"]
    if word.endswith("s") and not word.endswith("ss"):
        forms += [word[:-1], word[:-2] if word.endswith("es") else word]
    for ending in ("ing", "ed", "er"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)]
            forms += [stem, stem + "e"]
            if stem[-1] == stem[-2]:
                forms.append(stem[:-1])
    return forms


_MEN = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "people": "person",
    "geese": "goose",
    "wolves": "wolf",
}


def _without_negated(tokens: list[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in tokens:
        if word in ("no", "without", "not"):
            skip = True
        elif skip and word not in ("any", "a", "the"):
            skip = False
        else:
            kept.append(word)
    return kept


def _first(tokens: list[str], table: dict[str, str]) -> str | None:
    return next((name for token in tokens if (name := lookup(token, table))), None)


def _all(tokens: list[str], table: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(name for token in tokens if (name := lookup(token, table))))


# The more particular of two settings in one prompt says where we are: "city street", "snow in the forest".
_SETTING_ORDER = (
    "underwater", "space", "street", "indoors", "city", "beach", "sea", "lake", "forest", "snow", "desert",
    "mountains", "meadow", "abstract",
)  # fmt: skip


def _setting(settings: list[str], subjects: tuple[Subject, ...], mood: str | None, outside: bool) -> str:
    walks = any(subject.kind in known.WALKERS for subject in subjects)
    for name in _SETTING_ORDER:
        if name in settings and not (name == "abstract" and len(settings) > 1):
            return "beach" if name == "sea" and walks else name
    for subject in subjects:
        if subject.kind != "orb":
            place = known.HABITATS.get(subject.kind, "meadow")
            # "A rocket at dawn" starts from the ground: there is no dawn in space.
            return "meadow" if place == "space" and outside else place
    if mood in ("neon", "noir"):
        return "city"
    return "mountains" if outside else "abstract"


def _usual_time(setting: str, weather: set[str], mood: str | None) -> str:
    if mood == "neon" or weather & {"stars", "aurora", "fireflies"} or setting == "space":
        return "night"
    if mood == "love":
        return "sunset"
    if mood == "dreamy":
        return "dawn"
    if mood == "scary":
        return "dusk"
    return "day" if setting in ("desert", "indoors", "underwater") or weather else "golden"


def _implied(weather: set[str], setting: str, season: str | None, tokens: list[str]) -> set[str]:
    implied = set(weather)
    calm_sky = implied & {"clear", "rain", "storm", "fog", "stars", "aurora"}
    if (
        setting == "snow" or (season == "winter" and setting in ("forest", "mountains", "city"))
    ) and not calm_sky:
        implied.add("snowfall")
    if "snow" in tokens and setting != "snow" and not implied & {"rain"}:
        implied.add("snowfall")
    if "storm" in implied and "snowfall" not in implied and setting not in ("desert", "space", "underwater"):
        implied.add("rain")
    if "storm" in implied and setting == "desert":
        implied.add("dust")
    if "lightning" in implied:
        implied.add("storm")
    if season == "autumn" and setting in ("forest", "meadow", "street", "lake", "mountains"):
        implied.add("leaves")
    if season == "spring":
        implied.add("petals")
    if setting == "underwater":
        implied.add("bubbles")
    return implied


def _subjects(tokens: list[str]) -> tuple[Subject, ...]:
    found: list[Subject] = []
    since = 0
    for i, token in enumerate(tokens):
        word = _MEN.get(token, token)
        kind = lookup(word, known.SUBJECTS)
        if kind is None or (word == "orb" and found):
            continue
        before = tokens[since:i][-4:]
        singular = next((form for form in _forms(word) if form in known.SUBJECTS), word)
        traits = {t for near in (*before, singular) for t in known.TRAITS_BY_WORD.get(near, ())}
        colours = [known.COLOURS[near] for near in before if near in known.COLOURS]
        own = [known.SPECIES_COLOURS[near] for near in (singular, *before) if near in known.SPECIES_COLOURS]
        size = 1.35 if "big" in traits else 0.72 if traits & {"small", "young"} else 1.0
        if not any(kind == other.kind for other in found):
            found.append(
                Subject(
                    kind,
                    (colours or own)[-1] if colours or own else None,
                    _count(token, word, before),
                    size,
                    frozenset(traits),
                )
            )
        since = i + 1
    return tuple(found[:2])


def _count(spoken: str, word: str, before: list[str]) -> int:
    for near in reversed(before):
        if near in known.NUMBERS:
            return known.NUMBERS[near]
    if spoken in _MEN or (spoken.endswith("s") and word not in known.SUBJECTS):
        return 3
    article = any(near in ("a", "an", "the", "one") for near in before)
    return 5 if word == "fish" and not article else 1


def _tints(tokens: list[str]) -> tuple[RGB | None, RGB | None]:
    sky = ground = None
    for i, token in enumerate(tokens):
        colour = known.COLOURS.get(token)
        if colour is None:
            continue
        for after in tokens[i + 1 : i + 3]:
            if lookup(after, known.SUBJECTS):
                break
            if after in ("sky", "light", "haze", "clouds", "glow", "sunset"):
                sky = colour
            elif lookup(after, known.SETTINGS):
                ground = colour
    return sky, ground


_SIDE = {
    **dict.fromkeys(("right", "rightwards", "up", "upward", "upwards", "in", "closer", "forward"), 1),
    **dict.fromkeys(("left", "leftwards", "down", "downward", "downwards", "out", "away", "back"), -1),
}
_HOW = r"\b(?:(?:slow|slowly|gentle|gently|quick|fast|smooth|camera)\s+)*"
_TWIRL = r"(?:\s+(?:slowly|slow|gently|gentle|quickly|fast|smoothly|the|to|towards|camera|shot))*\s+"
_MOVES = {
    "pan": re.compile(rf"{_HOW}(?:pan|pans|panning|track|tracks|tracking|truck){_TWIRL}(left|right)\b"),
    "tilt": re.compile(
        rf"{_HOW}(?:tilt|tilts|tilting|crane|pedestal){_TWIRL}(up|down|upwards?|downwards?)\b"
    ),
    "dolly": re.compile(
        rf"{_HOW}(?:zoom|zooms|zooming|dolly|dollies|dollying|push|pushes|pull|pulls|move|moves){_TWIRL}"
        r"(in|out|closer|back|forward|away)\b"
    ),
}
_PLAIN_MOVES = {
    "orbit": re.compile(
        r"\b(orbit|orbits|orbiting|arc shot|circling|360)\b(?=.*\b(camera|shot|around)\b|\s*$|,)"
    ),
    "handheld": re.compile(r"\b(hand-?held|shaky|documentary|found footage)\b"),
    "static": re.compile(r"\b(static|still|locked|fixed|tripod)\b(?:\s+(?:camera|shot|frame))?"),
}


def camera_moves(text: str) -> tuple[tuple[Move, ...], str]:
    """The camera moves of a prompt (lower case), and the text without them: they don't say what is seen."""
    moves: list[Move] = []
    for kind, pattern in _MOVES.items():
        found = pattern.search(text)
        if found:
            moves.append(Move(kind, _SIDE[found[1]], _pace(found[0])))
            text = pattern.sub(" ", text)
    if found := re.search(rf"{_HOW}(?:zoom|close-?up)\b", text):
        moves.append(Move("dolly", 1, _pace(found[0])))
        text = text.replace(found[0], " ")
    for kind, pattern in _PLAIN_MOVES.items():
        if found := pattern.search(text):
            moves.append(Move(kind, -1 if "left" in text[found.end() : found.end() + 12] else 1))
            text = pattern.sub(" ", text)
    return tuple(moves), text


def _pace(text: str) -> float:
    if re.search(r"\b(slow|slowly|gentle|gently|calm|lazy|lazily)\b", text):
        return 0.6
    return 1.7 if re.search(r"\b(fast|quick|quickly|rapid|rapidly|speeding|swift)\b", text) else 1.0


def _direction(text: str, moves: tuple[Move, ...]) -> int:
    for move in moves:
        if move.kind == "pan":
            return move.sign
    found = re.search(r"\b(?:to|towards?|from) the (left|right)\b|\b(left|right)wards?\b", text)
    if not found:
        return 0
    side = _SIDE[found[1] or found[2]]
    return -side if found[0].startswith("from") else side


_TABLES = (
    known.TIMES, known.SETTINGS, known.WEATHER, known.SEASONS, known.MOODS, known.ACTIONS, known.SUBJECTS,
)  # fmt: skip


def _unknown(tokens: list[str]) -> tuple[str, ...]:
    return tuple(
        token
        for token in tokens
        if token not in known.FILLERS
        and token not in known.COLOURS
        and token not in known.NUMBERS
        and token not in known.TRAITS_BY_WORD
        and token not in _MEN
        and not any(lookup(token, table) for table in _TABLES)
    )
