"""The checks of the whole tree, run with the tests so that one command runs them all."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check"),
        ("ruff", "format", "--check"),
        ("mypy",),
        ("lint-imports", "--no-cache"),  # what it keeps outlives a module that was added
    ],
    ids=" ".join,
)
def test_the_tree_is_clean(command: tuple[str, ...]) -> None:
    """Linter, formatter, strict types and the floors have nothing to say."""
    ended = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_ci_runs_the_readmes_command() -> None:
    """What CI runs is what a person is told to run."""
    commands = re.findall(r"```sh\n(python3 -m venv .*)\n```", (ROOT / "README.md").read_text())
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text()


def test_every_test_says_what_it_shows() -> None:
    """Each test has a docstring of its own."""
    silent = [
        f"{path.relative_to(ROOT)}: {found[1]}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for found in re.finditer(
            r'^ *(?:async )?def (test_\w+)\((?:[^()]|\([^()]*\))*\) -> None:\n(?! *""")',
            path.read_text(),
            re.M,
        )
    ]
    assert silent == []
