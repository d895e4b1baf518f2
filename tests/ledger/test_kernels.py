"""Which kernels still live."""

from __future__ import annotations

from pathlib import Path

from reelbook.ledger.kernels import Kernel


def test_a_kernel_lives_until_it_ends(folder: Path) -> None:
    """Another one sees it live, and afterwards finds nothing of it."""
    one, other = Kernel(folder), Kernel(folder)
    one.begin()
    other.begin()
    assert (other.fate(one.name), one.fate(one.name)) == ("lives", "lives")
    one.end()
    assert other.fate(one.name) == "vanished"
    assert [path.stem for path in (folder / "kernels").iterdir()] == [other.name]
    other.end()


def test_a_file_that_nobody_holds_is_of_a_kernel_that_is_gone(folder: Path) -> None:
    """As a killed process leaves it: found again and again, until it is forgotten."""
    one = Kernel(folder)
    one.begin()
    (folder / "kernels" / "1-killed.lock").touch()
    assert [one.fate("1-killed"), one.fate("1-killed")] == ["gone", "gone"]
    one.forget("1-killed")
    assert one.fate("1-killed") == "vanished"
    one.end()
