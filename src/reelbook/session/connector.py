"""`connect()`: the one place that decides between the sandbox and the live service."""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from .. import errors, settings, states, wire
from ..account.connection import Service, ServiceAddress
from ..account.limits import caller_warner
from ..client.responses import Reply
from ..client.transport import Transport
from ..event_thread import EventThread, uninterrupted
from ..executions import follow
from ..formatting import count, dollars, terminal_line
from ..ledger import Ledger, LedgerFile
from ..secret import Secret, hidden, quotable
from . import display
from .session import Session

IDENTIFY_SECONDS = 3.0
IN_CODE: Final = ", pass it as an argument, or ask=True. connect('sandbox') needs none."
OWN_SANDBOX: Final = f', to start a sandbox of your own, set {settings.BASE_URL} to "".'
NO_LEDGER: Final = (
    "This session keeps no ledger: the ids of its clips are gone when the kernel ends, and a spending limit "
    "counts this kernel alone."
)


class _Name(NamedTuple):
    """What identifies a session; for the home's own sandbox there is no address and no key."""

    url: str
    key: str  # the key's fingerprint
    home: Path
    max_spend_usd: float | None
    ledger: str | None


_sessions: dict[_Name, Session] = {}
_unreported: dict[_Name, int] = {}  # how many jobs a new session took up, until a line says so
_lock = threading.Lock()


def connect(
    service: Literal["auto", "sandbox", "live"] = "auto",
    *,
    api_key: str | Secret | None = None,
    base_url: str | None = None,
    home: str | os.PathLike[str] | None = None,
    ask: bool = False,
    max_spend: float | None = None,
    ledger: Literal["home"] | None = "home",
) -> Session:
    """Connects to the service and returns a Session; the same arguments return the same one.

        session = rb.connect("sandbox")
        session = rb.connect("live", max_spend=5.00)

    "auto" takes the live service where a key and an address are configured, and the local sandbox where
    neither is. "sandbox" never takes a live service: it takes the configured address if a sandbox answers
    there, such as a class's, and otherwise starts one of your own. "live" never starts one. `ask=True`
    prompts for a missing key or address. In a notebook, jobs that an earlier kernel left unfinished are
    watched again, and a line says so.

    With `max_spend` in USD (`REELBOOK_MAX_SPEND`), nothing is submitted that would bring the cost of this
    key's clips, reserved and uncertain amounts included, above it; a clip's final cost follows its actual
    length and may differ a little. From four fifths of it on, and when the balance runs low,
    `errors.SpendingWarning` says what a submission leaves, once for each threshold.

    `home` (`REELBOOK_HOME`) is the folder for clips, sandbox and the ledger, which is written before anything
    is paid. `ledger=None` does without one: the ids of clips are lost when the kernel ends.

    Raises ConfigurationError where a setting is missing, or where "sandbox" finds that nothing answers at the
    configured http address; LedgerUnavailable where a live session's `home` can't be written (a sandbox's
    session then warns and goes on in memory); SandboxError if the sandbox can't be started.
    """
    # Verbose tracebacks print arguments, and a key may have been given as the wrong one.
    api_key = None if api_key is None else Secret.of(api_key)
    address_given = None if base_url is None else Secret.of(base_url)
    base_url = None
    service, max_spend = hidden(service), hidden(max_spend)  # type: ignore[assignment]  # refused below
    folder = settings.home(home)
    limit = settings.max_spend_usd(max_spend)
    if ledger not in ("home", None):
        raise errors.ConfigurationError("The ledger must be 'home' or None.")
    if service not in ("auto", "sandbox", "live"):
        raise errors.ConfigurationError(
            f"The service must be 'auto', 'sandbox' or 'live', not {quotable(service)}. "
            "An API key goes in api_key=…"
        )
    if service == "sandbox":
        if api_key is not None or address_given is not None:
            raise errors.ConfigurationError(
                "The sandbox has its own key and address: leave api_key and base_url out."
            )
        if configured_sandbox() is None:
            return _own_sandbox(folder, limit, ledger)
    key = settings.find(settings.API_KEY, api_key, ask=ask)
    address = settings.find(settings.BASE_URL, address_given, ask=ask)
    if key is None and address is None and service == "auto":
        return _own_sandbox(folder, limit, ledger)
    if key is None and address is not None and service == "sandbox":
        raise errors.ConfigurationError(
            f"A sandbox answers at the configured address ({address.source}), and your key is missing. "
            f"Set {settings.API_KEY} as your card has it; or{OWN_SANDBOX}"
        )
    if key is None:
        found = f"the address ({address.source})" if address else "neither key nor address"
        raise errors.ConfigurationError(
            f"An API key is missing; there is {found}. "
            f"Set {settings.API_KEY}{'' if address else f' and {settings.BASE_URL}'}{IN_CODE}"
        )
    if address is None:
        raise errors.ConfigurationError(
            f"The service's address is missing; there is a key ({key.source}). "
            f"Set {settings.BASE_URL}{IN_CODE}"
        )
    url = settings.checked_base_url(address.value)
    settings.warn_if_insecure(url)
    return connected(url, key.value, folder, limit, ledger, sandbox=service == "sandbox")


