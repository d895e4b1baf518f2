"""A module that is loaded when something of it is first used."""

import sys
from pathlib import Path

import pytest

from reelbook.lazy_module import LazyModule


def test_it_is_loaded_at_its_first_use_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Naming and inspecting it cost nothing."""
    (tmp_path / "planted_heavy.py").write_text(
        "import itertools\nnumbers = itertools.count(1)\nmade = next(numbers)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    heavy = LazyModule("planted_heavy")
    assert not hasattr(heavy, "__wrapped__")
    assert "planted_heavy" not in sys.modules
    assert heavy.made == 1
    assert next(heavy.numbers) == 2
    assert heavy.numbers is sys.modules.pop("planted_heavy").numbers


def test_what_it_hasnt_is_missing_as_in_any_module() -> None:
    """So is a module that isn't there."""
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        _ = LazyModule("json").nothing_of_that_name
    with pytest.raises(ModuleNotFoundError):
        _ = LazyModule("planted_nowhere").anything
