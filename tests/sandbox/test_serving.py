"""The sandbox on a socket, from this process."""

import logging
import socket
from pathlib import Path

from reelbook.sandbox import serving
from reelbook.sandbox.places import Places
from reelbook.web.listening import bound_socket


def test_the_address_is_one_for_this_machine() -> None:
    """Also where it listens everywhere."""
    with bound_socket("0.0.0.0", 0) as everywhere:
        assert serving.local_url(everywhere) == f"http://127.0.0.1:{everywhere.getsockname()[1]}"
    if socket.has_ipv6:
        with bound_socket("::1", 0) as sixth:
            assert serving.local_url(sixth) == f"http://[::1]:{sixth.getsockname()[1]}"


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
