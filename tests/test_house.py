"""How the house is built: no circles, a test for each module, and a reading order that leads somewhere."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "reelbook"
TESTS = ROOT / "tests"

_DRAWS = "draws a part of the picture, which tests/sandbox/render/test_pictures.py holds tile by tile"
# Modules without a test file of their own name, and why they need none.
EXEMPT: dict[str, str] = {
    **{
        f"reelbook.sandbox.render.{name}": _DRAWS
        for name in (
            *("animals", "craft", "elsewhere", "figures", "film", "flyers", "indoors", "land", "mark"),
            *("people", "plants", "relief", "setting", "shapes", "sky", "subjects", "swimmers", "town"),
            *("vehicles", "water", "weather"),
        )
    },
}
# Modules whose tests reach them from outside, and so name nothing of theirs; and the way in. As commands of
# the terminal are reached by their words, theirs aren't listed.
REACHED: dict[str, str] = {
    "reelbook.account.balance": "session.balance() and session.facts",
    "reelbook.account.keys": "session.keys",
    "reelbook.account.reconcile": "session.reconcile()",
    "reelbook.ledger.spend": "Ledger.spend",
    "reelbook.magics": "%%video in a cell",
    "reelbook.sandbox.app": "HTTP",
    "reelbook.sandbox.billing": "HTTP",
    "reelbook.sandbox.control": "HTTP under /_sandbox",
    "reelbook.sandbox.fault_injection": "HTTP with a fault that is due",
    "reelbook.sandbox.job_queue": "HTTP, over restarts",
    "reelbook.sandbox.tool_server": "the official client of its protocol",
    "reelbook.sandbox.tools": "HTTP at /mcp",
    "reelbook.session.job_lifecycle": "a session's jobs",
    "reelbook.session.job_registry": "a session's jobs",
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


def has_logic(path: Path) -> bool:
    """Whether a module has a function or a method; constants and type declarations alone need no test.

    Every process that collects tests asks for all modules: they are not parsed for it.
    """
    return bool(re.search(r"^ *(async )?def ", path.read_text("utf-8"), re.MULTILINE))


def namesake(name: str) -> Path:
    """The test file of a module: in the folder of the same name."""
    *folders, stem = name.split(".")[1:]
    return TESTS.joinpath(*folders, f"test_{stem}.py")


@cache
def own_names() -> dict[str, set[str]]:
    """What only one module defines, by module: public functions, classes and methods."""
    defined = {
        module: {
            node.name
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and not node.name.startswith("_")
        }
        for module, path in KNOWN.items()
    }
    times = Counter(name for names in defined.values() for name in names)
    return {module: {name for name in names if times[name] == 1} for module, names in defined.items()}


def uses(test: ast.Module, module: str) -> bool:
    """Whether a test imports the module, perhaps in a child process, or names what it alone defines."""
    texts = (node.value for node in ast.walk(test) if isinstance(node, ast.Constant))
    if module in imports(test) or any(isinstance(text, str) and f"{module} " in text for text in texts):
        return True
    named = {node.attr for node in ast.walk(test) if isinstance(node, ast.Attribute)}
    named |= {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return bool(own_names()[module] & named)


def can_fail(node: ast.AST) -> bool:
    """Whether it is a test that asserts something, by a statement or by `pytest.raises`."""
    return (
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and any(
            isinstance(each, ast.Assert) or (isinstance(each, ast.Attribute) and each.attr == "raises")
            for each in ast.walk(node)
        )
    )


LOGIC = [
    name
    for name, path in KNOWN.items()
    if path.name not in ("__init__.py", "__main__.py") and has_logic(path) and name not in EXEMPT
]


@pytest.mark.parametrize("name", LOGIC)
def test_each_module_has_a_test_of_its_name(name: str) -> None:
    """The test file lies where the module's name says, has a test that can fail, and uses the module."""
    path = namesake(name)
    assert path.exists(), f"{name} has no {path.relative_to(ROOT)}"
    test = parsed(path)
    assert any(map(can_fail, ast.walk(test))), f"nothing is asserted in {path.relative_to(ROOT)}"
    if name not in REACHED and not name.startswith("reelbook.cli."):
        assert uses(test, name), f"{path.relative_to(ROOT)} doesn't use {name}"


def test_exemptions_are_needed() -> None:
    """Each names a module that exists; none of the exempt has a test of its name by now."""
    assert EXEMPT.keys() | REACHED.keys() <= KNOWN.keys()
    assert [name for name in EXEMPT if namesake(name).exists()] == []


def test_the_reading_order_leads_through_files_that_exist() -> None:
    """Every path that the README's guide to the house names is there."""
    guide = (ROOT / "README.md").read_text("utf-8").partition("## The house")[2]
    named = re.findall(r"`((?:src|tests|notebooks)/[\w./-]+)`", guide)

    assert len(named) >= 10
    assert [each for each in named if not (ROOT / each).exists()] == []
