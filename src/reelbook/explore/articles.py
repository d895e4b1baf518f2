"""English articles: "a" or "an" before the word that fills a slot, by its sound."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from ..formatting import count as counted

# By sound, not by letter: a unicorn, a European, a one-eyed cat, but an uninvited guest; an hour, an X-ray.
_AN: Final = re.compile(
    r"(?!eu|ewe|one\b|once\b|uni(?![dmn])|us[aeiu]|ut[aeio]|ur[aeiou]|uk)[aeiou]"
    r"|h(?:our|onest|ono|eir)|8|1[18]\b|[fhlmnrsx]\b"
)
_ARTICLE: Final = re.compile(r"\b([Aa]n?)\s+(?=([\w'-]+))")
# Group 2 is the name of a slot; group 3 a choice, wildcard or variable that is short enough to be repeated.
_BEFORE_A_SLOT: Final = re.compile(
    r"\b([Aa])n?\s+(?:\{(\w+)\}|(\$?\{[^{}]{1,40}\}|__[^\s_]{1,40}__)|\$?\{|__)"
)


def article(words: str) -> str:
    """The article that these words take: "a" or "an"."""
    plain = unicodedata.normalize("NFD", words).casefold()
    return "an" if _AN.match(re.sub(r"^\W+", "", plain)) else "a"


def article_notes(template: str, prompts: Iterable[str]) -> tuple[str, ...]:
    """Notes where a template's article doesn't fit what follows: “a owl” in 6 prompts: write {a animal}."""
    places = list(_BEFORE_A_SLOT.finditer(template))
    found: dict[str, None] = {}
    in_prompts = 0
    for prompt in prompts if places else ():
        wrong = [
            f"{said[1]} {said[2]}"
            for said in _ARTICLE.finditer(prompt)
            if said[1].lower() != article(said[2])
            and not said[2].isupper()  # letters are pronounced one by one
        ]
        wrong = [each for each in wrong if each not in template]
        found.update(dict.fromkeys(wrong))
        in_prompts += bool(wrong)
    if not found:
        return ()
    nouns = {each.split()[1] for each in found}

    def likely(place: re.Match[str]) -> int:
        """Whether it is this one. A choice says its words itself; what fills slots isn't known here."""
        follows = place[2] or place[3] or "|"
        return 2 * any(noun in follows for noun in nouns) if "|" in follows else 1

    written, slot, other = max(places, key=likely).groups()
    advice = f"{{{written} {slot or other}}}" if slot or other else "the article and what follows in braces"
    listed = ", ".join(f"“{each}”" for each in list(found)[:3])
    return (f"{listed} in {counted(in_prompts, 'prompt')}: write {advice}.",)
