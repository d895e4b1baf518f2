"""Gathers what students install while there is a network: Reelbook's wheel and those of its dependencies.

pip resolves and downloads. It takes a target's tags by itself, but judges markers such as `sys_platform ==
"win32"` by the machine that it runs on; here it is given the target's.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..atomic_files import write_whole
from ..errors import ClassroomError, InvalidInput

PACKAGE: Final = "reelbook"
EXTRA: Final = "lab"  # brings JupyterLab
TARGETS: Final = "targets.json"
OLDEST_GLIBC: Final = 5  # manylinux_2_5, the oldest there is
_LEGACY: Final = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
_PLATFORM: Final = re.compile(r"win_(?P<win>\w+)|macosx_\d+_\d+_(?P<mac>\w+)|manylinux_2_\d+_(?P<linux>\w+)")
# What markers ask (PEP 508), by the kind of platform.
_MARKERS: Final = {
    "win": {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows"},
    "mac": {"os_name": "posix", "sys_platform": "darwin", "platform_system": "Darwin"},
    "linux": {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"},
}
_PIP_FOR_TARGET: Final = """
import json, runpy, sys
from pip._vendor.packaging import markers
here, target = markers.default_environment(), json.loads(sys.argv.pop(1))
markers.default_environment = lambda: {**here, **target}
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True)
class Target:
    """What students may have: a Python ("3.12") and a platform, as wheels name it ("win_amd64")."""

    python: str
    platform: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"3\.\d{1,2}", self.python):
            raise InvalidInput(f"A Python is given as 3.12, not {self.python!r}. Nothing was gathered.")
        if not _PLATFORM.fullmatch(self.platform):
            raise InvalidInput(
                f"A platform is given as win_amd64 or manylinux_2_28_x86_64, not {self.platform!r}. "
                "Nothing was gathered."
            )

    def __str__(self) -> str:
        return f"Python {self.python} on {self.platform}"

    def markers(self) -> dict[str, str]:
        kind, machine = self._machine()
        machine = machine.upper() if kind == "win" else machine
        full = {"python_version": self.python, "python_full_version": f"{self.python}.0"}
        return {**_MARKERS[kind], **full, "platform_machine": machine}

    def tags(self) -> list[str]:
        """The platforms whose wheels run there: pip knows a macOS's older versions, but no older glibc."""
        kind, machine = self._machine()
        if kind != "linux":
            return [self.platform]
        newest = int(self.platform.split("_")[2])
        glibcs = range(newest, OLDEST_GLIBC - 1, -1)
        legacy = [f"{name}_{machine}" for glibc, name in _LEGACY.items() if glibc <= newest]
        return [*(f"manylinux_2_{glibc}_{machine}" for glibc in glibcs), *legacy, f"linux_{machine}"]

    def _machine(self) -> tuple[str, str]:
        found = _PLATFORM.fullmatch(self.platform)
        assert found is not None
        assert found.lastgroup is not None
        return found.lastgroup, found[found.lastgroup]


def folder_of(home: Path) -> Path:
    """The folder of a home's wheels, which its rooms serve."""
    return home / "wheels"


def gather(
    folder: Path, targets: Sequence[Target], requirement: str | None = None
) -> Iterator[tuple[Target, str]]:
    """Downloads into `folder` what each target needs: yields it with what is missing, "" if nothing is.

    `requirement` defaults to this installation's Reelbook, with JupyterLab, whose wheel is built first. What
    the folder has already stays. Raises ClassroomError without pip, or if Reelbook's wheel can't be built.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    requirement = requirement or f"{PACKAGE}[{EXTRA}]=={own_wheel(folder)}"
    for target in targets:
        platforms = [f"--platform={tag}" for tag in target.tags()]
        ended = _run(
            *("-c", _PIP_FOR_TARGET, json.dumps(target.markers()), "download", "--quiet"),
            *("--only-binary=:all:", f"--python-version={target.python}", *platforms),
            *(f"--dest={folder}", f"--find-links={folder}", requirement),
        )
        if ended.returncode == 0:
            complete = {*complete_targets(folder), (target.python, target.platform)}
            write_whole(folder / TARGETS, json.dumps(sorted(complete, key=_age)).encode())
        yield target, "" if ended.returncode == 0 else _said(ended)


def complete_targets(folder: Path) -> list[tuple[str, str]]:
    """The Pythons and platforms for which the folder is complete, older Pythons first."""
    try:
        return [(python, platform) for python, platform in json.loads((folder / TARGETS).read_bytes())]
    except (OSError, ValueError, TypeError):
        return []


def _age(target: tuple[str, str]) -> tuple[int, str]:
    return int(target[0].partition(".")[2]), target[1]


def own_wheel(folder: Path) -> str:
    """Builds the wheel of this very Reelbook in `folder`, and returns its version. Raises ClassroomError.

    It is built from what was installed, as pip recorded it (PEP 610): a source folder, an archive, a
    repository, or else the index.
    """
    package = importlib.metadata.distribution(PACKAGE)
    recorded = json.loads(package.read_text("direct_url.json") or "{}")
    source = recorded.get("url", f"{PACKAGE}=={package.version}")
    if "vcs_info" in recorded:
        source = f"{recorded['vcs_info']['vcs']}+{source}@{recorded['vcs_info']['commit_id']}"
    ended = _run("-m", "pip", "wheel", "--quiet", "--no-deps", f"--wheel-dir={folder}", source)
    if ended.returncode:
        raise ClassroomError(
            f"Reelbook's own wheel can't be built from {source}: {_said(ended)} Nothing was gathered."
        )
    return package.version


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, *words, "--disable-pip-version-check", "--no-input")
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def _said(ended: subprocess.CompletedProcess[str]) -> str:
    lines = ended.stderr.strip().splitlines()
    if any("No module named" in line and "pip" in line for line in lines):
        raise ClassroomError("pip is missing here. Add it with: python -m ensurepip. Nothing was gathered.")
    wrong = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")] or lines[-1:]
    return " ".join(dict.fromkeys(wrong))
