"""The sandbox on a socket, from this process."""

from __future__ import annotations

import asyncio
import logging
import socket
import urllib.request
from pathlib import Path

import pytest
from sandbox.doubles import InstantExecutor

from reelbook.errors import SandboxError
from reelbook.sandbox.places import Places, read_notice, running_lock
from reelbook.sandbox.service import SandboxService
from reelbook.sandbox.serving import (
    LOG_BYTES,
    LOOPBACK,
    bound_socket,
    bounded_log,
    local_url,
    make_server,
    own_address,
    serve,
)


def test_a_taken_port_is_said() -> None:
    """And is free again when its socket is closed."""
    with bound_socket(LOOPBACK, 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            bound_socket(LOOPBACK, port)
    with bound_socket(LOOPBACK, port) as again:
        assert again.getsockname()[1] == port


def test_the_address_is_one_for_this_machine() -> None:
    """Also where it listens everywhere."""
    with bound_socket("0.0.0.0", 0) as everywhere:
        assert local_url(everywhere) == f"http://127.0.0.1:{everywhere.getsockname()[1]}"
    if socket.has_ipv6:
        with bound_socket("::1", 0) as sixth:
            assert local_url(sixth) == f"http://[::1]:{sixth.getsockname()[1]}"


def test_a_server_answers_when_it_says_so_and_ends_when_told(tmp_path: Path) -> None:
    """`end` of the service ends it."""

    async def main() -> bytes:
        service = SandboxService(tmp_path, make_executor=InstantExecutor)
        started = asyncio.Event()
        server = make_server(service, listening, host=LOOPBACK, on_started=started.set)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        await started.wait()
        url = f"{local_url(listening)}/_sandbox/about"
        answer = await asyncio.to_thread(lambda: urllib.request.urlopen(url).read())
        service.end()
        await asyncio.wait_for(serving, 20)
        return bytes(answer)

    listening = bound_socket(LOOPBACK, 0)
    assert b'"instance"' in asyncio.run(main())
    assert read_notice(Places(tmp_path)) is None


def test_one_sandbox_serves_a_home(tmp_path: Path) -> None:
    """The second one is told where the first is, and leaves it alone."""
    places = Places(tmp_path)
    places.create()
    with running_lock(places), pytest.raises(SandboxError, match="already runs"):
        serve(tmp_path)


def test_this_machines_address_is_one_that_others_may_use() -> None:
    """One of its own, and not the loopback; without a network there is none."""
    address = own_address()
    if address is None:
        return
    assert not address.startswith("127.")
    with socket.create_server((address, 0)) as listening:
        assert listening.getsockname()[0] == address


def test_the_log_is_bounded(tmp_path: Path) -> None:
    """It never takes more than its size twice, and its end is always the latest, also of standard error."""
    places = Places(tmp_path)
    places.create()
    handler = bounded_log(places)
    logger = logging.Logger("test")
    logger.addHandler(handler)
    with places.log.open("a") as standard_error:
        for number in range(4 * LOG_BYTES // 1000):
            logger.error("%s %s", number, "x" * 1000)
        print("the end", file=standard_error)
    handler.close()
    files = list(places.folder.glob("sandbox.log*"))
    assert len(files) == 2
    assert all(file.stat().st_size <= LOG_BYTES for file in files)
    assert places.log.read_text().endswith(f"{number} {'x' * 1000}\nthe end\n")
