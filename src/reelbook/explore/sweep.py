"""A sweep: a template, what varies, the resulting cells, and its code. `run` buys them."""

from __future__ import annotations

import inspect
import itertools
import json
import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from .. import wire
from ..errors import InvalidInput
from ..media.images import PreparedImage, prepare
from ..requests import FIELDS, JobRequest
from ..secret import hidden, quotable
from ..session import Job, Session
from ..session.request_code import script
from ..suggestions import nearest
from . import designs
from .axes import Axis, Cell, numbered, parsed
from .designs import DESIGNS, Design, Place
from .plan import CONFIRM_ABOVE_USD, Plan, plan
from .run import SweepRun, Swept
from .templates import Template, invalid
from .wildcards import Wildcards, by_name, named

VARIED: Final = {name: about for name, about in FIELDS.items() if name != "prompt"}
"""The fields of a request that an axis may vary; the prompt's variants are in the template."""
_LISTED: Final = 4  # in code, more numbers in a row are written as their first and last


class Sweep(Swept):
    """One prompt with one or several things varied: each combination is a cell, and each cell a clip.

        sweep = rb.Sweep("a {animal} in {snow|fog}", animal=["fox", "heron"], seed=[1, 2], duration_seconds=2)
        [cell.request.prompt for cell in sweep.cells]

    `template` is a prompt in the syntax of sd-dynamic-prompts. The keyword `animal` fills the slot `{animal}`
    and gives `__animal__` its values, which can also come from `wildcards`: a mapping, or a folder of text
    files. Other keywords are `seed`, `duration_seconds`, `aspect_ratio` and `image`. Each takes a list, one
    value, or text in the notation of A1111's axes: seed="1-4", animal="fox, heron". Choices in the template,
    such as {snow|fog}, make the axis "prompt".

    `replace` is A1111's Prompt S/R: replace="fox, heron, bear" replaces the first, which the template
    contains, by each of the others; {"fox": ["heron", "bear"]} can name several.

    `design` says which cells of the full "grid" are made: "one-at-a-time" around `base`, a mapping (default:
    the first value of each axis); a random "sample" of so many (`sample=50` alone is enough); "pairs", where
    every two values meet at least once; or a "latin-hypercube" of `sample` points. The same `design_seed`
    always makes the same cells. They are bought in such an order that the first ones differ most.

    Raises InvalidInput for whatever is wrong, before anything can be bought: InvalidTemplate with the place
    in the text, InvalidSeed, InvalidDuration, InvalidAspectRatio, InvalidImage, InvalidPrompt. Raises
    ConfigurationError if a design needs a library that isn't installed (extra `explore`).
    """

    design: Design

    def __init__(
        self,
        /,  # so that a slot may be called self
        template: str,
        *,
        wildcards: Wildcards | None = None,
        replace: str | Mapping[str, Any] | None = None,
        design: Design = "grid",
        sample: int | None = None,
        base: Mapping[str, Any] | None = None,
        design_seed: int = 0,
        name: str | None = None,
        **axes: Any,
    ) -> None:
        FIELDS["prompt"].checked(template)
        if not isinstance(name, str | None):
            raise InvalidInput(f"The name of a sweep must be text, not {quotable(name)}.")
        template, replaced = _replaced(template, replace, axes)
        images: dict[str, PreparedImage] = {}
        given = {each: _axis(each, values, images) for each, values in {**replaced, **axes}.items()}
        texts = {each: axis.values for each, axis in given.items() if each not in VARIED}
        read = Template(template, {**by_name(wildcards), **texts})
        _check(read, given)
        if sample is not None and design == "grid":
            design = "sample"
        around = {each: _axis(each, [value], images).values[0] for each, value in named(base, "base").items()}
        grid = _Grid(read, [axis for each, axis in given.items() if each in read.slots or each in VARIED])
        made = {
            "template": template,
            "name": name,
            "wildcards": {each: list(values) for each, values in read.wildcards.items()},
            "design": design,
            "sample": sample,
            "base": around,
            "design_seed": design_seed,
        }
        self._read(made | grid.record(grid.places(design, sample, around, design_seed)), images)

    def __repr__(self) -> str:
        return f"<Sweep of {len(self.cells)} cells: {self.template!r}>"

    def plan(self, session: Session) -> Plan:
        """What it would buy, what that costs and how long it takes. Buys nothing and writes nothing."""
        return plan(session, [each.request for each in self.cells], self.template)

    def run(
        self,
        session: Session,
        *,
        confirm: bool = False,
        confirm_above_usd: float = CONFIRM_ABOVE_USD,
        again: bool = False,
    ) -> SweepRun:
        """Starts buying it and returns at once: see `SweepRun.start`."""
        run = SweepRun(session, self)
        run.start(confirm=confirm, confirm_above_usd=confirm_above_usd, again=again)
        return run

    def as_code(self, kind: Literal["cell", "script"] = "cell") -> str:
        """The code of this sweep: a "cell" plans it, a "script" with `AsyncClient` buys all its clips.

        It contains neither the key nor pictures; wildcards' values are written out. Raises InvalidInput.
        """
        sweep = _code(self._record)
        if kind == "cell":
            return f"{sweep}\nprint(sweep.plan(session))\n# sweep.run(session, confirm=True) buys it."
        if kind == "script":
            body = [
                "for cell in sweep.cells:",
                "    accepted = await client.submit(cell.request)",
                "    print(cell.number, accepted.request_id, cell.request.prompt)",
            ]
            cost = sum(cell.request.estimated_cost_usd for cell in self.cells)
            return script(len(self.cells), cost, body, sweep)
        raise InvalidInput('The code of a sweep comes as "cell" or "script".')

    @classmethod
    def open(cls, session: Session, sweep_id: str | int) -> SweepRun:
        """Takes up a sweep that was begun before, without buying; `session.sweeps()` lists them.

            rb.Sweep.open(session, "12").resume()

        Raises InvalidInput if there is no such sweep.
        """
        kept = session._ledger.sweeps.record(sweep_id)
        record: Mapping[str, Any] = kept.record
        digests = [each for axis in record["axes"] if axis["name"] == "image" for each in axis["values"]]
        images = {each: image for each in digests if (image := session._jobs.images.find(each)) is not None}
        return SweepRun(session, cls.from_record(record, images=images), record=kept)

    @classmethod
    def of(cls, session: Session, job: Job) -> SweptCell | None:
        """The sweep that a job was bought for, and its cell, without pictures; None for any other job."""
        place = None if job.entry_id is None else session._ledger.sweeps.cell_of(job.entry_id)
        if place is None:
            return None
        sweep = cls.from_record(session._ledger.sweeps.record(place.sweep).record)
        return SweptCell(sweep, sweep.cells[place.number - 1])

    @classmethod
    def from_record(
        cls, record: Mapping[str, Any], *, images: Mapping[str, PreparedImage] | None = None
    ) -> Sweep:
        """The sweep of a record, with the same cells, whatever became of its wildcards.

        `images` are the pictures by digest. A request whose picture isn't among them is incomplete.
        """
        sweep = cls.__new__(cls)
        sweep._read(record, images or {})
        return sweep

    def _read(self, record: Mapping[str, Any], images: Mapping[str, PreparedImage]) -> None:
        self._record = record
        self.template, self.name, self.design = record["template"], record["name"], record["design"]
        self.axes = tuple(
            Axis(each["name"], tuple(each["values"]), tuple(each["labels"])) for each in record["axes"]
        )
        self.cells = tuple(
            _cell(number, self.axes, tuple(each["place"]), each["prompt"], images)
            for number, each in enumerate(record["cells"], 1)
        )


