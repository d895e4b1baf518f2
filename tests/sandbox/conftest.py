"""Sandboxes for tests: over a real socket, on a clock of their own, with clips that are there at once."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sandbox.doubles import NOON, Client, InstantExecutor, Open, http_client

from reelbook.sandbox.clock import Clock
from reelbook.sandbox.server import in_thread


@pytest.fixture
def executor() -> InstantExecutor:
    """Where this test's clips are drawn."""
    return InstantExecutor()


@pytest.fixture
def open_sandbox(executor: InstantExecutor) -> Open:
    """Opens a sandbox of a home, with this test's executor and no rate limit unless told otherwise."""

    @contextmanager
    def opened(home: Path, **settings: Any) -> Iterator[Client]:
        settings = {"executor": executor, "rate_limiting": False, **settings}
        with in_thread(home, **settings) as sandbox, http_client(sandbox) as http:
            yield Client(sandbox, http, settings["executor"])

    return opened


@pytest.fixture
def client(open_sandbox: Open, tmp_path: Path) -> Iterator[Client]:
    """A sandbox of this test's own, where a job takes 10 seconds and time stands still."""
    with open_sandbox(tmp_path, pace=10, clock=Clock(NOON)) as client:
        yield client


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A sandbox without a rate limit, shared by the tests of a module that leave nothing behind."""
    executor = InstantExecutor()
    home = tmp_path_factory.mktemp("home")
    with (
        in_thread(home, executor=executor, rate_limiting=False, balance_usd=1000) as sandbox,
        http_client(sandbox) as http,
    ):
        yield Client(sandbox, http, executor)


@pytest.fixture
def still() -> Callable[..., bytes]:
    """Makes the bytes of a still image."""

    def make(size: tuple[int, int] = (64, 36), kind: str = "PNG", orientation: int | None = None) -> bytes:
        from PIL import Image

        image = Image.new("RGB", size, (200, 120, 40))
        exif = Image.Exif()
        if orientation is not None:
            exif[0x0112] = orientation
        content = io.BytesIO()
        image.save(content, kind, exif=exif)
        return content.getvalue()

    return make
