"""A form made from a tool's JSON Schema: a field for each flat argument, a JSON editor for everything else.

The page holds a draft for each: true or false for a switch, text for all others; empty means "not set". The
schema comes from a server that isn't trusted: its patterns aren't run, no reference is fetched, and what
isn't checked here is left to the server.
"""

import contextlib
import json
import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ..formatting import shortened

Json: TypeAlias = Any
Schema: TypeAlias = Mapping[str, Json]
Kind: TypeAlias = Literal["text", "date", "file", "number", "integer", "choice", "switch", "list", "json"]

MAX_FIELDS: Final = 100
MAX_OPTIONS: Final = 500
MAX_FILE_BYTES: Final = 6_000_000  # as base64 it fits in one message to the kernel
MAX_FORM: Final = 200_000  # characters of the form's description for the page
MAX_STEPS: Final = 8
MAX_NAME: Final = 200
MAX_LABEL: Final = 80
MAX_HELP: Final = 600
MAX_SHAPE: Final = 1_500

_UNSET: Final = object()
_NEEDED: Final = "This is needed."
_OF_NUMBERS: Final = {
    "minimum": (operator.ge, "at least {}"),
    "exclusiveMinimum": (operator.gt, "more than {}"),
    "maximum": (operator.le, "at most {}"),
    "exclusiveMaximum": (operator.lt, "less than {}"),
}
_BOUNDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "number": _OF_NUMBERS,
    "integer": _OF_NUMBERS,
    "text": {
        "minLength": (operator.ge, "at least {} character{s}"),
        "maxLength": (operator.le, "at most {} character{s}"),
    },
    "list": {
        "minItems": (operator.ge, "at least {} line{s}"),
        "maxItems": (operator.le, "at most {} line{s}"),
    },
}


@dataclass(frozen=True, kw_only=True)
class ToolField:
    """One argument.

    `rule` says in words what it takes, `shape` is the schema of what is written as JSON; `start` is the draft
    that the field begins with. The field for all arguments at once has an empty name.
    """

    name: str
    kind: Kind
    label: str
    help: str = ""
    rule: str = ""
    required: bool = False
    nullable: bool = False
    options: tuple[Json, ...] = ()
    bounds: Mapping[str, float]
    shape: str = ""
    start: str | bool = ""

    def described(self) -> dict[str, Json]:
        told = ("name", "kind", "label", "help", "rule", "required", "shape")
        labels = [shortened(_text(each) or as_json(each), MAX_LABEL) for each in self.options]
        limits = {"most_bytes": MAX_FILE_BYTES} if self.kind == "file" else {}
        return {"labels": labels, **{name: getattr(self, name) for name in told}, **limits}

    def value(self, draft: Json) -> Json:
        """The argument that the draft stands for, _UNSET for none. Raises ValueError that says why not."""
        if self.kind == "switch":
            return bool(draft)
        if not isinstance(draft, str) or not draft.strip():
            if not self.required:
                return _UNSET
            if self.nullable:
                return None
            if self.kind == "list" and not self.bounds.get("minItems"):
                return []
            raise ValueError(_NEEDED)
        value = self._read(draft)
        for word, bound in self.bounds.items():
            size = len(value) if isinstance(value, str | list) else value
            if not _BOUNDS[self.kind][word][0](size, bound):
                raise ValueError(f"{_sentence(_bound_words(self.kind, word, bound))}.")
        return value

    def _read(self, text: str) -> Json:
        match self.kind:
            case "number" | "integer":
                return _number(text.strip(), whole=self.kind == "integer")
            case "choice":
                if text.isdecimal() and int(text) < len(self.options):
                    return self.options[int(text)]
                raise ValueError(_NEEDED)
            case "list":
                return [line for line in text.split("\n") if line.strip()]
            case "json":
                try:
                    return json.loads(text)
                except RecursionError:
                    raise ValueError("This is nested too deep.") from None
                except ValueError as error:
                    raise ValueError(f"This isn't JSON. {error}.") from None
            case _:
                return text


