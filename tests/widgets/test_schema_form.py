"""Forms from JSON Schema: what is drawn, what a draft stands for, and that all of it ends."""

import json
import re
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reelbook.widgets.schema_form import ToolField, ToolForm, form_of

QUICK = settings(max_examples=150, suppress_health_check=list(HealthCheck))

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
def forms(draw: st.DrawFn) -> ToolForm:
    """The form of a tool."""
    properties = draw(st.dictionaries(NAMES, WITH_NOTES, max_size=4))
    required = [name for name in properties if draw(st.booleans())]
    schema = {"type": "object", "properties": properties, "required": required, "$defs": DEFINITIONS}
    return form_of(schema)


@QUICK
@given(forms())
def test_an_untouched_form_says_at_most_what_is_wrong_with_its_defaults(form: ToolForm) -> None:
    """What a form holds at first is its defaults, and is described in JSON."""
    json.dumps(form.described(), allow_nan=False)
    _, problems = form.arguments(form.start())
    assert set(problems.values()) <= {"This is needed.", "At least 0."}


WORDS = re.findall(
    r"\S+", "type properties items anyOf enum $ref allOf required const default title minItems"
)


@QUICK
@given(JSON | st.dictionaries(st.sampled_from(WORDS), JSON), JSON)
def test_no_schema_and_no_draft_breaks_anything(odd: Any, draft: Any) -> None:
    """What claims to be a schema, or what a page claims was typed, may be anything."""
    for part in (odd, {"type": "object", "properties": {"part": odd}}):
        form = form_of(part)
        json.dumps([form.described(), form.start()])
        for typed in (draft, {"part": draft}, {"": draft}):
            form.arguments(typed)


def fields(properties: dict[str, Any], *required: str) -> dict[str, ToolField]:
    """The fields of an object by name."""
    form = form_of(
        {"type": "object", "properties": properties, "required": list(required), "$defs": DEFINITIONS}
    )
    return {field.name: field for field in form.fields}


@pytest.mark.parametrize(
    ("default", "start"), [(0.0, "0"), (2, "2"), (-3.0, "-3"), (0.5, ""), (True, ""), (False, ""), ("2", "")]
)
def test_a_whole_number_begins_with_its_default_where_that_is_one(default: Any, start: str) -> None:
    """By JSON Schema's rule 2.0 is a whole number; what the field can't hold isn't put there."""
    assert fields({"count": {"type": "integer", "default": default}})["count"].start == start


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
    """Bounds in words, needed fields first, its title or its name, and the shape of what is JSON."""
    made = fields(
        {
            "seed": {"type": "integer", "minimum": 0},
            "prompt_text": {"type": "string", "title": "What it shows", "minLength": 1, "maxLength": 2000},
            "size": {"type": "number", "exclusiveMinimum": 0, "maximum": 2.5},
            "shots": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "camera": {"type": "object", "properties": {"zoom": {"type": "number"}}},
        },
        "prompt_text",
    )
    assert next(iter(made)) == "prompt_text"
    assert [(field.label, field.rule) for field in made.values()] == [
        ("What it shows", "At most 2,000 characters"),
        ("Seed", "At least 0"),
        ("Size", "More than 0, at most 2.5"),
        ("Shots", "One on each line, at least 1 line"),
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
        (
            {},
            "{",
            "This isn't JSON. Expecting property name enclosed in double quotes: line 1 column 2 (char 1).",
        ),
        ({}, "[" * 100_000, "This is nested too deep."),
    ],
)
def test_a_mistake_is_told_at_its_field(part: Any, typed: str, told: str) -> None:
    """In words of a person, before anything is sent."""
    form = form_of({"type": "object", "properties": {"it": part}, "required": ["it"]})
    assert form.arguments({"it": typed}) == ({}, {"it": told})


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
    assert form.arguments(form.start()) == (
        {"b": None, "d": [], "e": True, "f": "only"},
        {"a": "This is needed."},
    )


@pytest.mark.parametrize(
    ("part", "start"),
    [
        ({"type": "string", "default": "a"}, "a"),
        ({"type": "integer", "default": 3}, "3"),
        ({"type": "number", "default": 0.5}, "0.5"),
        ({"enum": [1, True, "a"], "default": True}, "1"),
        ({"type": "boolean", "default": False}, False),
        ({"type": "array", "items": {"type": "string"}, "default": ["a", "b"]}, "a\nb"),
        ({"type": "object", "default": {"a": [1]}}, '{\n  "a": [\n    1\n  ]\n}'),
    ],
)
def test_a_default_stands_in_its_field(part: Any, start: str | bool) -> None:
    """And is the argument, if nobody changes it."""
    form = form_of({"type": "object", "properties": {"it": part}})
    assert form.start() == {"it": start}
    assert form.arguments(form.start()) == ({"it": part["default"]}, {})


def test_arguments_without_names_are_written_as_json() -> None:
    """One object, which the server checks."""
    form = form_of({"type": "object", "additionalProperties": {"type": "integer"}})
    assert [(field.kind, field.label) for field in form.fields] == [("json", "Arguments")]
    assert "additionalProperties" in form.fields[0].shape
    assert form.arguments({"": "[1]"}) == ({}, {"": "The arguments are an object: { … }."})
    assert form.arguments({"": ""}) == ({}, {})
    assert form.arguments({"": '{"a": "x", "more": 1}'}) == ({"a": "x", "more": 1}, {})


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
    assert time.monotonic() - began < 60
