"""AsyncClient against servers that answer wrongly or not at all; the right answers are in tests/contract."""

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
import pytest
from support import jumping_time
from support.live import KEY, client_of
from support.raw_server import Exchange, Handler, in_turn, raw_server
from support.records import Heard

from reelbook import errors
from reelbook.client import AsyncClient, transport
from reelbook.media.images import prepare
from reelbook.requests import JobRequest
from reelbook.settings import InsecureAddress

FOX = JobRequest.from_text("a fox")
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_pauses")]

JSON = {"content-type": "application/json"}
ACCEPTED = json.dumps({"request_id": "req_1", "status": "pending"}).encode()


async def test_a_submission_that_never_arrived_is_no_uncertain_one() -> None:
    """Of a refused connection nothing is recorded as sent: a kill meanwhile leaves nothing uncertain."""
    with raw_server(lambda e: None) as gone:
        heard = Heard()
    async with AsyncClient(KEY, gone.url) as client:
        with pytest.raises(errors.ServiceUnreachable, match="Nothing was sent"):
            await client.submit(FOX, record=heard)
    assert set(heard) == {"no effect"}


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 Connection established\r\n\r\n"])
async def test_a_proxy_that_leads_nowhere_is_an_unreachable_service(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it hangs before or after it agrees: only it was asked for something, and it may be again."""

    def hang(exchange: Exchange) -> None:
        exchange.send(answer)
        exchange.keep_open()

    monkeypatch.setattr(transport, "CONNECT_SECONDS", 0.2)
    heard = Heard()
    with raw_server(hang) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        async with AsyncClient(KEY, "https://service.example") as client:
            with pytest.raises(errors.ServiceUnreachable, match="Nothing was sent"):
                await client.submit(FOX, record=heard)
    assert set(heard) == {"no effect"}
    assert {each.first_line for each in proxy.seen} == {"CONNECT service.example:443 HTTP/1.1"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALL_PROXY", "socks5://127.0.0.1:9"), ("HTTPS_PROXY", "no://proxy"), ("SSL_CERT_FILE", "/nowhere.pem")],
)
async def test_a_computer_whose_proxy_or_certificates_cant_be_used_reaches_no_service(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is bought, a download isn't said to fail by its folder, and the text says what to correct."""
    monkeypatch.setenv(name, value)
    transport._trust.cache_clear()
    async with AsyncClient(KEY, "https://service.example") as client:
        with pytest.raises(errors.ServiceUnreachable, match=f"{name}.*Nothing was sent"):
            await client.text_to_video("a fox")
        with pytest.raises(errors.DownloadFailed, match=name):
            await client.download("https://files.example/clip.mp4", tmp_path / "clip.mp4")


@pytest.mark.parametrize(
    "ask",
    [
        lambda client, half: client.create_key(half),
        lambda client, half: client.text_to_video(half),
        lambda client, half: client.status(half),
        lambda client, half: client.revoke_key(half),
    ],
)
async def test_half_a_character_is_no_text(ask: Callable[[AsyncClient, str], Awaitable[object]]) -> None:
    """Such as a byte of the command line that is no text: it is refused, and the service isn't blamed."""
    async with client_of(lambda e: e.answer(200, b"{}")) as (client, service):
        with pytest.raises(errors.InvalidInput):
            await ask(client, "half a \udcff")
    assert not any(each.body for each in service.seen)


async def test_what_is_held_back_in_the_last_moment_sends_no_byte() -> None:
    """The connection stands and is closed again; the error is the record's own."""

    class TakenBack(Heard):
        def sending(self) -> None:
            raise errors.SubmissionCancelled("Taken back.")

    async with client_of(Exchange.hold) as (client, service):
        with pytest.raises(errors.SubmissionCancelled, match="Taken back"):
            await client.submit(FOX, record=TakenBack())
    assert service.seen == []


async def test_an_upload_broken_off_half_way_cant_have_been_accepted() -> None:
    """A service that closes before the image is through has no complete request to accept or bill."""

    def refuse_early(exchange: Exchange) -> None:
        raise AssertionError("the request never gets here whole")

    noise = np.random.default_rng(1).integers(0, 256, (3000, 3000, 3), np.uint8)
    image = prepare(noise, max_side=8000, max_bytes=30_000_000)
    async with client_of(refuse_early, read_at_most=1000) as (client, _):
        with pytest.raises(errors.SendInterrupted, match="can't have accepted"):
            await client.image_to_video(image, "zoom in")


def test_a_rate_limited_submission_is_sent_again() -> None:
    """429 certainly had no effect: the same request goes out again."""
    heard = Heard()
    hold_off: list[Handler] = [lambda e: e.answer(429, b"{}", {"retry-after": "0"})] * 3

    async def scene() -> tuple[str, set[bytes]]:
        async with client_of(in_turn(*hold_off, lambda e: e.answer(200, ACCEPTED))) as (client, service):
            accepted = await client.submit(FOX, record=heard)
        return accepted.request_id, {exchange.body for exchange in service.seen}

    request_id, bodies = jumping_time.run(scene())
    assert (request_id, len(bodies)) == ("req_1", 1)
    assert heard == [*["sent", "no effect"] * 3, "sent"]


async def test_a_service_whose_name_isnt_ascii_gets_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name in the address and its name in the request are one origin. Plain HTTP is warned of once, at
    the caller's line.
    """
    known = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: known("127.0.0.1", *rest, **more))
    with raw_server(lambda exchange: exchange.answer(200, b'{"balance_usd": 1}')) as service:
        with pytest.warns(InsecureAddress) as warned:
            client = AsyncClient(KEY, service.url.replace("127.0.0.1", "bücher.example"))
        async with client, client.with_key(KEY) as other:
            await other.balance()
    assert [each.filename for each in warned] == [__file__]
    assert [exchange.header("authorization") for exchange in service.seen] == [f"Bearer {KEY}"]


async def test_every_submission_uses_a_connection_of_its_own() -> None:
    """A kept connection that the server closes just then would leave a paid request uncertain."""
    async with client_of(lambda e: e.answer(200, ACCEPTED)) as (client, service):
        for _ in range(3):
            await client.text_to_video("a fox")
    assert [e.header("connection") for e in service.seen] == ["close"] * 3


def said_of(body: bytes, length: int | None = None, *, status: int = 200) -> Handler:
    """Answers with `body`, whatever `length` was promised."""

    def handle(exchange: Exchange) -> None:
        promised = len(body) if length is None else length
        exchange.send(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n" % (status, promised) + body)

    return handle


SLASHED = "sk-planted/4f+1c0/ffee=="
IN_JSON = json.dumps({"detail": SLASHED})
IN_UNICODE = "".join(f"\\u{ord(character):04x}" for character in SLASHED)


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(said_of(IN_JSON.replace("/", "\\/").encode(), status=400), id="slash"),
        pytest.param(said_of(f'{{"detail": "{IN_UNICODE}"}}'.encode(), status=400), id="unicode"),
        pytest.param(said_of(IN_JSON.encode("utf-16"), status=400), id="UTF-16"),
        pytest.param(said_of(quote(SLASHED, safe="").encode(), status=500), id="address"),
        pytest.param(lambda e: e.answer(500, headers={"x-request-id": SLASHED}), id="header"),
        pytest.param(said_of(f'{{"detail": "not {SLASHED[:-4]}'.encode(), 300), id="cut"),
        pytest.param(said_of(f'{{"detail": "not {IN_UNICODE[:-9]}'.encode(), 300), id="cut unicode"),
        pytest.param(lambda e: e.send(f"{SLASHED} is no status\r\n\r\n".encode()), id="no HTTP"),
        pytest.param(lambda e: e.send(f"HTTP/1.1 200 X\r\n{SLASHED} x\r\n\r\n".encode()), id="no header"),
    ],
)
async def test_no_form_of_the_key_that_an_answer_repeats_comes_through(handler: Handler) -> None:
    """Not in the error's text, nor in what is kept of the answer; broken off, not its beginning either."""
    async with client_of(handler, key=SLASHED) as (client, _):
        with pytest.raises(errors.ReelbookError) as refused:
            await client.balance()
    said = unquote(f"{refused.value} {vars(refused.value)}").replace("\\\\", "\\").replace("\\/", "/")
    assert SLASHED[:-4] not in said
    assert IN_UNICODE[:-9] not in said


async def test_an_endless_answer_is_broken_off_and_an_echo_of_the_key_in_it_masked() -> None:
    """A body without end doesn't fill the memory; what is kept of it is its beginning."""

    def endless(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + exchange.head.encode())
        for _ in range(200):
            exchange.send(b"x" * 100_000)

    async with client_of(endless) as (client, service):
        with pytest.raises(errors.UnexpectedAnswer, match="far too long") as broken_off:
            await client.balance()
    assert KEY in service.seen[0].head
    assert KEY not in f"{broken_off.value} {broken_off.value.answer}"
    assert "***" in broken_off.value.answer.extract


@pytest.mark.parametrize("missing", ["api_key", "base_url"])
def test_a_missing_key_or_address_is_named(missing: str) -> None:
    """The error says which setting to set."""
    given = {"api_key": KEY, "base_url": "http://127.0.0.1:9"}
    del given[missing]
    with pytest.raises(errors.ConfigurationError, match=f"REELBOOK_{missing.upper()}"):
        AsyncClient(**given)  # type: ignore[arg-type]  # a dict of the two arguments


async def test_waiting_ends_at_its_timeout_and_says_that_the_job_goes_on() -> None:
    """A timeout is no failure of the job."""
    async with client_of(lambda e: e.answer(200, b'{"request_id": "r", "status": "pending"}')) as (client, _):
        with pytest.raises(errors.WaitTimeout, match="goes on"):
            await client.wait("r", timeout_seconds=0.05)


@pytest.mark.parametrize(("said", "shown"), [("too dark", "“too dark”"), (None, "gave no reason")])
def test_a_failed_job_has_the_services_own_reason_or_none(said: str | None, shown: str) -> None:
    """What stands for a reason in the text is not taken for the service's word."""
    body = json.dumps({"request_id": "r", "status": "failed", "error": said}).encode()

    async def waited() -> None:
        async with client_of(lambda e: e.answer(200, body)) as (client, _):
            await client.wait("r")

    with pytest.raises(errors.JobFailed, match=shown) as failed:
        jumping_time.run(waited())
    assert (failed.value.request_id, failed.value.reason) == ("r", said)


WHOLE = b'{"request_id": "req_17", "status": "pending"}'


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(said_of(WHOLE, 300), id="closed too early"),
        pytest.param(said_of(WHOLE[:27], 27), id="broken JSON"),
        pytest.param(said_of(b"[" + WHOLE + b"]", len(WHOLE) + 2), id="in a list"),
        pytest.param(said_of(b'{"id": "req_17"}', 16), id="under another name"),
    ],
)
async def test_what_came_of_a_paid_answer_is_kept(handler: Handler) -> None:
    """The job's id may be in it, so it stands in the error, which the ledger keeps."""
    async with client_of(handler, deadline_seconds=20) as (client, service):
        with pytest.raises(errors.SubmissionUncertain, match=r"It answered: “.*req_17") as uncertain:
            await client.text_to_video("a fox")
    assert len(service.seen) == 1
    assert uncertain.value.answer is not None
    assert "req_17" in uncertain.value.answer.extract


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        (b'{"key_id": "k", "api_key": "sk-planted-half", "name', 20),
        (b'{"key_id": "k", "api_key": "sk-planted-half", "name', 0),
        (b'{"key": "sk-planted-half", "message": "it is sk-planted-half"}', 0),
    ],
)
async def test_what_came_of_a_new_keys_answer_is_not_kept(body: bytes, missing: int) -> None:
    """It may hold the secret."""
    async with client_of(said_of(body, len(body) + missing), deadline_seconds=20) as (client, _):
        with pytest.raises(errors.KeyUncertain) as uncertain:
            await client.create_key("class")
    assert "sk-planted-half" not in f"{uncertain.value} {vars(uncertain.value)}"
    assert uncertain.value.__context__ is None


