"""Modules that are loaded when something of them is first used, so that importing stays light."""

from __future__ import annotations

import importlib
from typing import Any


class LazyModule:
    """Stands for the module `name`. Type checkers are shown the module itself where this is used.

    Inspecting it, as test runners and completers do by private names, doesn't load it.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
