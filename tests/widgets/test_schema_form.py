"""Forms from JSON Schema: what is drawn, that nothing is lost there and back, and that all of it ends."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reelbook.widgets.schema_form import (
    Field,
    Form,
    form_of,
    from_json,
    same,
)

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

NAMES = st.sampled_from(["prompt", "seed", "fields", "json", "a/b", "__proto__", "name", "größe"])
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
DEFINITIONS = {
    "leaf": {"type": "integer", "description": "A leaf."},
    "color": {"enum": ["red", "green"]},
    "tree": {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
}
PARTS = st.one_of(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "format": "date"},
            {"type": ["string", "null"]},
            {"type": ["integer", "string"]},
            {"type": "integer", "minimum": 0},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "object"},
            {"type": "array", "items": {"type": "string"}},
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            {"$ref": "#/$defs/leaf"},
            {"$ref": "#/$defs/color"},
            {"$ref": "#/$defs/tree"},
            {"$ref": "#/nowhere"},
            {},
        ]
    ),
    st.lists(LEAVES, min_size=1, max_size=4).map(lambda values: {"enum": values}),
)
WITH_NOTES = st.tuples(
    PARTS, st.fixed_dictionaries({}, optional={"default": JSON, "title": st.text(max_size=5)})
).map(lambda both: {**both[0], **both[1]})


@st.composite
def forms(draw: st.DrawFn) -> tuple[Form, dict[str, Any]]:
    """A tool's form and arguments for it, of which some fit."""
    properties = draw(st.dictionaries(NAMES, WITH_NOTES, max_size=4))
    required = [name for name in properties if draw(st.booleans())]
    schema = {"type": "object", "properties": properties, "required": required, "$defs": DEFINITIONS}
    arguments = draw(st.dictionaries(st.sampled_from(sorted(properties)) if properties else NAMES, JSON))
    return form_of(schema), arguments


@QUICK
@given(forms())
def test_arguments_put_into_a_form_come_out_as_they_were(made: tuple[Form, dict[str, Any]]) -> None:
    """Fields hold them, or the JSON editor does; only a switch that was left out is sent as it stands."""
    form, arguments = made
    draft = json.loads(json.dumps(form.draft(arguments)))  # by way of the page
    switches = {field.name: field.start for field in form.fields if field.kind == "switch"}
    if "json" in draft:
        switches = {}
    assert same(form.arguments(draft, {}), {**switches, **arguments})


@QUICK
@given(forms())
def test_an_untouched_form_says_at_most_what_is_wrong_with_its_defaults(
    made: tuple[Form, dict[str, Any]],
) -> None:
    """What a form holds at first is its defaults, and is described in JSON."""
    form, _ = made
    problems: dict[str, str] = {}
    form.arguments(form.start(), problems)
    json.dumps(form.described(), allow_nan=False)
    allowed = {"This is needed.", "At least 0."}
    assert all(problem in allowed for problem in problems.values())


WORDS = [
    "type",
    "properties",
    "items",
    "anyOf",
    "enum",
    "$ref",
    "allOf",
    "required",
    "const",
    "default",
    "title",
]


@QUICK
@given(JSON | st.dictionaries(st.sampled_from([*WORDS, "minimum", "maxLength", "minItems"]), JSON), JSON)
def test_no_schema_and_no_draft_breaks_anything(odd: Any, draft: Any) -> None:
    """What claims to be a schema, or what a page claims was typed, may be anything."""
    for part in (odd, {"type": "object", "properties": {"part": odd}}):
        form = form_of(part)
        json.dumps([form.described(), form.start()])
        for typed in (draft, {"fields": draft}, {"fields": {"part": draft}}, {"json": draft}):
            form.arguments(typed, {})


def fields(properties: dict[str, Any], *required: str) -> dict[str, Field]:
    """The fields of an object by name."""
    form = form_of(
        {"type": "object", "properties": properties, "required": list(required), "$defs": DEFINITIONS}
    )
    assert not form.only_json
    return {field.name: field for field in form.fields}


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "contentEncoding": "base64"}, "file"),
        ({"type": "integer"}, "integer"),
        ({"enum": ["a", 1, None]}, "choice"),
        ({"const": "a"}, "choice"),
        ({"$ref": "#/$defs/color"}, "choice"),
        ({"oneOf": [{"const": "a", "title": "First"}, {"const": "b"}]}, "choice"),
        ({"type": "boolean"}, "switch"),
        ({"type": ["boolean", "null"]}, "choice"),
        ({"type": "array", "items": {"type": "string"}}, "list"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer"),
        ({"type": ["string", "null"]}, "text"),
        ({"allOf": [{"type": "integer"}], "description": "x"}, "integer"),
        ({"type": "array", "items": {"type": "integer"}}, "json"),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, "json"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "json"),
        ({"$ref": "https://example.org/schema"}, "json"),
        ({"enum": [str(number) for number in range(1000)]}, "json"),
        (True, "json"),
    ],
)
def test_each_flat_argument_has_its_field(part: Any, kind: str) -> None:
    """Text, number, choice, switch, date, list of texts and file; for everything else JSON."""
    assert fields({"it": part}, "it")["it"].kind == kind