@pytest.mark.parametrize(
    ("status", "uncertain"), [(301, False), (307, False), (308, False), (302, True), (303, True)]
)
async def test_a_redirected_submission_was_not_accepted_where_it_says_so(
    status: int, uncertain: bool
) -> None:
    """301, 307 and 308 say: send it elsewhere as it is. After 302 and 303 it may have been done."""
    with raw_server(lambda e: e.answer(200, ACCEPTED)) as elsewhere:
        location = {"location": f"{elsewhere.url}/api"}
        async with client_of(lambda e: e.answer(status, headers=location)) as (client, service):
            with pytest.raises(errors.SubmissionUncertain if uncertain else errors.UnexpectedAnswer) as error:
                await client.text_to_video("a fox")
    assert elsewhere.url in str(error.value)
    assert (len(service.seen), elsewhere.seen) == (1, [])


async def test_an_address_without_the_api_is_named_by_the_balance() -> None:
    """Every account has a balance: where there is none the address is wrong, and what to check is said."""
    async with client_of(lambda e: e.answer(404)) as (client, _):
        with pytest.raises(errors.NotFound, match="Check REELBOOK_BASE_URL") as caught:
            await client.balance()
    assert caught.value.answer is not None
    assert caught.value.answer.status == 404


OLD, NEW = "sk-planted-old", "sk-planted-new"


