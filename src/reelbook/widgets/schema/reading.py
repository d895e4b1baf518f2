"""Fields from a JSON Schema. What no form can show becomes a Raw field; a hostile one stays small."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeGuard

from .fields import (
    Choice,
    Field,
    Fixed,
    Flag,
    Group,
    Items,
    Json,
    Number,
    Raw,
    Schema,
    Text,
    TextKind,
    Variants,
)
from .telling import (
    MAX_LABEL,
    between,
    clipped,
    count,
    label,
    number_rule,
    text_rule,
    value_words,
    variant_label,
)

MAX_FIELDS: Final = 300
MAX_DEPTH: Final = 7
MAX_STEPS: Final = 4_000
MAX_OPTIONS: Final = 200
MAX_VARIANTS: Final = 20
MAX_DEFAULT: Final = 20_000
LONG_TEXT: Final = 160

_FORMATS: Final[Mapping[str, TextKind]] = {
    "date": "date",
    "time": "time",
    "date-time": "date-time",
    "email": "email",
    "uri": "url",
    "url": "url",
    "password": "password",
    "byte": "file",
    "binary": "file",
}
_LONG_NAMES: Final = ("prompt", "text", "content", "message", "description", "body", "query", "code", "note")
_NOTES: Final = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})
_TYPES: Final = ("string", "integer", "number", "boolean", "object", "array", "null")


def form_of(schema: Json) -> Field:
    """The fields for a tool's arguments: a Group, or Raw where the schema can't be shown as one.

    A Raw one is empty where a tool is called without arguments.
    """
    if not _is_schema(schema):
        return Raw(why="The tool doesn't describe what it takes.")
    reader = _Reader(schema)
    try:
        whole = reader.resolved(schema, frozenset())[0]
        free = whole.get("additionalProperties", False) is not False or "patternProperties" in whole
        if not whole.get("properties") and not free and not _branches(whole) and "$ref" not in whole:
            return Group(required=True, fields=())
        field = reader.field(schema, required=True)
    except (_NoForm, RecursionError):
        return Raw()
    return field if isinstance(field, Group) else Raw()


class _NoForm(Exception):
    """What stands here can't be drawn."""


