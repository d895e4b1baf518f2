"""What can be varied in a clip: its seed, length or shape, or one slot of the sweep that it is from."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import InvalidInput
from ..requests import JobRequest, options
from .axes import typed
from .sweep import SweptCell
from .templates import Template, escaped

SEEDS, SECONDS = 4, 2  # so many seeds; so many seconds shorter and longer


@dataclass(frozen=True)
class Variations:
    """A clip as a template and axes as they are typed: its own values, and several for each axis."""

    template: str
    own: Mapping[str, str]
    several: Mapping[str, str]

    def axes(self, name: str) -> dict[str, str]:
        """The axes that vary this one thing alone."""
        return {**self.own, name: self.several[name]}


def variations(request: JobRequest, made: SweptCell | None = None) -> Variations:
    """What can be varied in a clip from text; `made` is the sweep and the cell that it was made for, if any.

    Without them, its prompt has no slots. If the service chose the seed, the variations begin at 1.
    """
    template, slots = _template(request, made)
    own = {name: typed([value]) for name, (value, _) in slots.items()}
    several = {name: typed(values) for name, (_, values) in slots.items()}
    for name, about in options().items():
        value = getattr(request, name)
        if value is None:
            continue
        value = 1 if about.is_random(value) else value
        own[name] = typed([str(value)])
        if about.control == "seed":
            several[name] = f"{value}-{value + SEEDS - 1}"
        elif about.low is not None and about.high is not None:
            lengths = {max(about.low, value - SECONDS), value, min(about.high, value + SECONDS)}
            several[name] = typed(map(str, sorted(lengths)))
        elif about.choices:
            several[name] = typed(about.choices)
    return Variations(template, own, several)


def _template(
    request: JobRequest, made: SweptCell | None
) -> tuple[str, dict[str, tuple[str, tuple[str, ...]]]]:
    """The template with the clip's own choices made, and for each slot its value and all of the sweep's."""
    plain = escaped(request.prompt)
    if made is None:
        return plain, {}
    template = str(made.cell.values.get("prompt", made.sweep.template))
    axes = {axis.name: tuple(map(str, axis.values)) for axis in made.sweep.axes}
    try:
        read = Template(template)
        slots = {name: (str(made.cell.values[name]), axes[name]) for name in read.slots}
        same = read.count == 1 and read.expand(0, {name: value for name, (value, _) in slots.items()})
    except (InvalidInput, KeyError):
        return plain, {}
    return (template, slots) if same == request.prompt else (plain, {})
