"""The words that a scene is read from, as tables: what a thing is called here, and what people call it.

Only data; `words` does the reading.
"""

from collections.abc import Mapping


def _by_word(table: Mapping[str, str]) -> dict[str, str]:
    return {word: name for name, words in table.items() for word in (name, *words.split())}


TIMES = _by_word(
    {
        "dawn": "sunrise daybreak",
        "morning": "breakfast",
        "noon": "midday lunchtime",
        "day": "daylight daytime daytimes",
        "golden": "afternoon",
        "sunset": "sundown evening",
        "dusk": "twilight nightfall gloaming",
        "night": "midnight nighttime moonlight moonlit moon starlight nocturnal",
    }
)

SETTINGS = _by_word(
    {
        "snow": "snowy snowfield winter arctic ice icy glacier tundra polar frozen antarctica blizzard ski",
        "desert": "dune sahara sand sandy canyon savanna savannah wasteland mars mesa outback",
        "forest": "wood woodland woods jungle rainforest pine grove taiga",
        "sea": "ocean wave seascape marine offshore",
        "beach": "shore coast seaside island harbor harbour bay",
        "lake": "river pond lagoon fjord loch stream",
        "mountains": "mountain alp alpine peak summit ridge volcano cliff hiking",
        "meadow": "field grass grassland hill hillside countryside farm park garden pasture prairie "
        "valley lawn cornfield",
        "city": "town skyline skyscraper metropolis downtown tokyo york london paris rooftop urban",
        "street": "road alley avenue sidewalk highway lane boulevard crosswalk market",
        "space": "cosmos galaxy universe nebula orbit planet asteroid interstellar cosmic comet",
        "underwater": "reef coral aquarium undersea seabed subaquatic",
        "indoors": "room kitchen house home indoor library office bedroom cafe studio window sofa desk",
        "abstract": "geometric pattern fractal shape thought idea emotion feeling concept psychedelic",
    }
)

WEATHER = _by_word(
    {
        "snowfall": "snowing snowflake blizzard snowstorm",
        "rain": "rainy raining drizzle downpour shower raindrop wet monsoon",
        "storm": "stormy thunderstorm tempest hurricane thunder typhoon",
        "lightning": "bolt",
        "fog": "foggy mist misty haze hazy",
        "wind": "windy breeze breezy gust blowing windswept",
        "clouds": "cloud cloudy overcast",
        "clear": "sun sunny sunlight sunshine cloudless sunlit",
        "stars": "star starry",
        "aurora": "borealis",
        "leaves": "leaf",
        "petals": "petal blossom",
        "dust": "sandstorm dusty",
        "fireflies": "firefly glowing",
        "bubbles": "bubble",
        "embers": "ember spark fire bonfire campfire flame",
    }
)

SEASONS = _by_word({"autumn": "october november", "winter": "", "spring": "", "summer": ""})

MOODS = _by_word(
    {
        "calm": "peaceful serene quiet tranquil gentle zen",
        "happy": "joy joyful cheerful playful fun bright vivid vibrant colorful colourful",
        "sad": "gloomy melancholy lonely grief sorrow moody somber bleak grey gray",
        "scary": "dark eerie horror creepy spooky haunted sinister nightmare fear",
        "dreamy": "dream magic magical fantasy surreal ethereal pastel enchanted fairytale mystical",
        "angry": "anger rage fury furious war",
        "jealous": "jealousy envy envious greed",
        "love": "romantic romance tender heart",
        "neon": "cyberpunk synthwave futuristic",
        "noir": "monochrome greyscale grayscale",
        "vintage": "sepia retro nostalgic old-fashioned",
    }
)

ACTIONS = _by_word(
    {
        "run": "runs ran gallop sprint race chase hurry jog dash rush speed",
        "walk": "stroll wander stride march hike approach prowl roam trot",
        "jump": "leap hop bounce",
        "fly": "flies soar glide hover flap",
        "swim": "dive",
        "drift": "float sail glides row cruise",
        "drive": "ride",
        "dance": "spin twirl",
        "rest": "sit stand sleep lie rests wait look watch stare meditate read drink sway grow bloom",
        "launch": "rise ascend blast takeoff",
    }
)

SUBJECTS = _by_word(
    {
        "fox": "vixen",
        "dog": "puppy hound retriever corgi",
        "cat": "kitten kitty tabby",
        "horse": "pony stallion mare unicorn foal zebra donkey",
        "wolf": "coyote husky",
        "deer": "stag elk reindeer moose antelope gazelle fawn",
        "bear": "grizzly panda",
        "lion": "lioness tiger leopard cheetah panther jaguar",
        "cow": "bull buffalo ox bison",
        "sheep": "lamb goat",
        "rabbit": "bunny hare",
        "elephant": "mammoth",
        "camel": "",
        "bird": "sparrow seagull gull crow raven pigeon dove swallow robin eagle hawk "
        "falcon goose duck owl parrot heron",
        "butterfly": "moth",
        "fish": "goldfish clownfish salmon trout tuna shark",
        "whale": "dolphin orca",
        "jellyfish": "medusa",
        "person": "man woman boy girl child kid human people lady gentleman guy wizard hiker traveler "
        "traveller dancer runner worker king queen knight soldier monk figure stranger mother father "
        "grandmother grandfather someone student teacher couple",
        "astronaut": "cosmonaut spaceman",
        "robot": "android droid mech",
        "dragon": "wyvern",
        "car": "taxi cab automobile truck van bus convertible jeep",
        "train": "locomotive tram subway railway",
        "bicycle": "bike cyclist",
        "boat": "sailboat ship yacht vessel canoe sailing galleon",
        "balloon": "airship blimp",
        "airplane": "plane aircraft jet aeroplane",
        "rocket": "spaceship spacecraft shuttle starship",
        "ufo": "saucer alien",
        "flower": "rose tulip daisy sunflower poppy",
        "tree": "oak birch willow maple",
        "orb": "sphere ball",
    }
)