RESERVED: Final = {*FIELDS, *inspect.signature(Sweep).parameters} - {"axes"}
"""What no slot may be called."""


class SweptCell(NamedTuple):
    sweep: Sweep
    cell: Cell


class _Grid:
    """All combinations of a template with its axes; the first dimension is the template's own variants."""

    def __init__(self, template: Template, axes: Sequence[Axis]) -> None:
        self.template = template
        self.axes = axes
        self.sizes = (template.count, *(len(axis.values) for axis in axes))

    def places(
        self, design: Design, sample: int | None, base: Mapping[str, object], seed: int
    ) -> list[Place]:
        """The cells of a design in buying order, without those that ask for the same as an earlier one."""
        if design not in DESIGNS:
            raise InvalidInput(f"The design must be one of {', '.join(DESIGNS)}, not {quotable(design)}.")
        if sample is not None and design not in ("sample", "latin-hypercube"):
            raise InvalidInput(f'The design "{design}" takes no sample.')
        if base and design != "one-at-a-time":
            raise InvalidInput('A base is for design="one-at-a-time".')
        seed = FIELDS["seed"].checked(seed)
        if design == "grid":
            places = designs.grid(self.sizes)
        elif design == "one-at-a-time":
            places = designs.one_at_a_time(self.sizes, self._base(base))
        elif design == "pairs":
            places = designs.pairs(self.sizes)
        elif design == "latin-hypercube":
            places = designs.latin_hypercube(self.sizes, _size(sample, max(self.sizes)), seed)
        else:
            size = _size(sample, None)
            places = designs.sample(self.sizes, size, seed, draw_first=self.template.draw, key=self._sameness)
        distinct = {self._sameness(place): place for place in reversed(places)}
        return designs.most_different_first(list(distinct.values())[::-1])

    def record(self, places: Sequence[Place]) -> dict[str, object]:
        """The axes and cells as JSON. The axis "prompt" has only the variants that occur."""
        axes, cells = list(self.axes), list(places)
        if self.template.count > 1:
            used = sorted({place[0] for place in places})
            index = {number: index for index, number in enumerate(used)}
            open_slots = {name: f"{{{name}}}" for name in self.template.slots}
            texts = tuple(self.template.expand(number, open_slots) for number in used)
            axes.insert(0, Axis("prompt", texts, _differing(texts)))
            cells = [(index[place[0]], *place[1:]) for place in places]
        else:
            cells = [place[1:] for place in places]
        return {
            "axes": [
                {"name": axis.name, "values": list(axis.values), "labels": list(axis.labels)} for axis in axes
            ],
            "cells": [
                {"place": list(cell), "prompt": self._prompt(place)}
                for cell, place in zip(cells, places, strict=True)
            ],
        }

    def _prompt(self, place: Place) -> str:
        values = _at(self.axes, place[1:])
        return self.template.expand(place[0], {name: str(value) for name, value in values.items()})

    def _sameness(self, place: Place) -> object:
        """Equal for places whose clips would be the same, as when a variant leaves out a slot."""
        fields = [index for axis, index in zip(self.axes, place[1:], strict=True) if axis.name in VARIED]
        return self._prompt(place), *fields

    def _base(self, base: Mapping[str, object]) -> Place:
        known = [axis.name for axis in self.axes]
        if strange := [name for name in base if name not in known]:
            raise InvalidInput(f"The base names {strange[0]}, but the axes are {', '.join(known) or 'none'}.")
        place = [0]
        for axis in self.axes:
            value = base.get(axis.name, axis.values[0])
            if value not in axis.values:
                raise InvalidInput(f"The base's {axis.name} isn't one of the values of {axis.name}.")
            place.append(axis.values.index(value))
        return tuple(place)


