"""The account's API keys, for code that can't await, and the rotation of the session's own."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from .. import settings, wire
from ..client import AsyncClient
from ..errors import ConfigurationError, KeyUncertain, NotFound, ReelbookError, RotationFailed
from ..formatting import epoch_seconds
from ..ledger import Ledger
from ..models import ApiKey, CreatedKey, Revoked
from ..secret import Secret
from ..suggestions import SuggestsNames
from .connection import CallService, Connection

CLOCKS_DIFFER_SECONDS = 600.0
STAYS = "This session goes on with its key, which still works."
_MASK = re.compile(r"…|\.{2,}|[*•]+|[xX]{3,}")


class Keys(SuggestsNames):
    """The account's API keys (interface, "API key"). All calls wait for the answer."""

    def __init__(
        self,
        key: Secret,
        connection: Connection,
        ledger: Ledger,
        *,
        call: CallService,
        clip_under_way: Callable[[], str | None],
    ) -> None:
        self._key = key
        self._connection = connection
        self._ledger = ledger
        self._call = call
        self._clip_under_way = clip_under_way
        self._own_id: str | None = None
        self._seen: set[str] = set()

    @property
    def fingerprint(self) -> str:
        """Tells the key in use apart from others without revealing it."""
        return self._key.fingerprint

    def list(self) -> tuple[ApiKey, ...]:
        """All keys, without their secrets."""
        keys = self._call(lambda client: client.list_keys())
        self._seen |= {key.key_id for key in keys}
        return keys

    def create(self, name: str, *, rate_limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE) -> CreatedKey:
        """Creates a key of 1 to 100 requests a minute; `result.api_key.reveal()` shows it, this once.

        If the answer is lost, KeyUncertain says which of the listed keys it may be:
        `revoke(error.candidates[0].key_id)`. Nothing is sent twice.
        """
        began = time.time()
        try:
            created = self._call(lambda client: client.create_key(name, rate_limit=rate_limit))
        except KeyUncertain as uncertain:
            self._find_candidates(uncertain, began)
            raise
        except KeyboardInterrupt as stop:
            stop.add_note(
                f"A key “{name}” may have been created, and nobody saw its secret: look at "
                "session.keys.list() and revoke it."
            )
            raise
        self._seen.add(created.key_id)
        return created

    def revoke(self, key_id: str) -> Revoked:
        """Revokes a key at once and for good."""
        return self._call(lambda client: client.revoke_key(key_id))

    def rotate(self, name: str | None = None, *, rate_limit: int | None = None) -> Rotation:
        """Creates a key, tries it with one request and uses it from then on; jobs go on.

        By default `name` is the former one with a number, and `rate_limit` (requests a minute) stays.
        Requests in flight finish with the former key, and no later one carries it; the ledger keeps its jobs,
        limit and spend. The former key works until `rotation.revoke_old()`; before that, keep the new one:
        `rotation.keep()` or `rotation.new.api_key.reveal()`. Raises KeyUncertain and RotationFailed, which
        say what exists; the session goes on with the former key then.
        """
        clip = self._clip_under_way()
        old = self.in_use(self.list())
        if rate_limit is None:
            former_limit = int((old and old.rate_limit) or wire.DEFAULT_REQUESTS_PER_MINUTE)
            rate_limit = min(max(former_limit, 1), wire.MAX_REQUESTS_PER_MINUTE)
        try:
            new = self.create(name or next_name(old.name if old else ""), rate_limit=rate_limit)
        except KeyUncertain as lost:
            lost.args = (f"{lost} {STAYS}",)
            raise
        former = self.fingerprint
        try:
            self._call(lambda client: self._change_to(new, client, clip))
        except KeyboardInterrupt as stop:
            if self.fingerprint == former:
                stop.add_note(f"{_made(new)}, and isn't used. {STAYS} {_revoke(new)}")
            raise
        return Rotation(new, old, call=self._call, connection=self._connection, former=former)

    def in_use(self, keys: Iterable[ApiKey]) -> ApiKey | None:
        """The listed key that this session uses, by its masked form; None if none or several fit."""
        active = [key for key in keys if key.is_active]
        if self._own_id is not None:
            return next((key for key in active if key.key_id == self._own_id), None)
        fitting = [key for key in active if is_preview(key.key_preview, self._key)]
        return fitting[0] if len(fitting) == 1 else None

    async def _change_to(self, new: CreatedKey, client: AsyncClient, clip: str | None) -> None:
        # Each step leaves a working state: until the new key has proved itself, only the list has changed.
        limit = int(new.rate_limit) if new.rate_limit else None
        try:
            async with client.with_key(new.api_key, rate_limit=limit) as trial:
                # A clip in progress proves more than the balance: the new key sees what the old one made.
                await (trial.balance() if clip is None else trial.status(clip))
                # First: a kernel that got the key before this would find none of the jobs.
                account = self._ledger.add_key(new.api_key)
                if self._connection.sandbox is not None:
                    _keep_with_sandbox(self._connection, new.api_key)
                # Nothing waits from here on, so nobody sees half of it.
                self._ledger.use_key(account)
                client.use_key(new.api_key, tried_by=trial)
                self._key, self._own_id = new.api_key, new.key_id
        except (ReelbookError, OSError) as error:
            failed = str(error)
            if isinstance(error, NotFound) and clip is not None:
                failed = f"It doesn't see the clip {clip}, which is under way. ({failed})"
            raise RotationFailed(
                f"{_made(new)}, and can't be used: {failed} {STAYS} {_revoke(new)}", key_id=new.key_id
            ) from None

    def _find_candidates(self, error: KeyUncertain, began: float) -> None:
        try:
            keys = self._call(lambda client: client.list_keys())
        except ReelbookError as unlisted:
            said = f"The keys couldn't be listed just now either: {unlisted} List them later."
        else:
            error.candidates = tuple(key for key in keys if self._may_be(key, error.name, began))
            said = _named(error.candidates)
        error.args = (f"{error} {said}",)

    def _may_be(self, key: ApiKey, name: str, began: float) -> bool:
        if key.name != name or not key.is_active or key.key_id in self._seen:
            return False
        made = epoch_seconds(key.created_at)
        return made is None or made >= began - CLOCKS_DIFFER_SECONDS


