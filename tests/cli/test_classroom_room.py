"""`reelbook classroom serve` and `report`: a class from one command, and what it came to."""

import csv
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typer
from classroom.room.visitors import Visitor
from cli.conftest import Run
from cli.doubles import read_until, start
from support.raw_server import RawServer
from support.waiting import until
from support.wheels import make_wheel

import reelbook as rb
from reelbook.classroom.room.app import Room
from reelbook.classroom.room.serving import in_thread, opened_room
from reelbook.classroom.room.store import RoomStore
from reelbook.classroom.wheels import Target, folder_of
from reelbook.cli.classroom_room import end_time, introduce
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox


@pytest.mark.browser
def test_a_class_from_one_command(home: Path, tmp_path: Path) -> None:
    """It prints address, code, QR code and token; Ctrl-C stops it, and the same command goes on."""
    names = tmp_path / "names.csv"
    names.write_text("name\nAda\nGrace\n")
    words = ["classroom", "serve", "--service", "sandbox", "--host", "127.0.0.1", "--cap", "20"]
    tokens = []
    for _ in range(2):
        process = start(*words, "--students", str(names), cwd=tmp_path, stderr=subprocess.STDOUT)
        said = read_until(process, "Ctrl-C stops it")
        url, code = re.findall(r"Students open +(\S+)\nCode +(\S+)", said)[0]
        tokens.append((code, re.findall(r"Its token +(\S+)", said)[0]))
        assert "█" in said
        with Visitor(url) as visitor:
            status = visitor.ask_to_join("Ada", code).status_code
        process.send_signal(signal.SIGINT)
        assert "the class goes on" in process.communicate(timeout=60)[0]
        assert process.returncode == 0
    assert status == 409  # Ada joined in the first run
    assert tokens[0] == tokens[1]
    assert "raised to $40.00" in said or server.find(home) is not None


