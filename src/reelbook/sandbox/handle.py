"""A handle on a running sandbox: where it is, how to get in, and its controls (control.py answers them)."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SandboxError
from ..secret import Secret
from . import protocol
from .access import read_access
from .notice import ended_within
from .places import Places

if TYPE_CHECKING:
    from .jobs import Pace

CONTROL_TIMEOUT_SECONDS = 10.0
END_TIMEOUT_SECONDS = 10.0

_UNSET: Any = object()


@dataclass(frozen=True)
class Sandbox:
    """A running sandbox. `url` is the service's base address; `api_key` is the notebook's own key.

    The controls block for a moment; call them from a thread if a loop runs. They raise SandboxError.
    """

    url: str
    pid: int = field(repr=False)
    user_id: str = field(repr=False)
    api_key: Secret = field(repr=False)
    control_token: Secret = field(repr=False)
    home: Path = field(repr=False)

    @property
    def mcp_url(self) -> str:
        """The address of the sandbox's agent tool server."""
        return f"{self.url}/mcp"

    def settings(
        self,
        *,
        pace: Pace | None = None,
        rate_limiting: bool | None = None,
        balance_usd: float | None = None,
        max_image_bytes: int | None = None,
        fail_next: str | None = _UNSET,
    ) -> None:
        """Change how the sandbox behaves from now on; what is left out stays as it is.

        `pace` is "at once", "brisk", "lifelike" or the seconds that a new job takes. `fail_next` is the text
        with which the next accepted job fails; None takes it back.
        """
        wanted = {
            "pace": pace,
            "rate_limiting": rate_limiting,
            "balance_usd": balance_usd,
            "max_image_bytes": max_image_bytes,
        }
        wanted = {name: value for name, value in wanted.items() if value is not None}
        if fail_next is not _UNSET:
            wanted["fail_next"] = fail_next
        self._ask(protocol.SETTINGS, wanted)

    def set_pace(self, pace: Pace) -> None:
        """How long jobs take from now on: "at once", "brisk", "lifelike", or seconds."""
        self.settings(pace=pace)

    def fail_next(self, reason: str) -> None:
        """Let the next accepted job fail with `reason`."""
        self.settings(fail_next=reason)

    def set_balance(self, balance_usd: float) -> None:
        """Set what is left to spend, in USD."""
        self.settings(balance_usd=balance_usd)

    def lift_limits(self) -> None:
        """Refuse and count no requests until `settings(rate_limiting=True)`."""
        self.settings(rate_limiting=False)

    def advance(self, seconds: float) -> None:
        """Move the sandbox's clock on; from then on it only moves this way."""
        self._ask(protocol.CLOCK, {"advance_seconds": seconds})

    def state(self) -> dict[str, Any]:
        """Pace, limits, balance, jobs under way, process and how long nobody used it."""
        return self._ask(protocol.STATE, None)

    def stop(self) -> None:
        """End the sandbox and wait for its end. Unfinished jobs go on when it is started again."""
        self._ask(protocol.STOP, {})
        if not ended_within(Places.under(self.home), END_TIMEOUT_SECONDS):
            raise SandboxError(f"The sandbox (process {self.pid}) was asked to stop and still runs.")

    def _ask(self, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        headers = {protocol.TOKEN_HEADER: self.control_token.reveal(), "Content-Type": "application/json"}
        return ask(self.url + path, body, headers, CONTROL_TIMEOUT_SECONDS)


def handle_on(home: Path, url: str, pid: int) -> Sandbox:
    """The handle on the sandbox of `home` that serves at `url`."""
    access = read_access(Places.under(home))
    return Sandbox(url, pid, access.user_id, access.api_key, access.control_token, Path(home))


def ask(
    url: str, body: dict[str, Any] | None, headers: dict[str, str], timeout_seconds: float
) -> dict[str, Any]:
    """GET (`body` None) or POST a control path. Raises SandboxError for anything but a JSON object."""
    data = None if body is None else json.dumps(body).encode()
    # Never through a proxy: the sandbox is on this machine, and the token is for it alone.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, data, headers)  # noqa: S310  # http, from our own notice
    detail = ""
    try:
        with opener.open(request, timeout=timeout_seconds) as response:
            answer = json.loads(response.read(65536))
    except urllib.error.HTTPError as exc:
        with exc:
            detail = exc.read(2000).decode(errors="replace")
        raise SandboxError(f"The sandbox refused: {_detail(detail)}") from None
    except (OSError, ValueError) as exc:
        # The cause is cut: its traceback's variables hold the token.
        reason = getattr(exc, "reason", exc)
        raise SandboxError(f"The sandbox at {url} gives no usable answer ({reason}).") from None
    if not isinstance(answer, dict):
        raise SandboxError(f"The sandbox at {url} gives no usable answer.")
    return answer


def _detail(body: str) -> str:
    try:
        return str(json.loads(body)["detail"])
    except (ValueError, KeyError, TypeError):
        return body
