"""Forms from JSON Schema: what is drawn, that nothing is lost there and back, and that all of it ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reelbook.widgets import schema
from reelbook.widgets.schema.drafts import same
from reelbook.widgets.schema.fields import (
    Choice,
    Field,
    Fixed,
    Flag,
    Group,
    Items,
    Number,
    Raw,
    Text,
    Variants,
)

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

NAMES = st.sampled_from(["prompt", "seed", "in", "raw", "a/b", "~", "v", "name", "größe"])
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


def _with_default(made: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    extra = st.fixed_dictionaries({}, optional={"default": JSON, "title": st.text(max_size=5)})
    return st.tuples(made, extra).map(lambda both: {**both[0], **both[1]})


def _objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    def put_together(properties: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
        needed = st.lists(st.sampled_from(sorted(properties)), unique=True) if properties else st.just([])
        return st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.just(properties), "required": needed},
            optional={"additionalProperties": st.booleans()},
        )

    return st.dictionaries(NAMES, inner, max_size=4).flatmap(put_together)


SCHEMAS = st.recursive(
    _with_default(
        st.one_of(
            st.sampled_from(
                [
                    {"type": "string"},
                    {"type": "string", "maxLength": 500, "format": "date"},
                    {"type": ["string", "null"]},
                    {"type": ["integer", "string"]},
                    {"type": "integer", "minimum": 0},
                    {"type": "number"},
                    {"type": "boolean"},
                    {"type": "null"},
                    {"type": "object"},
                    {"$ref": "#/$defs/leaf"},
                    {"$ref": "#/$defs/tree"},
                    {"$ref": "#/nowhere"},
                    {},
                ]
            ),
            st.lists(LEAVES, min_size=1, max_size=4).map(lambda values: {"enum": values}),
            LEAVES.map(lambda value: {"const": value}),
        )
    ),
    lambda inner: _with_default(
        st.one_of(
            _objects(inner),
            inner.map(lambda item: {"type": "array", "items": item}),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"oneOf": parts}),
            inner.map(lambda part: {"anyOf": [part, {"type": "null"}]}),
            st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"allOf": parts}),
        )
    ),
    max_leaves=8,
)
DEFINITIONS = {
    "leaf": {"type": "integer", "description": "A leaf."},
    "tree": {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
}


@st.composite
def _fitting(draw: st.DrawFn, part: dict[str, Any]) -> Any:
    """A value that the schema is likely to accept, or any."""
    if draw(st.integers(0, 9)) == 0:
        return draw(JSON)
    if "enum" in part:
        return draw(st.sampled_from(part["enum"]))
    if "const" in part:
        return part["const"]
    for word in ("oneOf", "anyOf", "allOf"):
        if word in part:
            return draw(_fitting(draw(st.sampled_from(part[word]))))
    if "$ref" in part:
        return draw(st.integers())
    kind = part.get("type")
    kind = draw(st.sampled_from(kind)) if isinstance(kind, list) else kind
    if kind == "object":
        return {
            name: draw(_fitting(inner))
            for name, inner in part.get("properties", {}).items()
            if name in part.get("required", []) or draw(st.booleans())
        }
    if kind == "array":
        return [draw(_fitting(part["items"])) for _ in range(draw(st.integers(0, 3)))]
    of_kind: dict[Any, Any] = {
        "string": st.text(max_size=5),
        "integer": st.integers(),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return draw(of_kind.get(kind, JSON))


FORMS = _objects(SCHEMAS).flatmap(lambda part: st.tuples(st.just(part), _fitting(part)))


@QUICK
@given(FORMS)
def test_a_value_put_into_a_form_comes_out_as_it_was(both: tuple[dict[str, Any], Any]) -> None:
    """Whatever the schema and whatever the value: a field holds it, or JSON in its place does."""
    part, value = both
    field = schema.form_of({**part, "$defs": DEFINITIONS})
    problems: dict[schema.Path, str] = {}
    draft = json.loads(json.dumps(schema.draft_of(field, value)))  # by way of the page
    assert same(schema.value_of(field, draft, problems), value)
    assert set(problems.values()) <= {"This is needed."}  # what the value itself leaves out


@QUICK
@given(_objects(SCHEMAS))
def test_an_untouched_form_says_at_most_what_is_missing(part: dict[str, Any]) -> None:
    """What a form holds at first is its defaults, and is described in JSON."""
    field = schema.form_of({**part, "$defs": DEFINITIONS})
    problems: dict[schema.Path, str] = {}
    schema.value_of(field, schema.start_of(field), problems)
    assert set(problems.values()) <= {"This is needed."}
    json.dumps(schema.described(field), allow_nan=False)


@QUICK
@given(
    JSON
    | st.dictionaries(
        st.sampled_from(
            [
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
                "description",
                "minimum",
                "maxLength",
                "minItems",
            ]
        ),
        JSON,
    ),
    JSON,
)
def test_no_schema_and_no_draft_breaks_anything(odd: Any, draft: Any) -> None:
    """What claims to be a schema, or what a page claims was typed, may be anything."""
    for part in (odd, {"type": "object", "properties": {"part": odd}}):
        field = schema.form_of(part)
        json.dumps(schema.described(field))
        for typed in (draft, {"in": draft}, {"in": {"part": draft}}, {"raw": draft}):
            schema.value_of(field, typed)


def fields(properties: dict[str, Any], *required: str) -> dict[str, Field]:
    """The fields of an object by name."""
    form = schema.form_of({"type": "object", "properties": properties, "required": list(required)})
    assert isinstance(form, Group)
    return {field.name: field for field in form.fields}


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "string"}, Text),
        ({"type": "integer"}, Number),
        ({"enum": ["a", 1, None]}, Choice),
        ({"type": "boolean"}, Flag),
        ({"const": "a"}, Fixed),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, Group),
        ({"type": "array", "items": {"type": "string"}}, Items),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, Variants),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, Number),
        ({"type": ["string", "null"]}, Text),
        ({"oneOf": [{"const": "a", "title": "First"}, {"const": "b"}]}, Choice),
        ({"allOf": [{"type": "integer"}], "description": "x"}, Number),
        ({"type": "object", "additionalProperties": {"type": "string"}}, Raw),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, Raw),
        ({"$ref": "https://example.org/schema"}, Raw),
        ({"enum": [str(number) for number in range(500)]}, Text),
        (True, Raw),
    ],
)
def test_each_kind_of_schema_has_its_field(part: Any, kind: type[Field]) -> None:
    """What a form can show it shows, the rest is JSON."""
    assert isinstance(fields({"it": part}, "it")["it"], kind)


def test_a_field_says_what_it_takes() -> None:
    """Bounds in words, needed fields first, names made readable."""
    made = fields(
        {
            "seed": {"type": "integer", "minimum": 0},
            "prompt_text": {"type": "string", "title": "Prompt Text", "maxLength": 2000},
            "size": {"type": "number", "exclusiveMinimum": 0, "maximum": 2, "multipleOf": 0.5},
            "shots": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
        },
        "prompt_text",
    )
    assert next(iter(made)) == "prompt_text"
    assert [(field.label, field.rule) for field in made.values()] == [
        ("Prompt text", "At most 2,000 characters"),
        ("Seed", "At least 0"),
        ("Size", "More than 0, at most 2, in steps of 0.5"),
        ("Shots", "Exactly 1 item"),
    ]


def test_what_is_left_empty_is_not_sent() -> None:
    """An optional field without text is no argument; a null where null may be is one; text is needed."""
    made = schema.form_of(
        {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"type": ["integer", "null"]},
                "c": {"type": "string"},
                "d": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["a", "b"],
        }
    )
    problems: dict[schema.Path, str] = {}
    draft = {"in": {"a": "", "b": "", "c": "", "d": ["1", "x"]}}
    assert schema.value_of(made, draft, problems) == {"b": None, "d": [1, None]}
    assert problems == {("a",): "This is needed.", ("d", 1): "Type a whole number."}


def test_a_hostile_schema_makes_a_small_form() -> None:
    """Recursion, nesting without end, doubling references, thousands of fields and endless texts are cut."""
    nested: dict[str, Any] = {"type": "string"}
    for _ in range(3000):
        nested = {"type": "object", "properties": {"a": nested}}
    doubling = {
        f"d{k}": {
            "type": "object",
            "properties": {"a": {"$ref": f"#/$defs/d{k + 1}"}, "b": {"$ref": f"#/$defs/d{k + 1}"}},
        }
        for k in range(60)
    }
    merging = {
        f"d{k}": {"allOf": [{"$ref": f"#/$defs/d{k + 1}"}, {"$ref": f"#/$defs/d{k + 1}"}]} for k in range(60)
    }
    text = {
        "type": "string",
        "title": "t" * 1_000_000,
        "description": "d" * 1_000_000,
        "default": "x" * 1_000_000,
    }
    for hostile in (
        {"type": "object", "properties": {"n": nested}},
        {"type": "object", "properties": {"n": {"$ref": "#"}}},
        {"$ref": "#"},
        {"$defs": doubling, "type": "object", "properties": {"n": {"$ref": "#/$defs/d0"}}},
        {"$defs": merging, "type": "object", "properties": {"n": {"$ref": "#/$defs/d0"}}},
        {"type": "object", "properties": {f"f{k}": text for k in range(250)}},
        {"type": "object", "properties": {str(k): {} for k in range(100_000)}},
        {"type": "object", "properties": {"e": {"enum": ["x" * 10_000] * 150}}},
    ):
        field = schema.form_of(hostile)
        assert len(json.dumps(schema.described(field))) < 400_000
        assert schema.start_of(field) is not ...


def test_json_that_is_none_says_where() -> None:
    """A person finds the place; what nobody could send is refused."""
    for text, told in (
        ('{"a": }', "line 1, column 7"),
        ("[" * 100_000, "nested too deep"),
        ("[" * 500 + "]" * 500, "nested too deep"),
        ("NaN", "no NaN"),
        ("1e999", "too large"),
    ):
        with pytest.raises(ValueError, match=told):
            schema.from_json(text)


def test_the_first_shape_that_holds_a_value_is_chosen() -> None:
    """A value of one of several shapes goes to its own, told by the constants in them."""
    still = {"type": "object", "properties": {"kind": {"const": "still"}}, "required": ["kind"]}
    pan = {
        "type": "object",
        "title": "Pan",
        "properties": {"kind": {"const": "pan"}, "degrees": {"type": "number"}},
        "required": ["kind", "degrees"],
    }
    camera = fields({"camera": {"oneOf": [still, pan]}})["camera"]
    assert isinstance(camera, Variants)
    assert [option.label for option in camera.options] == ["still", "Pan"]
    assert schema.draft_of(camera, {"kind": "pan", "degrees": 90}) == {
        "v": 1,
        "d": {"in": {"kind": None, "degrees": "90"}},
    }