async def test_what_is_under_way_finishes_and_the_next_carries_the_new_key() -> None:
    """The former key is done with when its last answer is there, and not before."""
    arrived, go_on = threading.Event(), threading.Event()

    def answer(exchange: Exchange) -> None:
        arrived.set()
        go_on.wait(60)
        exchange.answer(200, b'{"balance_usd": 1.0, "total_spent_usd": 0.0}')

    async with client_of(answer, key=OLD) as (client, service):
        slow = asyncio.create_task(client.balance())
        await asyncio.to_thread(arrived.wait, 10)
        client.use_key(NEW)
        done = asyncio.create_task(client.former_keys_done())
        await asyncio.sleep(0)
        assert not done.done()
        go_on.set()
        assert (await slow).balance_usd == 1.0
        await done
        await client.balance()
    keys = [exchange.header("authorization") for exchange in service.seen]
    assert keys == [f"Bearer {OLD}", f"Bearer {NEW}"]


async def test_no_key_of_the_client_gets_into_an_error() -> None:
    """A service that echoes the former key doesn't put it into an extract either."""
    echo = f'{{"detail": "{OLD} and {NEW}"}}'.encode()
    async with client_of(lambda exchange: exchange.answer(400, echo), key=OLD) as (client, _):
        client.use_key(NEW)
        with pytest.raises(errors.BadRequest) as refused:
            await client.balance()
    assert "sk-planted" not in repr(refused.value) + repr(vars(refused.value))
