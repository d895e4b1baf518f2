"""A key that the service repeats reaches neither a job's error nor the ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.raw_server import Exchange, raw_server

import reelbook as rb
from reelbook.errors import JobFailed

KEY = "sk-planted/4f+1c0/ffee"


@pytest.mark.parametrize(
    "echo", [KEY.replace("/", "\\/"), KEY.replace("/", "\\u002f").replace("+", "\\u002B"), KEY]
)
def test_a_failure_that_repeats_the_key_tells_it_to_nobody(echo: str, home: Path) -> None:
    """However it is escaped: not in JobFailed, not in the job's status, not in any file of the home."""

    def handle(exchange: Exchange) -> None:
        if exchange.first_line.startswith("POST"):
            exchange.answer(200, b'{"request_id": "r", "status": "pending"}')
        elif "status" in exchange.first_line:
            body = f'{{"request_id": "r", "status": "failed", "error": "no {echo}", "{echo}": ["{echo}"]}}'
            assert KEY in repr(json.loads(body))
            exchange.answer(200, body.encode())
        else:
            exchange.answer(404)

    with raw_server(handle) as service, rb.connect("live", api_key=KEY, base_url=service.url) as session:
        job = session.text_to_video("a fox")
        with pytest.raises(JobFailed) as failed:
            job.result(30)
        said = f"{failed.value} {failed.value.reason} {job.status!r} {job.view()}"
    assert "no ***" in said
    assert KEY not in said
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name == "ledger.db" for path in files)
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
