"""Which service a notebook talks to, where its key comes from, and a field that takes another one.

A key typed in the page comes in one message and is in no trait, so no notebook can carry it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import traitlets

from reelbook import settings
from reelbook.errors import ConfigurationError, ReelbookError
from reelbook.secret import Secret
from reelbook.session import Session, connect

from ..text.connection import connection_words, tested
from .base import session_of
from .bundle import module, style
from .live import Live
from .outcome_line import TellsOutcome


class ConnectionPanel(TellsOutcome):
    """Says which service is used and where its key comes from, never the key; takes another key and tests it.

    `ConnectionPanel(session)`; without a session `reelbook.connect()`. `session` is the session in use;
    `on_session(callback)` hears of a new one, made when a key was typed in and the service accepted it.
    Testing sends one request: the balance. Observe or link `service` ("sandbox" or "live").

        panel = rb.ConnectionPanel()
        panel.on_session(lambda session: print(session.balance()))
    """

    _esm = module("connection_panel")
    _css = style("connection_panel")

    service = traitlets.Unicode(help="“sandbox” or “live”.").tag(sync=True)
    words = traitlets.Dict(help="What the page draws.").tag(sync=True)

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        self.session = session_of(self, session)
        self._source: str | None = None
        self._address = ""
        self._callbacks: list[Callable[[Session], object]] = []
        self._testing = False
        super().__init__(**traits)
        self._live = Live(self.refresh)
        self._endings = (self._live.close,)
        self._source = self._found()
        known = settings.find(settings.BASE_URL)
        self._address = "" if known is None else known.value.reveal()
        self.refresh()

    def on_session(self, callback: Callable[[Session], object]) -> None:
        """`callback(session)` is called with every new session that this panel makes."""
        self._callbacks.append(callback)

    def update(self) -> None:
        with self.hold_sync():
            self.service = self.session.service
            self.words = connection_words(
                service=self.session.service,
                base_url=self.session.base_url,
                known_address=self._address,
                source=self._source,
                home=self.session.home,
                colab=settings.in_colab(),
                keyring=settings.has_keyring(),
                kept=self._source == "keyring",
            )
            self.live = self._testing
            self._show_news()

    def still(self) -> tuple[str, str]:
        words = self.words
        text = f"{words['title']}. {words['about']} {words['key']}"
        return f"<div>{text}</div>", text

    def _found(self) -> str | None:
        found = settings.find(settings.API_KEY)
        if self.session.service == "live" and found is None:
            return "argument"
        return None if found is None else found.source

    def _on_test(self, *_: object) -> None:
        self._test(self.session, "")

    def _on_use(self, content: dict[str, Any], _: object) -> None:
        """A key was typed in: it is tried at once, and used if the service accepts it."""
        key, address = Secret(str(content.pop("key", ""))), str(content.get("address", "")).strip()
        if not key.reveal().strip():
            raise ConfigurationError("Paste a key first.")
        key = settings.checked_key(Secret(key.reveal().strip()))
        self._test(
            connect("live", api_key=key, base_url=address or None),
            "keep" if content.get("keep") else "use",
            key,
        )

    def _on_sandbox(self, *_: object) -> None:
        self._take(connect("sandbox"), self._found())

    def _test(self, session: Session, then: str, key: Secret | None = None) -> None:
        if self._testing:
            return
        self._testing = True

        def test() -> None:
            try:
                balance = session.balance()
                if then and key is not None:
                    if then == "keep":
                        settings.keep(settings.API_KEY, key)
                        settings.keep(settings.BASE_URL, Secret(session.base_url))
                    self._take(session, "keyring" if then == "keep" else "panel")
                self._news = tested(balance.balance_usd), True
            except ReelbookError as error:
                self._news = str(error), False
                if then:
                    session.close()
            finally:
                self._testing = False
                self._live.changed()

        # A request may take a minute, and the kernel has other things to do meanwhile.
        threading.Thread(target=test, name="reelbook-test", daemon=True).start()
        self.refresh()

    def _take(self, session: Session, source: str | None) -> None:
        self.session, self._source = session, source
        self._live.changed()
        for callback in self._callbacks:
            with self.showing_errors("What was to happen with the session"):
                callback(session)
