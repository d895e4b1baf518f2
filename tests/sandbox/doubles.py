"""What the sandbox's tests stand on: clips that are there at once, and plain HTTP to a sandbox."""

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from contextlib import AbstractContextManager
from typing import Any

import httpx

from reelbook.sandbox.handle import Sandbox
from reelbook.sandbox.render import Rendered, Spec

NOON = 1_800_000_000.0
CLIP = bytes(range(256)) * 4


class InstantExecutor(Executor):
    """Gives every clip at once, as `CLIP` of the length asked for; while `holding`, when told to.

    Each of its `errors` fails one.
    """

    def __init__(self) -> None:
        self.specs: list[Spec] = []
        self.holding = False
        self.held: list[Callable[[], None]] = []
        self.longer_seconds = 0.0
        self.errors: list[Exception] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The drawn clip."""
        spec: Spec = args[0]
        self.specs.append(spec)
        future: Future[Any] = Future()

        def finish() -> None:
            if not self.errors:
                future.set_result(Rendered(self.clip(spec), spec.seconds + self.longer_seconds))
            elif isinstance(error := self.errors.pop(), CancelledError):
                future.cancel()
            else:
                future.set_exception(error)

        self.held.append(finish) if self.holding else finish()
        return future

    def clip(self, spec: Spec) -> bytes:
        """The file."""
        return CLIP


class Client:
    """Plain HTTP to a sandbox, with its key: no code of the package's own client."""

    def __init__(self, sandbox: Sandbox, http: httpx.Client, executor: InstantExecutor | None = None) -> None:
        self.sandbox = sandbox
        self.http = http
        self.executor = executor or InstantExecutor()

    def get(self, path: str, **kwargs: Any) -> httpx.Response:
        """GET with the key."""
        return self.http.get(path, **kwargs)

    def submit(self, prompt: str = "a fox", **fields: Any) -> str:
        """Submit a text-to-video job and return its id."""
        answer = self.http.post("/api/v1/generate/text-to-video", json={"prompt": prompt, **fields})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["request_id"])

    def submit_image(self, content: bytes, **fields: str) -> httpx.Response:
        """The answer to an image-to-video job."""
        files, data = {"image": ("image", content)}, {"prompt": "it sways", **fields}
        return self.http.post("/api/v1/generate/image-to-video", files=files, data=data)

    def status(self, request_id: str) -> dict[str, Any]:
        """The body of a job's status."""
        answer = self.http.get(f"/api/v1/status/{request_id}")
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def wait(self, request_id: str) -> dict[str, Any]:
        """The body of a job's status once it is neither pending nor processing (its time must be up)."""
        give_up = time.monotonic() + 120
        while (body := self.status(request_id))["status"] in ("pending", "processing"):
            assert time.monotonic() < give_up, body
        return body


Open = Callable[..., AbstractContextManager[Client]]


def http_client(sandbox: Sandbox) -> httpx.Client:
    """A bare HTTP client that sends the sandbox's key."""
    return httpx.Client(
        base_url=sandbox.url,
        headers={"Authorization": f"Bearer {sandbox.api_key.reveal()}"},
        trust_env=False,
        verify=False,  # no certificates are read, which would take longer than what is asked
    )
