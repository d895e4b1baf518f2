"""A session's client, and a sandbox that is started again where it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from support.ledgers import ledger_in

from reelbook.account.connection import Connection
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox


def using(
    sandbox: Sandbox, home: Path, use: Callable[[Connection], Awaitable[None]], *, own: bool = True
) -> None:
    """Does `use` with the home's own sandbox, or with one that is known by its address only."""

    async def main() -> None:
        connection = Connection(
            sandbox.api_key,
            sandbox.url,
            home,
            sandbox if own else None,
            service="sandbox",
            shared=ledger.requests,
            is_known=lambda _: False,
        )
        async with connection.client:
            await use(connection)

    with ledger_in(home, "sandbox", sandbox.api_key) as ledger:
        asyncio.run(main())


def test_a_service_that_is_there_is_left_as_it_is(home: Path, sandbox: Sandbox) -> None:
    """Its address stays, and the client's requests are answered."""

    async def use(connection: Connection) -> None:
        await connection.reach()
        assert (connection.sandbox, connection.client.base_url) == (sandbox, sandbox.url)
        assert (await connection.client.balance()).balance_usd == 25
        assert connection.service == "sandbox"

    using(sandbox, home, use)


def test_a_sandbox_that_ended_is_started_again(home: Path) -> None:
    """The client goes on with the new one, wherever it listens."""
    with server.in_thread(home) as ended:
        pass

    async def use(connection: Connection) -> None:
        await connection.reach()
        assert connection.sandbox is not None
        assert connection.sandbox.url == connection.client.base_url
        assert (await connection.client.balance()).balance_usd == 25

    using(ended, home, use)


def test_a_service_by_its_address_is_never_started(home: Path) -> None:
    """Whoever runs it does that."""
    with server.in_thread(home) as ended:
        pass

    async def use(connection: Connection) -> None:
        await connection.reach()
        assert (server.find(home), connection.client.base_url) == (None, ended.url)

    using(ended, home, use, own=False)
