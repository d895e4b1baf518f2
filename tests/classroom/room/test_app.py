"""What the room says to students' programs, over a socket and with a real sandbox behind it."""

import io
from pathlib import Path

import pytest
from classroom.room.conftest import Serve, Visit
from classroom.room.visitors import Visitor, go_on
from PIL import Image
from support.waiting import until

import reelbook as rb
from reelbook import wire
from reelbook.classroom.room.app import Room, is_own_host
from reelbook.media.clips import probe


def test_a_student_joins_orders_and_watches(
    room: Room, ada: Visitor, teacher: rb.Session, tmp_path: Path
) -> None:
    """By the code alone; the clip comes from the room, whole or in parts, and costs what it costs. The
    teacher's ledger has it, as an experiment of the class. One that fails has its reason and costs nothing.
    """
    done = ada.ended(ada.ordered("a red fox in the snow", 2, aspect_ratio="1:1", seed=7))

    assert (done["status"], done["cost_usd"]) == ("completed", 0.10)
    assert done["video_url"].startswith(room.url)
    whole = ada.http.get(done["video_url"])
    part = ada.http.get(done["video_url"], headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, whole.content[10:20])
    (tmp_path / "clip.mp4").write_bytes(whole.content)
    info = probe(tmp_path / "clip.mp4")
    assert info.width == info.height
    assert ada.balance() == {"balance_usd": 1.90, "total_spent_usd": 0.10}
    used = ada.http.get(wire.USAGE, params={"days": 7}).json()
    assert (used["total_requests"], used["total_seconds"], used["total_cost_usd"]) == (1, 2.0, 0.10)
    (job,) = teacher.jobs(experiment="class FOX-234")
    assert job.prompt == "a red fox in the snow"
    failed = ada.ended(ada.ordered("a fox [fail: no such fox]"))
    assert (failed["status"], failed["error"]) == ("failed", "no such fox")
    assert ada.balance()["total_spent_usd"] == 0.10


def test_a_name_is_one_persons_until_the_teacher_releases_it(room: Room, visit: Visit, ada: Visitor) -> None:
    """Whatever its capitals; the one who comes back has the same clips and the same money."""
    second, job = visit(room), ada.ordered(seconds=1)
    ada.ended(job)

    refused = second.ask_to_join("ada")
    assert refused.status_code == 409
    assert "Ada joined at" in refused.json()["detail"]
    (student,) = room.store.students()
    room.store.release(student.id)
    second.join("ada")
    assert ada.http.get(wire.BALANCE).status_code == 401
    assert second.status(job)["status"] == "completed"
    assert second.balance()["total_spent_usd"] == 0.05


@pytest.mark.parametrize(
    ("chosen", "refused", "why"),
    [
        ({"students": ["Ada", "Grace"]}, "Mallory", "isn't in the list"),
        ({"places": 1}, "Eve", "All 1 places"),
    ],
)
def test_who_may_join_is_the_teachers_choice(
    serve: Serve, visit: Visit, chosen: dict[str, object], refused: str, why: str
) -> None:
    """Only names of a list, or so many and no more; the others are told so."""
    room = serve(**chosen)
    joined = visit(room).ask_to_join("  Ada ").json()
    assert joined.pop("api_key").startswith("rk-")
    assert joined == {"base_url": room.url, "name": "Ada"}

    answer = visit(room).ask_to_join(refused)
    assert answer.status_code in (400, 409)
    assert why in answer.json()["detail"]


def test_keys_end_with_the_class(room: Room, visit: Visit, ada: Visitor) -> None:
    """After its time, and after it was ended: 401; and nobody joins any more."""
    room.store.change(expires_at=room.store.clock() - 1)

    assert ada.order().status_code == 401
    assert visit(room).ask_to_join("Grace").status_code == 403


def test_a_repeated_order_is_one_clip(room: Room, visit: Visit, ada: Visitor) -> None:
    """The same Idempotency-Key gives the same job, also after it has ended; another order needs another."""
    first = ada.ordered("a fox", repeat_key="one")
    ada.ended(first)

    assert ada.ordered("a fox", repeat_key="one") == first
    assert ada.order("a heron", repeat_key="one").status_code == 400
    assert ada.balance()["total_spent_usd"] == 0.05
    grace = visit(room).join("Grace")
    assert grace.ordered("a fox", repeat_key="one") != first


def test_the_key_has_a_limit_with_the_documented_headers(room: Room, visit: Visit, ada: Visitor) -> None:
    """Whoever asks without end is told to wait, and the others aren't."""
    grace = visit(room).join("Grace")

    answers = [ada.http.get(wire.BALANCE) for _ in range(301)]
    assert [each.status_code for each in answers] == [200] * 300 + [429]
    assert answers[0].headers[wire.RATE_LIMIT] == "300"
    assert answers[-1].headers[wire.RATE_REMAINING] == "0"
    assert grace.http.get(wire.BALANCE).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.2", "a@127.0.0.1", ""])