# Words of one kind that look unlike the others of it.
TRAITS = {
    "old": "old elderly grandmother grandfather grandpa grandma aged wizard",
    "young": "boy girl child kid little young puppy kitten lamb foal fawn toddler student",
    "dress": "woman girl lady queen princess grandmother mother dancer",
    "stripes": "tiger zebra tabby clownfish",
    "horn": "unicorn",
    "antlers": "deer stag elk reindeer moose",
    "big": "big huge giant large enormous massive great ship elephant",
    "small": "small tiny little miniature",
    "truck": "truck van bus",
    "taxi": "taxi cab",
    "hat": "wizard hat man hiker",
}
TRAITS_BY_WORD: dict[str, tuple[str, ...]] = {}
for _trait, _words in TRAITS.items():
    for _word in _words.split():
        TRAITS_BY_WORD[_word] = (*TRAITS_BY_WORD.get(_word, ()), _trait)

# What needs ground under its feet or wheels.
WALKERS = frozenset(
    (
        "fox", "dog", "cat", "horse", "wolf", "deer", "bear", "lion", "cow", "sheep", "rabbit", "elephant",
        "camel", "person", "robot", "car", "train", "bicycle", "tree",
    )
)  # fmt: skip

# Where a thing is when the prompt doesn't say.
HABITATS = {
    "fish": "underwater", "whale": "underwater", "jellyfish": "underwater", "boat": "sea", "rocket": "space",
    "ufo": "space", "astronaut": "space", "car": "street", "bicycle": "street", "robot": "city",
    "train": "mountains", "balloon": "mountains", "airplane": "mountains", "dragon": "mountains",
    "bear": "forest", "wolf": "forest",
    "deer": "forest", "fox": "forest", "camel": "desert", "lion": "desert", "elephant": "desert",
}  # fmt: skip

# Things with a colour of their own, when the prompt gives none.
SPECIES_COLOURS: dict[str, tuple[int, int, int]] = {
    "panda": (235, 235, 230), "tiger": (232, 140, 52), "panther": (44, 42, 52), "zebra": (238, 236, 230),
    "unicorn": (245, 240, 250), "crow": (38, 38, 48), "raven": (34, 34, 44), "eagle": (104, 72, 46),
    "seagull": (240, 242, 246), "gull": (240, 242, 246), "dove": (245, 244, 240), "swan": (248, 248, 248),
    "parrot": (46, 160, 84), "robin": (120, 90, 70), "owl": (150, 112, 76), "goldfish": (246, 150, 40),
    "clownfish": (246, 126, 42), "shark": (120, 138, 156), "dolphin": (120, 146, 176), "orca": (40, 44, 56),
    "taxi": (246, 196, 50), "cab": (246, 196, 50), "kitten": (214, 148, 84), "rose": (214, 52, 78),
    "sunflower": (250, 196, 40), "daisy": (248, 248, 240), "poppy": (226, 62, 44), "tulip": (232, 76, 110),
    "husky": (168, 176, 190), "corgi": (224, 160, 92), "polar": (240, 242, 246),
}  # fmt: skip

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (208, 62, 44), "orange": (236, 134, 42), "yellow": (246, 206, 70), "green": (72, 158, 84),
    "blue": (56, 118, 214), "purple": (132, 82, 188), "violet": (132, 82, 188), "pink": (240, 132, 170),
    "white": (244, 244, 242), "black": (44, 44, 52), "brown": (132, 88, 56), "grey": (140, 144, 152),
    "gray": (140, 144, 152), "golden": (232, 180, 74), "gold": (232, 180, 74), "silver": (190, 198, 208),
    "turquoise": (58, 186, 186), "teal": (40, 146, 150), "crimson": (178, 34, 56), "scarlet": (216, 44, 40),
    "beige": (222, 204, 172), "lavender": (186, 164, 228), "cyan": (72, 204, 224), "magenta": (214, 66, 160),
    "emerald": (30, 150, 100), "rainbow": (240, 120, 120),
}  # fmt: skip

NUMBERS = {
    "two": 2, "pair": 2, "couple": 2, "three": 3, "several": 4, "four": 4, "some": 3, "five": 5, "six": 6,
    "many": 7, "flock": 7, "school": 7, "herd": 5, "group": 4, "swarm": 7, "pack": 4, "crowd": 6, "shoal": 7,
    "seven": 7, "hundred": 7, "thousands": 7, "fleet": 4,
}  # fmt: skip

FILLERS = frozenset(
    (
        "a", "an", "the", "of", "in", "on", "at", "to", "through", "over", "under", "with", "and", "or", "by",
        "into", "from", "across", "along", "near", "its", "his", "her", "their", "it", "is", "are", "as",
        "up", "down", "for", "very", "slow", "slowly", "fast", "quickly", "camera", "shot", "view", "scene",
        "video", "clip", "cinematic", "while", "during", "toward", "towards", "around", "between", "behind",
        "before", "after", "that", "this", "these", "those", "one", "there", "out", "off", "past", "beside",
        "above", "below",
    )
)  # fmt: skip
