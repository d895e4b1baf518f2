"""Forms made from JSON Schema: what a tool takes, as fields a page can draw, and back to arguments.

`reading` makes fields of a schema and `describing` tells the page of them; `drafts` turns what a person typed
into arguments, and arguments into what could have been typed; `checking` holds arguments against the schema.
Knows no widget and no tool.
"""

from __future__ import annotations

from .checking import Problems, get_ready, problems_of
from .describing import by_pointer, described
from .drafts import as_json, draft_of, from_json, start_of, value_of
from .fields import UNSET, Field, Path
from .reading import form_of

__all__ = [
    "UNSET",
    "Field",
    "Path",
    "Problems",
    "as_json",
    "by_pointer",
    "described",
    "draft_of",
    "form_of",
    "from_json",
    "get_ready",
    "problems_of",
    "start_of",
    "value_of",
]
