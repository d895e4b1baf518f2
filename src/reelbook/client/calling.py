"""One call to the service: its turn, its attempts, its answer as a value. The endpoints are `client`'s.

What may be sent again is decided in `retries.py`, when a request fits the key's budget in `budget.py`.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from .. import wire
from ..errors import RateLimited, ReelbookError
from . import answers, retries
from .budget import Purpose
from .gate import Gate
from .paid import Paid

if TYPE_CHECKING:
    from .transport import Transport

Model = TypeVar("Model")


class Content(TypedDict, total=False):
    """What a request carries: see `Transport.request`."""

    body: Mapping[str, Any]
    form: Mapping[str, str]
    files: Mapping[str, tuple[str, bytes, str]]
    query: Mapping[str, Any]


class Caller:
    """The part of an `AsyncClient` that sends requests."""

    def __init__(self, transport: Transport, gate: Gate, deadline_seconds: float) -> None:
        self.deadline_seconds = deadline_seconds
        self._transport = transport
        self._gate = gate
        self._quota = retries.RetryQuota()
        self._answered_at = -math.inf  # the event loop's time of the last answer that was of use
        self._rng = random.Random()  # noqa: S311 - jitter, no secret

    async def _call(
        self,
        method: str,
        path: str,
        into: Callable[[Mapping[str, Any]], Model],
        purpose: Purpose,
        *,
        paid: Paid | None = None,
        attempts: int = retries.MAX_ATTEMPTS,
        job: str | None = None,
        **content: Unpack[Content],
    ) -> Model:
        """Sends a request of `purpose` when its turn comes, and gives what `into` makes of the answer.

        `paid` is one that must not have its effect twice: it goes out on a fresh connection, because one kept
        alive may be closed in that very moment. `job` is the name under which the gate knows a watched job.
        Raises the last attempt's error.
        """
        attempt = taken = 0
        while True:
            attempt += 1
            try:
                async with self._gate.turn(purpose, job) as turn:
                    if paid is not None:
                        paid.sending()
                    reply = await self._transport.request(
                        method,
                        path,
                        deadline_seconds=self.deadline_seconds,
                        fresh=paid is not None,
                        **content,
                    )
                    turn.answered(reply)
                answer = answers.read(reply, into, quote=path != wire.KEYS)
                self._quota.succeeded(taken)
                self._answered_at = asyncio.get_running_loop().time()
                return answer
            except ReelbookError as error:
                if attempt >= attempts or not self._may_send_again(error, paid):
                    raise
                taken += not isinstance(error, RateLimited)
                # The gate already holds back as long as a 429 asked for.
                pause = (
                    0.0
                    if isinstance(error, RateLimited)
                    else retries.delay_seconds(attempt, error, self._rng)
                )
            await asyncio.sleep(pause)

    def _may_send_again(self, error: ReelbookError, paid: Paid | None) -> bool:
        risky = paid is not None and paid.retry_uncertain
        if not retries.may_send_again(error, paid=paid is not None, retry_uncertain=risky):
            return False
        return self._quota.take(error) and (paid is None or paid.repeats(error))
