"""Faults that tests and lessons make happen: which there are, and which request is due for one.

Pure state: `fault_injection.py` makes a due fault happen, `Sandbox.fault` says what each kind does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from .. import wire
from .payloads import Refused
from .protocol import TOOLS, Endpoint

VIDEOS: Final = "/videos/"
MAX_COUNT = 1_000_000
MAX_SECONDS = 3600.0

_EXACT: Final[Mapping[tuple[str, str], str]] = {
    ("POST", wire.TEXT_TO_VIDEO): "text-to-video",
    ("POST", wire.IMAGE_TO_VIDEO): "image-to-video",
    ("GET", wire.BALANCE): "balance",
    ("GET", wire.USAGE): "usage",
    ("GET", wire.KEYS): "list-keys",
    ("POST", wire.KEYS): "create-key",
    ("POST", TOOLS): "tools",
}
_BELOW: Final[Mapping[tuple[str, str], str]] = {
    ("GET", f"{wire.STATUS}/"): "status",
    ("DELETE", f"{wire.KEYS}/"): "revoke-key",
    ("GET", VIDEOS): "download",
}
_EVERY: Final[frozenset[str]] = frozenset(get_args(Endpoint))
_GROUPS: Final[Mapping[str, frozenset[str]]] = {
    "generate": frozenset({"text-to-video", "image-to-video"}),
    "billing": frozenset({"balance", "usage"}),
    "keys": frozenset({"list-keys", "create-key", "revoke-key"}),
    "any": _EVERY,
}


@dataclass(frozen=True)
class _Kind:
    """The options of a kind with their defaults, and the endpoints to which it can happen."""

    options: Mapping[str, Any] = field(default_factory=dict)
    endpoints: frozenset[str] = _EVERY


_STATUS: Final[frozenset[str]] = frozenset({"status"})
_DOWNLOAD: Final[frozenset[str]] = frozenset({"download"})
_KINDS: Final[Mapping[str, _Kind]] = {
    "reset_before": _Kind({"read": True}),
    "answer_lost": _Kind(),
    "close": _Kind({"handled": False}),
    "short_body": _Kind({"after_bytes": None}),
    "garbage": _Kind({"handled": True}),
    "stall": _Kind({"seconds": 60.0, "handled": True}),
    "drip": _Kind({"seconds": 1.0}),
    "500": _Kind({"handled": False}),
    "503": _Kind({"handled": False}),
    "429": _Kind({"headers": True, "reset_seconds": 1, "retry_after": None}),
    "html": _Kind({"handled": False}),
    "broken_json": _Kind(endpoints=_EVERY - _DOWNLOAD),
    "broken_gzip": _Kind(),
    "not_found": _Kind(endpoints=_STATUS),
    "unknown_status": _Kind({"word": "queued"}, _STATUS),
    "expired_link": _Kind({"status": 410}, _DOWNLOAD),
    "drop_download": _Kind({"after_bytes": 10_000}, _DOWNLOAD),
}


@dataclass
class Fault:
    """A fault that was asked for, and how far it got: `seen` requests that match it, `happened` to some."""

    kind: str
    endpoint: str
    times: int
    after: int
    options: Mapping[str, Any]
    endpoints: frozenset[str]
    seen: int = 0
    happened: int = 0

    def takes(self, endpoint: str) -> bool:
        """Whether it happens to this request of `endpoint`, which is counted."""
        if endpoint not in self.endpoints or self.happened == self.times:
            return False
        self.seen += 1
        if self.seen <= self.after:
            return False
        self.happened += 1
        return True

    def body(self) -> dict[str, Any]:
        """The fault as the control plane lists it."""
        shown = ("kind", "endpoint", "times", "after", "options", "seen", "happened")
        return {name: getattr(self, name) for name in shown}


class Faults:
    """All faults of a sandbox in the order in which they were asked for. They end with its process.

    `requests` counts what arrived, by endpoint: what a fault took as well as what was answered.
    """

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self._faults: list[Fault] = []
        # By the video's name: how many of its links have expired, and the status of those that did.
        self._links: dict[str, tuple[int, int]] = {}

    def add(self, wanted: Mapping[str, Any]) -> None:
        """Let a fault happen from now on, as POST /_sandbox/faults asks for it. Raises payloads.Refused."""
        self._faults.append(_checked(wanted))

    def clear(self) -> None:
        """No fault happens any more. Links that expired stay so."""
        self._faults.clear()

    def listed(self) -> list[dict[str, Any]]:
        """All faults since the last `clear`, also those that happened as often as they should."""
        return [fault.body() for fault in self._faults]

    def arrived(self, method: str, path: str) -> Fault | None:
        """Count a request, and say which fault happens to it: the first that is due; later ones don't."""
        endpoint = _endpoint(method, path)
        if endpoint is None:
            return None
        self.requests[endpoint] += 1
        return next((fault for fault in self._faults if fault.takes(endpoint)), None)

    def expire(self, video: str, status: int) -> None:
        """The link to `video` that was given out last is answered with `status` from now on."""
        self._links[video] = (self.link(video) + 1, status)

    def link(self, video: str) -> int:
        """The number of the one link to `video` that works; 0 is that without a number."""
        return self._links.get(video, (0, 0))[0]

    def expired_status(self, video: str) -> int:
        """The status of links to `video` that work no longer."""
        return self._links[video][1] if video in self._links else 404


def _endpoint(method: str, path: str) -> str | None:
    if endpoint := _EXACT.get((method, path)):
        return endpoint
    return next((e for (m, start), e in _BELOW.items() if m == method and path.startswith(start)), None)


def _checked(wanted: Mapping[str, Any]) -> Fault:
    options = {**wanted}
    kind, endpoint = options.pop("kind", None), options.pop("endpoint", "any")
    times, after = options.pop("times", 1), options.pop("after", 0)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise Refused(400, f"kind must be one of {', '.join(_KINDS)}")
    if not isinstance(endpoint, str) or (endpoint not in _GROUPS and endpoint not in _EVERY):
        raise Refused(400, f"endpoint must be one of {', '.join((*get_args(Endpoint), *_GROUPS))}")
    if not _count(times, 1):
        raise Refused(400, "times must be a whole number from 1")
    if not _count(after, 0):
        raise Refused(400, "after must be a whole number from 0")
    known = _KINDS[kind]
    for name, value in options.items():
        if name not in known.options:
            offered = f"it has {', '.join(known.options)}" if known.options else "it has none"
            raise Refused(400, f"{name} is no option of {kind}; {offered}")
        if not _OPTIONS[name](value):
            raise Refused(400, f"{name} can't be {value!r}")
    endpoints = _GROUPS.get(endpoint, frozenset({endpoint})) & known.endpoints
    if not endpoints:
        raise Refused(400, f"{kind} can happen to {', '.join(sorted(known.endpoints))} only")
    return Fault(kind, endpoint, times, after, {**known.options, **options}, endpoints)


def _count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_COUNT


def _seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_SECONDS


def _flag(value: object) -> bool:
    return isinstance(value, bool)


_OPTIONS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "read": _flag,
    "handled": _flag,
    "headers": _flag,
    "seconds": _seconds,
    "reset_seconds": lambda value: _count(value, 0),
    "retry_after": lambda value: value is None or _count(value, 0),
    "after_bytes": lambda value: value is None or _count(value, 0),
    "word": lambda value: isinstance(value, str) and bool(value),
    "status": lambda value: isinstance(value, int) and value in (404, 410),
}
