"""Earlier prompts and kept styles beside a field for a prompt; they are looked up when they are asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from reelbook.session import Session

from ..text.form import history_note, styles_note
from .base import Panel

EARLIER = 20  # prompts that are offered at a time


class OffersPrompts(Panel):
    """For a panel of a session that has a field for a prompt. What is offered isn't kept in its state."""

    session: Session

    @cached_property
    def styles(self) -> Any:
        """The Styles of the session's home."""
        from reelbook.explore.wildcards import Styles  # who sends plain prompts needs no templates

        return Styles(self.session.home)

    def _on_history(self, content: dict[str, Any], _: object) -> None:
        text = str(content.get("text", ""))
        found = self.session.prompts(text, limit=EARLIER)
        self._offer(content, found, history_note(len(found), searched=bool(text.strip()), most=EARLIER))

    def _on_styles(self, content: dict[str, Any], _: object) -> None:
        found = list(self.styles)
        self._offer(content, found, styles_note(len(found), self.styles.path))

    def _on_keep_style(self, content: dict[str, Any], _: object) -> None:
        self.styles.add(str(content.get("text", "")))
        self._on_styles(content, _)

    def _on_remove_style(self, content: dict[str, Any], _: object) -> None:
        self.styles.remove(str(content.get("text", "")))
        self._on_styles(content, _)

    def _offer(self, content: dict[str, Any], items: Any, note: str) -> None:
        self.send({"name": "offered", "id": content.get("id"), "items": list(items), "note": note})
