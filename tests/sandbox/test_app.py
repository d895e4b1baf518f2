"""The service's interface over a real socket: what is accepted, what is refused, and with which words."""

import contextlib
import json
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from sandbox.doubles import CLIP, NOON, Client, Open

from reelbook.sandbox.clock import Clock

TEXT = "/api/v1/generate/text-to-video"
IMAGE = "/api/v1/generate/image-to-video"
KEYS = "/api/v1/keys"


def test_a_job_goes_from_pending_over_processing_to_completed(client: Client) -> None:
    """Each state has its fields, the progress rises, and the clip can be fetched without a key."""
    client.executor.longer_seconds = 0.5
    answer = client.http.post(TEXT, json={"prompt": "a fox", "duration_seconds": 3})
    accepted = answer.json()
    request_id = accepted.pop("request_id")
    assert accepted == {"status": "pending", "estimated_cost_usd": 0.15, "estimated_duration_seconds": 3}

    estimated = {"request_id": request_id, "estimated_cost_usd": 0.15}
    assert client.status(request_id) == estimated | {"status": "pending"}
    client.sandbox.advance(1.5)
    assert client.status(request_id) == estimated | {"status": "processing", "progress": 0}
    client.sandbox.advance(4.25)
    assert client.status(request_id) == estimated | {"status": "processing", "progress": 50}
    client.sandbox.advance(4.25)
    done = client.wait(request_id)
    url = done.pop("video_url")
    assert done == {
        "request_id": request_id,
        "status": "completed",
        "duration_seconds": 3.5,
        "cost_usd": 0.175,
    }
    assert url.startswith(f"{client.sandbox.url}/videos/")
    fetched = httpx.get(url, trust_env=False)
    assert (fetched.content, fetched.headers["content-type"]) == (CLIP, "video/mp4")
    assert fetched.headers["cache-control"] == "private"
    balance = client.get("/api/v1/billing/balance").json()
    assert balance == {"balance_usd": 24.825, "total_spent_usd": 0.175}


def test_what_was_asked_for_reaches_the_drawing(shared: Client, still: Any) -> None:
    """Prompt, length, shape, seed and image arrive as they were sent; defaults are the interface's.

    A field that the interface doesn't name is ignored, and a seed is drawn for each job that asks for none.
    """
    shared.executor.specs.clear()
    asked = {"duration_seconds": 10, "aspect_ratio": "9:16", "seed": -(2**70)}
    shared.wait(shared.submit("ein Fuchs im Schnee ❄", **asked))
    shared.wait(shared.submit("plain", negative_prompt="no dogs"))
    photo = still((360, 640), "JPEG")
    shared.wait(shared.submit_image(photo, duration_seconds="2").json()["request_id"])
    first, second, third = shared.executor.specs
    assert (first.seconds, first.aspect_ratio, first.seed) == tuple(asked.values())
    assert first.prompt == "ein Fuchs im Schnee ❄"
    assert (second.seconds, second.aspect_ratio, second.image) == (5, "16:9", None)
    assert min(second.seed, third.seed) >= 0
    assert second.seed != third.seed
    assert (third.prompt, third.seconds, third.aspect_ratio, third.image) == ("it sways", 2, "9:16", photo)


JSON, FORM = "application/json", "multipart/form-data; boundary=b"


