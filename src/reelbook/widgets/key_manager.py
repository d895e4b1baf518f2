"""The account's API keys: listed, made, changed and revoked. A key's secret goes to the page in one message.

It is in no trait, so no notebook can carry it; this side forgets it when the page has it.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
from typing import Any

import traitlets

from reelbook import settings, validation, wire
from reelbook.account import Rotation
from reelbook.account.key_rotation import next_name
from reelbook.errors import ReelbookError
from reelbook.models import ApiKey, CreatedKey
from reelbook.session import Session

from ..text import keys as words
from .base import session_of
from .bundle import module, style
from .live import Live
from .outcome_line import TellsOutcome

STILL_ROWS = 20


class KeyManager(TellsOutcome):
    """The API keys of the account: who has which, since when, and when each was used last.

    `KeyManager(session)`; without a session `reelbook.connect()`. Makes keys (shown once), revokes them after
    saying what stops, and puts a fresh key in the place of the session's own while jobs go on. Listing costs
    a request: one on opening, one for each press of Refresh and one after each change. `listed` holds the
    list as last heard. Observe or link `active` and `stale`: how many keys are active, and how many of
    them are left over.

        manager = rb.KeyManager()
        note = ipywidgets.Label()
        traitlets.dlink((manager, "stale"), (note, "value"), lambda count: f"{count} keys to clean up")
        ipywidgets.VBox([note, manager])
    """

    _esm = module("key_manager")
    _css = style("key_manager")

    active = traitlets.Int(help="How many keys are active.").tag(sync=True)
    stale = traitlets.Int(help="How many active keys weren't used lately.").tag(sync=True)
    words = traitlets.Dict(help="What the page draws.").tag(sync=True)
    question = traitlets.Dict(help="What is to be confirmed before a key is revoked.").tag(sync=True)

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        self.session = session_of(self, session)
        self.listed: tuple[ApiKey, ...] = ()
        self._heard_of = False
        self._doing = ""
        self._asked: str | None = None
        self._rotation: Rotation | None = None
        self._set_in: settings.Source | None = None  # where the former key still stands
        self._keyring = False
        self._shown: CreatedKey | None = None  # until the page says that it has it
        self._rows_sent = self._secret_sent = False
        super().__init__(**traits)
        self._live = Live(self.refresh)
        self._endings = (self._live.close, self._forget)
        self.refresh()

    def update(self) -> None:
        own = self.session.keys.in_use(self.listed)
        asked = next((key for key in self.listed if key.key_id == self._asked), None)
        rows = words.rows(self.listed, own)
        with self.hold_sync():
            self.active = sum(key.is_active for key in self.listed)
            self.stale = sum(bool(row["stale"]) for row in rows)
            self.words = {
                "summary": self._doing or (words.summary(self.listed, own) if self._heard_of else ""),
                "sandbox": self.session.service == "sandbox",
                "listed": self._heard_of,
                "busy": bool(self._doing),
                "most": wire.MAX_REQUESTS_PER_MINUTE,
                "usual": wire.DEFAULT_REQUESTS_PER_MINUTE,
                "next": next_name(own.name if own else ""),
                "limit": (own and own.rate_limit) or wire.DEFAULT_REQUESTS_PER_MINUTE,
                "rotation": self._rotation_words(),
            }
            self.question = (
                {}
                if asked is None
                else {
                    "id": asked.key_id,
                    "text": words.question(asked, own),
                    "own": own is not None and own.key_id == asked.key_id,
                }
            )
            self.live = bool(self._doing) or self._shown is not None
            self._show_news()
        if not self.reaches_page:
            return
        if not self._rows_sent:
            self._rows_sent = True
            self.send({"name": "rows", "rows": rows})
        if (shown := self._shown) is not None and not self._secret_sent:
            self._secret_sent = True
            self.send(
                {
                    "name": "secret",
                    "id": shown.key_id,
                    "called": shown.name,
                    "text": words.created(shown),
                    "seconds": words.SHOWN_SECONDS,
                    "key": shown.api_key.reveal(),
                }
            )

    def still(self) -> tuple[str, str]:
        own = self.session.keys.in_use(self.listed)
        if not self._heard_of:
            return super().still()
        text = f"API keys: {words.summary(self.listed, own)}"
        cells = [
            [row["name"], row["preview"], row["limit"], row["state"], row["used"]]
            for row in words.rows(self.listed, own)[:STILL_ROWS]
        ]
        lines = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in cells
        )
        return f"<div>{html.escape(text)}<table>{lines}</table></div>", text

    def _rotation_words(self) -> dict[str, Any]:
        rotation = self._rotation
        if rotation is None or rotation.revoked:
            return {}
        sandbox = self.session.sandbox is not None
        can_keep = self._keyring and not rotation.kept
        return {
            "text": words.rotated(
                rotation.new.name,
                rotation.old,
                kept=rotation.kept,
                sandbox=sandbox,
                can_keep=can_keep,
                set_in=self._set_in,
            ),
            "can_keep": can_keep,
            "old": rotation.old.key_id if rotation.old else "",
        }

    def _forget(self) -> None:
        self._shown = None

    def _on_hello(self, *arguments: object) -> None:
        self._rows_sent = self._secret_sent = False
        if not self._heard_of and not self._doing:
            self._list()
        super()._on_hello(*arguments)

    def _on_shown(self, content: dict[str, Any], _: object) -> None:
        """The page has the secret."""
        if self._shown is not None and self._shown.key_id == content.get("id"):
            self._forget()
        self.refresh()

    def _on_refresh(self, *_: object) -> None:
        self._list()

    def _on_create(self, content: dict[str, Any], _: object) -> None:
        name, limit = validation.key_name(content.get("called")), validation.rate_limit(content.get("limit"))

        def create() -> str:
            self._show(self.session.keys.create(name, rate_limit=limit))
            return ""  # what is shown says it

        self._do("Making the key.", create)

    def _on_rotate(self, content: dict[str, Any], _: object) -> None:
        name, limit = validation.key_name(content.get("called")), validation.rate_limit(content.get("limit"))

        def rotate() -> str:
            rotation = self.session.rotate_key(name, rate_limit=limit)
            self._rotation = rotation
            self._show(rotation.new)
            self._look_where_it_is_kept(rotation)
            return ""

        self._do("Making the new key and trying it.", rotate)

    def _on_keep(self, *_: object) -> None:
        if (rotation := self._rotation) is not None:
            rotation.keep()
            self._look_where_it_is_kept(rotation)
            self._say("The new key is kept in this system's keyring.")

    def _on_finish(self, *_: object) -> None:
        """The old key is left to work; the list can revoke it at any time."""
        self._rotation = None
        self.refresh()

    def _on_ask_revoke(self, content: dict[str, Any], _: object) -> None:
        self._asked = str(content.get("id"))
        self.refresh()

    def _on_leave(self, *_: object) -> None:
        self._asked = None
        self.refresh()

    def _on_revoke(self, content: dict[str, Any], _: object) -> None:
        """Only what was asked about is revoked."""
        key = next((key for key in self.listed if key.key_id == self._asked), None)
        if key is None or key.key_id != content.get("id"):
            return
        self._asked = None
        rotation = self._rotation

        def revoke() -> str:
            former = rotation is not None and (rotation.old is None or rotation.old.key_id == key.key_id)
            if rotation is not None and former and key.key_id != rotation.new.key_id:
                rotation.revoke_old(key.key_id)
            else:
                self.session.keys.revoke(key.key_id)
            return words.revoked(key.name)

        self._do("Revoking the key.", revoke)

    def _show(self, created: CreatedKey) -> None:
        self._shown, self._secret_sent = created, False

    def _look_where_it_is_kept(self, rotation: Rotation) -> None:
        # Once, because a keyring may take its time or ask the person.
        self._set_in = rotation.old_is_set_in
        self._keyring = settings.has_keyring() and not settings.in_colab()

    def _list(self) -> None:
        self._do("Asking for the keys.", lambda: "")

    def _do(self, doing: str, work: Callable[[], str]) -> None:
        """Does it on a thread, because a request may take a minute; lists the keys afterwards."""
        if self._doing:
            return
        self._doing, self._news = doing, ("", True)

        def do() -> None:
            try:
                news = work(), True
            except ReelbookError as error:
                news = str(error), False
            except Exception as error:  # a thread's error is seen by nobody
                news = f"{doing} It failed. {type(error).__name__}.", False
            try:
                self.listed = self.session.keys.list()
                self._heard_of, self._rows_sent = True, False
            except ReelbookError as error:
                news = f"{news[0]} The keys couldn't be listed: {error}".strip(), False
            finally:
                self._news, self._doing = news, ""
                self._live.changed()

        threading.Thread(target=do, name="reelbook-keys", daemon=True).start()
        self.refresh()

    def _say(self, text: str) -> None:
        self._news = text, True
        self.refresh()