def _cell(
    number: int, axes: Sequence[Axis], place: Place, prompt: str, images: Mapping[str, PreparedImage]
) -> Cell:
    values = _at(axes, place)
    fields: dict[str, Any] = {name: values[name] for name in VARIED if name in values}
    mode: wire.Mode = "image-to-video" if "image" in fields else "text-to-video"
    if "image" in fields:
        fields["image"] = images.get(fields["image"])
    return Cell(number, place, values, JobRequest(mode, prompt, **fields))


def _at(axes: Sequence[Axis], place: Place) -> dict[str, object]:
    return {axis.name: axis.values[index] for axis, index in zip(axes, place, strict=True)}


def _axis(name: str, given: Any, images: dict[str, PreparedImage]) -> Axis:
    """An axis from a list of values, a single one, or text as axes are typed; each value once."""
    if name == "image":
        pictures = [_picture(each) for each in (given if isinstance(given, list | tuple) else [given])]
        images.update((picture.digest, picture) for picture, _ in pictures)
        labelled: list[tuple[object, str]] = [(picture.digest, label) for picture, label in pictures]
    else:
        about = VARIED.get(name)
        values = [_value(name, each) for each in _several(given)]
        labelled = [(value, about.words(value) if about else value or "(nothing)") for value in values]
    if not labelled:
        raise InvalidInput(f"{name} has no values. Give one or more, or leave {name} out.")
    kept: dict[object, tuple[object, str]] = {}
    for number, each in enumerate(labelled):
        another = name in VARIED and VARIED[name].is_random(each[0])  # each random seed is another clip
        kept.setdefault(("random", number) if another else each[0], each)
    distinct, labels = zip(*kept.values(), strict=True)
    return Axis(name, distinct, tuple(numbered(labels)))


def _several(given: Any) -> Iterable[Any]:
    if isinstance(given, str):
        return parsed(given)
    return given if isinstance(given, Iterable) and not isinstance(given, bytes) else [given]


def _value(name: str, value: Any) -> Any:
    """A value as the request takes it, or as text for a slot. Raises InvalidInput."""
    about = VARIED.get(name)
    if about is not None and about.control != "text":
        return about.checked(value)
    if isinstance(value, bool) or not isinstance(value, str | Real):  # numpy's numbers, too
        raise InvalidInput(f"{name} takes texts and numbers, not {quotable(value)}.")
    return str(value) if about is None else about.checked(str(value))


