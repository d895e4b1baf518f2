"""What a form says of a field: its name, its bounds, its choices, each cut where it is too long."""

from __future__ import annotations

import json
import re
from typing import Final

from .fields import Field, Fixed, Group, Json, Schema

MAX_HELP: Final = 600
MAX_LABEL: Final = 80
_JOINED: Final = re.compile(r"(?<=[a-z])[A-Z](?=[a-z])")


def label(title: Json, name: str) -> str:
    """What a field is called: its title, or else its name made readable."""
    text = title if isinstance(title, str) and title.strip() else name
    # Schema generators make a title of the name, every word with a capital.
    if text.replace(" ", "_").lower() == name.lower():
        text = name
    if text == name:
        text = _JOINED.sub(lambda met: f" {met[0].lower()}", text.replace("_", " "))
    text = text[:1].upper() + text[1:]
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"


def variant_label(option: Field, schema: Schema, number: int) -> str:
    """What one of several shapes is called: by its title, by the constant in it, or by its type."""
    if isinstance(option, Group):
        consts = [str(field.value) for field in option.fields if isinstance(field, Fixed)]
        if option.label or consts:
            return option.label or value_words(consts[0])
    if option.label:
        return option.label
    words = {
        "string": "Text",
        "integer": "Whole number",
        "number": "Number",
        "boolean": "Yes or no",
        "array": "List",
        "object": "Object",
    }
    kind = schema.get("type")
    return words.get(kind, f"Variant {number}") if isinstance(kind, str) else f"Variant {number}"


def clipped(text: Json) -> str:
    """A description, cut where it is too long; empty where it is none."""
    if not isinstance(text, str):
        return ""
    text = text.strip()
    return text if len(text) <= MAX_HELP else f"{text[: MAX_HELP - 1]}…"


def value_words(value: Json) -> str:
    """A value to choose, as text."""
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"


def text_rule(schema: Schema) -> str:
    """How long a text may be: “At most 200 characters”."""
    least, most = count(schema.get("minLength")), count(schema.get("maxLength"))
    return between(least if least and least > 1 else None, most, "character")


def number_rule(schema: Schema) -> str:
    """The bounds of a number: “1 to 10”."""
    least, most = _bound(schema, "minimum"), _bound(schema, "maximum")
    above, below = _bound(schema, "exclusiveMinimum"), _bound(schema, "exclusiveMaximum")
    if least is not None and most is not None:
        rule = f"{least} to {most}"
    else:
        parts = [
            f"at least {least}" if least is not None else "",
            f"more than {above}" if above is not None else "",
            f"at most {most}" if most is not None else "",
            f"less than {below}" if below is not None else "",
        ]
        rule = ", ".join(filter(None, parts))
    if (step := _bound(schema, "multipleOf")) is not None and step != "1":
        rule = f"{rule}, in steps of {step}" if rule else f"in steps of {step}"
    return rule[:1].upper() + rule[1:]


def between(least: int | None, most: int | None, word: str) -> str:
    """So many, in words; empty without a bound."""

    def many(number: int) -> str:
        return f"{number:,} {word}{'' if number == 1 else 's'}"

    if least and most is not None:
        return f"Exactly {many(least)}" if least == most else f"{least:,} to {many(most)}"
    if least:
        return f"At least {many(least)}"
    return f"At most {many(most)}" if most is not None else ""


def count(value: Json) -> int | None:
    """A bound that is a count; None where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _bound(schema: Schema, name: str) -> str | None:
    value = schema.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return f"{value:,}" if isinstance(value, int) and abs(value) < 10**15 else f"{value:.15g}"
