"""`reelbook lab`: a real JupyterLab on the lessons, their copies, and no way from it to a live service."""

import importlib.util
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import httpx
import psutil
import pytest
from cli.conftest import Run
from cli.doubles import WAIT_SECONDS, read_until, start
from support.raw_server import RawServer

from reelbook.cli import lab
from reelbook.lessons import shipped_lessons
from reelbook.sandbox import server


@pytest.mark.browser
def test_jupyterlab_opens_on_the_first_lesson_and_never_sees_a_key(
    home: Path, folder: Path, live: RawServer
) -> None:
    """It serves the copied lesson over HTTP, its kernels find the sandbox and no key, Ctrl-C ends it all."""
    own = {f"JUPYTER_{what}_DIR": str(home / what) for what in ("CONFIG", "DATA", "RUNTIME")}
    process = start("lab", "--no-browser", cwd=folder, stderr=subprocess.STDOUT, **own)
    try:
        said = read_until(process, "token=")
        page = httpx.URL(re.findall(r"http://\S+/lab\S+token=\w+", said)[0])
        token = page.params["token"]
        assert page.path == "/lab/tree/01-first-video.ipynb"
        with httpx.Client(params={"token": token}, trust_env=False) as http:
            shown = http.get(page)
            assert shown.status_code == 200
            assert lab.ANNOUNCEMENTS in shown.text
            code = http.get(page.join("/lab/extensions/reelbook/static/remoteEntry.js"))
            assert (code.status_code, "still form" in code.text) == (200, True)
            lesson = http.get(page.join("/api/contents/01-first-video.ipynb")).json()
        assert lesson["content"]["cells"][0]["source"].startswith("# Your first clip")
        assert (folder / "reelbook-lessons" / "02-from-an-image.ipynb").exists()
        sandbox = server.find(home)
        assert sandbox is not None
        assert sandbox.url in said
        jupyter = [
            child for child in psutil.Process(process.pid).children() if "jupyterlab" in child.cmdline()
        ]
        [seen] = [child.environ() for child in jupyter]
        assert [name for name in seen if name.startswith("REELBOOK_")] == ["REELBOOK_HOME"]
        assert "sk-planted" not in json.dumps(seen) + said
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 0, rest
    assert not any(child.is_running() for child in jupyter)
    assert [exchange.first_line for exchange in live.seen] == ["GET /_sandbox/about HTTP/1.1"]
    assert "sk-planted" not in live.seen[0].head


def test_a_kernel_s_environment_has_no_way_to_a_live_service(tmp_path: Path) -> None:
    """Keys, addresses and ids are gone, the system's keyring answers nothing, the rest is as it was."""
    names = ("API_KEY", "BASE_URL", "MCP_URL", "USER_ID", "HOME")
    given = {f"REELBOOK_{name}": "x" for name in names} | {"PATH": "/bin"}
    given["JUPYTER_CONFIG_PATH"] = "/theirs"
    assert lab.environment(given, tmp_path) == {
        "PATH": "/bin",
        "JUPYTER_CONFIG_PATH": f"{tmp_path / 'jupyter'}{os.pathsep}/theirs",
        "REELBOOK_HOME": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }


def test_in_a_class_the_lessons_get_the_settings_of_the_card(
    run: Run, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lessons use the class's sandbox, and no other is started; a tool server isn't it."""
    seen: dict[str, str] = {}
    monkeypatch.setattr(lab, "_run", lambda command, environment: seen.update(environment) or 0)
    card = {"REELBOOK_API_KEY": "sk-card", "REELBOOK_MAX_SPEND": "2.00"}
    with server.in_thread(home.with_name("teacher"), pace=0) as shared:
        card["REELBOOK_BASE_URL"] = shared.url
        result = run("lab", REELBOOK_USER_ID="me", **card)
        assert (result.exit_code, f"class's sandbox runs at {shared.url}" in result.stdout) == (0, True)
    ours = {name: value for name, value in seen.items() if name.startswith("REELBOOK_")}
    assert ours == card | {"REELBOOK_HOME": str(home)}
    assert server.find(home) is None


def test_without_jupyterlab_the_install_command_is_said(
    run: Run, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is copied or started, and the way to get it is named."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = run("lab")
    assert (result.exit_code, "pip install jupyterlab" in result.stderr) == (1, True)
    assert list(folder.iterdir()) == []
    assert not home.exists()


def test_a_person_s_copy_is_never_written_over(
    run: Run, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new folder gets every lesson; one that was worked in stays as it is, and is named. A file in the
    folder's place is an error that says what to do.
    """
    monkeypatch.setattr(lab, "_run", lambda command, environment: 0)
    theirs = folder / "mine" / lab.FIRST_LESSON
    theirs.parent.mkdir()
    theirs.write_text("my work")
    result = run("lab", "mine")
    assert result.exit_code == 0, result.output
    assert f"Kept as they are: {lab.FIRST_LESSON}." in result.stdout
    shipped = {path.name: path.read_bytes() for path in shipped_lessons()}
    assert list(shipped)[:2] == ["00-for-teachers.ipynb", lab.FIRST_LESSON]
    copies = {path.name: path.read_bytes() for path in theirs.parent.iterdir()}
    assert copies == {**shipped, lab.FIRST_LESSON: b"my work"}
    (folder / "taken").touch()
    assert "Choose another folder" in run("lab", "taken/inside").stderr
