"""The address by which a class reaches the service."""

from __future__ import annotations

import warnings

import pytest
from support.raw_server import raw_server

import reelbook as rb
from reelbook.classroom.address import address_for_students
from reelbook.errors import ConfigurationError, InvalidInput
from reelbook.sandbox.handle import Sandbox
from reelbook.settings import InsecureAddress


def test_an_address_that_was_given_is_taken(sandbox: Sandbox) -> None:
    """Checked as any other; that it is plain HTTP in the room is no news to the teacher."""
    with rb.connect("sandbox") as session:
        with warnings.catch_warnings():
            warnings.simplefilter("error", InsecureAddress)
            assert address_for_students(session, "http://10.0.0.7:8000/") == "http://10.0.0.7:8000"
        with pytest.raises(ConfigurationError):
            address_for_students(session, "ten dot zero")


def test_a_sandbox_of_this_machine_only_is_refused(sandbox: Sandbox) -> None:
    """With the command that serves it to the room."""
    with rb.connect("sandbox") as session:
        with pytest.raises(InvalidInput, match=r"reelbook sandbox serve --host 0\.0\.0\.0"):
            address_for_students(session, None)


@pytest.mark.usefixtures("home")
def test_a_live_service_is_reached_where_it_is() -> None:
    """Everybody reaches it by the same address."""
    with raw_server(lambda exchange: exchange.answer(404)) as service:
        with rb.connect("live", api_key="sk-planted-address", base_url=service.url) as session:
            assert address_for_students(session, None) == service.url
