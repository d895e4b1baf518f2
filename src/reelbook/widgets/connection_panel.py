"""Which service a notebook talks to, and a field for another key, which is in no trait of the panel."""

from typing import Any

import traitlets

from reelbook import settings
from reelbook.errors import ConfigurationError
from reelbook.secret import Secret
from reelbook.session import Session, connect

from ..text.connection import connection_words, tested
from .base import Callbacks, Panel, session_of
from .bundle import packed
from .static_html import text_still


class ConnectionPanel(Panel):
    """Shows which service is used and where its key comes from, never the key; tests and takes another key.

    `ConnectionPanel(session)`; without a session `reelbook.connect()`. `session` is the session in use. A key
    that is typed in and that the service accepts makes a new one, which goes to `on_session(callback)`.
    Testing sends one request, for the balance. Observe or link `service` ("sandbox" or "live").

        panel = rb.ConnectionPanel()
        panel.on_session(lambda session: print(session.balance()))
    """

    _esm = packed("connection_panel")

    on_session = Callbacks[[Session]]("`callback(session)` is called with every new session made here.")

    service = traitlets.Unicode(help="“sandbox” or “live”.").tag(sync=True)
    words = traitlets.Dict(help="What the page draws.").tag(sync=True)

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        self.session = session_of(self, session)
        self._source = self._found()
        known = settings.find(settings.BASE_URL)
        self._address = "" if known is None else known.value.reveal()
        super().__init__(**traits)
        self.refresh()

    def update(self) -> None:
        with self.hold_sync():
            self.service = self.session.service
            self.words = connection_words(self.session, self._source, self._address)
            self.live = self._busy

    def still(self) -> tuple[str, str]:
        words = self.words
        return text_still(f"{words['title']}. {words['about']} {words['key']}")

    def _found(self) -> str | None:
        found = settings.find(settings.API_KEY)
        return None if found is None else found.source

    def _on_test(self) -> None:
        session = self.session

        def test() -> str:
            session.balance()
            return tested(session.facts)

        self._start_work("Testing the connection", test)

    def _on_use(self, content: dict[str, Any]) -> None:
        """Tries a key that was typed in at once, and uses it if the service accepts it."""
        key, address = Secret(str(content.pop("key", ""))), str(content.get("address", "")).strip()
        if not key.reveal().strip():
            raise ConfigurationError("Paste a key first.")
        key = settings.checked_key(Secret(key.reveal().strip()))
        if self._busy:
            return
        former, session = self.session, connect("live", api_key=key, base_url=address or None)
        keep = bool(content.get("keep"))

        def use() -> str:
            try:
                session.balance()
                if keep:
                    settings.keep(key, session.base_url)
            except BaseException:
                if session is not former:
                    session.close()
                raise
            self._take(session, "keyring" if keep else "panel")
            return tested(session.facts)

        self._start_work("Testing the key", use)

    def _on_sandbox(self) -> None:
        self._take(connect("sandbox"), self._found())

    def _take(self, session: Session, source: str | None) -> None:
        self.session, self._source = session, source
        self.on_session.tell(session)
