"""An axis of a sweep, a cell's place on each axis, and the notation in which axes are typed."""

import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from ..errors import InvalidInput
from ..formatting import count as counted
from ..requests import FIELDS, JobRequest

MAX_VALUES: Final = 10_000
_NUMBER: Final = r"[+-]?\d{1,15}(?:\.\d{1,15})?"
_RANGE: Final = re.compile(
    rf"({_NUMBER})\s*-\s*({_NUMBER})\s*(?:\(\s*({_NUMBER})\s*\)|\[\s*(\d{{1,9}})\s*\])?"
)
_ELLIPSES: Final = ("..", "...", "…")
_WORD: Final = re.compile(r'\s*(?:"((?:[^"]|"")*)"[^\S\r\n]*(?=[,\r\n]|\Z)|([^,\r\n]*))(?:[,\r\n]|\Z)')


@dataclass(frozen=True)
class Axis:
    """One thing that a sweep varies: a slot of its template, "seed", "duration_seconds" and so on.

    `labels` are the values as a person reads them. The values of the axis "image" are digests; its labels are
    the names of the files, and the pictures themselves are in the cells' requests.
    """

    name: str
    values: tuple[object, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One clip of a sweep. `number` counts from 1 in buying order; `place` is its index on each axis."""

    number: int
    place: tuple[int, ...]
    values: Mapping[str, object]
    request: JobRequest

    def made_of(self, template: str) -> dict[str, Any]:
        """The template and the slots that made its prompt; empty if the prompt is the template itself."""
        template = str(self.values.get("prompt", template))
        slots = {name: str(value) for name, value in self.values.items() if name not in FIELDS}
        return {"template": template, "slots": slots} if template != self.request.prompt else {}


def parsed(text: str) -> tuple[str | int | float, ...]:
    """The values of an axis as typed, in the notation of A1111 and SwarmUI. Raises InvalidInput.

    - `fox, "a heron, wading"`, or `fox || a heron, wading`: texts, or one a line; quoted, any text
    - `1-5`, `1-5 (+2)`, `10-1 (-3)`: numbers in steps
    - `1-10 [5]`: so many numbers, evenly spaced; whole ones if both ends are
    - `1, 2, .., 10`: on in the same step
    """
    found = [each.groups() for each in _WORD.finditer(text)]  # of each word, what is quoted or what isn't
    if any("||" in (plain or "") for _, plain in found):
        found = [(None, each) for each in text.split("||")]
    words = [(plain or "").strip() for _, plain in found]
    values: list[str | Decimal] = []
    for number, ((quoted, _), word) in enumerate(zip(found, words, strict=True)):
        if quoted is not None:
            values.append(_number(quoted.replace('""', '"')))
        elif word in _ELLIPSES:
            values += _between(values[-2:], words[number + 1 : number + 2])
        elif ends := _RANGE.fullmatch(word):
            values += _range(*map(Decimal, ends.group(1, 2)), step=ends[3], count=ends[4])
        elif word:
            values.append(_number(word))
        if len(values) > MAX_VALUES:
            raise _too_many()
    return tuple(each if isinstance(each, str) else _plain(each) for each in values)


def axis_options(options: Iterable[str]) -> dict[str, str]:
    """What is typed for each axis in options `--axis NAME=VALUES`. Raises InvalidInput."""
    axes: dict[str, str] = {}
    for each in options:
        name, separator, values = each.partition("=")
        if not separator or not name.strip():
            raise InvalidInput(f"--axis is written NAME=VALUES, such as animal=fox,heron, not {each}.")
        axes[name.strip()] = values
    refuse_template(axes)
    return axes


def refuse_template(axes: Container[str]) -> None:
    """Raises InvalidInput for an axis called template: its values would take the place of the prompt."""
    if "template" in axes:
        raise InvalidInput("No axis can be called template, as that is the prompt itself. Take another name.")


def typed(values: Iterable[str]) -> str:
    """Texts as they are typed for an axis: `parsed` reads them back."""
    return ", ".join('"' + each.replace('"', '""') + '"' if _is_notation(each) else each for each in values)


def _is_notation(text: str) -> bool:
    """Whether a text would be read as something else, or as nothing, if it weren't quoted."""
    marks = any(mark in text for mark in (",", '"', "\r", "\n", "||"))
    return marks or text in ("", *_ELLIPSES) or text != text.strip() or bool(_RANGE.fullmatch(text))


def numbered(labels: Iterable[str]) -> Iterator[str]:
    """Makes labels distinct: a second "random" is "random (2)", unless another is called that itself."""
    given = list(labels)
    taken, times = {*given}, Counter[str]()
    for label in given:
        times[label] += 1
        if times[label] > 1:
            names = (f"{label} ({number})" for number in itertools.count(times[label]))
            label = next(each for each in names if each not in taken)
            taken.add(label)
        yield label


def value_words(axis: str, label: str) -> str:
    """A value of an axis in words: a slot's by itself, "seed 7" with its name."""
    about = FIELDS.get(axis)
    return label if about is None or axis == "prompt" else f"{about.label.lower()} {label}"


def _number(word: str) -> str | Decimal:
    """A number, if it is written as numbers are: 007 and +5 are texts."""
    return Decimal(word) if re.fullmatch(_NUMBER, word) and str(_plain(Decimal(word))) == word else word


def _plain(number: Decimal) -> int | float:
    return int(number) if number == int(number) else float(number)


def _range(start: Decimal, end: Decimal, *, step: str | None, count: str | None) -> list[Decimal]:
    if count is not None:
        return _spaced(start, end, int(count))
    by = Decimal(step) if step is not None else Decimal(1 if start <= end else -1)
    if not by or (end - start) / by < 0:
        raise InvalidInput(f"Steps of {by} don't lead from {start} to {end}.")
    number = int((end - start) / by)
    if number >= MAX_VALUES:
        raise _too_many()
    return [start + by * each for each in range(number + 1)]


def _spaced(start: Decimal, end: Decimal, count: int) -> list[Decimal]:
    if count > MAX_VALUES:
        raise _too_many()
    whole = start.as_tuple().exponent == end.as_tuple().exponent == 0  # as typed: 1, not 1.0
    steps = [start + (end - start) * each / max(1, count - 1) for each in range(count)]
    return [Decimal(int(each)) for each in steps] if whole else steps


def _between(before: list[str | Decimal], after: list[str]) -> list[Decimal]:
    """What an ellipsis stands for: the numbers up to the next one, without it."""
    end = _number(after[0]) if after else ""
    known = [each for each in before if isinstance(each, Decimal)]
    if not known or len(known) < len(before) or isinstance(end, str):
        raise InvalidInput("An ellipsis stands between numbers, as in 1, 2, .., 10.")
    step = known[-1] - known[0] if len(known) > 1 else Decimal(1 if known[0] <= end else -1)
    numbers = _range(known[-1], end, step=str(step), count=None)[1:]
    return numbers[:-1] if numbers and numbers[-1] == end else numbers


def _too_many() -> InvalidInput:
    return InvalidInput(f"An axis has at most {counted(MAX_VALUES, 'value')}.")
