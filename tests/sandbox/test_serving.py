"""The sandbox on a socket, from this process."""

from __future__ import annotations

import logging
import socket
from pathlib import Path

import pytest

from reelbook.sandbox import serving
from reelbook.sandbox.places import Places


def test_a_taken_port_is_said() -> None:
    """And is free again when its socket is closed."""
    with serving.bound_socket(serving.LOOPBACK, 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            serving.bound_socket(serving.LOOPBACK, port)
    with serving.bound_socket(serving.LOOPBACK, port) as again:
        assert again.getsockname()[1] == port


def test_the_address_is_one_for_this_machine() -> None:
    """Also where it listens everywhere."""
    with serving.bound_socket("0.0.0.0", 0) as everywhere:
        assert serving.local_url(everywhere) == f"http://127.0.0.1:{everywhere.getsockname()[1]}"
    if socket.has_ipv6:
        with serving.bound_socket("::1", 0) as sixth:
            assert serving.local_url(sixth) == f"http://[::1]:{sixth.getsockname()[1]}"


def test_this_machines_address_is_one_that_others_may_use() -> None:
    """One of its own, and not the loopback; without a network there is none."""
    address = serving.own_address()
    if address is None:
        return
    assert not address.startswith("127.")
    with socket.create_server((address, 0)) as listening:
        assert listening.getsockname()[0] == address


def test_the_log_is_bounded(tmp_path: Path) -> None:
    """It never takes more than its size twice, and its end is always the latest, also of standard error."""
    places = Places(tmp_path)
    places.create()
    handler = serving.bounded_log(places)
    logger = logging.Logger("test")
    logger.addHandler(handler)
    with places.log.open("a") as standard_error:
        for number in range(4 * serving.LOG_BYTES // 1000):
            logger.error("%s %s", number, "x" * 1000)
        print("the end", file=standard_error)
    handler.close()
    files = list(places.folder.glob("sandbox.log*"))
    assert len(files) == 2
    assert all(file.stat().st_size <= serving.LOG_BYTES for file in files)
    assert places.log.read_text().endswith(f"{number} {'x' * 1000}\nthe end\n")
