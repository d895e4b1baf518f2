"""A class's handouts: a file for each student, and a sheet of cards to cut out.

They hold keys, so they go into a folder that only its owner can read, and never into a repository.
"""

import contextlib
import functools
import ipaddress
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from .. import settings, wire
from ..errors import InvalidInput
from ..formatting import dollars
from ..secret import Secret
from ..web.html import Html, filled, joined, kept_text
from .class_file import Classroom, keep

SHEET: Final = "sheet.html"
PACKAGE: Final = "reelbook"
_REPOSITORIES: Final = (".git", ".hg", ".svn")
_KEY_ID: Final = "# Key: "
_HERE: Final = Path(__file__).parent
# The interface doesn't say what a key may not do, so everybody is warned.
WARNING: Final = (
    "The service doesn't say what a key may not do: any student's key may be able to create and revoke keys, "
    "and to spend the whole balance. Hand a card to its student only, and close the classroom afterwards."
)


@dataclass(frozen=True)
class Handout:
    """The contents of a student's file."""

    key_id: str
    key: Secret


def checked(folder: Path, fresh: bool = False) -> Path:
    """`folder` made absolute. Raises InvalidInput in a repository, or for a `fresh` one that isn't empty."""
    folder = folder.expanduser().resolve()
    for place in (folder, *folder.parents):
        if any((place / name).exists() for name in _REPOSITORIES):
            raise InvalidInput(
                f"{folder} is inside a repository ({place}), and the files hold keys: one commit would "
                "publish them. Nothing was done. Name a folder elsewhere (`--out`)."
            )
    if folder.exists() and (not folder.is_dir() or (fresh and any(folder.iterdir()))):
        raise InvalidInput(
            f"{folder} holds other things. Nothing was done. Name a folder that is empty, or not there yet "
            "(`--out`)."
        )
    return folder


def prepare(folder: Path) -> None:
    """Makes `folder`, for its owner only, and removes half-written files that a killed `open` left."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    for left in folder.glob(".*"):
        if left.is_file():
            left.unlink()


def write(classroom: Classroom, student: str, key_id: str, key: Secret) -> None:
    """Writes a student's file: how to connect, and the only copy of the key. Raises ClassroomError."""
    keep(classroom.handout(student), functools.partial(_text, classroom, student, key_id, key))


def read(classroom: Classroom, student: str) -> Handout | None:
    """The contents of a student's file; None if it doesn't exist or isn't one."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = classroom.handout(student).read_text(encoding="utf-8")
        key_id = re.search(rf"^{_KEY_ID}(\S+)", text, re.MULTILINE)
        key = re.search(rf"^{settings.API_KEY}=(\S+)", text, re.MULTILINE)
        if key_id and key:
            return Handout(key_id[1], Secret(key[1]))
    return None


def write_sheet(classroom: Classroom) -> Path:
    """Writes the sheet of cards (HTML for A4) from the students' files. Raises ClassroomError."""
    path = Path(classroom.folder) / SHEET
    keep(path, functools.partial(_page, classroom))
    return path


