"""Arguments against a schema: what is said, at which field, and that no schema can make it go on for ever."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from reelbook.widgets import schema
from reelbook.widgets.schema.patterns import may_be_tried

SHOT = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "minLength": 3, "maxLength": 5},
        "seconds": {"type": "integer", "minimum": 1, "maximum": 10},
        "ratio": {"enum": ["16:9", "1:1"]},
        "day": {"type": "string", "format": "date"},
        "mail": {"type": "string", "format": "email"},
        "link": {"type": "string", "format": "uri"},
        "code": {"type": "string", "pattern": "^[a-z]+$"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 2},
        "seed": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "camera": {
            "oneOf": [
                {"type": "object", "properties": {"kind": {"const": "still"}}, "required": ["kind"]},
                {
                    "type": "object",
                    "properties": {"kind": {"const": "pan"}, "degrees": {"type": "number", "maximum": 360}},
                    "required": ["kind", "degrees"],
                },
            ]
        },
    },
    "required": ["prompt"],
}


@pytest.mark.parametrize(
    ("value", "pointer", "text"),
    [
        ({}, "/prompt", "This is needed."),
        ({"prompt": "a"}, "/prompt", "At least 3 characters."),
        ({"prompt": "a fox runs"}, "/prompt", "At most 5 characters; these are 10."),
        ({"prompt": 1}, "/prompt", "This has to be text."),
        ({"seconds": 11}, "/seconds", "At most 10."),
        ({"seconds": 1.5}, "/seconds", "This has to be a whole number."),
        ({"ratio": "4:3"}, "/ratio", "One of 16:9, 1:1."),
        ({"day": "tomorrow"}, "/day", "This isn't a date: 2026-01-31."),
        ({"mail": "nobody"}, "/mail", "This isn't an address: name@example.org."),
        ({"link": "no link"}, "/link", "This isn't a link: https://example.org."),
        ({"code": "A1"}, "/code", "This doesn't match the pattern ^[a-z]+$"),
        ({"tags": ["a", 2]}, "/tags/1", "This has to be text."),
        ({"tags": ["a", "a"]}, "/tags", "The same item is there twice."),
        ({"tags": ["a", "b", "c"]}, "/tags", "At most 2 items."),
        ({"seed": "x"}, "/seed", "This has to be a whole number."),
        ({"camera": {"kind": "pan", "degrees": 361}}, "/camera/degrees", "At most 360."),
        ({"camera": {"kind": "pan"}}, "/camera/degrees", "This is needed."),
        ({"camera": 5}, "/camera", "This fits none of the shapes that it may have."),
    ],
)
def test_a_mistake_is_told_at_its_field(value: dict[str, Any], pointer: str, text: str) -> None:
    """In words of a person, with what would be right."""
    found = schema.problems_of(SHOT, {"prompt": "fox", **value} if value else value)
    assert schema.by_pointer(found.by_path) == {pointer: text}
    assert found.unchecked == ""


def test_what_fits_has_no_problems() -> None:
    """A right value is said nothing about."""
    value: dict[str, Any] = {
        "prompt": "fox",
        "seed": None,
        "day": "2026-01-31",
        "camera": {"kind": "still"},
        "tags": [],
    }
    assert not schema.problems_of(SHOT, value)


def test_the_schemas_own_draft_is_kept_to() -> None:
    """`exclusiveMinimum` was a flag once."""
    old = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}
    assert schema.problems_of(old, 1)
    assert not schema.problems_of(old, 2)


def test_nothing_is_fetched_and_nothing_goes_on_for_ever() -> None:
    """References to elsewhere, to themselves and doubling ones are given up; the server checks then."""
    doubling: dict[str, Any] = {f"d{k}": {"allOf": [{"$ref": f"#/$defs/d{k + 1}"}] * 2} for k in range(40)}
    nested: dict[str, Any] = {}
    for _ in range(5000):
        nested = {"not": nested}
    for hostile in (
        {"$ref": "http://127.0.0.1:9/schema"},
        {"$ref": "#"},
        {"$defs": {**doubling, "d40": {}}, "$ref": "#/$defs/d0"},
        nested,
        {"type": "nonsense"},
        {"properties": 5},
        {"pattern": 5, "minimum": "x"},
        "no schema at all",
    ):
        found = schema.problems_of(hostile, {"a": 1})
        assert not found
        assert found.unchecked == "" or "The server checks it." in found.unchecked


@pytest.mark.parametrize(
    "pattern",
    ["^(a+)+$", "(a|a)*b", "(a?){40}a{40}", r"^(\w+\s?)*$", "(.*)(.*)(.*)(.*)x", r"(a*)\1b", "(" * 400],
)
def test_a_pattern_that_may_take_for_ever_is_not_tried(pattern: str) -> None:
    """Judged by how many ways there are through it."""
    assert not may_be_tried(pattern, "a" * 5000)
    assert not schema.problems_of({"pattern": pattern}, "a" * 5000)


@pytest.mark.parametrize(
    "pattern", ["^[a-z0-9_-]+$", r"^\d{4}-\d{2}-\d{2}$", "^(png|jpe?g|gif)$", "^https?://.+"]
)
def test_a_plain_pattern_is_tried(pattern: str) -> None:
    """What is usual is checked before the call."""
    assert may_be_tried(pattern, "a short text")
    assert schema.problems_of({"pattern": pattern}, "NO!")


def test_without_jsonschema_the_server_checks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra may be half there."""
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    found = schema.problems_of(SHOT, {})
    assert (found.by_path, "jsonschema" in found.unchecked) == ({}, True)
