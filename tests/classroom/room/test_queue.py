"""The room's clips on the teacher's session: in turn, once, and through bad weather."""

import socket
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from classroom.room.conftest import Serve, Visit
from classroom.room.visitors import Visitor, go_on
from support.waiting import until

import reelbook as rb
from reelbook.account import reconcile
from reelbook.classroom.room.app import Room
from reelbook.classroom.room.serving import in_thread, opened_room
from reelbook.classroom.room.store import RoomStore
from reelbook.errors import InvalidInput, LedgerUnavailable, ServiceUnreachable
from reelbook.sandbox.handle import Sandbox


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch, no_pauses: None) -> None:
    """What waits for the service doesn't wait long."""
    monkeypatch.setattr("reelbook.classroom.room.queue.FIRST_WAIT_SECONDS", 0.1)
    monkeypatch.setattr("reelbook.classroom.room.queue.LONGEST_WAIT_SECONDS", 0.1)
    monkeypatch.setattr("reelbook.classroom.room.queue.LOOK_SECONDS", 0.1)
    monkeypatch.setattr(reconcile, "SANDBOX", reconcile.SANDBOX._replace(settle_seconds=0.2))


def posts(sandbox: Sandbox) -> int:
    """How many submissions reached the service."""
    return int(sandbox.state()["requests"].get("text-to-video", 0))


def test_a_flood_delays_nobody_elses_first_clip(room: Room, visit: Visit, teacher: rb.Session) -> None:
    """Forty clips of one, then one each of three: theirs are done before a tenth of the flood, which is sent
    in the order in which it was ordered.
    """
    flooder = visit(room).join("Flooder")
    others = [visit(room).join(name) for name in ("Ada", "Grace", "Radia")]
    room.store.change(paused=1)
    flood = [flooder.ordered(f"flood {number}") for number in range(40)]
    firsts = [(other, other.ordered("first")) for other in others]
    go_on(room)
    until(lambda: room.store.counts().get("completed", 0) == 43)

    order = [job.request_id for job in sorted(room.store.all_jobs(), key=lambda job: job.ended_at or 0.0)]
    assert max(order.index(job) for _, job in firsts) <= 3 + 4  # at most four of the flood were in flight
    assert sorted(order) == sorted([*flood, *(job for _, job in firsts)])
    sent = sorted(teacher.jobs(experiment="class FOX-234", limit=50), key=lambda job: job.entry_id or 0)
    prompts = [job.prompt for job in sent if job.prompt != "first"]
    assert prompts == [f"flood {number}" for number in range(40)]


def test_a_service_that_is_away_makes_clips_wait(home: Path, visit: Visit, soon: None) -> None:
    """They are told why, nothing fails, and they can be taken back; then there is no trouble to tell of."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        session = rb.connect("live", api_key="sk-planted-room", base_url=url, home=home)
        with in_thread(session, "FOX-234") as room:
            ada = visit(room).join("Ada")
            jobs = [ada.ordered() for _ in range(3)]
            until(lambda: room.queue.trouble)
            told = ada.status(jobs[2])
            assert (told["status"], "can't be reached" in told["message"]) == ("pending", True)
            until(lambda: _taken_back(ada, jobs))
            assert room.store.money() == (0, 0)
            until(lambda: room.queue.trouble is None)  # nobody's clip waits for it any more
        session.close()


def test_a_service_that_never_answers_doesnt_keep_the_room_open(
    teacher: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends while the balance is asked for."""
    asked, answered = threading.Event(), threading.Event()

    def balance() -> None:
        asked.set()
        answered.wait(20)
        raise ServiceUnreachable("Nobody answered.")

    monkeypatch.setattr(teacher, "balance", balance)
    with in_thread(teacher, "FOX-234"):
        asked.wait()
        began = time.monotonic()
    assert time.monotonic() - began < 15
    answered.set()


def test_a_class_stays_at_its_service(teacher: rb.Session) -> None:
    """What students were told is play money never becomes real."""
    with opened_room(teacher, "FOX-234"):
        pass
    with rb.connect("live", api_key="sk-planted-room", base_url="http://127.0.0.1:9") as session:
        with pytest.raises(InvalidInput, match="opened with --service sandbox"):
            with opened_room(session, "fox234"):
                pass


def _taken_back(student: Visitor, jobs: list[str]) -> bool:
    for job in jobs:
        student.http.delete(f"/room/jobs/{job}")
    return all(student.status(job)["status"] == "failed" for job in jobs)


def test_out_of_money_upstream_makes_clips_wait(
    room: Room, ada: Visitor, sandbox: Sandbox, soon: None
) -> None:
    """Another program spent it: the student reads that, without amounts, and the clip is made later."""
    until(lambda: room.store.read("SELECT balance_at FROM room")[0][0])
    sandbox.settings(balance_usd=0.01)
    job = ada.ordered()
    until(lambda: "message" in ada.status(job))

    assert ada.status(job)["status"] == "pending"
    assert "$" not in ada.status(job)["message"]
    sandbox.settings(balance_usd=5.0)
    assert ada.ended(job)["status"] == "completed"
    assert "message" not in ada.status(job)


