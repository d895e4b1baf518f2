"""`reelbook sandbox`: served in the foreground, asked about, and stopped."""

from pathlib import Path

import pytest
from cli.conftest import Run

from reelbook.sandbox import server, serving
from reelbook.sandbox.handle import Sandbox


def test_status_and_stop_where_none_runs(run: Run, home: Path) -> None:
    """That no sandbox runs is an answer, and nothing is started or made for it."""
    assert run("sandbox", "status").stdout.startswith("No sandbox runs.")
    assert run("sandbox", "stop").stdout == "No sandbox runs.\n"
    assert (server.find(home), home.exists()) == (None, False)


def test_status_says_where_it_is_and_what_it_does(run: Run, sandbox: Sandbox, home: Path) -> None:
    """Addresses, pace, jobs and balance of the running sandbox, never key or user id. A second one in the
    same home is refused and leaves it alone; stop ends it.
    """
    sandbox.settings(pace="lifelike")
    result = run("sandbox", "status")
    assert result.exit_code == 0
    for words in (sandbox.url, sandbox.mcp_url, str(sandbox.access_file)):
        assert words in result.stdout
    assert "Pace: lifelike. Jobs under way: 0. Balance: $25.00." in result.stdout
    assert sandbox.api_key.reveal() not in result.output
    assert sandbox.user_id not in result.output
    second = run("sandbox", "serve", "--home", str(home))
    assert (second.exit_code, sandbox.url in second.stderr) == (1, True)
    assert second.stderr.endswith(f"To end it: reelbook sandbox stop --home {home}\n")
    assert run("sandbox", "stop", "--home", str(home)).stdout == "Stopped.\n"
    assert server.find(home) is None


def test_every_option_reaches_the_server(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said on the command line is what is served."""
    served: dict[str, object] = {}
    monkeypatch.setattr(serving, "serve", lambda home, **options: served.update(home=home, **options))
    words = "--host 0.0.0.0 --port 4000 --idle-minutes 2 --workers 3 --rate-limit 20 --dask tcp://a:1"
    assert run("sandbox", "serve", "--pace", "at once", *words.split()).exit_code == 0
    said = {"host": "0.0.0.0", "port": 4000, "pace": "at once", "idle_minutes": 2, "workers": 3}
    said |= {"rate_limit": 20, "balance_usd": None, "dask": "tcp://a:1"}
    assert served == said | {"home": home, "stop_command": "reelbook sandbox stop"}
