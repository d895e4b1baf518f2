"""The forms of a server's tools: what stands in them, what is wrong with it, and what it comes to.

A form is made when its tool is first looked at. Knows no widget.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reelbook.client.tool_values import Tool

from . import schema
from .words import tools as words

NO_PLACE = "The form has no place for all of this. Change it, or call it as it is."


class Forms:
    """What was typed, by tool. `problems` are those of the last look at arguments, by JSON pointer."""

    def __init__(self) -> None:
        self._fields: dict[str, schema.Field] = {}
        self._drafts: dict[str, Any] = {}
        self.problems: dict[str, str] = {}
        self.unchecked = ""

    def renew(self) -> None:
        """The tools were listed anew, and may take other things now. What was typed stays."""
        schema.get_ready()
        self._fields.clear()

    def keep(self, tool: Tool, draft: Any) -> None:
        """What stands in the tool's form now."""
        if draft is not None:
            self._drafts[tool.name] = draft

    def fill(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """Puts arguments into the tool's form."""
        self._drafts[tool.name] = schema.draft_of(self._field(tool), dict(arguments))

    def described(self, tool: Tool) -> tuple[dict[str, Any], Any]:
        """The tool's form for the page, and what stands in it."""
        field = self._field(tool)
        draft = self._drafts.get(tool.name)
        return schema.described(field), schema.start_of(field) if draft is None else draft

    def arguments(self, tool: Tool, draft: Any) -> dict[str, Any]:
        """What the draft comes to; notes what is wrong with it."""
        typed: dict[schema.Path, str] = {}
        value = schema.value_of(self._field(tool), draft, typed)
        if value is schema.UNSET:
            value = {}
        elif not isinstance(value, dict):
            typed[()] = "The arguments are an object: { … }."
        checked = schema.problems_of(tool.input_schema, value)
        self.unchecked = checked.unchecked
        # What was typed wrong isn't in the value: that it is missing is no second mistake.
        self.problems = schema.by_pointer({**checked.by_path, **typed})
        return value if isinstance(value, dict) else {}

    def turned(self, tool: Tool, draft: Any) -> Any:
        """The draft as JSON, or JSON as the form's draft; None where `problems` say why it can't be."""
        field = self._field(tool)
        if not (isinstance(draft, dict) and "raw" in draft):
            draft = {"raw": schema.as_json(schema.value_of(field, draft))}
        else:
            problems: dict[schema.Path, str] = {}
            value = schema.value_of(field, draft, problems)
            draft = schema.start_of(field) if value is schema.UNSET else schema.draft_of(field, value)
            if not problems and isinstance(draft, dict) and "raw" in draft:
                problems[()] = NO_PLACE
            if problems:
                self.problems = schema.by_pointer(problems)
                return None
        self.problems = {}
        self.keep(tool, draft)
        return draft

    def code(self, tool: Tool, draft: Any) -> str:
        """The call as code; empty where that would be too long."""
        value = schema.value_of(self._field(tool), draft)
        code = words.code(tool.name, value if isinstance(value, dict) else {})
        return code if len(code) <= words.MAX_CODE else ""

    def _field(self, tool: Tool) -> schema.Field:
        if tool.name not in self._fields:
            self._fields[tool.name] = schema.form_of(tool.input_schema)
        return self._fields[tool.name]