def test_clips_under_way_dont_hide_why_others_wait(
    room: Room, ada: Visitor, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, no_pauses: None
) -> None:
    """One that was accepted before ends neither the trouble nor the longer and longer waits."""
    monkeypatch.setattr("reelbook.classroom.room.queue.FIRST_WAIT_SECONDS", 0.1)
    until(lambda: room.store.read("SELECT balance_at FROM room")[0][0])
    sandbox.settings(pace=600)
    ada.ordered("first")
    until(lambda: sandbox.state()["jobs_under_way"] and not room.queue._handed[1].unsent)
    sandbox.settings(balance_usd=0.01)
    ada.ordered("second")
    until(lambda: room.queue._wait_seconds >= 0.4)  # the third wait

    assert room.queue.trouble is not None
    assert posts(sandbox) >= 4


def test_a_balance_below_the_caps_holds(serve: Serve, visit: Visit, sandbox: Sandbox) -> None:
    """What the service has is what the class has, whatever the caps say."""
    sandbox.settings(balance_usd=0.30)
    room = serve(cap_usd=2.0)
    until(lambda: room.store.read("SELECT balance_at FROM room")[0][0])
    ada, grace = visit(room).join("Ada"), visit(room).join("Grace")
    ada.ordered(seconds=4)

    refused = grace.order(seconds=5)
    assert refused.status_code == 402
    assert "Current balance: $0.10" in refused.json()["detail"]


