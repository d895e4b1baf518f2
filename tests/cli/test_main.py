"""The command as a whole: its help, its exit codes, and how errors are said."""

import errno
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from unittest.mock import Mock

import pytest
from cli.conftest import Run
from cli.doubles import Book, command, environment, ran
from typer.testing import CliRunner

import reelbook
from reelbook import cli
from reelbook.errors import SandboxError
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.protocol import PACE_IS
from reelbook.session import connect


@pytest.mark.parametrize("group", [[], ["sweep"], ["jobs"], ["keys"], ["sandbox"], ["tools"], ["classroom"]])
def test_help_describes_every_command_to_its_end(run: Run, group: list[str]) -> None:
    """A person finds the commands there; no sentence breaks off, and no type of Python's shows."""
    listed = run(*group, "--help").stdout.partition("\nCommands:\n")[2].rstrip()
    for name in re.findall(r"^  (\w+) ", listed, re.MULTILINE):
        assert re.findall(r"<\w+[>[]", run(*group, name, "--help").stdout) == []
    assert listed != ""
    assert [line for line in listed.splitlines() if not line.endswith(".")] == []
    assert "..." not in listed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["generate", "x", "--sparkle"], "--sparkle"),
        (["generate", "x", "--duration", "abc"], "Give a whole number."),
        (["generate", "x", "--service", "prod"], "'prod' is not one of 'auto', 'sandbox', 'live'."),
        (["jobs", "--limit", "0"], "Give 1 or more."),
        (["jobs", "--min-cost", "abc"], "Give a number."),
        (["jobs", "--service", "moon"], "'moon' is not one of 'auto', 'sandbox', 'live'."),
        (["jobs", "resume", "--alone"], "It only makes sense with --find-out."),
        (["usage", "--days", "0"], "Give 1 or more."),
        (["usage", "--days", "400"], "Give 365 or less."),
        (["sandbox", "serve", "--pace", "hasty"], f"The {PACE_IS}."),
        (["sandbox", "serve", "--port", "99999"], "Give 65535 or less."),
        (["lab", "--port", "99999"], "Give 65535 or less."),
        (["sandbox", "serve", "--balance", "inf"], "Give 1000000 or less."),
    ],
)
def test_bad_usage_is_said_plainly(run: Run, home: Path, words: list[str], said: str) -> None:
    """Without the words of the library that checks it; it ends in 2, as others do, and starts nothing."""
    result = run(*words)
    assert (result.exit_code, result.stderr.endswith(f": {said}\n")) == (2, True), result.stderr
    assert not home.exists()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("receipt", "Did you mean 'reelbook jobs receipt'?"),
        ("status", "Did you mean 'reelbook sandbox status' or 'reelbook classroom status'?"),
        ("genrate", "Did you mean 'generate'?"),
    ],
)
def test_a_command_that_isnt_there_is_answered_with_those_meant(run: Run, word: str, said: str) -> None:
    """A group's command that was asked for alone, or a mistyped one."""
    result = run(word)
    assert (result.exit_code, result.stderr.endswith(f"No such command '{word}'. {said}\n")) == (2, True)


def test_the_beginning_of_a_name_stands_for_the_command(run: Run) -> None:
    """Where there is one such command only."""
    assert run("gen", "--help").stdout == run("generate", "--help").stdout
    assert run("s", "--help").exit_code == 2


def test_a_shell_completes_the_commands() -> None:
    """Once it is installed: what it is asked is answered."""
    asked = {"_REELBOOK_COMPLETE": "complete_bash", "COMP_WORDS": "reelbook cl", "COMP_CWORD": "1"}
    answer = CliRunner().invoke(cli.app, [], prog_name="reelbook", env=asked)
    assert answer.stdout.split() == ["classroom"]


