"""A session's client, and the way to its service: a sandbox that ended by itself is started again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from ..client import AsyncClient
from ..ledger import Ledger
from ..secret import Secret

if TYPE_CHECKING:
    from ..sandbox.handle import Sandbox

T = TypeVar("T")
Service = Literal["sandbox", "live"]


class CallService(Protocol):
    """Asks the service on the session's thread and waits for the answer, from any thread."""

    def __call__(self, ask: Callable[[AsyncClient], Awaitable[T]], /) -> T: ...


@dataclass(frozen=True)
class ServiceAddress:
    """Where a service answers, and with which key: the home's own `sandbox`, or (None) any other one.

    `service` says whether a sandbox answers there, whoever started it, or a live service; `offers` which of
    `wire.OFFERS` it has beyond the interface.
    """

    key: Secret
    url: str
    service: Service
    sandbox: Sandbox | None = None
    offers: tuple[str, ...] = ()


class Connection:
    """A session's client of one service. `sandbox` is the home's own one, None for any other service."""

    def __init__(self, address: ServiceAddress, ledger: Ledger) -> None:
        self.client = AsyncClient(
            address.key,
            address.url,
            shared=ledger.requests,
            is_known=lambda request_id: ledger.by_request_id(request_id) is not None,
            offers=address.offers,
            warn_insecure=False,  # whoever read the address has said so
        )
        self.service = address.service
        self.sandbox = address.sandbox

    async def reach(self) -> None:
        """Starts the home's own sandbox again if it has ended by itself; does nothing for other services."""
        if self.sandbox is None:
            return
        parts = urlsplit(self.client.base_url)
        try:
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.close()
        except OSError:
            from ..sandbox import server

            self.sandbox = await asyncio.to_thread(server.restarted, self.sandbox)
            self.client.moved_to(self.sandbox.url)
