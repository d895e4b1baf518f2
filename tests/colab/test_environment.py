"""Reelbook on top of what Colab ships: nothing of Colab's changes, and the panels' own tests pass there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from colab.environment import COLABS_PYTHON, CONSTRAINTS, ROOT, Environment

pytestmark = [pytest.mark.browser]

PARTS = 3  # each runs where there is room
SCHEMA_FORM = ROOT / "tests" / "widgets" / "test_schema_form.py"


def test_it_is_tried_on_colabs_python(colab: Environment) -> None:
    """Says so where the machine has no such Python."""
    if not colab.version.startswith("{}.{}.".format(*COLABS_PYTHON)):
        pytest.skip(f"no whole CPython 3.13 here: Colab's versions are tried on {colab.version}")


def test_the_versions_are_colabs(colab: Environment) -> None:
    """What the constraints name is what was installed."""
    wanted = dict(line.split("==") for line in CONSTRAINTS.read_text().splitlines() if "==" in line)
    assert wanted == {name: colab.before.get(name.replace("_", "-")) for name in wanted}


def test_installing_reelbook_changes_no_version_of_colabs(colab: Environment) -> None:
    """Its requirements add av (and filelock, which Colab has too) and leave the rest as it was."""
    assert _changed(colab, colab.after) == {}
    assert colab.after.keys() - colab.before.keys() <= {"av", "filelock"}


def test_the_agents_extra_changes_none_either(colab: Environment) -> None:
    """It only adds."""
    assert _changed(colab, colab.with_agents) == {}


def test_reelbook_imports_nothing_heavy_there(colab: Environment) -> None:
    """The panels load with Colab's ipywidgets, and importing reelbook alone loads none of it."""
    script = (
        "import sys, reelbook\n"
        "assert not {'ipywidgets', 'httpx', 'av'} & set(sys.modules)\n"
        "[getattr(reelbook, name) for name in reelbook.__all__]\n"
        "import ipywidgets\n"
        "print(ipywidgets.__version__)"
    )
    ended = subprocess.run(
        [colab.python, "-c", script], env=_environment(), capture_output=True, text=True, check=False
    )
    assert (ended.stdout.strip(), ended.stderr) == ("7.7.1", "")


def test_no_panel_hides_what_those_ipywidgets_call(colab: Environment) -> None:
    """A method of ours under the name of one of theirs would be called in its place."""
    script = (
        "import importlib, inspect, pkgutil, anywidget, ipywidgets, reelbook.widgets as ours\n"
        "theirs = {*dir(ipywidgets.VBox), *dir(anywidget.AnyWidget)}\n"
        "found = set()\n"
        "for each in pkgutil.iter_modules(ours.__path__, ours.__name__ + '.'):\n"
        "    for kind in vars(importlib.import_module(each.name)).values():\n"
        "        if inspect.isclass(kind) and kind.__module__ == each.name:\n"
        "            found |= {n for n, v in vars(kind).items() if n in theirs and inspect.isfunction(v)}\n"
        "print(*sorted(name for name in found if not name.startswith('__')))"
    )
    ended = subprocess.run(
        [colab.python, "-c", script], env=_environment(), capture_output=True, text=True, check=True
    )
    meant = ["_ipython_display_", "_repr_mimebundle_", "close", "observe", "send", "send_state"]
    assert ended.stdout.split() == meant


@pytest.mark.parametrize("part", range(PARTS))
def test_the_panels_own_tests_pass_there(colab: Environment, tmp_path: Path, part: int) -> None:
    """ipywidgets 7.7.1 and traitlets 5.7.1 under every panel."""
    # What draws forms of a schema knows nothing of ipywidgets.
    files = sorted(set((ROOT / "tests" / "widgets").glob("test_*.py")) - {SCHEMA_FORM})
    command = [
        *(colab.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'there'}"),
        # Those old versions warn of themselves on a newer Python; and pytest-xdist isn't there.
        *("-W", "default", "-o", "addopts=--import-mode=importlib", *map(str, files[part::PARTS])),
    ]
    ended = subprocess.run(command, env=_environment(), cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-1000:]


def _changed(colab: Environment, installed: dict[str, str]) -> dict[str, str | None]:
    return {name: installed.get(name) for name in colab.before if installed.get(name) != colab.before[name]}


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}
