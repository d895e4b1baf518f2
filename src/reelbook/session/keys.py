"""The account's API keys, for code that can't await."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from .. import wire
from ..client import AsyncClient
from ..models import ApiKey, CreatedKey, Revoked

Call = Callable[[Callable[[AsyncClient], Awaitable[Any]]], Any]


class Keys:
    """The account's API keys (interface, "API key"). All calls wait for the answer."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def list(self) -> tuple[ApiKey, ...]:
        """All keys, without the keys themselves."""
        keys: tuple[ApiKey, ...] = self._call(lambda client: client.list_keys())
        return keys

    def create(self, name: str, *, rate_limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE) -> CreatedKey:
        """Makes a key of 1 to 100 requests a minute; `result.api_key.reveal()` shows it, this once."""
        created: CreatedKey = self._call(lambda client: client.create_key(name, rate_limit=rate_limit))
        return created

    def revoke(self, key_id: str) -> Revoked:
        """Revokes a key at once and for good."""
        revoked: Revoked = self._call(lambda client: client.revoke_key(key_id))
        return revoked
