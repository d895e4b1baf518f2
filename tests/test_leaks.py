"""A planted key is looked for wherever a notebook could carry it, and found nowhere."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from reelbook.lazy_module import LazyModule
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.places import Access, Places, write_access
from reelbook.secret import Secret

nbclient: Any = LazyModule("nbclient")
nbformat: Any = LazyModule("nbformat")

pytestmark = [pytest.mark.browser]

KEY = "sk-planted-4f1c0ffee"

PREPARE = """
%xmode Verbose
import logging, pickle, copy, sys, io, os
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, force=True)
import reelbook as rb
session = rb.connect("live")   # the key and the address are configured
print(session, session.facts, session.balance(), session.keys, session.usage(30), session.keys.list())
"""

WORK = """
job = session.text_to_video("a fox", duration_seconds=1)
clip = await job
created = session.keys.create("another")
print(job, clip, job.view(), job.status, created, vars(created), rb.AsyncClient())
display(job); display(clip); display(rb.PromptForm(session)); display(rb.Studio(session))
"""

PICKLE = """
for thing in (session, session._client, session._client._transport, session.keys, session.sandbox,
              session.facts, job, job.view(), job.request, job.status, clip, created):
    for dump in (pickle.dumps, copy.deepcopy):
        try:
            print(dump(thing))
        except Exception as refused:
            print(type(refused).__name__, refused)
"""

# Each is a cell of its own, that fails on purpose and prints its verbose traceback.
FAILURES = [
    "session.text_to_video('')",
    "session.image_to_video(b'text', 'zoom')",
    "session.text_to_video('a fox', aspect_ratio='4:3')",
    "session.keys.revoke('nobody')",
    "session.job('nobody').result(0.1)",
    "await session._client.status('nobody')",
    "async with rb.AsyncClient() as client:\n    await client.status('nobody')",
    "async with rb.AsyncClient(base_url='http://127.0.0.1:9') as client:\n"
    "    await client._transport.request('GET', '/', deadline_seconds=1)",
    "silent = __import__('socket').create_server(('127.0.0.1', 0))\n"
    "address = f'http://127.0.0.1:{silent.getsockname()[1]}'\n"
    "async with rb.AsyncClient(base_url=address, deadline_seconds=0.1) as client:\n"
    "    await client.text_to_video('a fox')",
    "rb.connect('live', base_url='nonsense')",
    "rb.connect('sandbox', base_url='http://127.0.0.1:9')",
    "async with rb.AsyncClient() as client:\n"
    "    await client.download(session.base_url + '/api/v1/billing/balance', '/dev/null/x.mp4')",
    "session.close(); session.balance()",
]


MAKE = """
from pathlib import Path
from typing import Any
seen = Path(os.environ["SEEN_SECRETS"])
created = session.keys.create("another")
seen.write_text(created.api_key.reveal() + "\\n")
manager = rb.KeyManager(session)
tell = manager.send
def send(content, buffers=None):
    tell(content, buffers)
    if "key" in content:
        with seen.open("a") as file:
            file.write(content["key"] + "\\n")
manager.send = send
def press(**content):
    manager._heard(manager, content, [])
    while manager._busy:
        import time; time.sleep(0.05)
    manager.refresh()
press(name="hello")
press(name="create", called="by a panel", limit=10)
press(name="shown", id=manager._shown.key_id)
rotation = session.keys.rotate("by the session")
with seen.open("a") as file:
    file.write(rotation.new.api_key.reveal() + "\\n")
press(name="rotate", called="by a rotation", limit=10)
print(created, vars(created), rotation, vars(rotation), manager.get_state(), manager.listed)
print(session.keys.list())
print(session.balance(), manager.message)
display(manager)
"""

# Each is a cell of its own, that fails on purpose and prints its verbose traceback.
MADE_FAILURES = [
    "import pickle; pickle.dumps(created)",
    "rotation.revoke_old('nobody')",
    "session.keys.rotate(rate_limit=1000)",
    "rotation.keep()",
    "session.keys.revoke('nobody')",
]


@pytest.fixture
def running(home: Path) -> Iterator[Sandbox]:
    """A sandbox that knows the planted key, taken by the tests for a live service."""
    places = Places(home)
    places.create()
    write_access(places, Access(Secret(KEY), Secret("control-token-of-this-test"), "user-of-this-test"))
    sandbox = server.ensure(home)
    sandbox.settings(pace=0, rate_limiting=False)
    yield sandbox
    sandbox.stop()


def executed(cells: list[str], failing: list[str]) -> Any:
    """A notebook of these cells, run; the last ones fail on purpose."""
    new = nbformat.v4.new_code_cell
    failures = [new(each, metadata={"tags": ["raises-exception"]}) for each in failing]
    notebook = nbformat.v4.new_notebook(cells=[*map(new, cells), *failures])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", store_widget_state=True).execute()
    for cell in notebook.cells[len(cells) :]:
        assert any(each.output_type == "error" for each in cell.outputs), f"this was to fail: {cell.source}"
    assert "application/vnd.jupyter.widget-state+json" in nbformat.writes(notebook)
    return notebook


def files_in(home: Path) -> dict[Path, bytes]:
    """All that lies in the home, but for the sandbox's own note of its key."""
    files = {path for path in home.rglob("*") if path.is_file()} - {Places(home).access}
    return {path: path.read_bytes() for path in files}


def test_a_planted_key_is_found_nowhere(
    running: Sandbox, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in a notebook with widget state, output, DEBUG log, repr, pickle, verbose traceback or file."""
    monkeypatch.setenv("REELBOOK_API_KEY", KEY)
    monkeypatch.setenv("REELBOOK_BASE_URL", running.url)
    notebook = executed([PREPARE, WORK, PICKLE], FAILURES)
    saved = nbformat.writes(notebook)
    assert KEY not in saved
    assert "DEBUG:httpcore" in saved
    assert "Secret(***)" in saved
    assert "request_id" in json.dumps(notebook.cells[1].outputs) or "completed" in saved

    assert [path for path, data in files_in(home).items() if KEY.encode() in data] == []
    assert Places(home).access.stat().st_mode & 0o077 == 0
    for process in [psutil.Process(running.pid), *psutil.Process(running.pid).children(recursive=True)]:
        assert KEY not in " ".join(process.cmdline())
        assert not any(name.startswith("REELBOOK_API") for name in process.environ())


def test_a_created_secret_is_found_nowhere(
    running: Sandbox, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made, shown by the panel or put in the key's place: not in notebook, widget state, log or ledger."""
    seen = tmp_path / "seen-secrets"
    monkeypatch.setenv("REELBOOK_API_KEY", KEY)
    monkeypatch.setenv("REELBOOK_BASE_URL", running.url)
    monkeypatch.setenv("SEEN_SECRETS", str(seen))
    saved = nbformat.writes(executed([PREPARE, MAKE], MADE_FAILURES))

    secrets = seen.read_text().split()
    assert len(set(secrets)) == 4
    assert "by a rotation" in saved
    files = files_in(home)
    assert any(path.name == "ledger.db" for path in files)
    for secret in secrets:
        assert secret not in saved
        assert [path for path, data in files.items() if secret.encode() in data] == []