def test_a_live_service_is_served_only_after_a_yes(
    run: Run, live: RawServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody sits there, so nothing is started; it says what may be spent, also of a class that goes on,
    whose list grows by a second one, where “grace” is no other. A certificate without its key is refused.
    """
    assert "belong together" in run("classroom", "serve", "--tls-cert", __file__).output
    result = run("classroom", "serve", "--cap", "3", "--places", "10")

    assert result.exit_code == 2
    assert "Nothing was started" in result.stderr
    asked: list[str] = []
    monkeypatch.setattr("reelbook.cli.classroom_room.require_yes", lambda said, **_: asked.append(said))
    names = tmp_path / "latecomers.csv"
    names.write_text("Radia\ngrace\n")
    terms: dict[str, Any] = {"cap_usd": 20, "students": ["Ada", "Grace"], "places": 2}
    with rb.connect("live") as session, opened_room(session, "FOX-234", **terms):
        run("classroom", "serve", "--places", "12")
        run("classroom", "serve", "--students", str(names))
    assert "at most $20.00 for each of 12 students, $240.00 in all" in asked[0]
    assert "at most $20.00 for each of 3 students, $60.00 in all" in asked[1]


def test_a_class_goes_on_while_the_service_is_away(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed and started again without internet, it serves: students have their pages, and clips wait."""
    served: list[str] = []

    def serve(room: Room, listening: socket.socket, on_started: object) -> None:
        served.append(room.url)
        listening.close()

    monkeypatch.setattr("reelbook.classroom.room.serving.serve", serve)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        monkeypatch.setenv("REELBOOK_API_KEY", "sk-planted-room")
        monkeypatch.setenv("REELBOOK_BASE_URL", f"http://127.0.0.1:{nobody.getsockname()[1]}")
        result = run("classroom", "serve", "--service", "live", "--yes", "--host", "127.0.0.1")

    assert (result.exit_code, len(served)) == (0, 1)
    assert "can't be reached" in result.stderr
    assert "clips wait until it answers" in result.stderr


@pytest.mark.parametrize("damaged", [True, False])
def test_a_class_whose_file_cannot_be_used_is_named(run: Run, home: Path, damaged: bool) -> None:
    """It is damaged, or nothing can be written beside it: in one line, whatever is asked of it."""
    file = home / "rooms" / "FOX234" / "room.db"
    file.parent.mkdir(parents=True)
    file.write_text("no database " * 100)
    if not damaged:
        (file.parent / "room.db.lock").mkdir()
    for words in (["report"], ["serve", "--service", "sandbox"]):
        result = run("classroom", *words)
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert result.stderr.startswith(f"The class's file {file} can't be used: ")
        assert damaged == result.stderr.endswith("file is not a database.\n")


def test_a_file_that_is_no_certificate_is_named(run: Run, sandbox: Sandbox) -> None:
    """In plain words, not those of the library that reads it."""
    result = run("classroom", "serve", "--tls-cert", __file__, "--tls-key", __file__)
    assert (result.exit_code, "PEM files of a certificate" in result.stderr) == (2, True), result.output


def test_times_of_the_end(run: Run) -> None:
    """A time of today, or a date with its time; what is over is said with what to type for tomorrow."""
    now = datetime(2026, 11, 25, 15, 0, tzinfo=UTC)

    assert end_time("17:05", now) == (now + timedelta(hours=2, minutes=5)).timestamp()
    assert end_time("2026-11-26T09:00:00+00:00", now) == (now + timedelta(hours=18)).timestamp()
    with pytest.raises(typer.BadParameter, match="2026-11-26T14:00"):
        end_time("14:00", now)
    with pytest.raises(typer.BadParameter):
        end_time("25:00", now)
    assert "looks like 17:00" in run("classroom", "serve", "--expires", "soon").output


def test_wheels_says_of_each_target_what_is_missing(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And ends with an error if anything is; the wheels lie where the home's rooms look for them."""

    def gather(folder: Path, targets: list[Target]) -> Iterator[tuple[Target, str]]:
        make_wheel(folder, "tiny")
        yield from zip(targets, ("", "No matching distribution found for av"), strict=True)

    monkeypatch.setattr("reelbook.classroom.wheels.gather", gather)
    result = run("classroom", "wheels", "--python", "3.11, 3.12", "--platform", "win_amd64")

    assert result.exit_code == 1
    assert "Python 3.11 on win_amd64: complete." in result.output
    assert "Python 3.12 on win_amd64: No matching distribution found for av" in result.output
    assert f"1 wheel in {folder_of(home)}" in result.output
    for words, why in ((("--python", "3"), "given as 3.12"), (("--platform", "windows"), "win_amd64 or")):
        refused = run("classroom", "wheels", *words)
        assert (refused.exit_code, why in refused.stderr) == (2, True), refused.output


@pytest.mark.usefixtures("short_jobs")
def test_the_report_of_a_class(session: rb.Session, run: Run, folder: Path) -> None:
    """A table that a spreadsheet opens without harm, and a page that plays without a network; not of a class
    that was made later and never served, as with a port that isn't free.
    """
    with in_thread(session, "FOX-234", name="Weather <b>") as room:
        with Visitor(room.url) as ada, Visitor(room.url) as grace:
            ada.join("Ada")
            grace.join("Grace")
            ada.ended(ada.ordered("=1+1", 2))
            ada.ended(ada.ordered("a <script>", 1))
            until(lambda: room.store.counts() == {"completed": 2})
    with opened_room(session, "OWL-567"):
        pass
    result = run("classroom", "report")

    assert result.exit_code == 0, result.output
    assert re.search(r"Ada +2 clips +\$0\.15", result.output)
    assert re.search(r"Grace +0 clips +\$0\.00", result.output)
    assert "Spent in all: $0.15." in result.output
    with (folder / "class-fox-234.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [row["student"] for row in rows] == ["Ada", "Ada"]
    assert not rows[0]["prompt"].startswith("=")
    assert sum(float(row["cost_usd"]) for row in rows) == pytest.approx(0.15)
    page = (folder / "class-fox-234.html").read_text("utf-8")
    assert page.count('src="data:video/mp4;base64,') == 2
    assert "<script" not in page
    assert "http" not in page
    assert "already exists" in run("classroom", "report").output


def test_a_report_where_no_class_was(home: Path, run: Run) -> None:
    """It says so, also where a room was killed before it made its class."""
    folder = home / "rooms" / "ABC234"
    folder.mkdir(parents=True)
    RoomStore(folder / "room.db").close()
    assert "No class was opened" in run("classroom", "report").output
    assert "No class of this home" in run("classroom", "report", "--code", "ABC-234").output


def test_the_room_is_one_processs_alone(
    session: rb.Session, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second one for the same class is refused, and the first goes on. Once it has ended the teacher shows
    its clips once more, and is told that nobody can order.
    """
    with in_thread(session, "FOX-234") as room:
        result = run("classroom", "serve", "--service", "sandbox", "--code", "fox234")
        assert "served already" in result.output
        with Visitor(room.url) as ada:
            ada.join("Ada")
        room.end()
        introduce(room)
    assert "It has ended" in capsys.readouterr().out