def test_a_field_says_what_it_takes() -> None:
    """Bounds in words, needed fields first, names made readable, and the shape of what is JSON."""
    made = fields(
        {
            "seed": {"type": "integer", "minimum": 0},
            "prompt_text": {"type": "string", "title": "Prompt Text", "minLength": 1, "maxLength": 2000},
            "size": {"type": "number", "exclusiveMinimum": 0, "maximum": 2.5},
            "shots": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "at": {"type": "string", "format": "date-time"},
            "camera": {"type": "object", "properties": {"zoom": {"type": "number"}}},
        },
        "prompt_text",
    )
    assert next(iter(made)) == "prompt_text"
    assert [(field.label, field.rule) for field in made.values()] == [
        ("Prompt text", "At most 2,000 characters"),
        ("Seed", "At least 0"),
        ("Size", "More than 0, at most 2.5"),
        ("Shots", "One on each line, at least 1 line"),
        ("At", "As 2026-01-31T14:30:00Z"),
        ("Camera", "JSON"),
    ]
    assert '"zoom"' in made["camera"].shape


@pytest.mark.parametrize(
    ("part", "typed", "told"),
    [
        ({"type": "string"}, "", "This is needed."),
        ({"type": "string", "minLength": 3}, "a", "At least 3 characters."),
        ({"type": "string", "maxLength": 1}, "ab", "At most 1 character."),
        ({"type": "integer", "maximum": 10}, "11", "At most 10."),
        ({"type": "integer"}, "1.5", "Type a whole number."),
        ({"type": "number", "exclusiveMinimum": 0}, "0", "More than 0."),
        ({"type": "number"}, "nan", "Type a number."),
        ({"type": "number"}, "1" * 5000, "Type a number."),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 1}, "a\nb", "At most 1 line."),
        ({"enum": ["a"]}, "7", "This is needed."),
        ({}, "{", "This isn't JSON: line 1, column 2: Expecting property name enclosed in double quotes."),
    ],
)
def test_a_mistake_is_told_at_its_field(part: Any, typed: str, told: str) -> None:
    """In words of a person, before anything is sent."""
    form = form_of({"type": "object", "properties": {"it": part}, "required": ["it"]})
    problems: dict[str, str] = {}
    form.arguments({"fields": {"it": typed}}, problems)
    assert problems == {"it": told}


def test_what_is_left_empty_is_not_sent() -> None:
    """An optional field without text is no argument; a null where null may be is one; text is needed."""
    form = form_of(
        {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"type": ["integer", "null"]},
                "c": {"type": "string"},
                "d": {"type": "array", "items": {"type": "string"}},
                "e": {"type": "boolean", "default": True},
                "f": {"const": "only"},
            },
            "required": ["a", "b", "d", "f"],
        }
    )
    problems: dict[str, str] = {}
    assert form.arguments(form.start(), problems) == {"b": None, "d": [], "e": True, "f": "only"}
    assert problems == {"a": "This is needed."}


def test_json_is_an_object_with_what_is_needed() -> None:
    """The rest of it the server checks."""
    form = form_of({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    for text, told in (
        ("[1]", {"": "The arguments are an object: { … }."}),
        ("", {"a": "This is needed."}),
        ('{"a": "x", "more": 1}', {}),
    ):
        problems: dict[str, str] = {}
        form.arguments({"json": text}, problems)
        assert problems == told


def test_a_hostile_schema_makes_a_small_form() -> None:
    """Recursion, nesting without end, thousands of fields, endless texts and patterns: soon told, and cut."""
    nested: dict[str, Any] = {"type": "string"}
    deep: Any = "x"
    for _ in range(3000):
        nested, deep = {"type": "object", "properties": {"a": nested}}, [deep]
    doubling = {f"d{k}": {"allOf": [{"$ref": f"#/$defs/d{k + 1}"}] * 2} for k in range(60)}
    endless = "x" * 1_000_000
    text = {"type": "string", "title": endless, "description": endless, "default": endless}
    began = time.monotonic()
    for hostile in (
        {"type": "object", "properties": {"n": nested}},
        {"type": "object", "properties": {"n": {"$ref": "#"}}},
        {"type": "object", "properties": {"n": {"default": deep}}},
        {"type": "object", "properties": {"n": {"type": "integer", "minimum": 10**400, "default": 10**5000}}},
        {"$ref": "#"},
        {"$defs": doubling, "type": "object", "properties": {"n": {"$ref": "#/$defs/d0"}}},
        {"type": "object", "properties": {f"f{k}": text for k in range(90)}},
        {"type": "object", "properties": {str(k): {} for k in range(100_000)}},
        {"type": "object", "properties": {"\ud800": {}, "a": {"enum": ["x" * 10_000] * 150}}},
    ):
        form = form_of(hostile)
        assert len(json.dumps([form.described(), form.start()])) <= 200_000
    pattern = fields({"p": {"type": "string", "pattern": "^(a+)+$"}})["p"]
    assert pattern.value("a" * 5000 + "b") == "a" * 5000 + "b"  # left to the server
    assert time.monotonic() - began < 10


def test_json_that_is_none_says_where() -> None:
    """A person finds the place; what nobody could send is refused."""
    for text, told in (
        ('{"a": }', "line 1, column 7"),
        ("[" * 100_000, "nested too deep"),
        ("[" * 500 + "]" * 500, "nested too deep"),
        ("NaN", "no NaN"),
    ):
        with pytest.raises(ValueError, match=told):
            from_json(text)