class Rotation:
    """A key that the session uses in place of its former one. Made by `Keys.rotate`.

        rotation = session.keys.rotate()
        rotation.keep()        # where the next kernel looks
        rotation.revoke_old()

    `new` is the key, `new.api_key.reveal()` its secret, which is never shown again. `old` is the former one
    as listed, None if the list doesn't tell which it is. `kept`: the new one is kept where the next kernel
    looks. The former one works until `revoke_old()`.
    """

    def __init__(
        self, new: CreatedKey, old: ApiKey | None, *, call: CallService, connection: Connection, former: str
    ) -> None:
        self.new = new
        self.old = old
        self.kept = connection.sandbox is not None
        self.revoked = False
        self._call = call
        self._connection = connection
        self._former = former

    def __repr__(self) -> str:
        old = "unknown" if self.old is None else self.old.key_id
        done = " kept" * self.kept + " old one revoked" * self.revoked
        return f"<Rotation from {old} to {self.new.key_id}{done}>"

    @property
    def old_is_set_in(self) -> settings.Source | None:
        """The setting that still gives the former key to the next kernel; None if none does."""
        found = settings.find(settings.API_KEY)
        return found.source if found is not None and found.value.fingerprint == self._former else None

    def keep(self) -> None:
        """Keeps the new key in the system's keyring, with the address. Raises ConfigurationError.

        The environment and Colab's secrets come before the keyring: `old_is_set_in` says what to change.
        """
        if self._connection.sandbox is not None:
            return  # the sandbox keeps it
        settings.keep(self.new.api_key, self._connection.client.base_url)
        self.kept = True

    def revoke_old(self, key_id: str | None = None) -> Revoked:
        """Revokes the former key, once every request that carries it is answered.

        `key_id` is needed if `old` is None. Everything else that uses the former key stops working. Raises
        ConfigurationError if the key isn't known or is the new one.
        """
        key_id = key_id or (None if self.old is None else self.old.key_id)
        if key_id is None:
            raise ConfigurationError(
                "The list of keys doesn't tell which one the former key is. Nothing was revoked. Look at "
                "session.keys.list() and pass its id: revoke_old(key_id)."
            )
        if key_id == self.new.key_id:
            raise ConfigurationError("That is the new key, which this session uses. Nothing was revoked.")

        async def revoke(client: AsyncClient) -> Revoked:
            await client.former_keys_done()
            return await client.revoke_key(key_id)

        revoked = self._call(revoke)
        self.revoked = True
        return revoked


def next_name(name: str) -> str:
    """The name of a key's successor: "notebook 2" after "notebook", "notebook 3" after that."""
    stem, _, number = name.strip().rpartition(" ")
    if stem and number.isdecimal() and len(number) < 4:
        return f"{stem} {int(number) + 1}"
    return f"{name.strip()} 2" if name.strip() else "reelbook"


def is_preview(preview: str, key: Secret) -> bool:
    """Whether `preview` may be the masked form of `key`: its beginning and end, with a mask between them."""
    beginning, *middle = _MASK.split(preview.strip())
    if not middle:
        return False
    end, value = middle[-1], key.reveal()
    fits = value.startswith(beginning) and value.endswith(end)
    return fits and 0 < len(beginning + end) < len(value)


def _named(candidates: tuple[ApiKey, ...]) -> str:
    if not candidates:
        return "The list shows no such key so far."
    keys = ", ".join(
        f"{key.key_id} ({key.key_preview or 'no preview'}, created {key.created_at or 'at an unknown time'})"
        for key in candidates
    )
    which = "This one may be it" if len(candidates) == 1 else "One of these may be it"
    return f"{which}: {keys}."


def _made(new: CreatedKey) -> str:
    return f"The new key {new.key_id} (“{new.name}”) was created"


def _revoke(new: CreatedKey) -> str:
    return f"Revoke the new one: session.keys.revoke({new.key_id!r})."


def _keep_with_sandbox(connection: Connection, key: Secret) -> None:
    """The home's own sandbox gives its key to every kernel, so it must give them the new one."""
    from ..sandbox.places import Places, read_access, write_access

    assert connection.sandbox is not None
    places = Places(connection.sandbox.home)
    write_access(places, replace(read_access(places), api_key=key))
    connection.sandbox = replace(connection.sandbox, api_key=key)