class _Reader:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._fields = MAX_FIELDS
        self._steps = MAX_STEPS

    def field(
        self,
        schema: Json,
        name: str = "",
        *,
        required: bool = False,
        in_list: bool = False,
        depth: int = 0,
        seen: frozenset[str] = frozenset(),
    ) -> Field:
        """The field of one part of the schema; Raw where it is none, too deep or too much."""
        common: dict[str, Any] = {"name": name, "required": required, "in_list": in_list}
        self._fields -= 1
        if not _is_schema(schema):
            return Raw(label=label("", name), **common)
        common |= {"label": label(schema.get("title"), name), "help": clipped(schema.get("description"))}
        if self._fields < 0 or depth > MAX_DEPTH:
            return Raw(why="There is more here than a form shows.", **common)
        try:
            whole, seen = self.resolved(schema, seen)
            common["label"] = label(whole.get("title"), name)
            common["help"] = clipped(whole.get("description"))
            if "default" in whole and _is_small(whole["default"]):
                common["default"] = whole["default"]
            return self._made(whole, common, depth, seen)
        except _NoForm:
            return Raw(**common)

    def resolved(self, schema: Schema, seen: frozenset[str]) -> tuple[dict[str, Json], frozenset[str]]:
        """The schema with its references and `allOf` put in, and the references met on the way."""
        whole = dict(schema)
        while isinstance(reference := whole.pop("$ref", None), str):
            self._step()
            if reference in seen:
                raise _NoForm
            seen |= {reference}
            whole = {**self._target(reference), **whole}
        if "$dynamicRef" in whole:
            raise _NoForm
        parts = whole.pop("allOf", None)
        if isinstance(parts, list):
            for part in parts:
                self._step()
                if not _is_schema(part):
                    raise _NoForm
                inner, seen = self.resolved(part, seen)
                whole = _merged(whole, inner)
        return whole, seen

    def _step(self) -> None:
        self._steps -= 1
        if self._steps < 0:
            raise _NoForm

    def _target(self, reference: str) -> Schema:
        if not reference.startswith("#") or len(reference) > 500:
            raise _NoForm  # nothing is ever fetched
        here: Json = self._root
        for part in reference[1:].split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(here, Mapping) and part in here:
                here = here[part]
            else:
                raise _NoForm
        if not _is_schema(here):
            raise _NoForm
        return here

    def _made(self, schema: Schema, common: dict[str, Any], depth: int, seen: frozenset[str]) -> Field:
        if "const" in schema:
            return _of_values([schema["const"]], None, common)
        if isinstance(values := schema.get("enum"), list):
            return _of_values(values, schema.get("enumNames"), common)
        if (branches := _branches(schema)) is not None:
            return self._of_branches(schema, *branches, common, depth, seen)
        kinds = schema.get("type")
        if isinstance(kinds, list):
            if not kinds or not all(kind in _TYPES for kind in kinds):
                raise _NoForm
            parts = [{**_without(schema, _NOTES), "type": kind} for kind in kinds]
            return self._of_parts(parts, common, depth, seen)
        if kinds is None:
            kinds = "object" if "properties" in schema else "array" if "items" in schema else None
        return self._of_type(kinds, schema, common, depth, seen)

    def _of_branches(
        self,
        schema: Schema,
        word: str,
        branches: Sequence[Json],
        common: dict[str, Any],
        depth: int,
        seen: frozenset[str],
    ) -> Field:
        base = _without(schema, {word})
        if "properties" in base and all(_only_conditions(branch) for branch in branches):
            return self._made(base, common, depth, seen)  # which of them go together is checked, not drawn
        base = _without(base, _NOTES | {"$defs", "definitions", "discriminator"})
        if len(branches) > MAX_OPTIONS:
            raise _NoForm
        parts = []
        for branch in branches:
            self._step()
            if not _is_schema(branch):
                raise _NoForm
            parts.append((branch, _merged(base, self.resolved(branch, seen)[0])))
        single = [part for _, part in parts if "const" in part]
        if len(single) == len(parts) and parts:
            titles = [part.get("title") or part.get("description") for part in single]
            return _of_values([part["const"] for part in single], titles, common)
        # A branch that is a reference stays one, or what it refers to could refer to itself for ever.
        kept = [{**base, **branch} if set(branch) >= {"$ref"} else part for branch, part in parts]
        return self._of_parts(kept, common, depth, seen)

    def _of_parts(
        self,
        parts: Sequence[Schema],
        common: dict[str, Any],
        depth: int,
        seen: frozenset[str],
    ) -> Field:
        rest = [part for part in parts if part.get("type") != "null"]
        if len(rest) < len(parts):
            common = {**common, "nullable": True}
        if not rest:
            return _of_values([None], None, {**common, "nullable": False})
        if len(rest) == 1:
            whole, seen = self.resolved(rest[0], seen)
            common = {**common, "help": common["help"] or clipped(whole.get("description"))}
            if "default" in whole and "default" not in common and _is_small(whole["default"]):
                common["default"] = whole["default"]
            return self._made(whole, common, depth, seen)
        if len(rest) > MAX_VARIANTS:
            raise _NoForm
        inner = {"in_list": common["in_list"], "required": True, "depth": depth + 1, "seen": seen}
        options = [self.field(part, **inner) for part in rest]
        named = [
            replace(option, label=variant_label(option, part, number))
            for number, (option, part) in enumerate(zip(options, rest, strict=True), 1)
        ]
        return Variants(options=tuple(named), **common)

    def _of_type(
        self, kind: Json, schema: Schema, common: dict[str, Any], depth: int, seen: frozenset[str]
    ) -> Field:
        match kind:
            case "string":
                return Text(
                    kind=_text_kind(schema, common["name"]),
                    suggested=_suggested(schema),
                    rule=text_rule(schema),
                    **common,
                )
            case "integer" | "number":
                return Number(integer=kind == "integer", rule=number_rule(schema), **common)
            case "boolean":
                if common["required"] and not common.get("nullable"):
                    return Flag(**common)
                return _of_values([True, False], ["yes", "no"], common)
            case "null":
                return _of_values([None], None, common)
            case "array":
                return self._of_array(schema, common, depth, seen)
            case "object":
                return self._of_object(schema, common, depth, seen)
            case _:
                raise _NoForm

    def _of_array(self, schema: Schema, common: dict[str, Any], depth: int, seen: frozenset[str]) -> Field:
        if "prefixItems" in schema or not _is_schema(schema.get("items")):
            raise _NoForm
        item = self.field(schema["items"], required=True, in_list=True, depth=depth + 1, seen=seen)
        if isinstance(item, Raw) and item.why:
            raise _NoForm
        least, most = count(schema.get("minItems")) or 0, count(schema.get("maxItems"))
        rule = between(least or None, most, "item")
        if schema.get("uniqueItems") is True:
            rule = f"{rule}, no two the same" if rule else "No two the same"
        return Items(item=item, least=least, most=most, rule=rule, **common)

    def _of_object(self, schema: Schema, common: dict[str, Any], depth: int, seen: frozenset[str]) -> Field:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties or len(properties) > MAX_FIELDS:
            raise _NoForm  # any names, or none: a form has nothing to show
        if not all(isinstance(name, str) and len(name) <= 200 for name in properties):
            raise _NoForm
        needed = schema.get("required")
        needed = (
            set(filter(lambda name: isinstance(name, str), needed)) if isinstance(needed, list) else set()
        )
        if not needed <= properties.keys():
            raise _NoForm
        fields = tuple(
            self.field(part, name, required=name in needed, depth=depth + 1, seen=seen)
            for name, part in properties.items()
        )
        # What has to be given comes first; in each part the schema's order stays.
        ordered = sorted(fields, key=lambda field: not field.required)
        return Group(fields=tuple(ordered), **common)


