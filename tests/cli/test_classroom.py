"""`reelbook classroom`: a few students, a kill in the middle, and the end of all keys."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.conftest import Run
from cli.doubles import WAIT_SECONDS, environment
from support.deadly import deadly
from support.raw_server import RawServer

import reelbook as rb
from reelbook.cli.classroom import progress_text
from reelbook.models import ApiKey
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

STUDENTS = [f"Student {number:02}" for number in range(1, 6)]

SETUP = """
from reelbook.account.keys import Keys
from reelbook.classroom import class_file, classroom, handouts
classroom.check_install = lambda _: None
"""


@pytest.fixture
def sandbox(home: Path) -> Iterator[Sandbox]:
    """A sandbox whose notebook key may ask as often as keys can."""
    with server.in_thread(home, pace=0, rate_limit=100) as running:
        running.settings(rate_limiting=False)
        yield running


@pytest.fixture
def names(folder: Path) -> Path:
    """Five students."""
    file = folder / "names.csv"
    file.write_text("\n".join(["name", *STUDENTS]))
    return file


@pytest.fixture
def words(names: Path, sandbox: Sandbox) -> list[str]:
    """`classroom open` for all of them."""
    return ["classroom", "open", "--students", str(names), "--address", sandbox.url, "--service", "sandbox"]


def keys() -> list[ApiKey]:
    """The class's keys as the service lists them."""
    with rb.connect("sandbox") as session:
        return [key for key in session.keys.list() if key.name != "notebook"]


def files(home: Path) -> list[Path]:
    return sorted(home.glob("classrooms/sandbox/*/*.txt"))


def key_in(file: Path) -> str:
    """The student's key."""
    return file.read_text().partition("REELBOOK_API_KEY=")[2].split("\n", 1)[0]


def one_for_each(home: Path, url: str) -> None:
    """Asserts that each student has one active key, and that it is the one in the student's file."""
    ids = {key.key_id: key.name.partition(" · ")[2] for key in keys() if key.is_active}
    assert sorted(ids.values()) == STUDENTS
    assert len(files(home)) == len(STUDENTS)
    for file in files(home):
        lines = file.read_text().splitlines()
        student = lines[0].partition(" · ")[0]
        assert [ids[each] for each in ids if f"# Key: {each}" in lines] == [student]
    with rb.connect("live", api_key=key_in(files(home)[-1]), base_url=url) as student_session:
        assert student_session.balance().balance_usd == 25


@pytest.mark.browser
@pytest.mark.parametrize(
    ("step", "before"),
    [
        pytest.param("handouts.prepare", False, id="after the folder"),
        pytest.param("Keys.create", True, id="before the POST"),
        pytest.param("Keys.create", False, id="after the answer"),
        pytest.param("handouts.write", False, id="after the file"),
        pytest.param("class_file.write", False, id="after the id"),
        pytest.param("handouts.keep", True, id="before the file"),
    ],
)
def test_killed_half_way_and_opened_again(
    step: str, before: bool, words: list[str], home: Path, run: Run, sandbox: Sandbox
) -> None:
    """At each step of the third key: five keys then, none twice, and none after the close."""
    nth = 1 if step == "handouts.prepare" else 3
    code = deadly(words, step, nth, before=before, setup=SETUP)
    killed = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, timeout=WAIT_SECONDS
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(files(home)) in ((0,) if nth == 1 else (2, 3))
    result = run(*words)
    assert (result.exit_code, "5 students" in result.stdout) == (0, True)
    one_for_each(home, sandbox.url)
    closed = run("classroom", "close", "--service", "sandbox")
    assert (closed.exit_code, "5 keys revoked now" in closed.stdout) == (0, True)
    assert not [key for key in keys() if key.is_active]


