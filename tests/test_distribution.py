"""What people install: the wheel and the sdist, built from this tree, tried in a fresh environment."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from in_marimo.environment import marimo_python
from support.environments import ROOT

from reelbook.classroom import handouts

pytestmark = [pytest.mark.browser]

# The panels' files, the lessons, the sandbox in a process of its own, a clip drawn there and looked at.
SMOKE = """
import reelbook as rb
from reelbook.lessons import shipped_lessons
assert "fresh" in rb.__file__, rb.__file__
session = rb.connect("sandbox")
session.sandbox.settings(pace=0)
clip = session.text_to_video("a fox", duration_seconds=1).result(60)
assert clip.poster().size == (640, 360)
rb.Studio(session)
print(*(lesson.name for lesson in shipped_lessons()))
"""


def test_a_wheel_and_an_sdist_are_all_that_is_needed(tmp_path: Path) -> None:
    """The sdist makes the same wheel; installed, it runs without this tree, and draws a clip."""
    builder, built = marimo_python(), tmp_path / "built"
    run(builder, "-m", "hatchling", "build", "-d", str(built), cwd=ROOT)
    [wheel], [sdist] = built.glob("*.whl"), built.glob("*.tar.gz")
    pip = (builder, "-m", "pip", "--disable-pip-version-check", "-q")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(sdist), cwd=tmp_path)
    assert names(wheel) == names(tmp_path / wheel.name)
    name = wheel.name.partition("-py3")[0]
    tops = {each.partition("/")[0] for each in names(wheel)}
    assert tops == {"reelbook", f"{name}.data", f"{name}.dist-info"}

    # What it requires is already there, in the environment that other tests share.
    fresh = tmp_path / "fresh"
    run(sys.executable, "-m", "venv", "--without-pip", str(fresh), cwd=tmp_path)
    python = str(fresh / "bin" / "python")
    [packages] = fresh.glob("lib/python*/site-packages")
    shared = run(
        builder, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path
    ).strip()
    (packages / "shared.pth").write_text(shared)
    run(*pip, "--python", python, "install", "--no-index", str(wheel), cwd=tmp_path)
    lessons = run(python, "-c", SMOKE, cwd=tmp_path).split()
    assert lessons == sorted(path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert "Usage: reelbook" in run(str(fresh / "bin" / "reelbook"), "--help", cwd=tmp_path)
    assert (fresh / "share" / "jupyter" / "labextensions" / "reelbook" / "package.json").exists()
    handouts.check_install(str(wheel))  # as a teacher's line is tried
    run(str(fresh / "bin" / "reelbook"), "sandbox", "stop", cwd=tmp_path)


def test_what_says_how_to_install_names_what_there_is() -> None:
    """No index need have Reelbook: each advice names a package of the extra that is missing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [each for extra in project["optional-dependencies"].values() for each in extra]
    advised = {
        advice.strip("'`")
        for file in (ROOT / "src").rglob("*.py")
        for advice in re.findall(r"pip install ('[^']+'|[\w\[\]]+)", file.read_text())
    }
    packages = {each for each in needed if not each.startswith("reelbook")}
    names = packages | {re.split(r"[<>=]", each)[0] for each in packages}
    assert {"mcp>=2.3,<3", "keyring", "jupyterlab", "dask[distributed]"} <= advised
    assert advised <= names, advised - names


def names(wheel: Path) -> list[str]:
    return sorted(zipfile.ZipFile(wheel).namelist())


def run(*command: str, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["REELBOOK_HOME"] = str(cwd / "home")
    ended = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{command}: {ended.stdout[-2000:]}{ended.stderr[-3000:]}"
    return ended.stdout
