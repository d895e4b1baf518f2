"""A session's client, and a sandbox that is started again after it ended."""

import asyncio
from pathlib import Path

import pytest
from support.ledgers import ledger_in

from reelbook.account.connection import Connection, ServiceAddress
from reelbook.ledger import Ledger
from reelbook.sandbox import server


@pytest.mark.parametrize("own", [True, False])
def test_only_the_homes_own_sandbox_is_started_again(home: Path, own: bool) -> None:
    """The client goes on with the new one, which is as fast; a service with an address is its owner's."""
    with server.in_thread(home) as ended:
        ended.settings(rate_limiting=False, balance_usd=20, reset_unit="epoch")
        ended.settings(pace="at once")

    async def reach(ledger: Ledger) -> None:
        sandbox = ended if own else None
        connection = Connection(ServiceAddress(ended.api_key, ended.url, "sandbox", sandbox), ledger)
        async with connection.client as client:
            await connection.reach()
            if own:
                assert connection.sandbox is not None
                assert connection.sandbox.url == client.base_url
                assert (await client.balance()).balance_usd == 20
                now = await asyncio.to_thread(connection.sandbox.state)
                assert (now["pace"], now["rate_limiting"], now["reset_unit"]) == ("at once", False, "seconds")
            else:
                assert (server.find(home), client.base_url) == (None, ended.url)
                client.moved_to("http://127.0.0.1:1")  # whoever moved it says so
                assert client.base_url == "http://127.0.0.1:1"

    with ledger_in(home, "sandbox", ended.api_key) as ledger:
        asyncio.run(reach(ledger))
