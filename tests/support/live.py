"""A client and a session of a service that a test makes up."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from support.raw_server import Exchange, Handler, RawServer, raw_server

import reelbook as rb
from reelbook.client import AsyncClient

KEY = "sk-planted-live"


@asynccontextmanager
async def client_of(
    handler: Handler, *, key: str = KEY, read_at_most: int | None = None, **options: Any
) -> AsyncIterator[tuple[AsyncClient, RawServer]]:
    """A client of a service that answers with `handler`, and that service."""
    with raw_server(handler, read_at_most=read_at_most) as service:
        async with AsyncClient(key, service.url, **options) as client:
            yield client, service


def connected(service: RawServer, **options: Any) -> rb.Session:
    """A session with the service, as with a live one."""
    return rb.connect("live", api_key=KEY, base_url=service.url, **options)


@contextmanager
def session_of(handler: Handler, **options: Any) -> Iterator[tuple[rb.Session, RawServer]]:
    """A session with a service that answers with `handler`, and that service, which says it is no sandbox."""

    def handle(exchange: Exchange) -> None:
        exchange.answer(404) if "about" in exchange.first_line else handler(exchange)

    with raw_server(handle) as service, connected(service, **options) as session:
        yield session, service