@dataclass(frozen=True)
class ToolForm:
    """The fields of a tool's arguments, or a single one without a name in which all are written as JSON."""

    fields: tuple[ToolField, ...]

    def described(self) -> list[dict[str, Json]]:
        return [field.described() for field in self.fields]

    def start(self) -> dict[str, Json]:
        """The defaults, as drafts."""
        return {field.name: field.start for field in self.fields}

    def arguments(self, drafts: Json) -> tuple[dict[str, Json], dict[str, str]]:
        """The arguments in the drafts, and what is wrong with them, both by name."""
        drafts = drafts if isinstance(drafts, Mapping) else {}
        arguments: dict[str, Json] = {}
        problems: dict[str, str] = {}
        for field in self.fields:
            try:
                value = field.value(drafts.get(field.name))
            except ValueError as error:
                problems[field.name] = str(error)
            else:
                if value is not _UNSET:
                    arguments[field.name] = value
        if "" in arguments:
            arguments = arguments[""]
            if not isinstance(arguments, dict):
                return {}, {"": "The arguments are an object: { … }."}
        return arguments, problems


def form_of(schema: Json) -> ToolForm:
    with contextlib.suppress(RecursionError, ValueError):  # nested too deep, or a number with too many digits
        if (fields := _fields(schema)) is not None:
            form = ToolForm(tuple(fields))
            if len(json.dumps([form.described(), form.start()])) <= MAX_FORM:
                return form
    whole = ToolField(name="", kind="json", label="Arguments", rule="JSON", bounds={}, shape=_shape(schema))
    return ToolForm((whole,))


def as_json(value: Json) -> str:
    """The value as JSON to be read and edited."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _fields(schema: Json) -> list[ToolField] | None:
    """The arguments, required ones first; None if they aren't known by name."""
    if not isinstance(schema, Mapping):
        return None
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list) or len(properties) > MAX_FIELDS:
        return None
    if not all(0 < len(name) <= MAX_NAME and name.isprintable() for name in properties):
        return None
    if not all(isinstance(name, str) and name in properties for name in required):
        return None
    elsewhere = schema.keys() & {"$ref", "anyOf", "oneOf", "allOf", "patternProperties"}
    if not properties and (elsewhere or schema.get("additionalProperties", False) is not False):
        return None
    fields = [_field(name, part, schema, required=name in required) for name, part in properties.items()]
    return sorted(fields, key=lambda field: not field.required)


def _field(name: str, part: Json, root: Schema, *, required: bool) -> ToolField:
    part, nullable = _flat(part, root)
    three = nullable or not (required or isinstance(part.get("default"), bool))
    kind, options = _kind(part, name, three=three)
    bounds = {
        word: bound
        for word in _BOUNDS.get(kind, ())
        if isinstance(bound := part.get(word), int | float) and not isinstance(bound, bool)
        if -1e15 < bound < 1e15
    }
    only = kind == "choice" and required and len(options) == 1
    return ToolField(
        name=name,
        kind=kind,
        label=shortened(_text(part.get("title")) or name.replace("_", " ").capitalize(), MAX_LABEL),
        help=shortened(_text(part.get("description")), MAX_HELP),
        rule=_rule(kind, bounds),
        required=required,
        nullable=nullable,
        options=options,
        bounds=bounds,
        shape=_shape(part) if kind == "json" else "",
        start="0" if only else _start(kind, options, part.get("default")),
    )


