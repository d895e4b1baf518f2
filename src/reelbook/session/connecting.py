"""`connect()`: the one place that decides between the sandbox and the live service."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from typing import Literal

from .. import settings
from ..client.transport import Transport
from ..errors import ConfigurationError, ReelbookError
from ..secret import Secret
from .session import Session

IDENTIFY_SECONDS = 3.0

_sessions: dict[tuple[str, str, str, str], Session] = {}
_lock = threading.Lock()


def connect(
    service: Literal["auto", "sandbox", "live"] = "auto",
    *,
    api_key: str | Secret | None = None,
    base_url: str | None = None,
    home: str | os.PathLike[str] | None = None,
    ask: bool = False,
) -> Session:
    """Connects to the service and returns a Session; the same arguments give the same one.

    "auto" takes the live service where a key and an address are configured, and the local sandbox where
    neither is. "sandbox" takes the sandbox whatever is configured, "live" never takes it. `ask=True` prompts
    for a key or address that is missing. `home` is the folder for clips and the sandbox (`REELBOOK_HOME`).

    Raises ConfigurationError that says what is missing, and SandboxError if the sandbox can't be started.
    """
    api_key = None if api_key is None else Secret.of(api_key)  # verbose tracebacks print arguments
    folder = settings.home(home)
    if service not in ("auto", "sandbox", "live"):
        raise ConfigurationError(f"The service must be 'auto', 'sandbox' or 'live', not {service!r}.")
    if service == "sandbox":
        if api_key is not None or base_url is not None:
            raise ConfigurationError(
                "The sandbox has its own key and address: leave api_key and base_url out."
            )
        return _sandbox_session(folder)
    key = settings.find(settings.API_KEY, api_key, ask=ask)
    address = settings.find(settings.BASE_URL, base_url, ask=ask)
    if key is None and address is None and service == "auto":
        return _sandbox_session(folder)
    if key is None:
        found = f"the address ({address.source})" if address else "neither key nor address"
        raise ConfigurationError(
            f"An API key is missing; there is {found}. Set {settings.API_KEY}, pass api_key=… or ask=True. "
            "connect('sandbox') needs none."
        )
    if address is None:
        raise ConfigurationError(
            f"The service's address is missing; there is a key ({key.source}). Set {settings.BASE_URL} or "
            "pass base_url=…. connect('sandbox') needs none."
        )
    url = settings.checked_base_url(address.value.reveal())
    name = ("address", url, key.value.fingerprint, str(folder))
    with _lock:
        if (session := _open(name)) is None:
            sandbox = _is_sandbox(url)
            session = Session(
                settings.checked_key(key.value), url, service="sandbox" if sandbox else "live", home=folder
            )
            _sessions[name] = session
        return session


def _sandbox_session(folder: os.PathLike[str]) -> Session:
    from pathlib import Path

    from ..sandbox import server

    name = ("sandbox", "", "", str(folder))
    with _lock:
        if (session := _open(name)) is None:
            sandbox = server.ensure(Path(folder))
            session = Session(
                sandbox.api_key, sandbox.url, service="sandbox", home=Path(folder), sandbox=sandbox
            )
            _sessions[name] = session
        return session


def _open(name: tuple[str, str, str, str]) -> Session | None:
    session = _sessions.get(name)
    return session if session is not None and not session.closed else None


def _is_sandbox(url: str) -> bool:
    """Whether a sandbox answers at `url`, asked without the key. A service that doesn't answer is live."""

    async def ask() -> bool:
        transport = Transport(url, Secret(""))
        try:
            async with (
                asyncio.timeout(IDENTIFY_SECONDS),
                transport.fetch(f"{url}/_sandbox/about", headers={}, with_key=False) as (reply, chunks),
            ):
                if reply.status != 200:
                    return False
                body = b""
                async for chunk in chunks:
                    body += chunk
                    if len(body) > 10_000:
                        return False
                about = json.loads(body)
                return isinstance(about, dict) and about.get("service") == "reelbook-sandbox"
        except (ReelbookError, TimeoutError, ValueError):
            return False
        finally:
            await transport.aclose()

    from .engine import Engine

    engine = Engine("reelbook-identify")
    try:
        return engine.call(ask())
    finally:
        engine.close()
