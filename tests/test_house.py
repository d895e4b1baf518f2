"""How the house is built: no circles, a test of each public thing, a reading order that leads somewhere."""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path

import grimp  # what import-linter reads imports with

import reelbook

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "reelbook"
TESTS = ROOT / "tests"

# Public things that tests reach without naming them, and by what.
REACHED = {
    "AsyncClient.budget_beside_others": "sweep.plan()",
    "AsyncClient.moved_to": "a sandbox that is started again",
    "AsyncClient.with_key": "session.keys.rotate()",
    "Gallery.clip_poster": "a tile's picture",
    "JobBoard.clip_poster": "a row's picture",
    "JobView": "job.view(), and the views that tests make",
    "Matrix.clip_poster": "a cell's picture",
    "PromptForm.on_replace_key": "a press on Replace key",
    "Rotation": "session.keys.rotate()",
}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Neither at run time, nor in the types, nor within a function does a module lead back to itself."""
    graph = grimp.build_graph("reelbook", cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imported).prepare()  # a CycleError names the circle


def test_each_class_has_a_name_of_its_own() -> None:
    """Whoever reads a class's name knows which one it is, wherever it stands."""
    homes: dict[str, list[Path]] = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(path)
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
