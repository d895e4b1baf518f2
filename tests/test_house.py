"""How the house is built: no circles, a test of each public thing, a reading order that leads somewhere."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

import reelbook

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "reelbook"
TESTS = ROOT / "tests"

# Public things that tests reach without naming them, and by what.
REACHED = {
    "AsyncClient.budget_beside_others": "sweep.plan()",
    "AsyncClient.moved_to": "a sandbox that is started again",
    "Gallery.clip_poster": "a tile's picture",
    "JobBoard.clip_poster": "a row's picture",
    "JobView": "job.view(), and the views that tests make",
    "Matrix.clip_poster": "a cell's picture",
    "PromptForm.on_replace_key": "a press on Replace key",
    "Rotation": "session.keys.rotate()",
}


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name; a package stands under its own name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


KNOWN = modules()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imports(tree: ast.Module, package: str = "") -> Iterator[str]:
    """The modules of the house that the code of `package` imports: anywhere in it, types included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in KNOWN)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            for each in node.names:
                inner = f"{base}.{each.name}"
                if inner in KNOWN:
                    yield inner
                elif base in KNOWN:
                    yield base


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that reach each other (Tarjan's strongly connected components)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for target in arrows[name]:
            if target not in order:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], order[target])
        if low[name] == order[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in arrows:
        if name not in order:
            visit(name)
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Neither at run time nor in the types does a module lead back to itself."""
    arrows = {}
    for name, path in KNOWN.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        arrows[name] = set(imports(parsed(path), package)) - {name}

    assert circles(arrows) == []


def test_circles_are_found() -> None:
    """The search sees a circle of three, and none in a straight line."""
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_imports_are_read_however_they_are_written() -> None:
    """Relative or absolute, at the top, in a function or for the types alone."""
    code = """
from .. import wire
from ..client.scheduling.budget import Budget
from . import job
import reelbook.errors, os
if TYPE_CHECKING:
    from .clip import Clip
def late():
    from reelbook import settings
"""
    assert sorted(imports(ast.parse(code), "reelbook.session")) == [
        "reelbook.client.scheduling.budget",
        "reelbook.errors",
        "reelbook.session.clip",
        "reelbook.session.job",
        "reelbook.settings",
        "reelbook.wire",
    ]


def test_each_class_has_a_name_of_its_own() -> None:
    """Whoever reads a class's name knows which one it is, wherever it stands."""
    homes: dict[str, list[str]] = {}
    for name, path in KNOWN.items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name)
    assert {each: places for each, places in homes.items() if len(places) > 1} == {}


def public_things() -> Iterator[str]:
    """The public names of the package, and the public methods and properties of its classes."""
    for name in reelbook.__all__:
        thing = getattr(reelbook, name)
        if inspect.ismodule(thing):
            continue
        yield name
        if inspect.isclass(thing) and thing.__module__.startswith("reelbook."):
            yield from (
                f"{name}.{each}"
                for each, value in vars(thing).items()
                if not each.startswith("_")
                and (inspect.isroutine(value) or isinstance(value, property | cached_property))
                and getattr(value, "__module__", thing.__module__).startswith("reelbook.")
            )


def test_each_public_thing_is_used_by_a_test() -> None:
    """What people can call is called by a test; how the files are named doesn't matter."""
    used = set(re.findall(r"\w+", "".join(path.read_text("utf-8") for path in TESTS.rglob("test_*.py"))))

    unused = {thing for thing in public_things() if thing.rpartition(".")[2] not in used}
    assert unused - REACHED.keys() == set()


def test_the_reading_order_leads_through_files_that_exist() -> None:
    """Every path that the README's guide to the house names is there."""
    guide = (ROOT / "README.md").read_text("utf-8").partition("## The house")[2]
    named = re.findall(r"`((?:src|tests|notebooks)/[\w./-]+)`", guide)

    assert len(named) >= 10
    assert [each for each in named if not (ROOT / each).exists()] == []