@pytest.mark.parametrize(
    ("path", "body", "content_type", "status"),
    [
        *(
            (TEXT, json.dumps(asked), JSON, 400)
            for asked in (
                {},
                {"prompt": " "},
                {"prompt": "half a \ud83d"},
                {"prompt": "a fox", "duration_seconds": float("nan")},
                "a fox",
                None,
            )
        ),
        *(
            (KEYS, json.dumps(asked), JSON, 400)
            for asked in (
                {},
                {"name": "  "},
                {"name": "x" * 101},
                {"name": "x", "rate_limit": 101},
                {"name": "x", "rate_limit": None},
                ["x"],
            )
        ),
        (TEXT, b"", JSON, 400),
        (TEXT, b"{", JSON, 400),
        (TEXT, b'{"prompt": "a fox"} and', JSON, 400),
        (TEXT, b'{"prompt": "\xff"}', JSON, 400),
        (TEXT, b"[" * 100_000, JSON, 400),
        (TEXT, b'{"prompt": "a fox", "seed": ' + b"9" * 5000 + b"}", JSON, 400),
        (TEXT, b'{"prompt": "a fox"}', "text/plain", 400),
        (TEXT, b'{"prompt": "a fox"}', "", 400),
        (TEXT, b'{"prompt": "' + b"x" * 2**20 + b'"}', JSON, 413),
        (IMAGE, b'{"prompt": "it sways"}', JSON, 400),
        (IMAGE, b"prompt=it+sways", "application/x-www-form-urlencoded", 400),
        (IMAGE, b"anything", "multipart/form-data", 400),
        (IMAGE, b"anything", FORM, 400),
        (IMAGE, b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n", FORM, 400),
        (IMAGE, b'--b\r\nContent-Disposition: form-data; name="image"\r\n\r\nx\r\n--b--\r\n', FORM, 400),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_cannot_be_read_or_makes_no_sense_is_refused(
    shared: Client, path: str, body: str | bytes, content_type: str, status: int
) -> None:
    """With a reason, and nothing is made: wrong values, bodies that are no JSON or no form, enormous ones."""
    _refused(shared.http.post(path, content=body, headers={"Content-Type": content_type}), status)


@pytest.mark.parametrize(
    ("parts", "data"),
    [
        ({}, {"prompt": "it sways"}),
        ({"image": "png"}, {}),
        ({"image": "png"}, {"prompt": "  "}),
        ({"image": "png"}, {"prompt": "it sways", "duration_seconds": "5.5"}),
        ({"image": "png"}, {"prompt": "it sways", "duration_seconds": ""}),
        ({"image": "png"}, {"prompt": "it sways", "duration_seconds": " 5"}),
        ({"image": "png"}, {"prompt": "it sways", "duration_seconds": "٥"}),
        ({"image": "png"}, {"prompt": "it sways", "duration_seconds": "-1"}),
        ({"image": "png"}, {"prompt": ["it sways", "it nods"]}),
        ({"image": "gif"}, {"prompt": "it sways"}),
        ({"image": "text"}, {"prompt": "it sways"}),
        ({"image": "empty"}, {"prompt": "it sways"}),
        ({"image": "png", "prompt": "png"}, {}),
        ({"image": "png", "duration_seconds": "png"}, {"prompt": "it sways"}),
    ],
    ids=repr,
)
def test_an_invalid_image_to_video_payload_is_a_400(
    shared: Client, still: Any, parts: dict[str, str], data: dict[str, Any]
) -> None:
    """Missing parts, wrong lengths and files that are no JPEG or PNG are refused with a reason."""
    contents = {"png": still(), "gif": still(kind="GIF"), "text": b"a fox", "empty": b""}
    files = {name: ("f.bin", contents[kind]) for name, kind in parts.items()} or {"other": ("f", b"x")}
    _refused(shared.http.post(IMAGE, files=files, data=data), 400)


def test_too_large_an_image_is_a_413(shared: Client, still: Any) -> None:
    """The limit holds for the image itself, whether or not the body says how long it is."""
    image = still((200, 200), "PNG")
    shared.sandbox.settings(max_image_bytes=len(image))
    try:
        assert shared.submit_image(image).status_code == 200
        shared.sandbox.settings(max_image_bytes=len(image) - 1)
        _refused(shared.submit_image(image), 413)
        huge = {"image": ("f", b"\x89PNG" + bytes(2_000_000))}
        _refused(shared.submit_image(huge["image"][1]), 413)
        ready = httpx.Request("POST", shared.sandbox.url, files=huge, data={"prompt": "it sways"})
        content, headers = ready.read(), {"Content-Type": ready.headers["content-type"]}
        pieces = (content[i : i + 50_000] for i in range(0, len(content), 50_000))
        _refused(shared.http.post(IMAGE, content=pieces, headers=headers), 413)
    finally:
        shared.sandbox.settings(max_image_bytes=10 * 2**20)


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer sk-sandbox-wrong", "Basic {key}", "{key}"])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/v1/keys"), ("POST", TEXT), ("GET", "/api/v1/status/x")]
)
def test_without_a_valid_key_nothing_is_answered(
    shared: Client, header: str | None, method: str, path: str
) -> None:
    """A missing, malformed or unknown key is a 401 that says which scheme is wanted."""
    headers = {} if header is None else {"Authorization": header.format(key=shared.sandbox.api_key.reveal())}
    answer = httpx.request(method, shared.sandbox.url + path, headers=headers, trust_env=False)
    assert (answer.status_code, answer.json()) == (401, {"detail": "Invalid API key"})
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "x-ratelimit-limit" not in answer.headers