def reaches_colab(address: str) -> bool:
    """Whether a notebook in Colab can reach this address: not one of this room or this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".local", ".localhost", ".lan", ".home.arpa"))


def requirement(given: str, *, extra: bool = False) -> str:
    """`given` (a wheel's address, a path or a name) as pip takes it, with the extra for JupyterLab or not.

    >>> requirement("https://example.org/reelbook-1.0-py3-none-any.whl", extra=True)
    'reelbook[lab] @ https://example.org/reelbook-1.0-py3-none-any.whl'
    """
    extras = "[lab]" if extra else ""  # Colab has a notebook of its own
    if "://" in given:
        return f"reelbook{extras} @ {given}"
    if re.search(r"[/\\]|\.whl$|^\.", given):
        return f"{given}{extras}"
    name, version = re.fullmatch(r"([\w.-]*)(.*)", given).groups()  # type: ignore[union-attr] # matches all
    return f"{name}{extras}{version}"


def check_install(given: str) -> None:
    """Installs `given` in a fresh environment, without its dependencies, and imports it.

    It takes some seconds. Raises InvalidInput with pip's words if that doesn't work.
    """
    with tempfile.TemporaryDirectory(prefix="reelbook-") as folder:
        # -I: what is in the current folder, or in PYTHONPATH, isn't what was installed.
        python = (str(Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"), "-I")
        pip = (*python, *["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"])
        for command in (
            (sys.executable, "-m", "venv", folder),
            (*pip, "--retries", "1", "--timeout", "10", requirement(given)),
            (*python, "-c", "import reelbook"),
        ):
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode:
                said = (ended.stderr or ended.stdout).strip().splitlines()
                raise InvalidInput(
                    f"“{given}” can't be installed here, so no card names it: "
                    f"{said[-1] if said else 'pip says nothing'}. Give the address of a wheel, a folder or "
                    "file that students reach, or a name that their index has (`--install`)."
                )


def _text(classroom: Classroom, student: str, key_id: str, key: Secret) -> str:
    code = "\n".join(f"   {line}" for line in _connecting(classroom).splitlines())
    install = in_colab = "(your teacher says how Reelbook is installed)"
    if classroom.install:
        install, in_colab = _pip(classroom, extra=True), f"%{_pip(classroom)}"
    colab = (
        f"In Colab, in a cell\n   {in_colab}"
        if reaches_colab(classroom.address)
        else f"Colab can't reach {classroom.address}: it runs elsewhere, and this address is in the room. "
        "Use a computer in the room's network."
    )
    return f"""\
{student} · {classroom.name}

On your own computer (Python 3.11 or newer)
   {install}
   jupyter lab

{colab}

Then, in a cell; it asks for the key, which stays out of the notebook
{code}

Settings. The key is yours alone: put it in no notebook, and show it to nobody.

{settings.API_KEY}={key.reveal()}
{settings.BASE_URL}={classroom.address}
{settings.MAX_SPEND}={classroom.max_spend_usd:.2f}

{_KEY_ID}{key_id}
"""


def _page(classroom: Classroom) -> str:
    return filled(
        _HERE,
        "sheet.html",
        name=classroom.name,
        style=Html(kept_text(_HERE / "static" / "sheet.css")),
        students=len(classroom.students),
        address=classroom.address,
        rate_limit=classroom.rate_limit,
        limit=dollars(classroom.max_spend_usd),
        warning=WARNING,
        closing=shlex.join(["reelbook", "classroom", "close", "--name", classroom.name]),
        cards=joined(_card(classroom, student) for student in classroom.students),
    )


def _card(classroom: Classroom, student: str) -> Html:
    key = Html("<p class=\"missing\">No key here: the student's file isn't in the folder.</p>")
    if (handout := read(classroom, student)) is not None:
        key = Html('<p class="key"><span>Key</span><code>{}</code></p>').format(handout.key.reveal())
    install, colab = "your teacher says how Reelbook is installed", "<b>Colab:</b> {}"
    in_colab = install
    if classroom.install:
        install = Html("<code>{}</code>").format(_pip(classroom, extra=True))
        in_colab = Html("<code>%{}</code> in a cell").format(_pip(classroom))
    if not reaches_colab(classroom.address):
        colab = "<b>Colab</b> can't reach this address: use a computer in the room's network."
    return filled(
        _HERE,
        "card.html",
        student=student,
        key=key,
        address=classroom.address,
        install=install,
        colab=Html(colab).format(in_colab),
        code=_connecting(classroom),
        price=dollars(wire.PRICE_USD_PER_SECOND),
        limit=dollars(classroom.max_spend_usd),
    )


def _connecting(classroom: Classroom) -> str:
    return (
        "import reelbook as rb\n"
        f'session = rb.connect(base_url="{classroom.address}", ask=True, '
        f"max_spend={classroom.max_spend_usd:.2f})\n"
        "rb.Studio(session)"
    )


def _pip(classroom: Classroom, *, extra: bool = False) -> str:
    return shlex.join(["pip", "install", requirement(classroom.install, extra=extra)])
