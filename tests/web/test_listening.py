"""A socket to listen on, and the address by which others reach it."""

import socket

import pytest

from reelbook.web.listening import LOOPBACK, bound_socket, own_address


def test_a_taken_port_is_said() -> None:
    """And is free again when its socket is closed."""
    with bound_socket(LOOPBACK, 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            bound_socket(LOOPBACK, port)
    with bound_socket(LOOPBACK, port) as again:
        assert again.getsockname()[1] == port


def test_this_machines_address_is_one_that_others_may_use() -> None:
    """One of its own, and not the loopback; without a network there is none."""
    address = own_address()
    if address is None:
        return
    assert not address.startswith("127.")
    with socket.create_server((address, 0)) as listening:
        assert listening.getsockname()[0] == address