def test_a_class_that_orders_nothing_keeps_its_sandbox_awake(
    serve: Serve, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would end by itself, and begin again with a limit of ten requests a minute."""
    monkeypatch.setattr("reelbook.classroom.room.queue.BALANCE_SECONDS", 0.01)
    monkeypatch.setattr("reelbook.classroom.room.queue.SANDBOX_AWAKE_SECONDS", 0.01)
    serve()
    until(lambda: sandbox.state()["requests"].get("balance", 0) > 2)


def test_a_lost_answer_is_told_as_what_it_is(room: Room, ada: Visitor, sandbox: Sandbox, soon: None) -> None:
    """Its price stays reserved, and it isn't sent again."""
    sandbox.fault("answer_lost", endpoint="generate")
    told = ada.ended(ada.ordered(seconds=5))

    assert told["uncertain"] is True
    assert "was not sent again" in told["error"]
    assert ada.balance() == {"balance_usd": 2.0, "total_spent_usd": 0.0}
    assert room.store.money() == (0, 0.25)
    assert posts(sandbox) == 1


def test_the_room_finds_out_by_itself(
    room: Room, ada: Visitor, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, soon: None
) -> None:
    """A request that never reached the service: its price is free again, and it is told so."""
    monkeypatch.setattr("reelbook.classroom.room.queue.FIND_OUT_SECONDS", 0.2)
    monkeypatch.setattr("reelbook.classroom.room.queue.LONGEST_FIND_OUT_SECONDS", 0.2)
    ada.ended(ada.ordered("first"))
    sandbox.fault("500", endpoint="generate")
    job = ada.ordered(seconds=5)
    until(lambda: room.store.counts().get("uncertain"))
    sandbox.advance(30)
    until(lambda: room.store.counts().get("refused"))

    assert "Nothing was paid" in ada.status(job)["error"]
    assert room.store.money() == (0.05, 0)


def test_what_was_found_out_while_it_stood_still_is_settled(
    teacher: rb.Session, visit: Visit, sandbox: Sandbox, soon: None
) -> None:
    """The teacher asked in a notebook meanwhile: the price of what was never bought is free again."""
    with in_thread(teacher, "FOX-234") as room:
        ada = visit(room).join("Ada")
        ada.ended(ada.ordered("first"))
        sandbox.fault("500", endpoint="generate")
        job = ada.ordered(seconds=5)
        until(lambda: room.store.counts().get("uncertain"))
        key = ada.http.headers["Authorization"]
    sandbox.advance(30)
    until(lambda: teacher.reconcile(alone=True).verdicts[0].answer == "not accepted")
    with in_thread(teacher, "FOX-234") as room:
        until(lambda: room.store.counts().get("refused"))
        assert "uncertain" not in visit(room, Authorization=key).status(job)
        assert room.store.money() == (0.05, 0)


def test_a_clip_that_was_handed_over_and_not_sent_waits_again(
    teacher: rb.Session, visit: Visit, sandbox: Sandbox
) -> None:
    """The room was killed in between, and its class is over when it is served again: nothing is bought."""
    with in_thread(teacher, "FOX-234") as room:
        room.store.change(paused=1)
        ada = visit(room).join("Ada")
        job = ada.ordered()
    with opened_room(teacher, "FOX-234") as room:
        room.store.change(paused=0)
        assert room.store.hand_over() is not None
        room.store.end()
    with in_thread(teacher, "FOX-234") as room:
        until(lambda: room.store.counts() == {"taken back": 1})
        assert [each.request_id for each in room.store.all_jobs()] == [job]
        assert room.store.money() == (0, 0)
    assert posts(sandbox) == 0


@pytest.mark.parametrize("step", ["settle", "hand_back"])
def test_a_disk_that_fails_once_strands_no_clip(
    room: Room, ada: Visitor, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, soon: None, step: str
) -> None:
    """What couldn't be written down is settled, or sent, once that works."""
    fails_once(monkeypatch, RoomStore, step, sqlite3.OperationalError("database or disk is full"))
    if step == "hand_back":
        fails_once(monkeypatch, rb.Session, "submit", LedgerUnavailable("The disk is full."))

    assert ada.ended(ada.ordered())["status"] == "completed"
    assert room.store.money() == (0.05, 0)
    assert posts(sandbox) == 1


def fails_once(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, error: Exception) -> None:
    """Makes the first call of a method raise `error`."""
    works, errors = getattr(owner, method), [error]

    def called(self: Any, *args: Any, **named: Any) -> Any:
        if errors:
            raise errors.pop()
        return works(self, *args, **named)

    monkeypatch.setattr(owner, method, called)


def test_a_clip_whose_file_isnt_given_makes_room_for_others(
    teacher: rb.Session, visit: Visit, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, soon: None
) -> None:
    """It is fetched again for ten minutes; then it has ended, was paid for, and the next one is sent. If its
    file still comes, also to a room that was started again, it is completed after all.
    """
    sandbox.fault("html", endpoint="download", times=1000)
    monkeypatch.setattr("reelbook.classroom.room.queue.AT_THE_SANDBOX", 1)
    with in_thread(teacher, "FOX-234") as room:
        ada = visit(room).join("Ada")
        lost = ada.ordered()
        until(lambda: sandbox.faults()[0]["happened"] > 2)
        assert ada.status(lost)["status"] == "processing"

        monkeypatch.setattr("reelbook.classroom.room.queue.UNFETCHED_SECONDS", 0.0)
        ended = ada.ended(lost)
        assert ended["status"] == "failed"
        assert f"notebook it is {teacher.jobs()[0].request_id}" in ended["error"]
        assert room.store.money() == (0.05, 0)
        ada.ordered()
        until(lambda: posts(sandbox) == 2)
    sandbox.clear_faults()
    with in_thread(teacher, "FOX-234") as room:
        until(lambda: room.store.counts() == {"completed": 2})
        assert room.store.money() == (0.10, 0)


def test_hostile_floods_spend_not_a_cent_more(serve: Serve, visit: Visit, sandbox: Sandbox) -> None:
    """Ten students with ten orders each at once, amounts forged: the class's cap holds."""
    room = serve(cap_usd=0.20, class_cap_usd=0.60)
    students = [visit(room).join(f"Student {number}") for number in range(10)]

    def flood(student: Visitor) -> list[int]:
        forged = {"cost_usd": -1, "estimated_cost_usd": 0, "cap_usd": 99}
        return [student.order("flood", **forged).status_code for _ in range(10)]

    with ThreadPoolExecutor(10) as pool:
        answers = [status for each in pool.map(flood, students) for status in each]
    assert answers.count(200) == 12
    assert set(answers) == {200, 402}
    until(lambda: room.store.counts() == {"completed": 12})
    assert room.store.money() == (0.60, 0)
    assert posts(sandbox) == 12


def test_a_room_that_stops_goes_on_where_it_was(teacher: rb.Session, visit: Visit, sandbox: Sandbox) -> None:
    """The same code in the same home: keys, queue, caps and reservations are there, and nothing is bought
    twice. What is chosen anew holds, the rest stays.
    """
    with in_thread(teacher, "FOX-234", cap_usd=3.0, places=5) as room:
        ada = visit(room).join("Ada")
        done = ada.ordered("first")
        ada.ended(done)
        room.store.change(paused=1)
        waiting = [ada.ordered(f"clip {number}") for number in range(3)]
        key = ada.http.headers["Authorization"]
    with in_thread(teacher, "FOX-234", places=6) as room:
        settings = room.store.settings()
        assert (settings.places, settings.cap_usd, room.store.money()) == (6, 3.0, (0.05, 0.15))
        ada = visit(room, Authorization=key)
        assert ada.status(done)["status"] == "completed"
        assert [ada.status(job)["queue_position"] for job in waiting] == [0, 1, 2]
        go_on(room)
        assert {ada.ended(job)["status"] for job in waiting} == {"completed"}
    assert posts(sandbox) == 4
