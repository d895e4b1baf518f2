"""Prompts with variants, in the syntax that sd-dynamic-prompts, A1111 and SwarmUI have in common.

    {a|b|c}               one of them, {0.5::a|2::b} by weight; they can be nested
    {2$$a|b|c}            two of them, joined by ", "; {1-2$$ and $$a|b|c}: one or two, joined by " and "
    __animal__            one of a wildcard's values; {2$$__animal__}: two of them
    ${x=!{a|b}} … ${x}    chosen once, the same at each place; without "!" chosen anew at each place
    {animal}              a slot that is filled from outside
    {a animal}            the same after its article, "a fox", "an owl"; {A animal} begins a sentence, and the
                          article fits {a {grey|old} owl} and {a __animal__} too
    # …                   a comment, on a line of its own or between spaces, up to the end of the line
    \\{ \\} \\| \\# \\$ \\_ \\: and \\\\ stand for the character itself

The combinations of a template are numbered, and none is made before it is asked for, so there may be any
number of them. The picks of `{2$$…}` are sets: "a, b" is there, "b, a" isn't.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Final

from ..errors import InvalidTemplate
from ..formatting import count as counted
from ..secret import quotable
from .articles import article
from .wildcards import Values, Wildcards, by_name, lines

MAX_CHARACTERS: Final = 100_000
_MAX_DEPTH: Final = 50
_MAX_PICKS: Final = 1_000_000  # options × picks of one pair of braces: numbers that its count needs
_SHOWN_CHARACTERS: Final = 24

_SPECIAL: Final = "\\{}|#$_:"
_NOT_PLAIN: Final = re.compile(r"[\\{}|#$_]")
_AMBIGUOUS: Final = re.compile(r"[\\{}|#]|\$(?=[{$]|\Z)|_(?=_)|:(?=:)")
_WILDCARD: Final = re.compile(r"__([^\W_](?:[\w/.-]*?[^\W_])?)__")
_NOTHING_BUT_A_WILDCARD: Final = re.compile(rf"\s*{_WILDCARD.pattern}\s*\}}")
_PICKS: Final = re.compile(r"\s*(?=-?\d)(\d{0,6})(-?)(\d{0,6})\$\$")
_SEPARATOR: Final = re.compile(r"((?:\\.|[^\\{}|$]|\$(?!\$))*?)\$\$", re.DOTALL)
_WEIGHT: Final = re.compile(r"\s*(\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})::")
_LIKE_A_WEIGHT: Final = re.compile(r"\s*[+-]?(?:[\d.,][\w.,+-]*|nan|inf(?:inity)?)\s*::", re.IGNORECASE)
_VARIABLE: Final = re.compile(r"\$\{\s*([^\W\d]\w*)\s*(=!?|\})")
_ARTICLE: Final = re.compile(r"([aA]n?)\s+")
_ONE_OF: Final = (1, 1, ", ")


class Template:
    """A prompt with variants, slots and wildcards, parsed and ready to be expanded.

        template = Template("a {red|grey} fox in __place__", {"place": ["snow", "fog"]})
        template.count                          # 4
        template.expand(3)                      # "a grey fox in fog"

    `slots` are the names that must be filled, with the place of each; `wildcards` the values that are used.
    Raises InvalidTemplate, with the place in the text, if it can't be parsed or a wildcard is unknown.
    """

    def __init__(self, text: str, wildcards: Wildcards | None = None) -> None:
        self.text = text
        reader = _TemplateReader(text, by_name(wildcards))
        self._root = reader.sequence()
        self.slots: Mapping[str, int] = reader.slots
        self.wildcards: Mapping[str, tuple[str, ...]] = reader.used

    @property
    def count(self) -> int:
        """The exact number of combinations, whatever fills the slots."""
        return self._root.count

    def expand(self, number: int, slots: Mapping[str, str] | None = None) -> str:
        """A combination by its number, from 0. Raises InvalidTemplate for open slots and overlong texts."""
        filled = dict(slots or {})
        for name, position in self.slots.items():
            if name not in filled:
                said = f"Nothing fills {{{name}}}. Give {name}=[…], or write \\{{{name}\\}} for the text."
                raise invalid(self.text, position, said)
        try:
            return self._root.expand(number, filled).strip()
        except OverflowError:
            said = f"It grows longer than {counted(MAX_CHARACTERS, 'character')}."
            raise invalid(self.text, 0, said) from None

    def draw(self, rng: random.Random) -> int:
        """The number of a random combination: by weight where there are weights, else all equally likely."""
        return self._root.draw(rng)


def escaped(text: str) -> str:
    """`text` as it is written in a template to stand for itself."""
    return _AMBIGUOUS.sub(lambda found: f"\\{found[0]}", text)


def is_plain(text: str) -> bool:
    """Whether a template of this text is just the text itself. One that can't be parsed isn't plain."""
    try:
        return Template(text)._root == _Sequence((_Text(text),) if text else ())
    except InvalidTemplate:
        return False


def invalid(text: str, position: int, said: str) -> InvalidTemplate:
    """The error at a position of a template: what is wrong, and where."""
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    place = f"line {line}, character {column}" if "\n" in text else f"character {column}"
    shown = text[position : position + _SHOWN_CHARACTERS].partition("\n")[0]
    return InvalidTemplate(f"{said} (At {place}: {quotable(shown)})", position=position)


# What a template is made of. Each part has `count` combinations and makes the text of any one by its number.


class _Part(ABC):
    @property
    def count(self) -> int:
        return 1

    @property
    def weighted(self) -> bool:
        return False

    @abstractmethod
    def expand(self, number: int, chosen: dict[str, str]) -> str:
        """The combination with that number. `chosen` has the texts of slots and, with a $, of variables."""

    def draw(self, rng: random.Random) -> int:
        return rng.randrange(self.count)


@dataclass(frozen=True)
class _Text(_Part):
    text: str

    def expand(self, number: int, chosen: dict[str, str]) -> str:
        return self.text


@dataclass(frozen=True)
class _Chosen(_Part):
    """What fills a slot, or the text of a variable that was chosen once."""

    name: str

    def expand(self, number: int, chosen: dict[str, str]) -> str:
        return chosen[self.name]


@dataclass(frozen=True)
class _Sequence(_Part):
    parts: tuple[_Part, ...]

    @cached_property
    def count(self) -> int:
        return prod(part.count for part in self.parts)

    @cached_property
    def weighted(self) -> bool:
        return any(part.weighted for part in self.parts)

    @property
    def literal(self) -> str | None:
        parts = [part.text for part in self.parts if isinstance(part, _Text)]
        return "".join(parts) if len(parts) == len(self.parts) else None

    def stripped(self) -> _Sequence:
        parts = list(self.parts)
        if parts and isinstance(parts[0], _Text):
            parts[0] = _Text(parts[0].text.lstrip())
        if parts and isinstance(parts[-1], _Text):
            parts[-1] = _Text(parts[-1].text.rstrip())
        return _Sequence(tuple(part for part in parts if part != _Text("")))

    def without_article(self) -> tuple[str, _Sequence]:
        """The article that it begins with, or "", and what follows."""
        if self.parts and isinstance(self.parts[0], _Text) and (found := _ARTICLE.match(self.parts[0].text)):
            return found[1], _Sequence((_Text(found.string[found.end() :]), *self.parts[1:])).stripped()
        return "", self

    def expand(self, number: int, chosen: dict[str, str]) -> str:
        numbers = []
        for part in reversed(self.parts):
            number, own = divmod(number, part.count)
            numbers.append(own)
        text = ""
        for part, own in zip(self.parts, reversed(numbers), strict=True):
            piece = part.expand(own, chosen)
            # An empty variant leaves one space, not two.
            text += piece.lstrip(" ") if not text or text[-1].isspace() else piece
            if len(text) > MAX_CHARACTERS:
                raise OverflowError  # for Template.expand
        return text

    def draw(self, rng: random.Random) -> int:
        if not self.weighted:
            return super().draw(rng)
        number = 0
        for part in self.parts:
            number = number * part.count + part.draw(rng)
        return number


@dataclass(frozen=True)
class _Option:
    value: _Sequence
    weight: float | None = None


@dataclass(frozen=True)
class _Choice(_Part):
    """`least` to `most` of the options, as a set in the order of the options."""

    options: tuple[_Option, ...]
    least: int
    most: int
    separator: str

    @cached_property
    def table(self) -> list[list[int]]:
        """[i][k]: in how many ways k of the options from the i-th on can be picked."""
        rows = [[1] + [0] * self.most]
        for option in reversed(self.options):
            after, count = rows[-1], option.value.count
            rows.append([1] + [after[k] + count * after[k - 1] for k in range(1, self.most + 1)])
        return rows[::-1]

    @cached_property
    def count(self) -> int:
        return sum(self.table[0][self.least :])

    @cached_property
    def weighted(self) -> bool:
        return any(option.weight is not None or option.value.weighted for option in self.options)

    def expand(self, number: int, chosen: dict[str, str]) -> str:
        left = self.least
        while number >= self.table[0][left]:
            number -= self.table[0][left]
            left += 1
        picked = []
        for option, after in zip(self.options, self.table[1:], strict=True):
            if not left:
                break
            with_it = option.value.count * after[left - 1]
            if number < with_it:
                left -= 1
                own, number = divmod(number, after[left])
                picked.append(option.value.expand(own, chosen))
            else:
                number -= with_it
        return self.separator.join(picked)

    def draw(self, rng: random.Random) -> int:
        if not self.weighted:
            return super().draw(rng)
        size = rng.randint(self.least, self.most)
        weights = [1.0 if option.weight is None else option.weight for option in self.options]
        picked = set()
        for _ in range(size):
            (one,) = rng.choices(range(len(weights)), weights)
            picked.add(one)
            weights[one] = 0.0
        number, left = sum(self.table[0][self.least : size]), size
        for index, (option, after) in enumerate(zip(self.options, self.table[1:], strict=True)):
            if not left:
                break
            if index in picked:
                left -= 1
                number += option.value.draw(rng) * after[left]
            else:
                number += option.value.count * after[left - 1]
        return number


@dataclass(frozen=True)
class _Values(_Part):
    """One of a wildcard's values, all of which are plain text: a file may have very many of them."""

    texts: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.texts)

    def expand(self, number: int, chosen: dict[str, str]) -> str:
        return self.texts[number]


