"""Between what a person typed and what is sent. What a field can't hold is JSON: nothing is lost."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Final

from .fields import (
    UNSET,
    Choice,
    Draft,
    Field,
    Fixed,
    Flag,
    Group,
    Items,
    Json,
    Number,
    Path,
    Raw,
    Text,
    Variants,
)

MAX_RAW_LETTERS: Final = 8_000_000
MAX_START_ITEMS: Final = 20
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_TOO_DEEP: Final = "This is nested too deep."
NEEDED: Final = "This is needed."


class NotJson(ValueError):
    """The text isn't JSON; says where and why."""


def as_json(value: Json) -> str:
    """The value as JSON to be read and edited."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def from_json(text: str) -> Json:
    """The value of a JSON text. Raises NotJson."""
    if len(text) > MAX_RAW_LETTERS:
        raise NotJson("This is too long.")
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise NotJson(_TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise NotJson(f"This isn't JSON: line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except ValueError as error:
        raise NotJson(f"This isn't JSON: {error}") from None
    if _too_deep(value):
        raise NotJson(_TOO_DEEP)
    return value


def same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON: 1, 1.0 and true are three."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def start_of(field: Field) -> Draft:
    """What a form holds before anybody typed: the defaults, and what has to be there."""
    if field.default is not UNSET and not (field.default is None and not field.required):
        return draft_of(field, field.default)
    match field:
        case Choice() if field.required and len(field.options) == 1:
            return 0
        case Flag():
            return False
        case Text() if field.in_list:
            return ""
        case Group() if field.required and not field.nullable:
            return {"in": {each.name: start_of(each) for each in field.fields}}
        case Items():
            count = min(field.least, MAX_START_ITEMS) if field.required else 0
            return [start_of(field.item) for _ in range(count)]
        case Variants() if field.required and not field.nullable:
            return {"v": 0, "d": start_of(field.options[0])}
        case _:
            return None


def draft_of(field: Field, value: Json) -> Draft:
    """The draft whose value is `value`, as JSON where the field can't hold it; UNSET has the empty draft."""
    if value is UNSET:
        return [] if isinstance(field, Items) else None
    try:
        draft = _held(field, value)
        if same(value_of(field, draft), value):
            return draft
    except (_CannotHold, TypeError, ValueError, RecursionError):
        pass
    return {"raw": as_json(value)}


def value_of(field: Field, draft: Draft, problems: dict[Path, str] | None = None) -> Json:
    """What the draft stands for, UNSET for nothing. What is wrong is noted in `problems` by its path."""
    return _value(field, draft, (), {} if problems is None else problems)


class _CannotHold(Exception):
    pass


def _held(field: Field, value: Json) -> Draft:
    if value is None and field.nullable and field.required and not isinstance(field, Choice):
        return [] if isinstance(field, Items) else None
    match field:
        case Text() if isinstance(value, str) and (value or (field.in_list and not field.nullable)):
            return value
        case Number() if isinstance(value, int | float) and not isinstance(value, bool):
            return json.dumps(value, allow_nan=False)
        case Choice():
            for place, option in enumerate(field.options):
                if same(option, value):
                    return place
        case Flag() if isinstance(value, bool):
            return value
        case Fixed() if same(field.value, value):
            return None
        case Group() if isinstance(value, dict) and value.keys() <= {each.name for each in field.fields}:
            return {"in": {each.name: draft_of(each, value.get(each.name, UNSET)) for each in field.fields}}
        case Items() if isinstance(value, list):
            return [draft_of(field.item, each) for each in value]
        case Variants():
            for place, option in enumerate(field.options):
                draft = draft_of(option, value)
                if not _has_raw(option, draft):
                    return {"v": place, "d": draft}
        case _:
            pass
    raise _CannotHold


def _has_raw(field: Field, draft: Draft) -> bool:
    if isinstance(field, Raw):
        return False
    if isinstance(draft, list):
        return isinstance(field, Items) and any(_has_raw(field.item, each) for each in draft)
    if not isinstance(draft, dict):
        return False
    if isinstance(field, Group) and "in" in draft:
        return any(_has_raw(each, draft["in"].get(each.name)) for each in field.fields)
    return "raw" in draft


def _value(field: Field, draft: Draft, path: Path, problems: dict[Path, str]) -> Json:
    if isinstance(draft, Mapping) and isinstance(draft.get("raw"), str):
        return _raw_value(field, draft["raw"], path, problems)
    match field:
        case Text() if isinstance(draft, str) and (draft or (field.in_list and not field.nullable)):
            return draft
        case Number() if isinstance(draft, str) and draft.strip():
            return _number(field, draft.strip(), path, problems)
        case Choice() if isinstance(draft, int) and not isinstance(draft, bool):
            if 0 <= draft < len(field.options):
                return field.options[draft]
        case Flag():
            return bool(draft)
        case Fixed():
            return field.value
        case Group() if isinstance(draft, Mapping) and isinstance(draft.get("in"), Mapping):
            held = {
                each.name: _value(each, draft["in"].get(each.name), (*path, each.name), problems)
                for each in field.fields
            }
            return {name: value for name, value in held.items() if value is not UNSET}
        case Items() if isinstance(draft, list) and (draft or (field.required and not field.nullable)):
            values = [_value(field.item, each, (*path, place), problems) for place, each in enumerate(draft)]
            return [None if value is UNSET else value for value in values]
        case Variants() if isinstance(draft, Mapping) and isinstance(place := draft.get("v"), int):
            if 0 <= place < len(field.options):
                return _value(field.options[place], draft.get("d"), path, problems)
        case _:
            pass
    return _nothing(field, path, problems)


def _nothing(field: Field, path: Path, problems: dict[Path, str]) -> Json:
    if not field.required:
        return UNSET
    if field.nullable and not isinstance(field, Choice):
        return None
    problems.setdefault(path, NEEDED)
    return UNSET


def _raw_value(field: Field, text: str, path: Path, problems: dict[Path, str]) -> Json:
    if not text.strip():
        return _nothing(field, path, problems)
    try:
        return from_json(text)
    except NotJson as error:
        problems[path] = str(error)
        return UNSET


def _number(field: Number, text: str, path: Path, problems: dict[Path, str]) -> Json:
    if _NUMBER.fullmatch(text) is None or len(text) > 300:
        problems[path] = "Type a whole number." if field.integer else "Type a number."
        return UNSET
    try:
        return json.loads(text, parse_float=_finite)
    except ValueError:
        problems[path] = "This number is too large."
        return UNSET


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large.")
    return value


def _no_constant(text: str) -> Json:
    raise ValueError(f"there is no {text} in it.")


def _too_deep(value: Json, most: int = 100) -> bool:
    level = [value]
    for _ in range(most):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True
