"""Reelbook on top of what Colab ships: nothing of Colab's changes, and the panels' own tests pass there."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from in_marimo.environment import marimo_python
from notebooks.nbval_run import nbval
from notebooks.refresh import read
from support.environments import ROOT, project
from support.wheels import make_wheel

from colab.environment import COLABS_PYTHON, CONSTRAINTS, Environment
from reelbook.lessons import shipped_lessons
from reelbook.sandbox import server

IN_COLAB = """
import sys, types
google, colab, userdata = map(types.ModuleType, ("google", "google.colab", "google.colab.userdata"))
userdata.SecretNotFoundError = userdata.NotebookAccessError = userdata.TimeoutException = KeyError
userdata.get, colab.userdata = {}.__getitem__, userdata
sys.modules.update({"google": google, "google.colab": colab, "google.colab.userdata": userdata})
"""
# Base makes each public panel; the others have the controls, the traits and the messages of all.
PANELS = (
    *("base", "compare", "image_picker", "job_board", "job_card", "key_manager"),
    *("player", "prompt_form", "studio", "tool_explorer", "usage_chart"),
)


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


@pytest.fixture
def notebook_machine(colab: Environment, tmp_path: Path) -> Path:
    """A machine in Colab: its packages, and room for what is installed on top. Gives its Python."""
    machine = tmp_path / "machine"
    subprocess.run([colab.python, "-m", "venv", "--without-pip", str(machine)], check=True)
    [packages] = machine.glob("lib/python*/site-packages")
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    shared = subprocess.run([colab.python, "-c", where], capture_output=True, text=True, check=True).stdout
    (packages / "shared.pth").write_text(shared)
    return machine / "bin" / "python"


def test_lesson_06_runs_in_colab_after_its_first_cell(notebook_machine: Path, tmp_path: Path) -> None:
    """That cell installs a wheel and says so, and all others print what is stored."""
    build = [marimo_python(), "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    [wheel] = tmp_path.glob("*.whl")
    assert re.search(r"Added: reelbook==\S+$", _first_cell(notebook_machine, str(wheel)))

    spec = tmp_path / "jupyter" / "kernels" / "colab" / "kernel.json"
    spec.parent.mkdir(parents=True)
    start = f"{IN_COLAB}\nfrom ipykernel.kernelapp import main; main()"
    argv = [str(notebook_machine), "-c", start, "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Colab", "language": "python"}))
    folder = tmp_path / "lesson"
    folder.mkdir()
    nobody_watches = (
        "import reelbook; reelbook.connect('sandbox').sandbox.settings(pace=1, rate_limiting=False)"
    )
    home = {"REELBOOK_HOME": str(tmp_path / "home")}
    there = {**os.environ, **home, "PYTHONPATH": ""}
    subprocess.run([str(notebook_machine), "-c", nobody_watches], env=there, check=True)
    [packages] = notebook_machine.parents[1].glob("lib/python*/site-packages")
    [lesson] = [each for each in shipped_lessons() if each.name.startswith("06")]
    shutil.copy(lesson, folder)
    try:
        done = nbval(
            folder,
            "--nbval-kernel-name=colab",
            package=packages,
            settings={"JUPYTER_PATH": str(tmp_path / "jupyter"), "REELBOOK_INSTALL": str(wheel), **home},
        )
    finally:
        server.stop(tmp_path / "home")
    assert done.returncode == 0, done.stdout


def test_what_wants_other_versions_is_refused(notebook_machine: Path, tmp_path: Path) -> None:
    """The first cell leaves Colab's versions as they are, and pip says what stands in the way."""
    wheel = make_wheel(tmp_path, "greedy", requires=("numpy>=2.2",))
    said = _first_cell(notebook_machine, str(wheel))
    assert "Cannot install greedy==1.0" in said
    assert said.endswith("\nAdded:")


def test_the_first_cell_of_each_lesson_adds_what_the_lesson_needs() -> None:
    """One cell for all; the lessons that explore and call tools also name what those extras do."""
    extras = project()["optional-dependencies"]
    more = {"03": extras["explore"], "06": extras["agents"]}
    found = {}
    for lesson in shipped_lessons():
        first = next(cell for cell in read(lesson).cells if cell.cell_type == "code")
        found[lesson.name[:2]] = first.source
    for number, needed in more.items():
        asked = "".join(f' "{each}"' for each in needed)
        assert asked in found[number]
        found[number] = found[number].replace(asked, "")
    assert len(set(found.values())) == 1


def test_reelbook_imports_nothing_heavy_there(colab: Environment) -> None:
    """The panels load with Colab's ipywidgets, and importing reelbook alone loads none of it."""
    script = (
        "import sys, reelbook\n"
        "assert not {'ipywidgets', 'httpx', 'av'} & set(sys.modules)\n"
        "[getattr(reelbook, name) for name in reelbook.__all__]\n"
        "import ipywidgets\n"
        "print(ipywidgets.__version__)"
    )
    ended = _run(colab, "-c", script)
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
    ended = _run(colab, "-c", script)
    meant = ["_ipython_display_", "_repr_mimebundle_", "_send", "close", "observe", "send", "send_state"]
    assert (ended.stdout.split(), ended.returncode) == (meant, 0), ended.stderr


def test_the_panels_own_tests_pass_there(colab: Environment, tmp_path: Path) -> None:
    """ipywidgets 7.7.1 and traitlets 5.7.1 under the panels."""
    files = [str(ROOT / "tests" / "widgets" / f"test_{name}.py") for name in PANELS]
    ended = _run(
        colab,
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'there'}"),
        # Those old versions warn of themselves on a newer Python; and pytest-xdist isn't there.
        *("-W", "default", "-o", "addopts=--import-mode=importlib", *files),
    )
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-1000:]


def _changed(colab: Environment, installed: dict[str, str]) -> dict[str, str | None]:
    return {name: installed.get(name) for name in colab.before if installed.get(name) != colab.before[name]}


def _run(colab: Environment, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs Colab's Python with this Reelbook."""
    there = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [colab.python, *words], env=there, cwd=ROOT, capture_output=True, text=True, check=False
    )


def _first_cell(python: Path, place: str) -> str:
    """What the first cell of the lessons prints in Colab."""
    source = next(cell for cell in read(shipped_lessons()[0]).cells if cell.cell_type == "code").source
    script = python.parents[2] / "first.ipy"
    script.write_text(f"{IN_COLAB}\n{source}")
    environment = {**os.environ, "REELBOOK_INSTALL": place, "IPYTHONDIR": str(script.parent / "ipython")}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(python), "-m", "IPython", "--colors=NoColor", str(script)],
        env=environment,
        cwd=script.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout.strip()
