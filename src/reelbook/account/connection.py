"""A session's client, and the way to its service: a sandbox that ended by itself is started again."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from ..client import AsyncClient
from ..client.scheduling.scheduler import SharedRequests
from ..secret import Secret
from ..settings import InsecureAddress

if TYPE_CHECKING:
    from ..sandbox.handle import Sandbox

T = TypeVar("T")
Service = Literal["sandbox", "live"]


class CallService(Protocol):
    """Asks the service on the session's thread and waits for the answer, from any thread."""

    def __call__(self, ask: Callable[[AsyncClient], Awaitable[T]], /) -> T: ...


class Connection:
    """One client of one service: the home's own `sandbox` (else None), or one reached by its address.

    `service` says whether a sandbox answers there, whoever started it, or a live service.
    """

    def __init__(
        self,
        key: Secret,
        base_url: str,
        home: Path,
        sandbox: Sandbox | None,
        *,
        service: Service,
        shared: SharedRequests,
        is_known: Callable[[str], bool],
        offers: Collection[str] = (),
    ) -> None:
        with warnings.catch_warnings(action="ignore", category=InsecureAddress):  # connect() warns of it
            self.client = AsyncClient(key, base_url, shared=shared, is_known=is_known, offers=offers)
        self.service = service
        self.sandbox = sandbox
        self._home = home

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

            self.sandbox = await asyncio.to_thread(server.ensure, self._home)
            self.client.moved_to(self.sandbox.url)
