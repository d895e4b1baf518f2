"""The room's file: money is reserved and settled to the cent, whatever comes at once."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ledger.doubles import Clock
from PIL import Image

from reelbook import JobRequest
from reelbook.classroom.room.store import DEVICE_SECONDS, MIGRATIONS, RoomJob, RoomStore
from reelbook.web.database import SqliteFile
from reelbook.web.refusals import NoMoney, Refused

Open = Callable[..., RoomStore]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_store(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Opens the file; again: as another process does, after the first was killed."""
    stores = []

    def open_store(**chosen: Any) -> RoomStore:
        store = RoomStore(tmp_path / "room.db", clock=clock)
        store.begin("FOX-234", "sandbox", **chosen)
        stores.append(store)
        return store

    yield open_store
    for each in stores:
        each.close()


def clip(seconds: int = 1, prompt: str = "a fox") -> JobRequest:
    return JobRequest.from_text(prompt, duration_seconds=seconds)


def handed(store: RoomStore, seconds: int = 1) -> RoomJob:
    """An order of Ada's that the session has."""
    ada, _ = store.join("Ada", token="as long as it takes")
    store.order(ada.id, clip(seconds))
    job = store.hand_over()
    assert job is not None
    return job


def test_a_clip_that_comes_out_longer_passes_no_cap(open_store: Open) -> None:
    """Of a service that bills real lengths the most is reserved, in whole cents, and settled by the cost."""
    store = open_store(cap_usd=0.60)
    store.change(service="live")
    ada = store.join("Ada")[0].id
    for _ in range(2):
        assert store.order(ada, clip(5)).reserved_usd == 0.30
    with pytest.raises(NoMoney):
        store.order(ada, clip(1))
    for job in iter(store.hand_over, None):
        store.settle(job.number, "completed", cost_usd=0.2951)

    assert store.money() == (0.5902, 0)
    with pytest.raises(NoMoney, match=r"\$0.01, required: \$0.06"):
        store.order(ada, clip(1))


def test_a_thousand_orders_at_once_stay_under_every_cap(open_store: Open) -> None:
    """Thirty students at a time against their own caps, the class's and the balance: to the cent."""
    store = open_store(cap_usd=0.50, class_cap_usd=12.0)
    store.change(balance_usd=9.97, balance_at=0.0)
    students = [store.join(f"Student {number}")[0].id for number in range(30)]
    begin = threading.Barrier(30)

    def flood(student: int) -> int:
        begin.wait()
        taken = 0
        for _ in range(34):
            try:
                store.order(student, clip(1))
            except NoMoney:
                continue
            taken += 1
        return taken

    with ThreadPoolExecutor(30) as pool:
        taken = list(pool.map(flood, students))
    assert max(taken) <= 10
    assert sum(taken) == 199  # $9.95 of the balance of $9.97, which is the least of the three
    assert store.money() == (0, 9.95)


def test_the_real_cost_takes_the_place_of_the_reservation(open_store: Open) -> None:
    """More or less than was estimated; what failed gives all of it back. An uncertain one may have been
    bought: it stays reserved until a later word settles it, once.
    """
    store = open_store()
    for state, cost in (("completed", 0.2375), ("failed", 0.0), ("refused", 0.0)):
        job = handed(store, 5)
        store.settle(job.number, state, cost_usd=cost)  # type: ignore[arg-type]  # one of its words
    assert store.money() == (0.2375, 0)
    assert store.left_usd(job.student) == 1.7625

    job = handed(store, 5)
    store.settle(job.number, "uncertain", error="nobody knows")
    assert store.money() == (0.2375, 0.25)
    for _ in range(2):
        store.settle(job.number, "completed", cost_usd=0.25)
    assert store.money() == (0.4875, 0)


def test_an_image_stays_as_long_as_a_clip_may_need_it(open_store: Open) -> None:
    """Those that wait, are sent or were never answered; and one that is ordered again is there again."""
    store = open_store(cap_usd=3.0)
    ada, _ = store.join("Ada")
    stills = [JobRequest.from_image(Image.new("L", (320, 180), shade), "zoom") for shade in (0, 50, 100, 150)]
    orders = [store.order(ada.id, still) for still in [*stills, stills[0]]]
    for state in ("completed", "uncertain", "failed"):
        job = store.hand_over()
        assert job is not None
        store.settle(job.number, state)

    def kept() -> set[int]:
        store.remove_images()
        names = {path.name for path in store.images.iterdir()}
        return {number for number, job in enumerate(orders) if job.image in names}

    assert kept() == {0, 1, 3, 4}
    store.take_back(ada.id, orders[4].request_id)
    assert kept() == {1, 3}
    store.order(ada.id, stills[2])
    assert kept() == {1, 2, 3}