def test_other_host_names_are_refused(room: Room, visit: Visit, host: str) -> None:
    """A page whose name was made to point at the room names itself; a person who mistook the name can read
    that. By its own it says what it offers, and that a sandbox is behind it.
    """
    port = room.url.rpartition(":")[2]

    assert visit(room, Host=f"{host}:{port}").http.get("/_sandbox/about").status_code == 421
    page = visit(room, Host=f"{host}:{port}", Accept="text/html,*/*").http.get("/")
    assert "<p>Nothing is served by this host name." in page.text
    about = visit(room, Host=f"localhost:{port}").http.get("/_sandbox/about").json()
    assert about["service"] == "reelbook-sandbox"
    assert {"idempotency_key", "queue_position", "take_back"} <= set(about["offers"])


@pytest.mark.parametrize(
    ("host", "server", "own"),
    [
        ("Teacher.local", ("10.0.0.7", 8080), True),
        ("teacher.local:9000", ("10.0.0.7", 8080), True),
        ("teacher.local:x@evil.example", ("10.0.0.7", 8080), False),
        ("10.0.0.7", ("10.0.0.7", 80), True),
        ("10.0.0.7", ("10.0.0.7", 8080), False),
        ("[fd00::7]:8080", ("fd00::7", 8080), True),
        ("10.0.0.7:8080", ("::ffff:10.0.0.7", 8080), True),
        ("localhost:8080", ("10.0.0.7", 8080), False),
    ],
)
def test_a_room_is_known_by_its_names(room: Room, host: str, server: tuple[str, int], own: bool) -> None:
    """By the address and port at which it was reached, and by the name that the teacher gave, at any port."""
    room.host_name = "teacher.local"
    assert is_own_host(room, host, {"server": server, "scheme": "http"}) is own


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_others_send_nothing(room: Room, visit: Visit, headers: dict[str, str]) -> None:
    """Not even with a right code, nor from another port of this host, to which a browser sends cookies."""
    assert visit(room, **headers).ask_to_join("Ada").status_code == 403
    assert visit(room, Origin=room.url).ask_to_join("Ada").status_code == 200


def test_others_see_nothing(room: Room, visit: Visit, ada: Visitor) -> None:
    """Neither job nor list, nor can they take anything back. Nothing leads to keys; without one, nowhere."""
    eve, job = visit(room).join("Eve"), ada.ordered()

    assert eve.http.get("/room/jobs").json() == {"jobs": []}
    for method, path in (
        ("GET", wire.path_of(wire.STATUS, job)),
        ("DELETE", f"/room/jobs/{job}"),
        ("GET", wire.KEYS),
        ("POST", wire.KEYS),
        ("DELETE", f"{wire.KEYS}/key_1"),
        ("GET", "/room/clips/AAAAAAAAAAAAAAAAAAAAAAAA.mp4"),
        ("GET", "/room/clips/..%2Froom.db.mp4"),
        ("GET", "/mcp"),
    ):
        assert eve.http.request(method, path).status_code == 404
    assert visit(room).http.get(wire.BALANCE).status_code == 401
    assert visit(room, Authorization="Bearer rk-nobody").http.get(wire.BALANCE).status_code == 401


def test_an_image_is_kept_until_its_clip_is_made(serve: Serve, visit: Visit) -> None:
    """One that the cap doesn't pay for leaves nothing in the class's folder."""
    room = serve(cap_usd=0.10)
    room.store.change(paused=1)
    ada = visit(room).join("Ada")

    def order(shade: int, seconds: int) -> int:
        picture = io.BytesIO()
        Image.new("L", (320, 180), shade).save(picture, "PNG")
        body = {"prompt": "zoom", "duration_seconds": seconds}
        return ada.http.post(wire.IMAGE_TO_VIDEO, data=body, files={"image": picture.getvalue()}).status_code

    assert (order(10, seconds=5), order(20, seconds=2)) == (402, 200)
    assert [path.name for path in room.store.images.iterdir()] == [room.store.all_jobs()[0].image]
    go_on(room)
    until(lambda: not list(room.store.images.iterdir()))
    assert room.store.all_jobs()[0].state == "completed"


def test_what_is_refused_reserves_nothing(serve: Serve, visit: Visit) -> None:
    """What makes no clip, one that is longer than the class allows, and one that the cap doesn't pay for:
    402, with both amounts, as the service says it.
    """
    room = serve(cap_usd=0.30, max_seconds=5)
    ada = visit(room).join("Ada")
    for body, status in (
        ({}, 400),
        ({"prompt": "a", "duration_seconds": -5}, 400),
        ({"prompt": "a", "duration_seconds": 6}, 400),
        ({"prompt": "a" * 1_100_000}, 413),
    ):
        assert ada.http.post(wire.TEXT_TO_VIDEO, json=body).status_code == status
    assert room.store.money() == (0, 0)
    ada.ordered(seconds=4)
    refused = ada.order(seconds=5)
    assert refused.status_code == 402
    assert refused.json()["detail"] == "Insufficient balance. Current balance: $0.10, required: $0.25"
    assert sum(room.store.money()) == 0.20