def test_what_isnt_there_is_said_in_json(shared: Client) -> None:
    """Unknown ids and paths are 404, wrong methods 405; HEAD is GET without the body."""
    _refused(shared.get("/api/v1/status/req_unknown"), 404)
    _refused(shared.http.delete("/api/v1/keys/key_unknown"), 404)
    for path in ("/unknown", "/api/v1/status", "/api/v1/keys/", "/videos/no.mp4", "/videos/..%2fx.mp4"):
        answer = shared.get(path)
        assert (answer.status_code, list(answer.json())) == (404, ["detail"]), path
    answer = shared.http.put("/api/v1/keys")
    assert (answer.status_code, list(answer.json())) == (405, ["detail"])
    assert {"GET", "POST"} <= set(answer.headers["allow"].replace(" ", "").split(","))
    answer = shared.http.head("/api/v1/billing/balance")
    assert (answer.status_code, answer.content) == (200, b"")


def test_the_rate_limit_is_told_and_kept(client: Client) -> None:
    """Ten a minute, whatever the answer, told by three headers; the eleventh is a 429 and doesn't count."""
    client.sandbox.settings(rate_limiting=True, balance_usd=0)
    answers = [client.get("/api/v1/status/x")]
    answers += [client.http.post(TEXT, json=body) for body in ({}, {"prompt": "x"})]
    answers += [client.get("/api/v1/billing/balance") for _ in range(7)]
    assert [answer.status_code for answer in answers] == [404, 400, 402] + [200] * 7
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in answers]
    assert left == list(range(9, -1, -1))
    client.sandbox.advance(20)
    answer = client.get("/api/v1/billing/balance")
    assert (answer.status_code, answer.json()) == (429, {"detail": "Rate limit exceeded"})
    assert {name: value for name, value in answer.headers.items() if name.startswith("x-ratelimit")} == {
        "x-ratelimit-limit": "10",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": "40",
    }
    client.sandbox.advance(40)
    assert client.get("/api/v1/billing/balance").headers["x-ratelimit-remaining"] == "9"


def test_jobs_under_way_are_set_aside_and_one_that_fails_costs_nothing(client: Client) -> None:
    """Two jobs can't be promised the same money; when one fails, its share is free again.

    Only the next job that is accepted fails with the text, after its pace.
    """
    client.sandbox.settings(balance_usd=0.30, fail_next="content policy")
    assert client.http.post(TEXT, json={}).status_code == 400
    failing = client.submit()
    client.sandbox.settings(fail_next="no")
    answer = client.http.post(TEXT, json={"prompt": "a fox"})
    _refused(answer, 402)
    assert answer.json() == {"detail": "Insufficient balance. Current balance: $0.05, required: $0.25"}
    assert client.sandbox.state()["fail_next"] == "no"
    client.sandbox.settings(fail_next=None)
    assert client.status(failing)["status"] == "pending"
    client.sandbox.advance(10)
    assert client.wait(failing) == {"request_id": failing, "status": "failed", "error": "content policy"}
    assert client.get("/api/v1/billing/balance").json() == {"balance_usd": 0.30, "total_spent_usd": 0}
    fine = client.submit()
    client.sandbox.advance(10)
    assert client.wait(fine)["status"] == "completed"


