"""Whatever a service, a ledger or a file says, the terminal gets no orders from it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.conftest import Run
from cli.doubles import WAIT_SECONDS, command, environment, said_on
from rich.text import Text
from support.raw_server import Exchange, raw_server

from reelbook.cli import output
from reelbook.cli.screen import Screen
from reelbook.ledger import Ledger, Submission
from reelbook.requests import JobRequest
from reelbook.secret import Secret

SOURCE = Path(output.__file__).parent
# A colour, a title with a bell, an 8-bit order, a line over this one, a turned direction, a line of its own.
HOSTILE = "a\x1b[31mb\x1b]0;t\x07c\x9b31md\re\u202ef\nFAKE"
ORDERS = re.compile("[\x80-\x9f\x07\u202e]|\x1b\\]|\x1b\\[31mb")


def assert_clean(said: str) -> None:
    """No order in it, and no line that another one begins."""
    assert not [each for each in said if not each.isprintable() and each not in "\n\t"], ascii(said)
    assert "\nFAKE" not in said


@pytest.fixture
def planted(home: Path) -> Path:
    """A home whose ledger has orders in every text that came from outside."""
    with Ledger.open(home) as ledger:
        account = ledger.account(f"https://host.example/{HOSTILE}", Secret("sk-planted-output"))
        planted = Submission(JobRequest.from_text("planted", seed=7), experiment=HOSTILE)
        for number, state in enumerate((HOSTILE, "failed", "completed")):
            entry = ledger.intend(account, planted).entry
            ledger.sending(entry.id)
            ledger.accepted(entry.id, f"req_{number}{HOSTILE}")
            ledger.status(entry.id, state, error=HOSTILE, video_url=f"https://x/{HOSTILE}")
        ledger.downloaded(entry.id, home / HOSTILE)
        # No request may say so, but a file of another program may.
        ledger._store.write(
            lambda db: db.execute("UPDATE entries SET prompt = ?, aspect_ratio = ?", (HOSTILE, HOSTILE))
        )
    return home


@pytest.mark.parametrize(
    "words",
    [
        ("jobs",),
        ("jobs", "show", "req_0"),
        ("jobs", "show", "req_1"),
        ("jobs", "show", "req_2"),
        ("jobs", "show", "req_"),
        ("jobs", "--json"),
        ("jobs", "show", "req_1", "--json"),
        ("jobs", "receipt"),
        ("jobs", "receipt", "nobody"),
        ("jobs", "resume"),
        ("jobs", "resume", "req_0"),
    ],
    ids=" ".join,
)
def test_what_the_ledger_holds_is_said_as_text(words: tuple[str, ...], run: Run, planted: Path) -> None:
    """States, ids, errors, prompts, experiments, addresses and paths; JSON keeps the whole value."""
    result = run(*words)
    assert result.exit_code in (0, 1, 2), result.output
    assert_clean(result.stdout)
    assert_clean(result.stderr)
    if "--json" in words:
        told = json.loads(result.stdout)
        assert {job["prompt"] for job in told.get("jobs", [told])} == {HOSTILE}


def on_a_terminal(*words: str) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*words),
        env=environment(TERM="xterm", COLUMNS="200"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said = said_on(ours)
    assert process.wait(WAIT_SECONDS) == 0, said
    return said


@pytest.mark.parametrize("words", [("jobs",), ("jobs", "receipt", "--csv", "-")], ids=" ".join)
def test_a_terminal_gets_only_our_own_orders(words: tuple[str, ...], planted: Path) -> None:
    """A table has its colours, and a cell none of its own."""
    said = on_a_terminal(*words)
    assert "FAKE" in said
    assert not ORDERS.search(said), ascii(said)


@pytest.fixture
def hostile(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A configured live service that has orders in every text that it says."""

    def answer(exchange: Exchange) -> None:
        line = exchange.first_line
        if "about" in line or "balance" in line:
            exchange.answer(500, json.dumps({"detail": HOSTILE}).encode())
        elif "keys" in line:
            key = {
                **dict.fromkeys(("name", "key_preview", "created_at", "last_used"), HOSTILE),
                "key_id": f"k{HOSTILE}",
                "rate_limit": 10,
                "is_active": True,
                "api_key": "sk-new",
            }
            whole = {"api_keys": [key], "count": 1} if line.startswith("GET") else key
            exchange.answer(200, json.dumps(whole).encode())
        elif line.startswith("POST"):
            exchange.answer(200, json.dumps({"request_id": f"r{HOSTILE}", "status": "pending"}).encode())
        else:
            failed = {"request_id": "r", "status": "failed", "error": HOSTILE}
            exchange.answer(200, json.dumps(failed).encode())

    with raw_server(answer) as service:
        monkeypatch.setenv("REELBOOK_API_KEY", "sk-planted-output")
        monkeypatch.setenv("REELBOOK_BASE_URL", service.url)
        monkeypatch.setattr("reelbook.client.retries.delay_seconds", lambda *_: 0.0)
        yield service.url


@pytest.mark.parametrize(
    "words",
    [
        ("balance",),
        ("keys", "list"),
        ("keys", "list", "--json"),
        ("keys", "create", "mine", "--show"),
        ("keys", "revoke", f"k{HOSTILE}", "--yes"),
        ("generate", "--resume", "r1", "-o", "fox.mp4"),
        ("classroom", "status"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_what_a_service_says_is_text(words: tuple[str, ...], run: Run, hostile: str, folder: Path) -> None:
    """Its errors, its keys' names, its ids and its reasons."""
    result = run(*words)
    assert_clean(result.stdout)
    assert_clean(result.stderr)


def test_a_screen_lets_no_text_give_orders() -> None:
    """Styles are rich's own; what stands in text is text, in tables and in bars as well."""
    screen = Screen()
    with screen.capture() as page:
        screen.print(Text(HOSTILE, "bold"), HOSTILE, f"[red]{HOSTILE}[/red] :fox:")
    assert "[red]a[31mb" in page.get()
    assert not ORDERS.search(page.get())


def test_every_command_speaks_through_the_one_place() -> None:
    """Nothing else in the commands writes to the terminal."""
    speaking = re.compile(r"typer\.echo|(?<![\w.])print\(|(?<!\w)Console\(")
    assert [path.name for path in SOURCE.glob("*.py") if speaking.search(path.read_text())] == ["output.py"]
