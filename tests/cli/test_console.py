"""What the commands print: nothing from outside controls the terminal, and a long wait is explained."""

import io
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from cli.conftest import Run
from cli.doubles import HOSTILE, ORDERS, WAIT_SECONDS, live_service, on_a_terminal
from support.ledgers import ledger_in, told
from support.raw_server import Exchange

from reelbook.account import Facts
from reelbook.cli import console
from reelbook.client.client import PaidRequest
from reelbook.errors import AnswerLost, NotAVideo
from reelbook.ledger import Submission
from reelbook.requests import JobRequest
from reelbook.secret import Secret
from reelbook.session import Clip, Session
from reelbook.session.job_lifecycle import GIVEN_UP, clip_missing

SOURCE = Path(console.__file__).parent


def assert_clean(said: str) -> None:
    """No order in it, and no line that another one begins."""
    assert not [each for each in said if not each.isprintable() and each not in "\n\t"], ascii(said)
    assert "\nFAKE" not in said


@pytest.fixture
def planted(home: Path) -> Path:
    """A home whose ledger has orders in every text that came from outside."""
    with ledger_in(home, f"https://host.example/{HOSTILE}", Secret("sk-planted-output")) as ledger:
        planted = Submission.of(JobRequest.from_text("planted", seed=7), experiment=HOSTILE)
        for number, state in enumerate((HOSTILE, "failed", "completed")):
            ((entry, _),) = ledger.intend([planted])
            ledger.sending(entry.id)
            ledger.accepted(entry.id, f"req_{number}{HOSTILE}")
            ledger.status(entry.id, told(state, error=HOSTILE, video_url=f"https://x/{HOSTILE}"))
        ledger.downloaded(entry.id, home / HOSTILE)
        # No request may say so, but a file of another program may.
        ledger.store.write(
            lambda db: db.execute("UPDATE entries SET prompt = ?, aspect_ratio = ?", (HOSTILE, HOSTILE))
        )
    return home


@pytest.mark.parametrize(
    "words",
    [
        "jobs",
        *(f"jobs {rest}" for rest in ("--json", "receipt", "receipt nobody", "resume", "resume req_0")),
        *(f"jobs show {rest}" for rest in ("req_0", "req_1", "req_2", "req_", "req_1 --json")),
    ],
)
def test_what_the_ledger_holds_is_said_as_text(words: str, run: Run, planted: Path) -> None:
    """States, ids, errors, prompts, experiments, addresses and paths; JSON keeps the whole value."""
    result = run(*words.split())
    assert result.exit_code in (0, 1, 2), result.output
    assert_clean(result.stdout)
    assert_clean(result.stderr)
    if "--json" in words:
        told = json.loads(result.stdout)
        assert {job["prompt"] for job in told.get("jobs", [told])} == {HOSTILE}


@pytest.mark.parametrize("words", ["jobs", "jobs receipt --csv -"])
def test_a_terminal_gets_only_our_own_orders(words: str, planted: Path) -> None:
    """A table has its colours, and a cell none of its own."""
    said, code = on_a_terminal(*words.split(), columns=200)
    assert (code, "FAKE" in said) == (0, True), said
    assert not ORDERS.search(said), ascii(said)


@pytest.fixture
def hostile(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
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

    monkeypatch.setattr("reelbook.client.retries.delay_seconds", lambda *_: 0.0)
    with live_service(answer):
        yield


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
@pytest.mark.usefixtures("hostile")
def test_what_a_service_says_is_text(words: tuple[str, ...], run: Run, folder: Path) -> None:
    """Its errors, its keys' names, its ids and its reasons."""
    result = run(*words)
    assert_clean(result.stdout)
    assert_clean(result.stderr)


def test_every_command_speaks_through_the_one_place() -> None:
    """Nothing else in the commands writes to the terminal."""
    speaking = re.compile(r"typer\.echo|(?<![\w.])print\(|(?<!\w)Console\(")
    assert [path.name for path in SOURCE.glob("*.py") if speaking.search(path.read_text())] == ["console.py"]


LEFT = Facts(None, 3, 10, None)
USED_UP = Facts(None, 0, 10, 12.4)


class Stream(io.StringIO):
    """Standard error, with a person there or not."""

    def __init__(self, person: bool) -> None:
        super().__init__()
        self.isatty = lambda: person  # type: ignore[method-assign]  # a stream of one kind or the other


@pytest.mark.parametrize(
    ("person", "notice_seconds", "said"),
    [
        (True, 0.01, "the rate limit of 10 requests a minute: more in 12 s"),
        (True, 60.0, ""),
        (False, 0.01, ""),
    ],
    ids=["a long wait", "a quick answer", "a program"],
)
def test_a_long_wait_is_said_and_taken_away(
    monkeypatch: pytest.MonkeyPatch, person: bool, notice_seconds: float, said: str
) -> None:
    """The line is empty again in the end; a quick answer shows nothing, and a program hears nothing."""
    assert console.waiting_text(LEFT) == "Waiting for the service's answer"
    stream = Stream(person)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console, "NOTICE_SECONDS", notice_seconds)
    with console.waiting_notice(cast("Session", cast(Any, SimpleNamespace(facts=USED_UP)))):
        end = time.monotonic() + WAIT_SECONDS
        while said not in stream.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert ("Waiting" in stream.getvalue()) is bool(said)
    assert stream.getvalue().endswith("\r\x1b[1A\x1b[2K") is person


def test_where_nothing_can_move_a_line_is_said_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a log: what changed, and not each change."""
    monkeypatch.setattr(sys, "stderr", stream := Stream(False))
    for seconds, said in ((60.0, ""), (0.0, "1 of 2\n2 of 2\n")):
        monkeypatch.setattr(console, "SAY_AGAIN_SECONDS", seconds)
        with console.moving_line() as show:
            for text in ("1 of 2", "1 of 2", "2 of 2"):
                show(text)
        assert stream.getvalue() == said


def test_every_code_that_has_a_command_is_what_the_library_says() -> None:
    """Else a person at a terminal would be told what to write in Python."""
    sources = [path.read_text("utf-8") for path in SOURCE.parent.rglob("*.py") if path.parent != SOURCE]
    # The sentences as they are said: joined over lines, with something in the places of values.
    said = re.sub(r'"\n\s*f?"', "", "\n".join(sources))
    said = re.sub(r"\{(\w+)\}", r"\1", re.sub(r"\{[\w.]+!r\}", "'x'", said))
    assert [code for code, _ in console._COMMANDS if not re.search(code, said)] == []
    lost = PaidRequest(keyed=True).failure(AnswerLost("Lost."), 1.0)
    assert "()" not in console.with_commands(f"{GIVEN_UP} {clip_missing(None)} {lost}")
    with pytest.raises(NotAVideo) as gone:
        Clip(Path("gone.mp4"), "req-1").poster()
    assert "gone.mp4. reelbook jobs resume req-1 fetches it again" in console.with_commands(str(gone.value))
