"""The address by which a class reaches the service: the live one's, or a sandbox's in the room."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from .. import settings
from ..errors import InvalidInput, SandboxError
from ..sandbox import protocol
from ..sandbox.handle import ask

if TYPE_CHECKING:
    from ..session.session import Session

ANSWER_SECONDS: Final = 3.0


def address_for_students(session: Session, given: str | None) -> str:
    """The address for the students' files: `given`, or what this service is reached by from other machines.

    Raises InvalidInput where the sandbox listens on this machine only.
    """
    if given is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", settings.InsecureAddress)
            return settings.checked_base_url(given)
    if session.service != "sandbox" or not settings.is_loopback(session.base_url):
        return session.base_url
    from ..sandbox.serving import own_address  # brings the server, which a live class doesn't need

    port = urlsplit(session.base_url).port
    host = own_address()
    address = f"http://{host}:{port}"
    if host is not None and (found := _instance(address)) and found == _instance(session.base_url):
        return address
    raise InvalidInput(
        "This sandbox listens on this machine only, so no student could reach it. Nothing was done. Stop it "
        "with `reelbook sandbox stop`, serve it to the room with `reelbook sandbox serve --host 0.0.0.0`, "
        "and try again. An address that you know better can be given (`--address`)."
    )


def _instance(url: str) -> str | None:
    """Which sandbox answers there; None if none does."""
    try:
        instance = ask(url + protocol.ABOUT, None, {}, ANSWER_SECONDS).get("instance")
    except SandboxError:
        return None
    return instance if isinstance(instance, str) else None
