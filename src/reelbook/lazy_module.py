"""Modules that are loaded when something of them is first used, so that importing stays light."""

import importlib
from typing import Any


class LazyModule:
    """Stands for the module `name`. Reading a private attribute, as test runners do, doesn't load it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