def test_a_home_that_cant_be_used_is_said_plainly(run: Run, tmp_path: Path) -> None:
    """Here a file is in its place: no system's error number, and what to do."""
    (tmp_path / "file").touch()
    result = run("balance", "--service", "sandbox", "--home", str(tmp_path / "file" / "home"))
    assert result.exit_code == 1
    assert result.stderr.startswith("The sandbox can't write in ")
    assert result.stderr.endswith("Choose another home, by REELBOOK_HOME for example.\n")


def test_a_library_error_is_one_clean_line(run: Run, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """It ends in 1 with its text on stderr and no traceback; with --debug the error itself comes through.

    A system's error is said without its number. An interrupt says what it left behind, with a command in
    place of code.
    """
    monkeypatch.setattr(server, "find", Mock(side_effect=SandboxError("The sandbox is broken.")))
    result = run("sandbox", "status")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "The sandbox is broken.\n")
    assert isinstance(run("--debug", "sandbox", "status").exception, SandboxError)

    monkeypatch.setattr(server, "find", Mock(side_effect=OSError(errno.ENOSPC, "No space left", "a.mp4")))
    assert run("sandbox", "status").stderr == "a.mp4: No space left\n"

    stop = KeyboardInterrupt()
    stop.add_note("Revoke the new one: session.keys.revoke('key_1').")
    monkeypatch.setattr(server, "find", Mock(side_effect=stop))
    result = run("sandbox", "status")
    assert (result.exit_code, result.stderr) == (130, "Revoke the new one: reelbook keys revoke key_1.\n")


def test_what_the_outputs_encoding_lacks_is_escaped(book: Book) -> None:
    """As on Windows, where a file or a pipe has an encoding of few characters."""
    book.job("req_1", prompt="夜 fox")
    for words in (("jobs",), ("jobs", "--json")):
        said = subprocess.run(
            command(*words), env=environment(PYTHONIOENCODING="cp1252"), capture_output=True, check=True
        )
        assert "\\u591c fox" in said.stdout.decode("cp1252"), said


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's redirections")
@pytest.mark.parametrize(("words", "code"), [("jobs >&-", 0), ("jobs 2>&-", 0), ("tools list <&-", 1)])
def test_a_closed_stream_is_one_that_nobody_is_at(home: Path, words: str, code: int) -> None:
    """As a program in the background may be started."""
    ended = subprocess.run(
        ["/bin/sh", "-c", f"{shlex.join(command())} {words}"],
        env=environment(REELBOOK_MCP_URL="http://127.0.0.1:9/mcp"),
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, b"Traceback" in ended.stderr) == (code, False), ended


def test_a_warning_is_one_clean_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A warning of the library is said without the place in the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(cli, "app", lambda: warnings.warn("The key travels unencrypted.", stacklevel=1))
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
        cli.main()
    assert capsys.readouterr().err == "The key travels unencrypted.\n"


def test_python_dash_m_is_the_same_command() -> None:
    """`python -m reelbook` answers as `reelbook` does: with the package's own version."""
    assert ran("--version").stdout == f"reelbook {reelbook.__version__}\n"


def test_a_key_on_the_command_line_is_not_repeated(run: Run, sandbox: Sandbox) -> None:
    """It may have been pasted for anything; the error says what is wrong without it."""
    with connect("sandbox") as session:
        session.text_to_video("a fox", duration_seconds=1).result(30)
    key = "sk-planted-word"
    for words in (
        (key,),
        ("generate", "a fox", "--service", key),
        ("generate", "a fox", "--duration", key),
        ("generate", "a fox", "--ratio", key, "--service", "sandbox"),
        ("generate", "a fox", "--image", key),
        ("jobs", "--since", key),
        ("jobs", "--state", key),
        ("jobs", "show", key),
        ("keys", "revoke", key, "--yes", "--service", "sandbox"),
        ("tools", "call", "generate_video_from_text", key),
    ):
        result = run(*words)
        assert result.exit_code == 2, result.output
        assert "planted" not in result.output, words
