"""A form made from a tool's JSON Schema: a field for each flat argument, JSON for everything else.

A flat argument is a text, a number, one of several values, a switch, a date, a list of texts or a file. Its
draft is what the page holds for it: true or false for a switch, text for all others; empty is "not set". A
form's draft is `{"fields": {name: draft}}`, or `{"json": text}` from the JSON editor.

A schema is a stranger's: it is looked at and never run. No pattern of it is tried, nothing that it refers to
is fetched, and what isn't checked here is left to the server. Knows no widget.
"""

from __future__ import annotations

import contextlib
import json
import math
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

Json: TypeAlias = Any
Draft: TypeAlias = Any
Schema: TypeAlias = Mapping[str, Json]
Kind: TypeAlias = Literal[
    "text", "lines", "password", "date", "file", "number", "integer", "choice", "switch", "list", "json"
]

MAX_FIELDS: Final = 100
MAX_OPTIONS: Final = 500
MAX_FORM: Final = 200_000  # letters of the form's description for the page
MAX_JSON: Final = 8_000_000
MAX_DEPTH: Final = 100
MAX_STEPS: Final = 8
MAX_NAME: Final = 200
MAX_LABEL: Final = 80
MAX_HELP: Final = 600
MAX_SHAPE: Final = 1_500
LONG_TEXT: Final = 160

_UNSET: Final = object()
_NEEDED: Final = "This is needed."
_TOO_DEEP: Final = "This is nested too deep."
_OF_NUMBERS: Final = {
    "minimum": (operator.ge, "at least {}"),
    "exclusiveMinimum": (operator.gt, "more than {}"),
    "maximum": (operator.le, "at most {}"),
    "exclusiveMaximum": (operator.lt, "less than {}"),
}
_OF_TEXTS: Final = {
    "minLength": (operator.ge, "at least {} character{s}"),
    "maxLength": (operator.le, "at most {} character{s}"),
}
_OF_LISTS: Final = {
    "minItems": (operator.ge, "at least {} line{s}"),
    "maxItems": (operator.le, "at most {} line{s}"),
}
_BOUNDS: Final = {
    **dict.fromkeys(("number", "integer"), _OF_NUMBERS),
    **dict.fromkeys(("text", "lines", "password"), _OF_TEXTS),
    "list": _OF_LISTS,
}
_FORMATS: Final = {
    "date-time": "as 2026-01-31T14:30:00Z",
    "time": "as 14:30:00Z",
    "email": "an email address",
    "uri": "a link",
}
_LONG_NAMES: Final = ("prompt", "text", "content", "message", "description", "body", "query", "code", "note")
_CAMEL: Final = re.compile(r"(?<=[a-z])[A-Z](?=[a-z])")


@dataclass(frozen=True, kw_only=True)
class Field:
    """One argument. `rule` says in words what it takes, `shape` is the schema of what is written as JSON;
    `start` is the draft that the field begins with.
    """

    name: str
    kind: Kind
    label: str
    help: str
    rule: str
    required: bool
    nullable: bool
    options: tuple[Json, ...]
    labels: tuple[str, ...]
    bounds: Mapping[str, float]
    shape: str
    start: Draft = ""

    def described(self) -> dict[str, Json]:
        """The field for the page."""
        told = ("name", "kind", "label", "help", "rule", "required", "labels", "shape")
        return {name: getattr(self, name) for name in told}

    def value(self, draft: Draft) -> Json:
        """The argument that the draft stands for, _UNSET for none. Raises ValueError that says why not."""
        if self.kind == "switch":
            return bool(draft)
        if not isinstance(draft, str) or not draft.strip():
            return self._nothing()
        value = self._read(draft)
        for word, bound in self.bounds.items():
            size = len(value) if isinstance(value, str | list) else value
            if not _BOUNDS[self.kind][word][0](size, bound):
                raise ValueError(f"{_sentence(_bound_words(self.kind, word, bound))}.")
        return value

    def draft(self, value: Json) -> Draft:
        """What would be typed for `value`; empty where the field can't hold it."""
        match self.kind:
            case "switch":
                return value is True
            case "choice":
                places = (str(place) for place, option in enumerate(self.options) if same(option, value))
                return next(places, "")
            case "number" | "integer":
                return as_json(value) if isinstance(value, int | float) else ""
            case "list":
                return (
                    "\n".join(each for each in value if isinstance(each, str))
                    if isinstance(value, list)
                    else ""
                )
            case "json":
                return "" if value is None else as_json(value)
            case _:
                return value if isinstance(value, str) else ""

    def _nothing(self) -> Json:
        if not self.required:
            return _UNSET
        if self.nullable:
            return None
        if self.kind == "list" and not self.bounds.get("minItems"):
            return []
        raise ValueError(_NEEDED)

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
                return from_json(text)
            case _:
                return text


