"""The arguments against the schema, before the call: what is wrong, at which field, in plain words.

Nothing is fetched, and a schema made to take for ever is given up: then the server alone checks.
"""

from __future__ import annotations

import datetime
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from .drafts import NEEDED
from .fields import Json, Path
from .patterns import may_be_tried

MAX_REFERENCES: Final = 3_000
MAX_PROBLEMS: Final = 50
_TYPE_WORDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_FORMAT_WORDS: Final = {
    "date": "This isn't a date: 2026-01-31.",
    "time": "This isn't a time: 14:30:00.",
    "date-time": "This isn't a date with a time: 2026-01-31T14:30:00Z.",
    "email": "This isn't an address: name@example.org.",
    "uri": "This isn't a link: https://example.org.",
}


@dataclass(frozen=True)
class Problems:
    """What is wrong, by path; `unchecked` says why nothing could be checked, empty where it could."""

    by_path: dict[Path, str] = field(default_factory=dict)
    unchecked: str = ""

    def __bool__(self) -> bool:
        return bool(self.by_path)


def get_ready() -> None:
    """Begins to import the validator, on a thread: with all that it looks for, that may take a second."""
    threading.Thread(target=_imported, name="reelbook-jsonschema", daemon=True).start()


def problems_of(schema: Json, value: Json) -> Problems:
    """What a validator for the schema's own draft, 2020-12 where it names none, has against `value`."""
    if not _imported():
        return Problems(unchecked="jsonschema isn't installed: the server alone checks what is sent.")
    found: dict[Path, str] = {}
    try:
        for error in _errors(schema, value):
            for path, text in _told(error):
                found.setdefault(path, text)
            if len(found) >= MAX_PROBLEMS:
                break
    except (Exception, RecursionError):  # whatever a hostile or broken schema brings about
        return Problems(found, "" if found else "This schema can't be checked here. The server checks it.")
    return Problems(found)


def _imported() -> bool:
    try:
        import jsonschema  # noqa: F401 - with the extra `agents` only
    except ImportError:
        return False
    return True


def _errors(schema: Json, value: Json) -> Iterator[Any]:
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    kind = validator_for(schema, default=Draft202012Validator)
    met = 0

    def counted(check: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*arguments: Any) -> Any:
            nonlocal met
            met += 1
            if met > MAX_REFERENCES:
                raise RuntimeError("too many references")
            return check(*arguments)

        return checked

    changed: dict[str, Any] = {
        name: counted(kind.VALIDATORS[name])
        for name in ("$ref", "$dynamicRef", "$recursiveRef")
        if name in kind.VALIDATORS
    }
    changed |= {"pattern": _pattern, "patternProperties": _nothing}
    formats = FormatChecker(formats=())
    for name in _FORMAT_WORDS:
        formats.checkers = {**formats.checkers, name: (_FORMATS[name], ())}
    # A registry of its own, or jsonschema would fetch what a schema refers to.
    validator = extend(kind, changed)(schema, format_checker=formats, registry=Registry())
    return iter(validator.iter_errors(value))


def _pattern(_: Any, pattern: Json, text: Json, __: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not isinstance(text, str) or not isinstance(pattern, str) or not may_be_tried(pattern, text):
        return
    if re.search(pattern, text) is None:
        yield ValidationError("doesn't match")


def _nothing(*_: Any) -> Iterable[Any]:
    return ()


def _told(error: Any, depth: int = 0) -> list[tuple[Path, str]]:
    path: Path = tuple(error.absolute_path)
    rule = error.validator_value
    match error.validator:
        case "required" if isinstance(error.instance, dict) and isinstance(rule, list):
            return [((*path, name), NEEDED) for name in rule if name not in error.instance]
        case "anyOf" | "oneOf" if error.context and depth < 5:
            return _of_branches(error, path, depth)
        case _:
            return [(path, _words(error.validator, rule, error))]


def _of_branches(error: Any, path: Path, depth: int) -> list[tuple[Path, str]]:
    """What is wrong with the shape that comes nearest: of the right type, and with the fewest mistakes."""
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)

    def distance(mistakes: list[Any]) -> tuple[bool, bool, int]:
        here = [inner.validator for inner in mistakes if tuple(inner.absolute_path) == path]
        named = any(inner.validator in {"const", "enum"} for inner in mistakes)
        return "type" in here, named, len(mistakes)

    other = [each for each in branches.values() if each[0].validator_value != "null"]
    nearest = min(other or list(branches.values()), key=distance)
    if distance(nearest)[0] and len(other) > 1:
        return [(path, "This fits none of the shapes that it may have.")]
    return [told for inner in nearest for told in _told(inner, depth + 1)]


def _words(word: str, rule: Json, error: Any) -> str:
    match word:
        case "type":
            kinds = rule if isinstance(rule, list) else [rule]
            return f"This has to be {' or '.join(_TYPE_WORDS.get(str(kind), str(kind)) for kind in kinds)}."
        case "minimum":
            return f"At least {_short(rule)}."
        case "maximum":
            return f"At most {_short(rule)}."
        case "exclusiveMinimum":
            return f"More than {_short(rule)}."
        case "exclusiveMaximum":
            return f"Less than {_short(rule)}."
        case "multipleOf":
            return f"A multiple of {_short(rule)}."
        case "minLength":
            return NEEDED if rule == 1 else f"At least {_short(rule)} characters."
        case "maxLength":
            return f"At most {_short(rule)} characters; these are {len(error.instance):,}."
        case "pattern":
            return f"This doesn't match the pattern {_short(rule)}"
        case "enum":
            return f"One of {', '.join(_short(each) for each in rule[:8])}{' …' if len(rule) > 8 else ''}."
        case "const":
            return f"This has to be {_short(rule)}."
        case "format":
            return _FORMAT_WORDS.get(str(rule), f"This isn't of the format {_short(rule)}.")
        case "minItems":
            return f"At least {_short(rule)} {'item' if rule == 1 else 'items'}."
        case "maxItems":
            return f"At most {_short(rule)} {'item' if rule == 1 else 'items'}."
        case "uniqueItems":
            return "The same item is there twice."
        case "additionalProperties" | "unevaluatedProperties":
            return "There is a name in it that it doesn't take."
        case "dependentRequired":
            return "Something else has to be given with it."
        case "oneOf":
            return "This fits more than one of the shapes that it may have."
        case _:
            return f"This breaks the rule “{_short(word)}”."


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _is_date(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.date.fromisoformat(value))


def _is_time(value: object) -> bool:
    return not isinstance(value, str) or isinstance(datetime.time.fromisoformat(value), datetime.time)


def _is_moment(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.datetime.fromisoformat(value) and len(value) > 10)


def _is_address(value: object) -> bool:
    return not isinstance(value, str) or bool(re.fullmatch(r"[^@\s]+@[^@\s]+", value))


def _is_link(value: object) -> bool:
    return not isinstance(value, str) or (bool(urlsplit(value).scheme) and " " not in value)


def _guarded(check: Callable[[object], bool]) -> Callable[[object], bool]:
    def checked(value: object) -> bool:
        try:
            return check(value)
        except ValueError:
            return False

    return checked


_FORMATS: Final = {
    "date": _guarded(_is_date),
    "time": _guarded(_is_time),
    "date-time": _guarded(_is_moment),
    "email": _guarded(_is_address),
    "uri": _guarded(_is_link),
}
