"""A handle on a running sandbox: its address, its credentials, and its controls (control.py answers them)."""

import contextlib
import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, SandboxError
from ..secret import Secret, quotable
from ..suggestions import SuggestsNames
from ..web.limits import LimitHeaders, LimitWindow, ResetUnit
from . import protocol
from .places import Places, ended_within, read_access
from .protocol import Pace, UsageDays

CONTROL_TIMEOUT_SECONDS = 10.0
END_TIMEOUT_SECONDS = 10.0

_UNSET: Any = object()


@dataclass(frozen=True)
class Sandbox(SuggestsNames):
    """A running sandbox. `url` is the service's base address, `api_key` the notebook's own key.

    `user_id` lets a client of the agent tools in. The controls block for a moment; call them from a thread if
    a loop runs. They raise SandboxError.
    """

    url: str
    pid: int = field(repr=False)
    user_id: str = field(repr=False)
    api_key: Secret = field(repr=False)
    control_token: Secret = field(repr=False)
    home: Path = field(repr=False)
    # Speed settings, which `server.restarted` gives to the next one.
    kept_settings: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def mcp_url(self) -> str:
        """The address of the sandbox's agent tool server."""
        return f"{self.url}{protocol.TOOLS}"

    @property
    def access_file(self) -> Path:
        """The file with its key, user id and control token, readable by the owner only."""
        return Places(self.home).access

    def settings(
        self,
        *,
        pace: Pace | None = None,
        rate_limiting: bool | None = None,
        balance_usd: float | None = None,
        max_image_bytes: int | None = None,
        fail_next: str | None = _UNSET,
        limit_window: LimitWindow | None = None,
        count_refused: bool | None = None,
        reset_unit: ResetUnit | None = None,
        limit_headers: LimitHeaders | None = None,
        usage_days: UsageDays | None = None,
    ) -> None:
        """Change how the sandbox behaves from now on; what is left out stays as it is.

        It lasts until the sandbox ends, which it does by itself 15 minutes after its last use. A session that
        starts it again gives it the same `pace` and `rate_limiting`.

        `pace` is "at once", "brisk", "lifelike" or the seconds that a new job takes; InvalidInput for
        anything else. `fail_next` is the text with which the next accepted job fails; None takes it back.

        What the interface leaves open about rate limits: `limit_window` is "sliding" (the last 60 s) or
        "fixed" (the clock's minutes); `count_refused` lets refused requests use up the window too;
        `reset_unit` of X-RateLimit-Reset is "seconds" to wait, or since the "epoch", or "epoch_ms";
        `limit_headers` sends "all" three, "none", or "wrong" ones, which promise 99 of 100 requests.

        What it leaves open about usage: `usage_days` are "rolling" windows of 24 hours up to now, or
        "calendar" days of UTC with today as the last.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        left_out = {"fail_next": _UNSET}  # None takes it back; it changes nothing else
        wanted = {name: value for name, value in given.items() if value is not left_out.get(name)}
        if pace is not None and not protocol.is_pace(pace):
            raise InvalidInput(f"The {protocol.PACE_IS}, not {quotable(pace)}.")
        self._ask(protocol.SETTINGS, wanted)
        speed = {"pace": pace, "rate_limiting": rate_limiting}
        self.kept_settings.update((name, value) for name, value in speed.items() if value is not None)

    def plant_history(self, history: Iterable[Mapping[str, float]]) -> None:
        """Give the account a past: mappings of `days_ago`, `seconds`, `requests` and `usd`.

        It counts in the usage and in the total spent; the balance stays as it is, and no job is listed. Plant
        it before usage is first asked for: a session keeps what it was told about days that are over.
        """
        self._ask(protocol.HISTORY, {"history": [dict(each) for each in history]})

    def advance(self, seconds: float) -> None:
        """Move the sandbox's clock on; from then on it only moves this way."""
        self._ask(protocol.CLOCK, {"advance_seconds": seconds})

    def fault(
        self,
        kind: str,
        *,
        endpoint: str = "any",
        times: int = 1,
        after: int = 0,
        **options: Any,
    ) -> None:
        """Break the next `times` requests to `endpoint`, once `after` of them went well.

        Faults are taken in the order they were set; a request meets the first one that is due.
        `endpoint` is one of text-to-video, image-to-video (both: generate), balance, usage (billing),
        list-keys, create-key, revoke-key (keys), status, download, tools (every request to the agent tool
        server), or any. With `handled=True` the request takes effect all the same: the job exists and is
        billed. Without, nothing was accepted or counted.

        ==============  ==============================================================================
         kind            what happens; options with their defaults
        ==============  ==============================================================================
         reset_before    the connection is reset, nothing accepted; read=True: after the body was read
         answer_lost     the request is handled, the connection reset before a byte of the answer
         close           the connection is closed without an answer; handled=False
         short_body      it is closed within the answer's body; after_bytes=None: in the middle
         garbage         bytes that aren't HTTP; handled=True
         stall           nothing for seconds=60, then the answer; handled=True (else closed then)
         drip            the answer, a byte every seconds=1
         500, 503        the status; handled=False
         429             the status; headers=True, reset_seconds=1, retry_after=None (seconds)
         html            200 with a page of somebody else's; handled=False
         broken_json     200 with JSON that lacks its end; handled
         broken_gzip     200 said to be compressed, and it isn't; handled
         not_found       status: 404, as if the job weren't known yet; handled=False
         unknown_status  status: word="queued" in place of the job's state
         expired_link    download: status=410 (or 404) from now on; the job's status gives a new link
         drop_download   download: closed after_bytes=10000 of the file; byte ranges work
        ==============  ==============================================================================

        What becomes of one job can be said in its prompt: `[fail: policy]`, `[slow: 60]`, `[stuck]`.
        """
        wanted = {"kind": kind, "endpoint": endpoint, "times": times, "after": after, **options}
        self._ask(protocol.FAULTS, wanted)

    def clear_faults(self) -> None:
        """Stop all faults. Links that expired stay expired."""
        self._ask(protocol.FAULTS, None, "DELETE")

    def faults(self) -> list[dict[str, Any]]:
        """The faults since the last `clear_faults`: as asked for, how often `seen` and `happened`."""
        faults: list[dict[str, Any]] = self._ask(protocol.FAULTS, None)["faults"]
        return faults

    def state(self) -> dict[str, Any]:
        """Settings, balance, jobs under way, process and how long nobody used it.

        `requests` is how many arrived since the sandbox was started, by endpoint, whatever became of them.
        `dask` is None, or the cluster that draws: `address`, `connection` ("connected", "without workers" or
        "lost") and `workers`.
        """
        return self._ask(protocol.STATE, None)

    def stop(self) -> None:
        """End the sandbox and wait for its end. Unfinished jobs go on when it is started again."""
        self._ask(protocol.STOP, {})
        if not ended_within(Places(self.home), END_TIMEOUT_SECONDS):
            raise SandboxError(f"The sandbox (process {self.pid}) still runs. Try to stop it again.")

    def _ask(self, path: str, body: dict[str, Any] | None, method: str | None = None) -> dict[str, Any]:
        headers = {protocol.TOKEN_HEADER: self.control_token.reveal(), "Content-Type": "application/json"}
        return ask(self.url + path, body, headers, CONTROL_TIMEOUT_SECONDS, method)


