"""What every service of this interface does, asked through AsyncClient.

Runs against the sandbox and against a class's room. With
`--live --max-spend USD` it runs against the configured live service as well, as far as that sum goes; nothing
else in the tests ever does.
"""

import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest
from conftest import LIVE_SETTINGS
from PIL import Image
from support.jumping_time import JumpingLoop
from support.kept_clips import KeptClips

from reelbook import connect, errors, timing, wire
from reelbook.classroom.room.serving import in_thread as room_in_thread
from reelbook.client import AsyncClient
from reelbook.media.clips import probe
from reelbook.models import Completed
from reelbook.sandbox import server
from reelbook.secret import Secret

pytestmark = pytest.mark.anyio


@dataclass
class Service:
    """A running service and what may still be spent on it, in USD."""

    kind: str
    url: str
    key: Secret
    may_spend_usd: float = 100.0

    def spend(self, seconds: int) -> None:
        cost = wire.cost_usd(seconds)
        assert cost <= self.may_spend_usd, f"--max-spend leaves {self.may_spend_usd} USD, this needs {cost}"
        self.may_spend_usd -= cost


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kinds = ["sandbox", "room"] + (["live"] if metafunc.config.getoption("--live") else [])
    metafunc.parametrize("service", kinds, indirect=True, scope="module")


@pytest.fixture(scope="module")
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = tmp_path_factory.mktemp("contract")
    if request.param == "live":
        limit = request.config.getoption("--max-spend")
        assert limit is not None, "--live spends money: say how much with --max-spend"
        key = Secret(LIVE_SETTINGS["REELBOOK_API_KEY"])
        yield Service("live", LIVE_SETTINGS["REELBOOK_BASE_URL"], key, limit)
        return
    with opened(request.param, home) as (url, key):
        yield Service(request.param, url, key)


@contextlib.contextmanager
def in_room(
    home: Path, *, cap_usd: float = 100.0, most_bytes: int | None = None
) -> Iterator[tuple[str, Secret]]:
    """A class's room with a sandbox behind it: its address, and the key of one who joined."""
    with server.in_thread(home, pace=0, executor=KeptClips()) as behind:
        behind.settings(rate_limiting=False, balance_usd=1000)
        timing.use(timing.Timing(new_loop=JumpingLoop, took=timing.SHORT_JOBS))
        teacher = connect("live", api_key=behind.api_key, base_url=behind.url, home=home)
        with contextlib.closing(teacher), room_in_thread(teacher, "FOX-234", cap_usd=cap_usd) as running:
            if most_bytes is not None:
                running.max_image_bytes = most_bytes
            _, key = running.store.join("Ada")
            yield running.url, key


@contextlib.contextmanager
def opened(
    kind: str, home: Path, *, balance_usd: float = 100.0, most_bytes: int | None = None
) -> Iterator[tuple[str, Secret]]:
    """A service of that kind, with so much money, and of images at most so many bytes."""
    if kind == "room":
        with in_room(home, cap_usd=balance_usd, most_bytes=most_bytes) as room:
            yield room
        return
    with server.in_thread(home, pace=0, executor=KeptClips()) as running:
        running.settings(rate_limiting=False, balance_usd=balance_usd, max_image_bytes=most_bytes)
        yield running.url, running.api_key


@pytest.fixture
async def client(service: Service) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(service.key, service.url) as client:
        yield client


async def test_a_clip_from_text_is_accepted_made_billed_and_fetched(
    service: Service, client: AsyncClient, tmp_path: Path
) -> None:
    """From the submission to a playable file, and the balance falls by what it cost."""
    service.spend(1)
    before = await client.balance()
    accepted = await client.text_to_video(
        "a red fox in the snow", duration_seconds=1, aspect_ratio="1:1", seed=7
    )
    assert accepted.status == "pending"
    assert accepted.estimated_cost_usd == pytest.approx(0.05)
    done = await client.wait(accepted.request_id, timeout_seconds=600)
    assert isinstance(done, Completed)
    assert done.video_url is not None
    path = await client.download(done.video_url, tmp_path / "clip.mp4")
    info = probe(path)
    assert done.duration_seconds == pytest.approx(info.duration_seconds, abs=0.1)
    assert info.width == info.height
    after = await client.balance()
    assert before.balance_usd - after.balance_usd == pytest.approx(done.cost_usd, abs=0.001)


async def test_a_clip_from_an_image_is_made(service: Service, client: AsyncClient) -> None:
    """A still image and a prompt for its motion are enough."""
    service.spend(1)
    picture = BytesIO()
    Image.radial_gradient("L").convert("RGB").save(picture, "PNG")
    accepted = await client.image_to_video(picture.getvalue(), "slow zoom in", duration_seconds=1)
    done = await client.wait(accepted.request_id, timeout_seconds=600)
    assert done.cost_usd == pytest.approx(0.05, abs=0.03)


async def test_usage_counts_days(service: Service, client: AsyncClient) -> None:
    """The summary says which period it is for."""
    usage = await client.usage(7)
    assert usage.period_days == 7
    assert usage.total_cost_usd >= 0


async def test_a_key_lives_from_its_creation_to_its_revocation(service: Service, client: AsyncClient) -> None:
    """A new key works, is listed without its secret, and works no more once it is revoked."""
    if service.kind == "room":  # where a student has one key and makes none
        for call in (client.create_key("another"), client.list_keys(), client.revoke_key("key_1")):
            with pytest.raises(errors.NotFound):
                await call
        return
    created = await client.create_key("reelbook contract test", rate_limit=5)
    async with AsyncClient(created.api_key, service.url) as other:
        assert (await other.balance()).balance_usd > 0
        listed = {key.key_id: key for key in await client.list_keys()}
        assert listed[created.key_id].rate_limit == 5
        assert created.api_key.reveal() not in repr(listed)
        await client.revoke_key(created.key_id)
        with pytest.raises(errors.AuthenticationError):
            await other.balance()


async def test_an_unknown_key_is_refused(service: Service) -> None:
    """401 is an AuthenticationError and isn't retried."""
    async with AsyncClient("sk-nobodys", service.url) as stranger:
        with pytest.raises(errors.AuthenticationError):
            await stranger.balance()


@pytest.mark.parametrize("request_id", ["req_nobody", "../billing/balance", "ü?x#y"])
async def test_an_unknown_job_is_not_found(service: Service, client: AsyncClient, request_id: str) -> None:
    """Whatever stands in the id, it names no other endpoint."""
    with pytest.raises((errors.NotFound, errors.BadRequest)):
        await client.status(request_id)


async def test_a_balance_too_low_is_said_with_both_amounts(service: Service, tmp_path: Path) -> None:
    """402 tells what there is and what is needed."""
    with opened(service.kind, tmp_path, balance_usd=0.10) as (url, key):
        async with AsyncClient(key, url) as client:
            with pytest.raises(errors.InsufficientBalance) as refused:
                await client.text_to_video("a fox")
    assert (refused.value.balance_usd, refused.value.required_usd) == (0.10, 0.25)


async def test_an_image_too_large_is_said(service: Service, tmp_path: Path) -> None:
    """413 is PayloadTooLarge, although the client still sends when it is refused."""
    with opened(service.kind, tmp_path, most_bytes=10_000) as (url, key):
        async with AsyncClient(key, url) as client:
            with pytest.raises(errors.PayloadTooLarge):
                await client.image_to_video(Image.effect_noise((2000, 2000), 90), "zoom")