@dataclass(frozen=True)
class Form:
    """The fields of a tool's arguments. `only_json`: there are none, and all of it is written as JSON."""

    fields: tuple[Field, ...] = ()
    only_json: bool = False
    shape: str = ""

    def described(self) -> dict[str, Json]:
        """The form for the page."""
        fields = [field.described() for field in self.fields]
        return {"fields": fields, "only_json": self.only_json, "shape": self.shape}

    def start(self) -> Draft:
        """What stands in the form before anybody typed: the defaults."""
        return (
            {"json": ""} if self.only_json else {"fields": {field.name: field.start for field in self.fields}}
        )

    def draft(self, arguments: Mapping[str, Json]) -> Draft:
        """What would be typed for these arguments: in the fields, or as JSON where those can't hold them."""
        # A switch is always sent, so what was left out stands as it did at the start.
        switches = {field.name: field.start for field in self.fields if field.kind == "switch"}
        held = {**switches, **arguments}
        drafts = {field.name: field.draft(held.get(field.name)) for field in self.fields}
        if not self.only_json and same(self.arguments({"fields": drafts}, {}), held):
            return {"fields": drafts}
        return {"json": as_json(arguments)}

    def arguments(self, draft: Draft, problems: dict[str, str]) -> dict[str, Json]:
        """What the draft stands for. What is wrong is noted in `problems` by name; "" is the whole."""
        draft = draft if isinstance(draft, Mapping) else {}
        if isinstance(text := draft.get("json"), str):
            return self._from_json(text, problems)
        drafts = draft.get("fields")
        drafts = drafts if isinstance(drafts, Mapping) else {}
        arguments = {}
        for field in self.fields:
            try:
                value = field.value(drafts.get(field.name))
            except ValueError as error:
                problems[field.name] = str(error)
            else:
                if value is not _UNSET:
                    arguments[field.name] = value
        return arguments

    def _from_json(self, text: str, problems: dict[str, str]) -> dict[str, Json]:
        try:
            value = from_json(text) if text.strip() else {}
        except ValueError as error:
            problems[""] = str(error)
            return {}
        if not isinstance(value, dict):
            problems[""] = "The arguments are an object: { … }."
            return {}
        for field in self.fields:
            if field.required and field.name not in value:
                problems[field.name] = _NEEDED
        return value


def form_of(schema: Json) -> Form:
    """The form for a tool's arguments."""
    with contextlib.suppress(RecursionError, ValueError):  # nested too deep, or a number without end
        if (fields := _fields(schema)) is not None:
            form = Form(tuple(fields))
            if len(json.dumps([form.described(), form.start()])) <= MAX_FORM:
                return form
    return Form(only_json=True, shape=_shape(schema))


def as_json(value: Json) -> str:
    """The value as JSON to be read and edited."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON: 1, 1.0 and true are three."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def from_json(text: str) -> Json:
    """The value of a JSON text. Raises ValueError that says where and why."""
    if len(text) > MAX_JSON:
        raise ValueError("This is too long.")
    try:
        value = json.loads(text, parse_constant=_no_constant)
        _refuse_depth(value, MAX_DEPTH)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"This isn't JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return value


def _fields(schema: Json) -> list[Field] | None:
    """The arguments, those that have to be given first; None where they can't be told by name."""
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


def _no_constant(text: str) -> Json:
    raise ValueError(f"This isn't JSON: there is no {text} in it.")


def _refuse_depth(value: Json, most: int) -> None:
    if isinstance(value, dict | list):
        if most == 0:
            raise ValueError(_TOO_DEEP)
        for inner in value.values() if isinstance(value, dict) else value:
            _refuse_depth(inner, most - 1)


def _number(text: str, *, whole: bool) -> int | float:
    try:
        return int(text)
    except ValueError:
        with contextlib.suppress(ValueError):
            if not whole and math.isfinite(number := float(text)):
                return number
    raise ValueError("Type a whole number." if whole else "Type a number.")


