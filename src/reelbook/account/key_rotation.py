"""Another key in the place of the session's own: made, tried, used, kept, and the former one revoked last.

Each step leaves a state that works: until the new key is proved, nothing but the list of keys has changed.
"""

from __future__ import annotations

from dataclasses import replace

from .. import settings, wire
from ..client import AsyncClient
from ..errors import ConfigurationError, KeyUncertain, NotFound, ReelbookError, RotationFailed
from ..ledger import Ledger
from ..models import ApiKey, CreatedKey, Revoked
from ..secret import Secret
from .connection import CallService, Connection
from .keys import Keys

STAYS = "This session goes on with its key, which still works."


class Rotation:
    """A key that the session uses in the place of its former one. Made by `Session.rotate_key`.

        rotation = session.rotate_key()
        rotation.keep()        # where the next kernel looks
        rotation.revoke_old()

    `new` is the key, `new.api_key.reveal()` the key itself: nobody shows it again. `old` is the former one as
    the list has it, None where the list doesn't tell which it is. `kept` says whether the new one is kept
    where the next kernel looks. The former one works until `revoke_old()`.
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
        """Where the settings still give the former key to the next kernel; None if nowhere."""
        found = settings.find(settings.API_KEY)
        return found.source if found is not None and found.value.fingerprint == self._former else None

    def keep(self) -> None:
        """Keeps the new key in the system's keyring, with the address. Raises ConfigurationError.

        The environment and Colab's secrets come before the keyring: `old_is_set_in` says what to change.
        """
        if self._connection.sandbox is not None:
            return  # it is kept with the sandbox
        settings.keep(settings.API_KEY, self.new.api_key)
        settings.keep(settings.BASE_URL, Secret(self._connection.client.base_url))
        self.kept = True

    def revoke_old(self, key_id: str | None = None) -> Revoked:
        """Revokes the former key, once every request that carries it is answered.

        `key_id` is needed where `old` is None. Whatever else uses the former key stops with it. Raises
        ConfigurationError where the key isn't known or is the new one.
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


def rotate(
    keys: Keys,
    name: str | None,
    rate_limit: int | None,
    *,
    call: CallService,
    connection: Connection,
    ledger: Ledger,
    proof: str | None,
) -> Rotation:
    """Makes a key, tries it with one request and lets the session use it. See `Session.rotate_key`.

    `proof` is the id of a clip under way, for the new key to ask about; without one it asks for the balance.
    """
    old = keys.in_use(keys.list())
    if rate_limit is None:
        former_limit = int((old and old.rate_limit) or wire.DEFAULT_REQUESTS_PER_MINUTE)
        rate_limit = min(max(former_limit, 1), wire.MAX_REQUESTS_PER_MINUTE)
    try:
        new = keys.create(name or next_name(old.name if old else ""), rate_limit=rate_limit)
    except KeyUncertain as uncertain:
        lost = uncertain
    else:
        former = keys.fingerprint
        try:
            call(lambda client: _switch(client, new, keys, ledger, connection, proof))
        except KeyboardInterrupt as stop:
            if keys.fingerprint == former:
                stop.add_note(
                    f"The new key {new.key_id} (“{new.name}”) was made, and isn't used. {STAYS} "
                    f"Revoke the new one: session.keys.revoke({new.key_id!r})."
                )
            raise
        return Rotation(new, old, call=call, connection=connection, former=former)
    raise KeyUncertain(
        f"{lost} {STAYS}", name=lost.name, answer=lost.answer, candidates=lost.candidates
    ) from None


async def _switch(
    client: AsyncClient,
    new: CreatedKey,
    keys: Keys,
    ledger: Ledger,
    connection: Connection,
    proof: str | None,
) -> None:
    said = int(new.rate_limit) if new.rate_limit else None
    trial: AsyncClient | None = None
    try:
        trial = client.with_key(new.api_key, rate_limit=said)
        # A clip under way proves more than the balance: that the new key may see what the old one made.
        await (trial.balance() if proof is None else trial.status(proof))
        if connection.sandbox is not None:
            _keep_with_sandbox(connection, new.api_key)
        # From here to the end nothing waits, so nobody sees half of it.
        ledger.change_key(new.api_key)
        client.use_key(new.api_key, tried_by=trial)
        keys.changed_to(new)
        return
    except (ReelbookError, OSError) as error:
        failed = str(error)
        if isinstance(error, NotFound) and proof is not None:
            failed = f"It doesn't see the clip {proof}, which is under way. ({failed})"
    finally:
        if trial is not None:
            await trial.aclose()
    raise RotationFailed(
        f"The new key {new.key_id} (“{new.name}”) was made, and can't be used: {failed} {STAYS} "
        f"Revoke the new one: session.keys.revoke({new.key_id!r}).",
        key_id=new.key_id,
    )


def _keep_with_sandbox(connection: Connection, key: Secret) -> None:
    """The home's own sandbox gives its key to every kernel, so that has to be the new one."""
    from ..sandbox.places import Places, read_access, write_access

    assert connection.sandbox is not None
    places = Places(connection.sandbox.home)
    write_access(places, replace(read_access(places), api_key=key))
    connection.sandbox = replace(connection.sandbox, api_key=key)