@dataclass(frozen=True)
class _Assignment(_Sequence):
    name: str

    def expand(self, number: int, chosen: dict[str, str]) -> str:
        chosen[self.name] = super().expand(number, chosen)
        return ""


@dataclass(frozen=True)
class _WithArticle(_Sequence):
    """A text after the article that it takes; nothing where it is empty."""

    written: str  # as in the template: "A" and "An" begin a sentence

    def expand(self, number: int, chosen: dict[str, str]) -> str:
        text = super().expand(number, chosen).strip()
        first = self.parts[0]
        if isinstance(first, _Chosen) and chosen[first.name] == f"{{{first.name}}}":  # the slot stays open
            return f"{{{self.written} {first.name if len(self.parts) == 1 else text}}}"
        return f"{self.written[0]}{article(text)[1:]} {text}" if text else ""


@dataclass
class _TemplateReader:
    """Parses a template by recursive descent, and each value of a wildcard by a reader of its own."""

    text: str
    values: Mapping[str, Values]  # of all wildcards
    within: tuple[str, ...] = ()  # the wildcards that this text is a value of
    place: int | None = None  # where the outermost of them is in the template
    at: int = 0
    depth: int = 0
    # These share with the template's reader:
    variables: dict[str, _Part] = field(default_factory=dict)  # what stands for each
    slots: dict[str, int] = field(default_factory=dict)  # where each is first met
    used: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the values of wildcards that are used
    read: dict[str, tuple[_Option, ...]] = field(default_factory=dict)  # the same, parsed

    def sequence(self) -> _Sequence:
        parts: list[_Part] = []
        plain = ""
        while self.char and not (self.depth and self.char in "|}"):
            start = self.at
            if self.char == "\\" and self.text[start + 1 : start + 2] in tuple(_SPECIAL):
                plain += self.text[start + 1]
                self.at += 2
            elif self.char == "#" and self.skip_comment():
                plain = plain.rstrip(" \t")
            elif part := self.part():
                parts += [_Text(plain), part] if plain else [part]
                plain = ""
            else:
                found = _NOT_PLAIN.search(self.text, start + 1)
                self.at = found.start() if found else len(self.text)
                plain += self.text[start : self.at]
        return _Sequence((*parts, _Text(plain)) if plain else tuple(parts))

    def part(self) -> _Part | None:
        """What begins here, if it isn't plain text."""
        start = self.at
        if self.char == "{":
            return self.braces()
        if self.char == "}":
            raise self.error(start, "This brace closes nothing. Write \\} for the brace itself.")
        if self.text.startswith("${", start):
            return self.variable()
        if found := _WILDCARD.match(self.text, start):
            self.at = found.end()
            texts = self.texts(found[1], start)
            if any(map(_AMBIGUOUS.search, texts)):
                return self.choice(self.options(found[1], start), *_ONE_OF, start)
            return _Values(tuple(dict.fromkeys(map(str.strip, texts))))
        return None

    def braces(self) -> _Part:
        start = self.open(1)
        least, most, separator = _ONE_OF
        if picks := _PICKS.match(self.text, self.at):
            self.at = picks.end()
            least = int(picks[1] or 1)
            most = int(picks[3] or _MAX_PICKS) if picks[2] else least
            if found := _SEPARATOR.match(self.text, self.at):
                self.at = found.end()
                separator = re.sub(r"\\([\\{}|#$_:])", r"\1", found[1])
            if least > most:
                raise self.error(start, f"From {least} to {most} is the wrong way round.")
        if found := _NOTHING_BUT_A_WILDCARD.match(self.text, self.at):
            self.at, self.depth = found.end(), self.depth - 1
            self.refuse_many(most, len(self.texts(found[1], found.start(1) - 2)), start)
            return self.choice(self.options(found[1], start), least, most, separator, start)
        options = [self.option()]
        while self.char == "|":
            self.at += 1
            options.append(self.option())
        self.close(start)
        before, rest = options[0].value.without_article()
        is_choice = picks or len(options) > 1 or options[0].weight is not None
        if is_choice or (rest.literal is None and not before):
            return self.choice(options, least, most, separator, start)
        if rest.literal is None:
            return _WithArticle(rest.parts, before)
        slot = self.slot(rest.literal, start)
        return _WithArticle((slot,), before) if before else slot

    def slot(self, name: str, start: int) -> _Chosen:
        if not name:
            raise self.error(start, "These braces are empty. Write \\{ \\} for the braces themselves.")
        if not name.isidentifier():
            raise self.error(start, "A slot is one name, as {animal}, and a choice has a |, as {a|b}.")
        self.slots.setdefault(name, start if self.place is None else self.place)
        return _Chosen(name)

    def option(self) -> _Option:
        weight = None
        if found := _WEIGHT.match(self.text, self.at):
            weight = float(found[1])
            if not weight:
                raise self.error(self.at, "A weight must be more than 0.")
            self.at = found.end()
        elif _LIKE_A_WEIGHT.match(self.text, self.at):  # as a text it would be paid for
            said = "A weight is a number above 0, as in {0.5::a|2::b}. Write \\: for the colon itself."
            raise self.error(self.at, said)
        return _Option(self.sequence().stripped(), weight)

    def choice(
        self, options: Iterable[_Option], least: int, most: int, separator: str, start: int
    ) -> _Choice:
        """The choice between these; equal ones are merged, with the sum of their weights."""
        weights: dict[_Sequence, list[float | None]] = {}
        for option in options:
            weights.setdefault(option.value, []).append(option.weight)
        if least > len(weights):
            raise self.error(start, f"It picks {least} of {counted(len(weights), 'option')}.")
        self.refuse_many(most, len(weights), start)
        distinct = []
        for value, several in weights.items():
            given = [1.0 if each is None else each for each in several]
            distinct.append(_Option(value, None if several == [None] * len(several) else sum(given)))
        return _Choice(tuple(distinct), least, min(most, len(distinct)), separator)

    def refuse_many(self, most: int, options: int, start: int) -> None:
        most = min(most, options)
        if most * options > _MAX_PICKS:
            raise self.error(start, f"It picks up to {most:,} of {counted(options, 'option')}: too many.")

    def texts(self, name: str, start: int) -> tuple[str, ...]:
        if name in self.within:
            raise self.error(start, f"The wildcard __{name}__ leads back to itself.")
        if name not in self.used:
            if name not in self.values:
                said = f"There is no wildcard {name}. Write \\_\\_ for the underscores themselves."
                raise self.error(start, said)
            self.used[name] = lines(self.values[name])
            if not self.used[name]:
                raise self.error(start, f"The wildcard {name} has no values.")
        return self.used[name]

    def options(self, name: str, start: int) -> tuple[_Option, ...]:
        """A wildcard's values, each parsed as a template of its own, in which a "|" is text."""
        if name not in self.read:
            place = start if self.place is None else self.place
            within, options = (*self.within, name), []
            for number, text in enumerate(self.texts(name, start), 1):
                reader = replace(self, text=text, within=within, place=place, at=0, depth=0)
                try:
                    options.append(reader.option())
                except InvalidTemplate as error:
                    said = f"Value {number} of the wildcard {name} can't be read. {error}"
                    raise self.error(start, said) from None
            self.read[name] = tuple(options)
        return self.read[name]

    def variable(self) -> _Part:
        found, variables = _VARIABLE.match(self.text, self.at), self.variables
        if found is None:
            raise self.error(self.at, "A variable is written as ${name} and set as ${name=!{a|b}}.")
        name = found[1]
        if found[2] == "}":
            if name not in variables:
                said = f"The variable {name} isn't set before this. Set it with ${{{name}=!{{a|b}}}}."
                raise self.error(self.at, said)
            self.at = found.end()
            return variables[name]
        if self.depth or self.within:
            where = "in the template itself" if self.within else "outside of braces"
            raise self.error(self.at, f"Variables are set {where}.")
        if name in variables:
            raise self.error(self.at, f"The variable {name} is set twice.")
        start = self.open(len(found[0]))
        value = self.sequence().stripped()
        if self.char == "|":
            raise self.error(self.at, "Put a choice in braces of its own: ${name=!{a|b}}.")
        self.close(start)
        if found[2] == "=":
            variables[name] = value
            return _Sequence(())
        variables[name] = _Chosen(f"${name}")
        return _Assignment(value.parts, f"${name}")

    def skip_comment(self) -> bool:
        """Whether a comment began here. "#1" and "#ff0000" in a line of text aren't comments."""
        line = self.text.rfind("\n", 0, self.at) + 1
        alone = not self.text[line : self.at].strip()
        around = self.text[max(0, self.at - 1) : self.at + 2].replace("#", "", 1)
        if not alone and around.strip():
            return False
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end + alone
        return True

    def open(self, characters: int) -> int:
        start = self.at
        self.at += characters
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.error(start, "The braces are nested too deeply.")
        return start

    def close(self, start: int) -> None:
        if not self.char:
            raise self.error(start, "This brace isn't closed. Write \\{ for the brace itself.")
        self.at += 1
        self.depth -= 1

    @property
    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    def error(self, position: int, said: str) -> InvalidTemplate:
        return invalid(self.text, position, said)