def test_what_was_heard_of_the_balance_bounds_all(open_store: Open, clock: Clock) -> None:
    """Costs that may not be in it yet count, those from before it was asked for don't."""
    store = open_store(cap_usd=100.0)
    store.change(balance_usd=1.00, balance_at=clock.now)
    job = handed(store, 5)
    clock.now += 10
    store.settle(job.number, "completed", cost_usd=0.25)

    assert store.left_usd(job.student) == 0.75
    for seconds, left in ((-1, 0.50), (1, 0.75)):
        store.change(balance_usd=0.75, balance_at=clock.now + seconds)
        assert store.left_usd(job.student) == left


def test_a_device_code_is_good_once_and_for_half_an_hour(
    open_store: Open, clock: Clock, tmp_path: Path
) -> None:
    """For its student alone, also after a newer one was made, as for a notebook. The file keeps digests."""
    store = open_store()
    ada, key = store.join("Ada")
    store.join("Eve")
    older = store.device_code(ada.id)
    code = store.device_code(ada.id)

    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (key.reveal(), code, code.removeprefix("FOX-234-")):
        assert secret.encode() not in kept
    assert store.join_device("Ada", older) is not None
    assert store.join_device("Eve", code) is None
    assert store.join_device("Ada", "FOX-234") is None
    assert store.join_device("Ada", code.removeprefix("FOX-234")) is None
    assert store.student_of(f"device ada {code.removeprefix('FOX-234').replace('-', '')}") is None
    joined = store.join_device("ada", code.lower())
    assert joined is not None
    assert joined[0].id == ada.id
    assert store.join_device("Ada", code) is None
    late = store.device_code(ada.id)
    clock.now += DEVICE_SECONDS + 1
    assert store.join_device("Ada", late) is None


@pytest.mark.parametrize("by_time", [False, True])
def test_the_end_takes_back_what_waits(open_store: Open, clock: Clock, by_time: bool) -> None:
    """The teacher's, or that of its time, and not before. What was sent goes on; nobody orders or joins."""
    store = open_store(expires_at=clock.now + 60)
    ada, _ = store.join("Ada")
    for _ in range(3):
        store.order(ada.id, clip(1))
    store.hand_over()
    store.expire()
    assert store.money() == (0, 0.15)
    if by_time:
        clock.now += 60
        store.expire()
    else:
        store.end()

    assert store.counts() == {"handed": 1, "taken back": 2}
    assert store.money() == (0, 0.05)
    with pytest.raises(Refused, match="ended"):
        store.order(ada.id, clip(1))
    with pytest.raises(Refused, match="ended"):
        store.join("Grace")


def test_what_comes_back_is_the_first_of_its_students(open_store: Open) -> None:
    """The service took nothing of it, and it waits no longer than it has to."""
    store = open_store()
    ada, _ = store.join("Ada")
    grace, _ = store.join("Grace")
    first = store.order(ada.id, clip(1))
    store.order(ada.id, clip(2))
    store.order(grace.id, clip(3))
    store.hand_over()
    store.hand_back(first.number)

    again = store.hand_over()
    assert again is not None
    assert again.request_id == first.request_id
    assert store.money() == (0, 0.30)


def test_a_class_of_an_earlier_version_goes_on(open_store: Open, tmp_path: Path) -> None:
    """What a later one added is there, and nothing else has changed: names, orders and money."""
    with closing(SqliteFile(tmp_path / "room.db", MIGRATIONS[:1])) as earlier, earlier.transaction() as db:
        db.execute(
            "INSERT INTO room (only_one, code, name, service, made_at, cap_micro, max_seconds) "
            "VALUES (1, 'FOX-234', 'Films', 'sandbox', 1.0, 500000, 5)"
        )
        db.execute("INSERT INTO students VALUES (7, 'Ada', 'ada', 1.0, 1, 100000, 50000)")
        db.executemany(
            "INSERT INTO jobs (request_id, student, state, request, estimate_micro, reserved_micro, "
            "cost_micro, accepted_at) VALUES (?, 7, ?, '{}', 0, ?, ?, 1.0)",
            [("clip_1", "completed", 0, 100_000), ("clip_2", "uncertain", 50_000, 0)],
        )
    store = open_store()
    settings, (ada,) = store.settings(), store.students()
    assert (settings.name, settings.cap_usd, settings.voting) == ("Films", 0.50, False)
    assert (ada.name, ada.spent_usd, ada.reserved_usd) == ("Ada", 0.10, 0.05)
    assert store.left_usd(ada.id) == 0.35
