"""What is beside the interface."""

from __future__ import annotations

from typing import get_args

import reelbook
from reelbook import wire
from reelbook.sandbox import protocol


def test_the_version_is_the_packages() -> None:
    """A sandbox of another version is started anew by it."""
    assert protocol.version() == reelbook.__version__


def test_no_group_is_called_as_an_endpoint() -> None:
    """A fault names either; control plane and tools lie beside the interface's paths."""
    assert not set(get_args(protocol.Endpoint)) & set(get_args(protocol.EndpointGroup))
    assert not protocol.ABOUT.startswith(wire.KEYS.rpartition("/")[0])
