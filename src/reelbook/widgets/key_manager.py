"""The account's API keys. A new one goes to the page in one message and is in no trait of the panel."""

from typing import Any

import traitlets

from reelbook import settings, wire
from reelbook.account import Rotation
from reelbook.account.keys import next_name
from reelbook.errors import ReelbookError
from reelbook.models import ApiKey, CreatedKey
from reelbook.requests import checked_key_name, checked_rate_limit
from reelbook.session import Session

from ..text import keys as words
from .base import Panel, session_of
from .bundle import packed


class KeyManager(Panel):
    """The API keys of the account: their names, their limits, and when each was created and last used.

    `KeyManager(session)`; without a session `reelbook.connect()`. It makes keys (shown once), revokes them
    after saying what will stop, and replaces the session's own key while jobs go on. Listing costs a request:
    one on opening, one for each press of Refresh and one after each change. `listed` is the latest list.
    Observe or link `active` and `stale`: how many keys are active, and how many of those look left over.

        manager = rb.KeyManager()
        note = ipywidgets.Label()
        traitlets.dlink((manager, "stale"), (note, "value"), lambda count: f"{count} keys to clean up")
        ipywidgets.VBox([note, manager])
    """

    _esm = packed("key_manager")

    active = traitlets.Int(help="How many keys are active.").tag(sync=True)
    stale = traitlets.Int(help="How many active keys weren't used lately.").tag(sync=True)
    words = traitlets.Dict(help="What the page draws.").tag(sync=True)

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        self.session = session_of(self, session)
        self.listed: tuple[ApiKey, ...] = ()
        self._heard_of = False
        self._rotation: Rotation | None = None
        self._set_in: settings.Source | None = None  # where the former key is still set
        self._keyring = False
        self._shown: CreatedKey | None = None  # until the page confirms that it has it
        self._secret_sent = False
        super().__init__(**traits)
        self._endings += (self._forget,)
        self.refresh()

    def update(self) -> None:
        own = self.session.keys.in_use(self.listed)
        rows = words.rows(self.listed, own)
        summary = words.summary(self.listed, own) if self._heard_of else ""
        with self.hold_sync():
            self.active = sum(key.is_active for key in self.listed)
            self.stale = sum(bool(row["stale"]) for row in rows)
            self.words = {
                "summary": f"{self._doing()}." if self._busy else summary,
                "listed": self._heard_of,
                "busy": self._busy,
                "most": wire.MAX_REQUESTS_PER_MINUTE,
                "usual": wire.DEFAULT_REQUESTS_PER_MINUTE,
                "next": next_name(own.name if own else ""),
                "limit": (own and own.rate_limit) or wire.DEFAULT_REQUESTS_PER_MINUTE,
                "rotation": self._rotation_words(),
            }
            self.live = self._busy or self._shown is not None
        self._post("rows", {"rows": rows})
        if (shown := self._shown) is not None and not self._secret_sent and self.reaches_page:
            self._secret_sent = True
            about = {"id": shown.key_id, "called": shown.name, "text": words.created(shown)}
            seconds = words.SHOWN_SECONDS
            self.send({"name": "secret", **about, "seconds": seconds, "key": shown.api_key.reveal()})

    def _rotation_words(self) -> dict[str, Any]:
        rotation = self._rotation
        if rotation is None or rotation.revoked:
            return {}
        revoked = {key.key_id for key in self.listed if not key.is_active}
        if rotation.old is not None and rotation.old.key_id in revoked:  # elsewhere
            return {}
        can_keep = self._keyring and not rotation.kept
        said = words.rotated(
            rotation, sandbox=self.session.sandbox is not None, can_keep=can_keep, set_in=self._set_in
        )
        return {"text": said, "can_keep": can_keep, "old": rotation.old.key_id if rotation.old else ""}

    def _forget(self) -> None:
        self._shown = None

    def _on_hello(self) -> None:
        super()._on_hello()
        self._secret_sent = False
        if not (self._heard_of or self._busy or self.session.closed):
            self._on_refresh()

    def _on_shown(self, key_id: object) -> None:
        if self._shown is not None and self._shown.key_id == key_id:
            self._forget()

    def _on_refresh(self) -> None:
        self._start_work("Asking for the keys", self._look)

    def _on_create(self, called: Any, limit: Any) -> None:
        name, rate_limit = checked_key_name(called), checked_rate_limit(limit)

        def create() -> None:
            self._show(self.session.keys.create(name, rate_limit=rate_limit))

        self._start_work("Making the key", create, self._look)

    def _on_rotate(self, called: Any, limit: Any) -> None:
        name, rate_limit = checked_key_name(called), checked_rate_limit(limit)

        def rotate() -> None:
            rotation = self.session.keys.rotate(name, rate_limit=rate_limit)
            self._rotation = rotation
            self._show(rotation.new)
            self._look_where_it_is_kept(rotation)

        self._start_work("Making the new key and trying it", rotate, self._look)

    def _on_keep(self) -> None:
        if (rotation := self._rotation) is not None:
            rotation.keep()
            self._look_where_it_is_kept(rotation)
            self.say("The new key is kept in this system's keyring.")

    def _on_finish(self) -> None:
        """The old key still works; it can be revoked in the list at any time."""
        self._rotation = None

    def _on_revoke(self, key_id: object) -> None:
        """The page has asked about it."""
        key = next((key for key in self.listed if key.key_id == key_id), None)
        if key is None:
            return
        rotation = self._rotation

        def revoke() -> str:
            former = rotation is not None and (rotation.old is None or rotation.old.key_id == key.key_id)
            if rotation is not None and former and key.key_id != rotation.new.key_id:
                rotation.revoke_old(key.key_id)
            else:
                self.session.keys.revoke(key.key_id)
            return words.revoked(key.name)

        self._start_work("Revoking the key", revoke, self._look)

    def _show(self, created: CreatedKey) -> None:
        self._shown, self._secret_sent = created, False

    def _look_where_it_is_kept(self, rotation: Rotation) -> None:
        # Once, because a keyring may take its time or ask the person.
        self._set_in = rotation.old_is_set_in
        self._keyring = settings.has_keyring() and not settings.in_colab()

    def _look(self) -> None:
        """Reads the service's list; the last step of all work here."""
        try:
            self.listed = self.session.keys.list()
        except ReelbookError as error:
            raise ReelbookError(f"The keys couldn't be listed: {error}") from error
        self._heard_of = True