def _flat(part: Json, root: Schema) -> tuple[Schema, bool]:
    """The schema without references and unions, without a type unless simple; and whether it allows null."""
    nullable = False
    for _ in range(MAX_STEPS):
        if not isinstance(part, Mapping):
            break
        if isinstance(kinds := part.get("type"), list):
            part = {**part, "type": None, "anyOf": [{"type": kind} for kind in kinds]}
        word = next((word for word in ("$ref", "allOf", "anyOf", "oneOf") if word in part), None)
        if word is None:
            return part, nullable
        inner, rest = part[word], {name: value for name, value in part.items() if name != word}
        if word == "$ref":
            inner = [_referred(inner, root)]
        if not isinstance(inner, list) or not all(isinstance(each, Mapping) for each in inner):
            break
        branches = [each for each in inner if each.get("type") != "null"]
        nullable = nullable or len(branches) < len(inner)
        if branches and all("const" in each for each in branches):
            return {**rest, "enum": [each["const"] for each in branches]}, nullable
        if len(branches) != 1:
            break
        part = {**branches[0], **{name: value for name, value in rest.items() if value is not None}}
    kept = part if isinstance(part, Mapping) else {}
    return {name: kept[name] for name in kept if name not in {"type", "enum", "const"}}, nullable


def _referred(reference: Json, root: Schema) -> Json:
    match str(reference).split("/"):
        case ["#", "$defs" | "definitions" as place, name] if isinstance(root.get(place), Mapping):
            return root[place].get(name)
        case _:
            return None


def _kind(part: Schema, name: str, *, three: bool) -> tuple[Kind, tuple[Json, ...]]:
    """The kind of field, and the values of a choice. `three`: yes, no and "not set" are three states."""
    values = [part["const"]] if "const" in part else part.get("enum")
    if values is not None:
        values = [each for each in values if each is not None] if isinstance(values, list) else []
        scalar = all(isinstance(each, str | int | float) for each in values)
        return ("choice", tuple(values)) if scalar and 0 < len(values) <= MAX_OPTIONS else ("json", ())
    items = part.get("items")
    match part.get("type"):
        case "boolean":
            return ("choice", (True, False)) if three else ("switch", ())
        case "integer" | "number" as kind:
            return kind, ()
        case "array" if isinstance(items, Mapping) and items.get("type") == "string":
            return "list", ()
        case "string" if part.get("format") == "date":
            return "date", ()
        case "string":
            encoded = part.get("contentEncoding") == "base64" or part.get("format") in ("byte", "binary")
            return "file" if encoded or name.lower().endswith(("base64", "b64")) else "text", ()
        case _:
            return "json", ()


def _start(kind: Kind, options: tuple[Json, ...], default: Json) -> str | bool:
    """The default as a draft; empty if the field can't hold it."""
    match kind:
        case "switch":
            return default is True
        case "choice":
            written = [as_json(option) for option in options]  # as values, 1 and true are the same
            return str(written.index(as_json(default))) if as_json(default) in written else ""
        case "integer" if isinstance(default, float) and default.is_integer():
            return str(int(default))  # a whole number by JSON Schema's rule
        case "number" | "integer":
            fits = isinstance(default, int if kind == "integer" else int | float)
            return as_json(default) if fits and not isinstance(default, bool) else ""
        case "list":
            return "\n".join(map(_text, default)) if isinstance(default, list) else ""
        case "json":
            return "" if default is None else as_json(default)
        case _:
            return _text(default)


def _number(text: str, *, whole: bool) -> int | float:
    try:
        return int(text)
    except ValueError:
        with contextlib.suppress(ValueError):
            if not whole and math.isfinite(number := float(text)):
                return number
    raise ValueError("Type a whole number." if whole else "Type a number.")


def _rule(kind: Kind, bounds: Mapping[str, float]) -> str:
    """What the field takes, in words: "At least 1, at most 10"."""
    words = {"list": ["one on each line"], "json": ["JSON"]}.get(kind, [])
    # A text that is given is never empty, so that isn't said.
    words += [_bound_words(kind, *each) for each in bounds.items() if each != ("minLength", 1)]
    return _sentence(", ".join(words))


def _bound_words(kind: Kind, word: str, bound: float) -> str:
    written = f"{bound:,}" if isinstance(bound, int) else f"{bound:.15g}"
    words: str = _BOUNDS[kind][word][1]
    return words.format(written, s="" if bound == 1 else "s")


def _shape(schema: Json) -> str:
    with contextlib.suppress(RecursionError, ValueError):
        return shortened(as_json(schema), MAX_SHAPE) if schema else ""
    return ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _text(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""