def _is_schema(value: Json) -> TypeGuard[Schema]:
    return isinstance(value, Mapping)


def _without(schema: Schema, names: set[str] | frozenset[str]) -> dict[str, Json]:
    return {name: value for name, value in schema.items() if name not in names}


def _branches(schema: Schema) -> tuple[str, Sequence[Json]] | None:
    for word in ("oneOf", "anyOf"):
        if isinstance(branches := schema.get(word), list) and branches:
            return word, branches
    return None


def _only_conditions(branch: Json) -> bool:
    return _is_schema(branch) and not branch.keys() & {"properties", "type", "$ref", "enum", "const", "allOf"}


def _merged(one: Schema, other: Schema) -> dict[str, Json]:
    """Both at once, where that needs no thought. Raises _NoForm."""
    whole = dict(one)
    for name, value in other.items():
        if name not in whole or name in {"$schema", "$id", "$defs", "definitions"}:
            whole.setdefault(name, value)
        elif name == "properties" and isinstance(value, Mapping) and isinstance(whole[name], Mapping):
            if any(whole[name].get(each, inner) != inner for each, inner in value.items()):
                raise _NoForm
            whole[name] = {**whole[name], **value}
        elif name == "required" and isinstance(value, list) and isinstance(whole[name], list):
            whole[name] = [*whole[name], *value]
        elif name not in _NOTES and whole[name] != value:
            raise _NoForm
    return whole


def _of_values(values: Sequence[Json], titles: Json, common: dict[str, Any]) -> Field:
    options = list(values)
    names = (
        list(titles) if isinstance(titles, list) and len(titles) == len(options) else [None] * len(options)
    )
    if common.get("nullable") and None not in options:
        options, names = [*options, None], [*names, None]
    if not options:
        raise _NoForm
    if len(options) == 1 and common["required"] and not common["in_list"]:
        return Fixed(value=options[0], **common)
    if len(options) > MAX_OPTIONS:
        if all(isinstance(option, str) for option in options):
            return Text(**common)
        raise _NoForm
    labels = [
        name[:MAX_LABEL] if isinstance(name, str) and name else value_words(option)
        for name, option in zip(names, options, strict=True)
    ]
    return Choice(options=tuple(options), labels=tuple(labels), **common)


def _is_small(value: Json) -> bool:
    try:
        return len(json.dumps(value, allow_nan=False)) <= MAX_DEFAULT
    except (TypeError, ValueError, RecursionError):
        return False


def _text_kind(schema: Schema, name: str) -> TextKind:
    if schema.get("contentEncoding") == "base64" or name.lower().endswith(("base64", "b64")):
        return "file"
    if isinstance(form := schema.get("format"), str) and form in _FORMATS:
        return _FORMATS[form]
    most, default = count(schema.get("maxLength")), schema.get("default")
    if isinstance(default, str) and "\n" in default:
        return "lines"
    if most is not None:
        return "lines" if most > LONG_TEXT and name.lower().endswith(_LONG_NAMES) else "text"
    return "lines" if name.lower().endswith(_LONG_NAMES) else "text"


def _suggested(schema: Schema) -> tuple[str, ...]:
    examples = schema.get("examples")
    if not isinstance(examples, list):
        return ()
    return tuple(each for each in examples[:10] if isinstance(each, str) and 0 < len(each) <= 200)