def handle_on(home: Path, url: str, pid: int) -> Sandbox:
    """The handle on the sandbox of `home` that serves at `url`."""
    access = read_access(Places(home))
    return Sandbox(url, pid, access.user_id, access.api_key, access.control_token, Path(home))


def ask(
    url: str,
    body: dict[str, Any] | None,
    headers: dict[str, str],
    timeout_seconds: float,
    method: str | None = None,
) -> dict[str, Any]:
    """Asks a control path: GET (`body` None), POST or `method`. Raises SandboxError without a JSON object."""
    data = None if body is None else json.dumps(body).encode()
    # Never through a proxy: the sandbox is on this machine, and the token is for it alone.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310  # http, from our own notice
    try:
        with opener.open(request, timeout=timeout_seconds) as response:
            answer = json.loads(response.read(65536))
    except urllib.error.HTTPError as exc:
        with exc:
            detail = exc.read(2000).decode(errors="replace")
        with contextlib.suppress(ValueError, KeyError, TypeError):
            detail = json.loads(detail)["detail"]
        raise SandboxError(f"The sandbox refused: {detail}") from None
    except (OSError, ValueError, http.client.HTTPException) as exc:
        # The cause is cut: its traceback's variables hold the token.
        reason = getattr(exc, "reason", exc)
        raise SandboxError(f"The sandbox at {url} gives no usable answer ({reason}).") from None
    if not isinstance(answer, dict):
        raise SandboxError(f"The sandbox at {url} gives no usable answer.")
    return answer