def test_many_submissions_at_once_never_overdraw(open_sandbox: Open, tmp_path: Path) -> None:
    """Of twenty simultaneous jobs, a balance for five accepts five."""
    with open_sandbox(tmp_path, pace=600, rate_limiting=False, balance_usd=1.25) as client:
        codes: list[int] = []

        def submit() -> None:
            codes.append(client.http.post(TEXT, json={"prompt": "a fox"}).status_code)

        threads = [threading.Thread(target=submit) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(codes) == [200] * 5 + [402] * 15


def test_keys_are_made_listed_and_revoked(client: Client) -> None:
    """A new key works at once, is shown once, and is of no use once it is revoked."""
    made = client.http.post(KEYS, json={"name": " laptop ", "rate_limit": 3}).json()
    secret = made.pop("api_key")
    assert made == {
        "key_id": made["key_id"],
        "name": "laptop",
        "rate_limit": 3,
        "created_at": "2027-01-15T08:00:00.000Z",
    }
    listed = client.get(KEYS).json()
    assert (listed["count"], [key["name"] for key in listed["api_keys"]]) == (2, ["notebook", "laptop"])
    shown = {"is_active": True, "last_used": None, "key_preview": f"sk-sandbox-…{secret[-4:]}"}
    assert listed["api_keys"][1] == made | shown
    client.sandbox.advance(30)
    client.sandbox.settings(rate_limiting=True)
    theirs = {"Authorization": f"Bearer {secret}"}
    used = client.get("/api/v1/billing/balance", headers=theirs)
    assert (used.status_code, used.headers["x-ratelimit-limit"]) == (200, "3")
    assert client.get(KEYS).json()["api_keys"][1]["last_used"] == "2027-01-15T08:00:30.000Z"

    for _ in range(2):
        answer = client.http.delete(f"{KEYS}/{made['key_id']}")
        assert answer.json() == {"message": "The API key was revoked", "key_id": made["key_id"]}
    assert client.get("/api/v1/billing/balance", headers=theirs).status_code == 401
    assert client.get(KEYS).json()["api_keys"][1]["is_active"] is False


def test_usage_counts_rolling_days(client: Client) -> None:
    """Requests by when they were accepted, seconds and cost by when they were completed."""
    first = client.submit(duration_seconds=2)
    client.sandbox.advance(2 * 86_400)
    client.wait(first)
    second = client.submit(duration_seconds=4)
    client.sandbox.advance(10)
    client.wait(second)
    assert client.get("/api/v1/billing/usage").json() == {
        "period_days": 30,
        "total_requests": 2,
        "total_seconds": 6.0,
        "total_cost_usd": 0.3,
        "current_balance_usd": 24.7,
        "total_spent_usd": 0.3,
    }
    client.sandbox.advance(60)
    day = client.get("/api/v1/billing/usage?days=1").json()
    assert (day["total_requests"], day["total_seconds"], day["total_cost_usd"]) == (1, 4.0, 0.2)
    assert day["total_spent_usd"] == 0.3
    client.sandbox.advance(86_400)
    assert client.get("/api/v1/billing/usage?days=1").json()["total_requests"] == 0


@pytest.mark.parametrize("days", ["0", "366", "-1", "1.5", "", "week", "9" * 30, "1&days=2"])
def test_days_out_of_bounds_are_a_400(shared: Client, days: str) -> None:
    """From 1 to 365, whole, once."""
    _refused(shared.get(f"/api/v1/billing/usage?days={days}"), 400)


def test_videos_are_served_in_ranges(shared: Client) -> None:
    """A player may ask for any part, as often as it likes, without a key."""
    url = shared.wait(shared.submit())["video_url"]
    part = httpx.get(url, headers={"Range": "bytes=100-199"}, trust_env=False)
    assert (part.status_code, part.content) == (206, CLIP[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(CLIP)}"
    assert httpx.get(url, headers={"Range": "bytes=99999-"}, trust_env=False).status_code == 416
    assert "access-control-allow-origin" not in part.headers


def test_the_video_address_is_the_one_the_client_reaches(shared: Client) -> None:
    """Asked as localhost, the sandbox names localhost."""
    request_id = shared.submit()
    shared.wait(request_id)
    host = shared.sandbox.url.replace("http://127.0.0.1", "localhost")
    answer = shared.get(f"/api/v1/status/{request_id}", headers={"Host": host})
    assert answer.json()["video_url"].startswith(f"http://{host}/videos/")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.", "evil.example:80", ""]
)
def test_other_host_names_are_refused(shared: Client, host: str) -> None:
    """A web page that points its own name at this machine gets no answer."""
    answer = shared.get("/_sandbox/about", headers={"Host": host})
    assert (answer.status_code, list(answer.json())) == (421, ["detail"])


def test_an_error_of_the_sandbox_itself_is_a_500_in_json(
    open_sandbox: Open, tmp_path: Path, caplog: Any
) -> None:
    """The answer keeps its shape and the rate limit; the reason is in the log."""
    with open_sandbox(tmp_path, clock=Clock(NOON)) as client:
        with contextlib.closing(sqlite3.connect(tmp_path / "sandbox" / "sandbox.db")) as database:
            database.execute("DROP TABLE account")
        answer = client.get("/api/v1/billing/balance")
    _refused(answer, 500)
    assert "no such table: account" in caplog.text


def test_status_requests_are_quick_over_one_connection(shared: Client) -> None:
    """Nagle's algorithm is off: also far into a connection, a request can take nowhere near its 40 ms."""
    request_id = shared.submit()
    took: list[float] = []
    for _ in range(60):
        begun = time.perf_counter()
        shared.status(request_id)
        took.append(time.perf_counter() - begun)
    assert min(took[30:]) < 0.03


def _refused(answer: httpx.Response, status: int) -> None:
    assert (answer.status_code, list(answer.json())) == (status, ["detail"]), answer.text
    assert isinstance(answer.json()["detail"], str)
    assert "x-ratelimit-remaining" in answer.headers
