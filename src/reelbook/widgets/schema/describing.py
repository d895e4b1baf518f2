"""Fields and problems as JSON for the page, which draws them."""

from __future__ import annotations

from collections.abc import Mapping

from .drafts import start_of
from .fields import Choice, Draft, Field, Group, Items, Json, Number, Path, Raw, Text, Variants


def described(field: Field) -> dict[str, Json]:
    """The field for the page, without what is empty."""
    told: dict[str, Json] = {
        "kind": type(field).__name__.lower(),
        "name": field.name,
        "label": field.label,
        "help": field.help,
        "rule": field.rule,
        "need": field.required,
        "null": field.nullable,
    }
    match field:
        case Text():
            told |= {"type": field.kind if field.kind != "text" else "", "suggested": list(field.suggested)}
        case Number():
            told |= {"whole": field.integer}
        case Choice():
            told |= {"labels": list(field.labels)}
        case Group():
            told |= {"fields": [described(each) for each in field.fields]}
            if not field.required or field.nullable:
                told |= {"start": _included(field)}
        case Items():
            told |= {"item": described(field.item), "start": start_of(field.item)}
            told |= {"least": field.least, "most": field.most}
        case Variants():
            told |= {"options": [described(each) for each in field.options]}
            told |= {"starts": [start_of(each) for each in field.options]}
        case Raw():
            told |= {"why": field.why}
        case _:
            pass
    return {
        name: value
        for name, value in told.items()
        if value not in ("", False, None, []) or name in ("start", "kind")
    }


def by_pointer(problems: Mapping[Path, str]) -> dict[str, str]:
    """Texts by JSON pointer, as the page knows the fields: "/shots/0/prompt"."""
    return {"".join(f"/{_escaped(part)}" for part in path): text for path, text in problems.items()}


def _escaped(part: str | int) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")


def _included(group: Group) -> Draft:
    return {"in": {each.name: start_of(each) for each in group.fields}}
