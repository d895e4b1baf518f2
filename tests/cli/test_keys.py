"""`reelbook keys`: listed, made, revoked and changed, with the secret only where it was asked for."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from cli.conftest import Run
from cli.doubles import command, environment, on_a_terminal

import reelbook as rb
from reelbook import settings
from reelbook.sandbox.handle import Sandbox, handle_on
from reelbook.secret import Secret


def listed(run: Run) -> dict[str, dict[str, object]]:
    rows = json.loads(run("keys", "list", "--json").stdout)
    return {row["name"]: row for row in rows}


def test_the_list_has_no_secret_and_names_the_key_in_use(run: Run, sandbox: Sandbox) -> None:
    """A line each for a program, with the sum on the other stream. A narrow screen has whole ids and words,
    of which nothing could be read as columns.
    """
    result = run("keys", "list")
    head, line = result.stdout.splitlines()
    assert head.split("\t")[:5] == ["id", "name", "preview", "limit", "state"]
    assert line.split("\t")[4] == "in use"
    assert result.stderr == "1 active key.\n"
    assert sandbox.api_key.reveal() not in result.output
    said, code = on_a_terminal("keys", "list", columns=40)
    assert code == 0, said
    assert re.search(r"notebook · +key_\w{16}\r\n", said)
    assert "10 a minute" in said


def test_a_key_goes_where_it_was_asked_for(
    run: Run, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a private file; alone on standard output, so that it can be piped; or into the keyring, with the
    address that it belongs to. It is whole, and nowhere else. One that wasn't made leaves no file.
    """
    sandbox.fault("500", endpoint="create-key")
    file = folder / "ada.key"
    assert (run("keys", "create", "ada", "--out", "ada.key").exit_code, file.exists()) == (1, False)
    result = run("keys", "create", "ada", "--rate-limit", "20", "--out", "ada.key")
    assert result.exit_code == 0, result.output
    secret = file.read_text().strip()
    assert secret.startswith("sk-sandbox-")
    assert file.stat().st_mode & 0o777 == 0o600
    assert secret not in result.output
    assert listed(run)["ada"]["rate_limit"] == 20

    (line,) = run("keys", "create", "bo", "--show").stdout.splitlines()
    assert line.startswith("sk-sandbox-")

    kept: list[tuple[str, str]] = []
    monkeypatch.setattr(settings, "has_keyring", lambda: True)
    monkeypatch.setattr(settings, "keep", lambda key, url: kept.append((key.reveal(), url)))
    result = run("keys", "create", "cy", "--keep")
    ((key, url),) = kept
    assert (url, key in result.output) == (sandbox.url, False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--show", "--rate-limit", "0"], "The rate limit must be 1 to 100 requests a minute, not 0"),
        ([], "Say where the new key goes"),
        (["--out", "taken"], "taken already exists"),
        (["--out", "nowhere/ada.key"], "can't be written"),
        (["--keep"], "no keyring"),
    ],
)
def test_a_key_is_not_made_before_it_is_known_where_it_goes(
    run: Run, sandbox: Sandbox, folder: Path, words: list[str], said: str
) -> None:
    """No place, a file that is there, a folder that isn't, a system without a keyring: nothing is sent."""
    (folder / "taken").write_text("mine")
    result = run("keys", "create", "ada", *words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert (folder / "taken").read_text() == "mine"
    assert not sandbox.state()["requests"].get("create-key")


def test_a_key_that_cannot_be_printed_is_lost_with_a_word(sandbox: Sandbox, folder: Path) -> None:
    """Nobody reads the output any more: the error says how to revoke the key; in a file it isn't lost."""

    def unread(*words: str) -> subprocess.CompletedProcess[bytes]:
        ours, theirs = os.pipe()
        os.close(ours)
        line = command("keys", "create", "ada", "--show", *words)
        ended = subprocess.run(line, env=environment(), stdout=theirs, stderr=subprocess.PIPE, check=False)
        os.close(theirs)
        return ended

    assert re.search(rb"couldn't be printed: .* revoke it with reelbook keys revoke key_", unread().stderr)
    kept = unread("--out", "ada.key").stderr.decode()
    assert "It is in ada.key. It couldn't be printed" in kept
    assert (folder / "ada.key").read_text().startswith("sk-sandbox-")


def test_a_key_is_revoked_by_a_persons_word(run: Run, sandbox: Sandbox) -> None:
    """What stops is said first; without a terminal or --yes nothing is revoked."""
    run("keys", "create", "ada", "--show")
    key_id = str(listed(run)["ada"]["id"])
    refused = run("keys", "revoke", key_id)
    assert refused.exit_code == 2
    assert "Revoke “ada”" in refused.stderr
    assert listed(run)["ada"]["state"] == "active"
    assert run("keys", "revoke", key_id, "--yes").stdout == "“ada” is revoked.\n"
    assert listed(run)["ada"]["state"] == "revoked"
    assert "There is no key nobody" in run("keys", "revoke", "nobody", "--yes").stderr


def test_the_sandboxs_own_key_is_rotated(run: Run, sandbox: Sandbox, home: Path, folder: Path) -> None:
    """It is kept with the sandbox, the old one is revoked, and the next command works."""
    (old,) = listed(run).values()
    result = run("keys", "rotate", "--name", "second", "--yes", "--out", "second.key")
    assert result.exit_code == 0, result.output
    assert "It is kept with the sandbox. It is in second.key." in result.stderr
    rows = listed(run)
    assert rows["second"]["state"] == "in use"
    assert rows[str(old["name"])]["state"] == "revoked"
    assert handle_on(home, sandbox.url, 0).api_key.reveal() not in result.output


def test_a_configured_key_is_rotated_into_a_file(
    run: Run, sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment that still has the old one is named; unasked, the old one stays."""
    monkeypatch.setenv(settings.API_KEY, sandbox.api_key.reveal())
    monkeypatch.setenv(settings.BASE_URL, sandbox.url)
    result = run("keys", "rotate", "--name", "second", "--out", "new.key", "--service", "live")
    assert result.exit_code == 0  # nobody is there to be asked, and all that was asked for is done
    assert f"{settings.API_KEY} still has the old key" in result.stderr
    assert re.search(r"To revoke it: reelbook keys revoke key_\w+ --service live$", result.stderr)
    secret = Secret((folder / "new.key").read_text().strip())
    with rb.connect("live", api_key=secret, base_url=sandbox.url) as session:
        assert session.balance().balance_usd == 25
    with rb.connect("live") as session:
        assert session.balance().balance_usd == 25
