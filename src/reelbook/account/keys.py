"""The account's API keys, for code that can't await."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable

from .. import wire
from ..errors import KeyUncertain, ReelbookError
from ..formatting import epoch_seconds
from ..models import ApiKey, CreatedKey, Revoked
from ..secret import Secret
from ..suggestions import SuggestsNames
from .connection import CallService

CLOCKS_DIFFER_SECONDS = 600.0
_MASK = re.compile(r"(…|\.{2,}|[*•]+|[xX]{3,})")


class Keys(SuggestsNames):
    """The account's API keys (interface, "API key"). All calls wait for the answer."""

    def __init__(self, call: CallService, key: Secret) -> None:
        self._call = call
        self._key = key
        self._own_id: str | None = None
        self._seen: set[str] = set()

    @property
    def fingerprint(self) -> str:
        """Tells the key in use apart from others, not what it is."""
        return self._key.fingerprint

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
            created = self._call(lambda client: client.create_key(name, rate_limit=rate_limit))
        except KeyUncertain as uncertain:
            error = uncertain
        else:
            self._seen.add(created.key_id)
            return created
        raise self._with_candidates(error, began)

    def revoke(self, key_id: str) -> Revoked:
        """Revokes a key at once and for good."""
        return self._call(lambda client: client.revoke_key(key_id))

    def in_use(self, keys: Iterable[ApiKey]) -> ApiKey | None:
        """Which of the listed keys this session uses; None where the list doesn't tell.

        A list has only a masked form of each key, so the one is looked for that this form may be of. Where
        several or none fit, nothing is guessed.
        """
        active = [key for key in keys if key.is_active]
        if self._own_id is not None:
            return next((key for key in active if key.key_id == self._own_id), None)
        fitting = [key for key in active if is_preview(key.key_preview, self._key)]
        return fitting[0] if len(fitting) == 1 else None

    def changed_to(self, created: CreatedKey) -> None:
        """The session uses this key now."""
        self._key, self._own_id = created.api_key, created.key_id

    def _listed(self) -> tuple[ApiKey, ...]:
        return self._call(lambda client: client.list_keys())

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
        made = epoch_seconds(key.created_at)
        return made is None or made >= began - CLOCKS_DIFFER_SECONDS


def is_preview(preview: str, key: Secret) -> bool:
    """Whether `preview` may be the masked form of `key`: its beginning and end, with a mask between them."""
    beginning, mask, rest = (
        _MASK.split(preview.strip(), maxsplit=1) if _MASK.search(preview) else ("", "", "")
    )
    end = _MASK.split(rest)[-1] if mask else ""
    value = key.reveal()
    return (
        bool(beginning + end)
        and len(beginning + end) < len(value)
        and value.startswith(beginning)
        and value.endswith(end)
    )


def _named(candidates: tuple[ApiKey, ...]) -> str:
    if not candidates:
        return "The list shows no such key so far."
    keys = ", ".join(_described(key) for key in candidates)
    which = "This one may be it" if len(candidates) == 1 else "One of these may be it"
    return f"{which}: {keys}."


def _described(key: ApiKey) -> str:
    made = f", made {key.created_at}" if key.created_at else ""
    return f"{key.key_id} ({key.key_preview or 'no preview'}{made})"
