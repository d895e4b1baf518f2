"""A real Dask cluster that draws, and what becomes of clips when parts of it die."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest
from sandbox.doubles import CLIP, Client, InstantExecutor, Open
from support.waiting import until
from typer.testing import CliRunner

import reelbook
from reelbook.cli import app
from reelbook.errors import SandboxError
from reelbook.sandbox import cluster as cluster_module
from reelbook.sandbox.cluster import DaskPool
from reelbook.sandbox.render import Spec, render
from reelbook.sandbox.render_pool import WorkerKilled

pytestmark = [pytest.mark.browser]

PROMPT = "a red fox"
OPTIONS = ["--host", "127.0.0.1", "--no-dashboard"]


class Cluster:
    """A scheduler on a port of its own, and its workers; each is a process that may be killed."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self.start()

    def start(self, workers: int = 2) -> None:
        """Start the scheduler and workers, which wait for it."""
        self.scheduler = self._process("scheduler", "--port", str(self.port), "--no-show")
        self.start_workers(workers)

    def start_workers(self, count: int) -> None:
        """Start workers that each draw one clip at a time."""
        options = f"--nthreads 1 --memory-limit 0 --no-nanny --local-directory {self._folder}".split()
        self.workers += [self._process("worker", self.address, *options) for _ in range(count)]

    def kill_workers(self, count: int) -> None:
        """Kill workers, and forget those that ended by themselves."""
        for worker in self.workers[:count]:
            worker.kill()
            worker.wait()
        del self.workers[:count]

    def kill(self) -> None:
        """Kill the scheduler, and the workers, which would end without it."""
        self.scheduler.kill()
        self.scheduler.wait()
        self.kill_workers(len(self.workers))

    def _process(self, role: str, *words: str) -> subprocess.Popen[bytes]:
        settings = {
            "PYTHONPATH": str(Path(reelbook.__file__).parents[1]),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        }
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{role}", *words, *OPTIONS],
            env={**os.environ, **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The cluster of this file's tests: each leaves it with a scheduler and two workers, but for the last."""
    cluster = Cluster(tmp_path_factory.mktemp("dask"))
    yield cluster
    cluster.kill()


@pytest.fixture(scope="module")
def expected() -> list[bytes]:
    """The clips of the first seeds, drawn here."""
    return [render(Spec(PROMPT, 1, "16:9", seed)).mp4 for seed in range(2)]


@pytest.fixture
def open_on(cluster: Cluster, open_sandbox: Open, tmp_path: Path) -> Open:
    """Opens a sandbox that draws on the cluster; what the test's executor draws here is `CLIP`."""

    def opened() -> AbstractContextManager[Client]:
        return open_sandbox(tmp_path, pace=0, dask=_reached(cluster))

    return opened


def test_clips_are_those_drawn_here(
    open_on: Open, cluster: Cluster, executor: InstantExecutor, expected: list[bytes]
) -> None:
    """The cluster gives the same bytes, nothing is drawn here, and the state says where it is drawn."""
    with open_on() as client:
        assert [_fetched(client, _submitted(client, seed)) for seed in range(2)] == expected
        until(lambda: client.sandbox.state()["dask"]["workers"] == 2)
        assert client.sandbox.state()["dask"] == {
            "address": cluster.address,
            "connection": "connected",
            "workers": 2,
        }
        assert _said(client) == f"Drawn on the Dask cluster of {cluster.address}. Workers there: 2."
    assert executor.specs == []


def test_killed_workers_cost_no_clip(
    open_on: Open, cluster: Cluster, executor: InstantExecutor, expected: list[bytes]
) -> None:
    """What one drew is drawn by another; without any, the state says so, and clips wait for new ones."""
    with open_on() as client:
        jobs = [_submitted(client, seed) for seed in range(2)]
        cluster.kill_workers(1)
        assert [_fetched(client, job) for job in jobs] == expected
        job = _submitted(client, 0)
        cluster.kill_workers(1)
        until(lambda: client.sandbox.state()["dask"]["workers"] == 0)
        cluster.start_workers(2)
        assert _fetched(client, job) == expected[0]
    assert executor.specs == []


def test_a_clip_that_kills_its_workers_is_given_up(cluster: Cluster) -> None:
    """Dask's word for it becomes the executor's, and the pool goes on with the next workers."""
    pool = _reached(cluster)
    try:
        until(lambda: pool.state.workers == 2)
        with pytest.raises(WorkerKilled, match="workers died"):
            pool.submit(os._exit, 1).result(timeout=60)
        cluster.start_workers(2)
        assert pool.submit(pow, 2, 3).result(timeout=60) == 8
        with pytest.raises(FileNotFoundError):  # as what Pillow raises, not to be taken for a lost connection
            pool.submit(os.stat, "/nothing/there").result(timeout=60)
    finally:
        pool.shutdown()


def test_clips_are_drawn_here_until_the_cluster_is_back(
    open_on: Open,
    cluster: Cluster,
    executor: InstantExecutor,
    expected: list[bytes],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What was under way and what comes later; a scheduler without workers is as good as lost."""
    monkeypatch.setattr(cluster_module, "WORKERS_AWAITED_SECONDS", 0.5)

    def drawn_here(connection: str, said: str) -> None:
        until(lambda: client.sandbox.state()["dask"]["connection"] == connection)
        assert _fetched(client, _submitted(client, 1)) == CLIP
        assert _said(client).endswith(said)

    with open_on() as client:
        before = _submitted(client, 0)
        cluster.kill()
        assert _fetched(client, before) == CLIP
        drawn_here("lost", "is lost. Until it is back, clips are drawn here.")
        cluster.start(workers=0)
        drawn_here("without workers", "has no workers. Until it has, clips are drawn here.")
        cluster.start_workers(2)
        until(lambda: client.sandbox.state()["dask"]["connection"] == "connected")
        assert _fetched(client, _submitted(client, 0)) == expected[0]
    assert len(executor.specs) == 3
    for news in cluster_module._NEWS.values():
        assert news % cluster.address in caplog.messages


def test_a_scheduler_that_cant_be_reached_is_said_at_the_start() -> None:
    """Nothing is started, and no thread is left."""
    import dask
    import distributed  # noqa: F401  # with it come the defaults of its settings

    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
    said = rf"The Dask scheduler at {address} can't be reached.*Nothing was"
    with dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}):
        with pytest.raises(SandboxError, match=said):
            DaskPool(address)
    until(lambda: "reelbook-dask" not in [thread.name for thread in threading.enumerate()])


def test_dask_is_asked_for_in_words_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SandboxError, match=r"pip install .dask\[distributed\]"):
        DaskPool("tcp://scheduler:8786")


def _reached(cluster: Cluster) -> DaskPool:
    """A pool on the cluster, which may only just be starting."""
    give_up = time.monotonic() + 120
    while True:
        try:
            return DaskPool(cluster.address)
        except SandboxError:
            assert time.monotonic() < give_up


def _submitted(client: Client, seed: int) -> str:
    return client.submit(PROMPT, duration_seconds=1, seed=seed)


def _fetched(client: Client, request_id: str) -> bytes:
    until(lambda: client.status(request_id)["status"] in ("completed", "failed"))
    return httpx.get(client.status(request_id)["video_url"], trust_env=False).content


def _said(client: Client) -> str:
    """What `reelbook sandbox status` says of the cluster."""
    result = CliRunner().invoke(app, ["sandbox", "status", "--home", str(client.sandbox.home)])
    return result.stdout.splitlines()[-1]
