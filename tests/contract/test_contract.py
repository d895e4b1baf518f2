"""What every service of this interface does, asked through AsyncClient.

Runs against the sandbox in a thread and in a process of its own. With `--live --max-spend USD` it runs
against the configured live service as well, as far as that sum goes; nothing else in the tests ever does.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest
from conftest import LIVE_SETTINGS
from PIL import Image

from reelbook import errors, wire
from reelbook.client import AsyncClient
from reelbook.media.clips import probe
from reelbook.models import Completed
from reelbook.sandbox import server
from reelbook.secret import Secret

pytestmark = pytest.mark.anyio


@dataclass
class Service:
    """A running service and what may still be spent on it, in USD."""

    url: str
    key: Secret
    may_spend_usd: float

    def spend(self, seconds: int) -> None:
        cost = wire.cost_usd(seconds)
        assert cost <= self.may_spend_usd, f"--max-spend leaves {self.may_spend_usd} USD, this needs {cost}"
        self.may_spend_usd -= cost


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kinds = ["thread", "process"] + (["live"] if metafunc.config.getoption("--live") else [])
    metafunc.parametrize("service", kinds, indirect=True, scope="module")


@pytest.fixture(scope="module")
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home = tmp_path_factory.mktemp("contract")
    if request.param == "live":
        limit = request.config.getoption("--max-spend")
        assert limit is not None, "--live spends money: say how much with --max-spend"
        yield Service(LIVE_SETTINGS["REELBOOK_BASE_URL"], Secret(LIVE_SETTINGS["REELBOOK_API_KEY"]), limit)
        return
    with contextlib.ExitStack() as stack:
        if request.param == "thread":
            running = stack.enter_context(server.in_thread(home, pace=0, executor=ThreadPoolExecutor(1)))
        else:
            stack.callback(server.stop, home)
            running = server.ensure(home)
        running.settings(pace=0, rate_limiting=False)
        yield Service(running.url, running.api_key, 100.0)


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
    with server.in_thread(tmp_path, pace=0, executor=ThreadPoolExecutor(1)) as poor:
        poor.settings(balance_usd=0.10)
        async with AsyncClient(poor.api_key, poor.url) as client:
            with pytest.raises(errors.InsufficientBalance) as refused:
                await client.text_to_video("a fox")
    assert (refused.value.balance_usd, refused.value.required_usd) == (0.10, 0.25)


async def test_an_image_too_large_is_said(service: Service, tmp_path: Path) -> None:
    """413 is PayloadTooLarge, although the client still sends when it is refused."""
    with server.in_thread(tmp_path, pace=0, executor=ThreadPoolExecutor(1)) as small:
        small.settings(max_image_bytes=10_000)
        async with AsyncClient(small.api_key, small.url) as client:
            with pytest.raises(errors.PayloadTooLarge):
                await client.image_to_video(Image.effect_noise((2000, 2000), 90), "zoom")