def _field(name: str, part: Json, root: Schema, *, required: bool) -> Field:
    part, nullable = _flat(part, root)
    three = nullable or not (required or isinstance(part.get("default"), bool))
    kind, options = _kind(part, name, three=three)
    titles = part.get("enumNames")
    titles = titles if isinstance(titles, list) and len(titles) == len(options) else options
    bounds = {
        word: bound
        for word in _BOUNDS.get(kind, ())
        if isinstance(bound := part.get(word), int | float) and not isinstance(bound, bool)
        if -1e15 < bound < 1e15
    }
    field = Field(
        name=name,
        kind=kind,
        label=_label(part.get("title"), name),
        help=_clip(part.get("description"), MAX_HELP),
        rule=_rule(kind, part, bounds),
        required=required,
        nullable=nullable,
        options=options,
        labels=tuple(_option(each) for each in titles),
        bounds=bounds,
        shape=_shape(part) if kind == "json" else "",
    )
    start = field.draft(part.get("default"))
    if kind == "choice" and required and len(options) == 1:
        start = "0"
    return replace(field, start=start)


def _flat(part: Json, root: Schema) -> tuple[Schema, bool]:
    """The part as a flat one, and whether null will do too; empty where it is more than that."""
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
            titles = [each.get("title", each["const"]) for each in branches]
            return {**rest, "enum": [each["const"] for each in branches], "enumNames": titles}, nullable
        if len(branches) != 1:
            break
        part = {**branches[0], **{name: value for name, value in rest.items() if value is not None}}
    kept = part if isinstance(part, Mapping) else {}
    return {name: kept[name] for name in kept if name not in {"type", "enum", "const"}}, nullable


def _referred(reference: Json, root: Schema) -> Json:
    """What stands in the schema's own definitions; nothing is ever fetched."""
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
    match part.get("type"):
        case "boolean":
            return ("choice", (True, False)) if three else ("switch", ())
        case "integer":
            return "integer", ()
        case "number":
            return "number", ()
        case "array":
            items = part.get("items")
            return "list" if isinstance(items, Mapping) and items.get("type") == "string" else "json", ()
        case "string":
            return _text_kind(part, name.lower()), ()
        case _:
            return "json", ()


def _text_kind(part: Schema, name: str) -> Kind:
    if part.get("contentEncoding") == "base64" or name.endswith(("base64", "b64")):
        return "file"
    match part.get("format"):
        case "byte" | "binary":
            return "file"
        case "date":
            return "date"
        case "password":
            return "password"
    most = part.get("maxLength")
    short = isinstance(most, int) and most <= LONG_TEXT
    return "lines" if name.endswith(_LONG_NAMES) and not short else "text"


def _label(title: Json, name: str) -> str:
    """The title, or else the name made readable."""
    text = title if isinstance(title, str) and title.strip() else name
    # Schema generators make a title of the name, every word with a capital.
    if text.replace(" ", "_").lower() == name.lower():
        text = _CAMEL.sub(lambda met: f" {met[0].lower()}", name.replace("_", " "))
    return _clip(text[:1].upper() + text[1:], MAX_LABEL)


def _rule(kind: Kind, part: Schema, bounds: Mapping[str, float]) -> str:
    """What the field takes, in words: "At least 1, at most 10"."""
    words = [
        {"list": "one on each line", "json": "JSON"}.get(kind, ""),
        _FORMATS.get(str(part.get("format")), ""),
    ]
    # That a text which is given isn't empty goes without saying.
    words += [_bound_words(kind, *each) for each in bounds.items() if each != ("minLength", 1)]
    return _sentence(", ".join(filter(None, words)))


def _bound_words(kind: Kind, word: str, bound: float) -> str:
    written = f"{bound:,}" if isinstance(bound, int) else f"{bound:.15g}"
    return _BOUNDS[kind][word][1].format(written, s="" if bound == 1 else "s")


def _option(value: Json) -> str:
    return _clip(value if isinstance(value, str) and value.strip() else as_json(value), MAX_LABEL)


def _shape(schema: Json) -> str:
    """A part of the schema for a person who has to write what it describes."""
    with contextlib.suppress(RecursionError, ValueError):
        return _clip(as_json(schema), MAX_SHAPE) if schema else ""
    return ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _clip(text: Json, most: int) -> str:
    if not isinstance(text, str):
        return ""
    text = text.strip()
    return text if len(text) <= most else f"{text[: most - 1]}…"