def _picture(source: Any) -> tuple[PreparedImage, str]:
    source = hidden(source)  # opened as a path, and never printed
    picture = source if isinstance(source, PreparedImage) else prepare(source)
    return picture, Path(source).name if isinstance(source, str | os.PathLike) else "picture"


def _differing(variants: Sequence[str]) -> tuple[str, ...]:
    """What tells the variants of a template apart, in whole words: "dawn", "night"."""
    if len(variants) == 1:
        return tuple(variants)
    words = [re.findall(r"\{[^}]*\}\S*|\S+", each) for each in variants]
    start = _shared(words)
    end = _shared([each[start:][::-1] for each in words])
    own = (" ".join(each[start : len(each) - end]) for each in words)
    return tuple(numbered(each or "(nothing)" for each in own))


def _shared(words: Sequence[Sequence[str]]) -> int:
    columns = zip(*words, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda column: len({*column}) == 1, columns))


def slot_name(words: str, taken: Container[str]) -> str:
    """The name of a slot for these words: `red_fox`, and `red_fox_2` where that is taken."""
    name = re.sub(r"\W+", "_", words).strip("_") or "text"
    name = name if name.isidentifier() else f"text_{name}"
    names = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(each for each in names if each not in taken)


def _replaced(
    template: str, replace: str | Mapping[str, Any] | None, taken: Iterable[str]
) -> tuple[str, dict[str, Any]]:
    """The template with slots for the texts to replace, and the values of each; none has a `taken` name."""
    if isinstance(replace, str):
        words = [str(each) for each in parsed(replace)]
        replace = {words[0]: words[1:]} if words else {}
    slots: dict[str, str] = {}
    axes: dict[str, Any] = {}
    for text, values in named(replace, "replace").items():
        sought = str(text)
        slots[sought] = slot_name(sought, {*RESERVED, *taken, *axes})
        axes[slots[sought]] = [sought, *_several(values)]
    # All at once, so that none is found in another's slot; and the longer first, as "red fox" before "fox".
    texts = re.compile("|".join(re.escape(each) for each in sorted(slots, key=len, reverse=True)))
    found = {*texts.findall(template)}
    if missing := [each for each in slots if not each or each not in found]:
        raise InvalidInput(f"The prompt has no {quotable(missing[0])} to replace.")
    return texts.sub(lambda each: f"{{{slots[each[0]]}}}", template) if slots else template, axes


def _check(template: Template, given: Mapping[str, Axis]) -> None:
    for slot, position in template.slots.items():
        if slot in RESERVED:
            said = f"{{{slot}}} can't be a slot, as {slot} is an option of sweeps. Take another name."
            raise invalid(template.text, position, said)
    for name in given:
        if name not in template.slots and name not in template.wildcards and name not in VARIED:
            slots = ", ".join(template.slots) or "none"
            near = nearest(name, [*template.slots, *VARIED])
            meant = f" Did you mean {near[0]}?" if near else ""
            raise InvalidInput(f"Nothing in the template is called {name}.{meant} Its slots: {slots}.")


def _size(sample: int | None, default: int | None) -> int:
    size = default if sample is None else sample
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InvalidInput("Say how large the sample is, as sample=50.")
    return size


def _code(record: Mapping[str, Any]) -> str:
    axes = {each["name"]: each["values"] for each in record["axes"] if each["name"] != "prompt"}
    given = [json.dumps(record["template"], ensure_ascii=False)]
    given += [f"{name}={_code_values(name, values)}" for name, values in axes.items()]
    options = {
        "wildcards": {name: list(values) for name, values in record["wildcards"].items()},
        "design": None if record["design"] == "grid" else record["design"],
        "sample": record["sample"],
        "base": {name: value for name, value in record["base"].items() if name != "image"},
        "design_seed": record["design_seed"] or None,
        "name": record["name"],
    }
    given += [f"{name}={_written(value)}" for name, value in options.items() if value]
    code = ["sweep = rb.Sweep(", *(f"    {each}," for each in given), ")"]
    if "image" in axes:
        code.insert(0, "# pictures: those that the clips start from, in their order, as paths or PIL images.")
    return "\n".join(code)


def _code_values(name: str, values: Sequence[Any]) -> str:
    if name == "image":
        return "pictures"
    whole = all(isinstance(each, int) and each >= 0 for each in values)
    if whole and len(values) > _LISTED and list(values) == list(range(values[0], values[-1] + 1)):
        return f'"{values[0]}-{values[-1]}"'
    return _written(list(values))


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
