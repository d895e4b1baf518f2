"""Jobs that their service doesn't know, for a while or for good: what was paid for stays in reach."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.live import connected
from support.raw_server import Exchange, raw_server

import reelbook as rb
from reelbook import errors
from reelbook.ledger import LedgerFile
from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.render import Spec, render
from reelbook.text.card import ShownJob, job_face

FOX: Any = {"duration_seconds": 1, "aspect_ratio": "1:1"}

pytestmark = pytest.mark.usefixtures("home")


class Service:
    """Takes one job. `said` holds its next answers, the last of which is repeated; None is a 404."""

    def __init__(self) -> None:
        self.said: list[str | None] = [None]
        self.asked = 0
        self._mp4 = render(Spec("a fox", 1, "1:1", 7)).mp4

    def __call__(self, exchange: Exchange) -> None:
        path = exchange.first_line.split()[1]
        if exchange.first_line.startswith("POST"):
            return exchange.answer(200, b'{"request_id": "req_1", "status": "pending"}')
        if path == "/clip.mp4":
            return exchange.answer(200, self._mp4)
        if "billing" in path:
            return exchange.answer(200, b'{"balance_usd": 5.0}')
        if "status" not in path:
            return exchange.answer(404)
        self.asked += 1
        state = self.said[0] if len(self.said) == 1 else self.said.pop(0)
        link = f"http://{exchange.header('host')}/clip.mp4"
        body = {"request_id": "req_1", "status": state, "cost_usd": 0.05, "video_url": link}
        return exchange.answer(404) if state is None else exchange.answer(200, json.dumps(body).encode())


def test_one_stray_404_costs_no_clip(session: rb.Session, sandbox: Sandbox) -> None:
    """The next answer has it."""
    sandbox.fault("not_found")
    assert session.text_to_video("a fox", **FOX).result(20).path.exists()
    assert sandbox.faults()[0]["happened"] == 1


def test_what_was_given_up_stays_in_reach(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """The card says so; a later session shows it, asks a few times more, and fetches the clip once it can."""
    monkeypatch.setattr("reelbook.session.job_lifecycle.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("reelbook.client.watch.REFUSALS", 2)
    service = Service()
    with raw_server(service) as server:
        with connected(server) as session:
            job = session.text_to_video("a fox", **FOX)
            with pytest.raises(errors.NotFound, match=r"has stopped asking.* kept, and may be billed"):
                job.result(20)
            assert session.spending().of_key.uncertain_usd == 0.05
        with connected(server) as later:
            (found,) = later.jobs()
            face = job_face(ShownJob.of(found))
            assert face["note"] == str(job.error)
            assert ["watch", "Watch again"] in face["actions"]
            service.asked = 0
            (resumed,) = later.resume()
            with pytest.raises(errors.NotFound):
                resumed.result(20)
            assert service.asked == 2
            service.said = ["pending", "completed"]
            assert later.resume() == (resumed,)
            assert resumed.result(20).path.exists()
            assert resumed.error is None
    with LedgerFile.open(home) as ledger:
        (entry,) = ledger.find()
    assert (entry.abandoned_at, entry.error, entry.charge) == (None, None, "spent")