def connected(
    url: str, key: Secret, home: Path, limit: float | None, kept: str | None, *, sandbox: bool = False
) -> Session:
    """The session of a service whose address is checked; `sandbox` says that it is one."""
    name = _Name(url, key.fingerprint, home, limit, kept)
    settings.checked_key(key)

    def reach() -> ServiceAddress:
        about = _about(url) or {}
        kind: Service = "sandbox" if sandbox or _is_sandbox(about) else "live"
        offers = about.get("offers")
        offered = [each for each in wire.OFFERS if isinstance(offers, list) and each in offers]
        return ServiceAddress(key, url, kind, offers=tuple(offered))

    return _opened(name, reach)


def connect_own_sandbox(home: str | os.PathLike[str] | None = None) -> Session:
    """The session of the home's own sandbox, whatever is configured. Raises as `connect` does."""
    return _own_sandbox(settings.home(home), settings.max_spend_usd(), "home")


def configured_sandbox() -> str | None:
    """The configured address, if a sandbox answers there; None for a live service, and without an address.

    It is asked without the key. Raises ConfigurationError where nothing answers at an http address: a student
    given the address of a class's sandbox would otherwise work in another one without knowing. An https
    address where nothing answers is taken for a live service's.
    """
    if (address := settings.find(settings.BASE_URL)) is None:
        return None
    url = settings.checked_base_url(address.value)
    answer = _about(url)
    if answer is None and url.startswith("http://"):
        raise errors.ConfigurationError(
            f"Nothing answers at {url}, which {settings.BASE_URL} names ({address.source}), so nobody can "
            "tell whether it is your class's sandbox. Nothing was started. Check that it runs and that you "
            f"are on its network; or{OWN_SANDBOX}"
        )
    return url if answer is not None and _is_sandbox(answer) else None


def _own_sandbox(folder: Path, limit: float | None, kept: str | None) -> Session:
    from ..sandbox import server

    def reach() -> ServiceAddress:
        sandbox = server.ensure(folder)
        return ServiceAddress(sandbox.api_key, sandbox.url, "sandbox", sandbox)

    return _opened(_Name("", "", folder, limit, kept), reach)


def _opened_ledger(name: _Name, address: ServiceAddress) -> Ledger:
    """The key's ledger, ready to be written. Play money may be spent without one, with a warning."""
    # The home's own sandbox changes its address, and is the same service all the same.
    service = "sandbox" if address.sandbox else address.url

    def of_key(file: LedgerFile) -> Ledger:
        return file.ledger(service, address.key, max_spend_usd=name.max_spend_usd)

    if name.ledger is None:
        return of_key(LedgerFile.in_memory_only(name.home, NO_LEDGER))
    try:
        with contextlib.ExitStack() as undo:
            file = undo.enter_context(LedgerFile.open(name.home))
            file.store.prove_writable()
            ledger = of_key(file)
            undo.pop_all()
            return ledger
    except errors.LedgerUnavailable as error:
        if address.service == "live":
            raise
        return of_key(LedgerFile.in_memory_only(name.home, f"{error} {NO_LEDGER}"))


