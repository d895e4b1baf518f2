"""The account's API keys, for code that can't await."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from .. import wire
from ..client import AsyncClient
from ..errors import KeyUncertain, ReelbookError
from ..models import ApiKey, CreatedKey, Revoked

CLOCKS_DIFFER_SECONDS = 600.0

Call = Callable[[Callable[[AsyncClient], Awaitable[Any]]], Any]


class Keys:
    """The account's API keys (interface, "API key"). All calls wait for the answer."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._seen: set[str] = set()

    def list(self) -> tuple[ApiKey, ...]:
        """All keys, without the keys themselves."""
        keys = self._listed()
        self._seen |= {key.key_id for key in keys}
        return keys

    def create(self, name: str, *, rate_limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE) -> CreatedKey:
        """Makes a key of 1 to 100 requests a minute; `result.api_key.reveal()` shows it, this once.

        Where the answer is lost, KeyUncertain says which keys it may be, as far as they can be listed:
        `revoke(error.candidates[0].key_id)`. Nothing is asked for twice.
        """
        began = time.time()
        try:
            created: CreatedKey = self._call(lambda client: client.create_key(name, rate_limit=rate_limit))
        except KeyUncertain as uncertain:
            error = uncertain
        else:
            self._seen.add(created.key_id)
            return created
        raise self._with_candidates(error, began)

    def revoke(self, key_id: str) -> Revoked:
        """Revokes a key at once and for good."""
        revoked: Revoked = self._call(lambda client: client.revoke_key(key_id))
        return revoked

    def _listed(self) -> tuple[ApiKey, ...]:
        keys: tuple[ApiKey, ...] = self._call(lambda client: client.list_keys())
        return keys

    def _with_candidates(self, error: KeyUncertain, began: float) -> KeyUncertain:
        try:
            keys = self._listed()
        except ReelbookError as unlisted:
            said = f"The keys couldn't be listed just now either: {unlisted} List them later."
            return KeyUncertain(f"{error} {said}", name=error.name, answer=error.answer)
        candidates = tuple(key for key in keys if self._may_be(key, error.name, began))
        return KeyUncertain(
            f"{error} {_named(candidates)}", name=error.name, answer=error.answer, candidates=candidates
        )

    def _may_be(self, key: ApiKey, name: str, began: float) -> bool:
        if key.name != name or not key.is_active or key.key_id in self._seen:
            return False
        made = _epoch(key.created_at)
        return made is None or made >= began - CLOCKS_DIFFER_SECONDS


def _epoch(created_at: str | None) -> float | None:
    try:
        made = datetime.fromisoformat(created_at or "")
    except ValueError:
        return None
    return (made if made.tzinfo else made.replace(tzinfo=UTC)).timestamp()


def _named(candidates: tuple[ApiKey, ...]) -> str:
    if not candidates:
        return "The list shows no such key so far."
    keys = ", ".join(_described(key) for key in candidates)
    which = "This one may be it" if len(candidates) == 1 else "One of these may be it"
    return f"{which}: {keys}."


def _described(key: ApiKey) -> str:
    made = f", made {key.created_at}" if key.created_at else ""
    return f"{key.key_id} ({key.key_preview or 'no preview'}{made})"