def test_two_students_of_one_name_are_told(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """The later one has a number, here and on the card. Those who aren't in a later list are named too, and
    those whose file is gone.
    """
    words = ("classroom", "open", "--students", "names.csv", "--out", "cards", "--address", sandbox.url)
    (folder / "names.csv").write_text("Ada\nBo\nAda\n")
    said = run(*words)
    assert said.exit_code == 0, said.output
    assert "There is more than one Ada. This one is “Ada (2)” on the card." in said.stderr
    (folder / "names.csv").write_text("Ada\n")
    (folder / "cards" / "02-bo.txt").unlink()
    said = run(*words)
    assert "weren't in this list, and keep their keys: Bo, Ada (2)" in said.stderr
    assert "1 student whose file isn't in the folder. --renew STUDENT makes another key: Bo" in said.stderr


def test_status_names_everybody(words: list[str], run: Run, sandbox: Sandbox, home: Path) -> None:
    """And what each did with the key, and keys that others made. No command says a secret."""
    assert run("classroom", "status").stdout == "No classroom is open.\n"
    said = run(*words).output
    assert str(files(home)[0].with_name("sheet.html")) in said
    assert "any student's key may be able to create and revoke keys" in said
    with rb.connect("live", api_key=key_in(files(home)[2]), base_url=sandbox.url) as student:
        student.keys.create("mine\x1b[31m too")
    status = run("classroom", "status")
    lines = status.stdout.splitlines()
    assert "5 students, 5 with a key, 1 used it." in lines[0]
    assert lines[1].split("  ") == ["", "Student 01", "never used"]
    assert lines[3].startswith("  Student 03  last used ")
    assert "1 made by others" in lines[6]
    assert ("mine[31m too" in lines[7], "\x1b" in lines[7]) == (True, False)
    said += status.output + run("classroom", "close").output
    assert {secret[:3] for secret in map(key_in, files(home))} == {"sk-"}
    assert not [secret for secret in map(key_in, files(home)) if secret in said]


def test_nothing_is_made_before_it_is_clear(
    request: pytest.FixtureRequest, run: Run, names: Path, home: Path
) -> None:
    """Not with a limit that no key can have, nor of a list that isn't there; and at a live service, with
    nobody at the terminal, not without a yes.
    """
    command = ("classroom", "open", "--students")
    assert run(*command, str(names), "--rate-limit", "101").exit_code == 2
    result = run(*command, str(names.with_name("nobody.csv")))
    assert (result.exit_code, "can't be read" in result.stderr) == (2, True)
    assert server.find(home) is None
    live: RawServer = request.getfixturevalue("live")
    result = run(*command, str(names))
    assert (result.exit_code, "--yes" in result.stderr) == (2, True)
    assert not [each for each in live.seen if "keys" in each.first_line]


def test_ctrl_c_ends_it_between_two_keys(
    words: list[str], home: Path, run: Run, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox
) -> None:
    """It says how to go on, and what was asked for is whole."""
    from reelbook.classroom import handouts

    real = handouts.write

    def pressed(*given: object) -> None:
        real(*given)  # type: ignore[arg-type]  # as it was called
        if len(files(home)) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(handouts, "write", pressed)
    result = run(*words)
    assert (result.exit_code, "goes on where it stopped" in result.stderr) == (130, True)
    assert len(files(home)) == len([key for key in keys() if key.is_active]) == 3
    monkeypatch.undo()
    monkeypatch.setenv("REELBOOK_HOME", str(home))
    assert run(*words).exit_code == 0
    one_for_each(home, sandbox.url)


def test_limits_that_the_balance_doesnt_cover_are_said_before(
    run: Run, words: list[str], sandbox: Sandbox
) -> None:
    """Five students with $12.00 each, and $25.00."""
    opened = run(*words, "--max-spend", "12")
    assert opened.exit_code == 0
    said = "Their limits come to $60.00, and the balance is $25.00: whoever comes late may find nothing left."
    assert opened.stderr.startswith(said)
    with rb.connect("sandbox") as session:
        session.keys.create("my own")
    closed = run("classroom", "close", "--service", "sandbox")
    assert "close --name" in closed.stderr
    assert "--all-made-since" in closed.stderr
    closed = run("classroom", "close", "--service", "sandbox", "--all-made-since")
    assert "1 key revoked now." in closed.stdout
    assert "--all-made-since" not in closed.stderr


def test_the_way_and_the_wait_are_said() -> None:
    """Where the budget holds it up, for how long."""
    assert progress_text(12, 30, 20.2) == "12 of 30, the next in 20 s"
    assert progress_text(12, 30, 0) == "12 of 30"