def _opened(name: _Name, reach: Callable[[], ServiceAddress]) -> Session:
    """The session of that name, created if there is none; a new one's notices are printed, or warned of."""
    follow()
    in_notebook = display.in_notebook()
    # A script's own output may be read by another program.
    out = sys.stdout if in_notebook else sys.stderr

    def find_or_make() -> Session:
        with _lock:
            if (session := _open(name)) is None:
                address = reach()
                session = _sessions[name] = Session(address, _opened_ledger(name, address), name.home)
                # A script asks for it with session.resume(): it may end before the jobs do.
                _unreported[name] = len(session.resume()) if in_notebook else 0
            return session

    # Stop ends the waiting. The session is made all the same, and the next connect() finds it.
    session = _open(name) or uninterrupted(find_or_make)
    notice = None
    if (resumed := _unreported.pop(name, None)) is not None:
        notice = session._ledger.store.notice
        if resumed:
            clips = count(resumed, "unfinished clip")
            print(f"Reelbook watches {clips} of an earlier kernel: see session.jobs().", file=out)
        if uncertain := session._ledger.uncertain_entries():
            cost = dollars(sum(each.estimated_cost_usd for each in uncertain))
            how = "session.reconcile()" if in_notebook else "reelbook jobs resume --find-out"
            many = count(len(uncertain), "submission")
            print(f"{many} never got an answer (up to {cost}): {how} finds out what was bought.", file=out)
        for sweep in session._ledger.sweeps.interrupted():
            opens = f"rb.Sweep.open(session, {sweep.id!r})"
            left = f"{sweep.counts[states.PLANNED]} of {sum(sweep.counts.values())} clips"
            what = f"{left} of the sweep “{terminal_line(sweep.name, 40)}” unsent"
            if in_notebook:
                how = f"{opens}.plan() says what the rest costs, {opens}.resume() sends it, .stop() drops it."
                print(f"The kernel ended with {what}: {how}", file=out)
            else:
                resume, stop = (f"reelbook sweep {word} {sweep.id}" for word in ("resume", "stop"))
                print(f"A program ended with {what}: {resume} sends the rest, {stop} drops it.", file=out)
    for said in filter(None, (notice, session.facts.trouble)):
        caller_warner()(errors.LedgerTrouble(said))
    return session


def _open(name: _Name) -> Session | None:
    """The open session of that name, or one that has since taken this key in place of its first."""
    for each, session in list(_sessions.items()):
        if name in (each, each._replace(key=session.keys.fingerprint)) and not session.closed:
            return session
    return None


def _is_sandbox(about: Mapping[str, Any]) -> bool:
    return about.get("service") == "reelbook-sandbox"


def _about(url: str) -> dict[str, Any] | None:
    """What a sandbox or a room at `url` says about itself; {} of any other, None where nothing answers."""
    try:
        status, about = ask_once(url, Secret(""), "GET", "/_sandbox/about", seconds=IDENTIFY_SECONDS)
    except (errors.ServiceUnreachable, TimeoutError):
        return None
    except errors.ReelbookError:
        return {}
    return about if status == 200 else {}


def ask_once(
    url: str, key: Secret, method: str, path: str, body: dict[str, Any] | None = None, *, seconds: float
) -> tuple[int, dict[str, Any]]:
    """Sends one request, before there is a session, and returns the status and the JSON object of its answer.

    Any other body counts as empty. Raises as `Transport.request` does.
    """

    async def ask() -> Reply:
        transport = Transport(url, key)
        try:
            return await transport.request(method, path, deadline_seconds=seconds, json=body)
        finally:
            await transport.aclose()

    thread = EventThread("reelbook-ask")
    try:
        reply = thread.call(ask())
    finally:
        thread.close()
    said: Any = None
    with contextlib.suppress(ValueError):
        said = json.loads(reply.body)
    return reply.status, said if isinstance(said, dict) else {}
