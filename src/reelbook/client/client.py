"""`AsyncClient`: every endpoint of the service's interface, for code that has an event loop.

It touches the disk for downloads only. `retries.py` decides what may be sent again, `scheduling/` when a
request fits the key's budget.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import math
import os
import secrets
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from .. import errors, settings, wire
from ..deadlines import Deadline
from ..formatting import dollars
from ..lazy_module import LazyModule
from ..requests import (
    ImageOptions,
    JobRequest,
    TextOptions,
    checked_days,
    checked_identifier,
    checked_key_name,
    checked_rate_limit,
    lists_options,
)
from ..secret import Secret, hidden
from . import responses, retries
from .scheduling.budget import Budget, BudgetView, Purpose
from .scheduling.estimates import Belief, Pace
from .scheduling.scheduler import Scheduler, SharedRequests
from .watch import PATIENCE_SECONDS, Observation, job_failed, watch

if TYPE_CHECKING:
    from .. import models
    from ..media.images import ImageSource, PreparedImage
    from .downloads import Report

else:
    models = LazyModule("reelbook.models")  # pydantic takes a third of the client's import time

DEADLINE_SECONDS = 60.0

Model = TypeVar("Model")

_log = logging.getLogger(__name__)


class AsyncClient:
    """A client of the service for asynchronous code.

        async with rb.AsyncClient(api_key, base_url) as client:
            accepted = await client.text_to_video("a red fox in snow")

    Use it from one event loop. `api_key` and `base_url` may come from the settings instead (see
    `reelbook.settings`); both are needed. `deadline_seconds` bounds each request from connecting to the end
    of its answer, not the wait for its turn or for a retry. `shared` is a budget shared with other programs
    that use the key. `is_known` tells whether an id belongs to another job that the caller knows: an answer
    with such an id isn't taken for the job asked about. `offers` are the service's additions to the interface
    (`wire.OFFERS`), as a class's room tells whoever joins. `warn_insecure`: whether to warn with
    InsecureAddress where the key travels over plain HTTP to another machine.

    Requests wait their turn, so the key's limit isn't exceeded. GET and DELETE are sent again after 429, 5xx
    and network faults, at most four times in all; a paid POST only where it certainly had no effect.

    Raises ConfigurationError where the key or the address is missing or can't be used.
    """

    base_url = ""

    def __init__(
        self,
        api_key: str | Secret | None = None,
        base_url: str | None = None,
        *,
        deadline_seconds: float = DEADLINE_SECONDS,
        shared: SharedRequests | None = None,
        is_known: Callable[[str], bool] | None = None,
        offers: Collection[str] = (),
        warn_insecure: bool = True,
    ) -> None:
        api_key = None if api_key is None else Secret.of(api_key)  # verbose tracebacks print arguments
        address_given = None if base_url is None else Secret.of(base_url)
        base_url = None
        key = settings.find(settings.API_KEY, api_key)
        address = settings.find(settings.BASE_URL, address_given)
        if key is None:
            raise errors.ConfigurationError(f"No API key: pass api_key=… or set {settings.API_KEY}.")
        if address is None:
            raise errors.ConfigurationError(f"No address: pass base_url=… or set {settings.BASE_URL}.")
        self.base_url = settings.checked_base_url(address.value)
        if warn_insecure:
            settings.warn_if_insecure(self.base_url)
        from .transport import Transport

        self.deadline_seconds = deadline_seconds
        self.offers = frozenset(offers)
        self._transport = Transport(self.base_url, settings.checked_key(key.value))
        self._job_ids = JobIds(is_known)
        self._scheduler = Scheduler(Budget(), shared)
        self._pace = Pace()  # of jobs about which nothing else is known
        self.key_trouble: str | None = None  # what the last answer said about a key that the service refuses
        self._answered_at = -math.inf  # the event loop's time of the last useful answer

    def __repr__(self) -> str:
        return f"AsyncClient(base_url={self.base_url!r})"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections. Jobs go on at the service."""
        await self._transport.aclose()

    def budget(self, now: float | None = None) -> BudgetView:
        """The key's request budget as known here, without a request. `now` is the event loop's time."""
        return self._scheduler.budget.view(asyncio.get_running_loop().time() if now is None else now)

    def budget_beside_others(self) -> BudgetView:
        """The request budget, with what other programs have sent so far. Call it on the event loop."""
        self._scheduler.hear_of_others()
        return self.budget()

    def moved_to(self, base_url: str) -> None:
        """Notes that the same service has another address now: a sandbox that was started again."""
        self.base_url = self._transport.base_url = settings.checked_base_url(base_url)

    def with_key(self, key: str | Secret, *, rate_limit: int | None = None) -> AsyncClient:
        """Another client of the same service, to try out a key of `rate_limit` requests a minute."""
        other = AsyncClient(
            key,
            self.base_url,
            deadline_seconds=self.deadline_seconds,
            offers=self.offers,
            warn_insecure=False,
        )
        if rate_limit is not None:
            other._scheduler.budget = Budget(rate_limit)
        return other

    def use_key(self, key: str | Secret, *, tried_by: AsyncClient | None = None) -> None:
        """Uses `key` for every request that begins from now on; those under way finish with the one before.

        The rate limit belongs to a key, so the budget begins anew, or goes on from what `tried_by`, a client
        that has used the key, learnt about it. Call it on the client's event loop.
        """
        self._transport.use_key(settings.checked_key(Secret.of(key)))
        self.key_trouble = None
        self._scheduler.change_budget(Budget() if tried_by is None else tried_by._scheduler.budget)

    async def former_keys_done(self) -> None:
        """Waits until every request that was sent with a former key is answered: then it can be revoked."""
        await self._transport.former_keys_done()

    async def submit(
        self,
        request: JobRequest,
        *,
        retry_uncertain: bool = False,
        record: SubmissionRecord | None = None,
    ) -> models.Accepted:
        """Submits a clip (POST generate/text-to-video or generate/image-to-video). Costs 0.05 USD a second.

            accepted = await client.submit(rb.JobRequest.from_text("a red fox in snow"))

        Raises InvalidInput for a request whose image wasn't kept, InsufficientBalance and other
        ServiceErrors, ConnectionFailed where it certainly wasn't accepted, and SubmissionUncertain where the
        answer was lost: it isn't sent again then, unless the service offers an idempotency key.

        With `retry_uncertain=True` it is sent again after a 5xx, a lost answer, a reset or a timeout, as the
        interface (Errors) advises, at most four times in all. An attempt without an answer may have been
        accepted, so **each repetition may buy a second clip**. SubmissionUncertain is then raised if any
        attempt is uncertain and none was answered with a job.

        `record` is told about each attempt before it is sent and after: see `SubmissionRecord`.
        """
        paid = PaidRequest(record, retry_uncertain=retry_uncertain, keyed="idempotency_key" in self.offers)
        path, content = wire.TEXT_TO_VIDEO, dict[str, Any](json=request.arguments())
        if request.mode == "image-to-video":
            if (image := request.image) is None:
                raise errors.InvalidInput("Its image isn't kept. Give it again. Nothing was sent.")
            form = {name: str(value) for name, value in request.arguments().items()}
            files = {"image": (image.filename, image.data, image.media_type)}
            path, content = wire.IMAGE_TO_VIDEO, {"data": form, "files": files}
        if paid.keyed:
            content["headers"] = {wire.IDEMPOTENCY_KEY: paid.record.repeat_key()}
        try:
            accepted = await self._call(
                "POST", path, models.Accepted.model_validate, Purpose.SUBMIT, paid=paid, **content
            )
        except errors.ReelbookError as error:
            failure = paid.failure(error, request.estimated_cost_usd)
            if failure is error:
                raise
            raise failure from None
        self._job_ids.add(accepted.request_id)
        return accepted

    @lists_options("text-to-video")
    async def text_to_video(
        self, prompt: str, *, retry_uncertain: bool = False, **options: Unpack[TextOptions]
    ) -> models.Accepted:
        """Submits a clip made from text (POST generate/text-to-video). Costs 0.05 USD a second.

            accepted = await client.text_to_video("a red fox in snow", duration_seconds=3)

        `duration_seconds` is a whole number from 1 to 10, `aspect_ratio` one of 16:9, 9:16, 1:1; a fixed
        `seed` gives reproducible results, -1 a random one. `retry_uncertain` and errors are those of
        `submit`; InvalidInput is raised before anything is sent.
        """
        return await self.submit(JobRequest.from_text(prompt, **options), retry_uncertain=retry_uncertain)

    @lists_options("image-to-video")
    async def image_to_video(
        self,
        image: ImageSource | PreparedImage,
        prompt: str,
        *,
        retry_uncertain: bool = False,
        **options: Unpack[ImageOptions],
    ) -> models.Accepted:
        """Submits a clip that moves a still image (POST generate/image-to-video). Costs 0.05 USD a second.

        `image` is a path, bytes, a file object, a PIL image or a numpy array, prepared as by
        `JobRequest.from_image`. `prompt` describes the motion, `duration_seconds` is a whole number from
        1 to 10. `retry_uncertain` and errors are those of `submit`, and InvalidImage.
        """
        image = hidden(image)  # type: ignore[assignment]  # opened as a path, and never printed
        request = await asyncio.to_thread(JobRequest.from_image, image, prompt, **options)
        return await self.submit(request, retry_uncertain=retry_uncertain)

    async def status(self, request_id: str, *, for_download: bool = False) -> models.JobStatus:
        """The job's status (GET status/{request_id}). Raises NotFound.

        With `for_download` it waits behind a person's own requests, and goes before all others.
        """
        purpose = Purpose.DOWNLOAD_STATUS if for_download else Purpose.CLICK
        return await self._status(checked_identifier(request_id, "request_id"), purpose)

    async def jobs(self) -> tuple[Mapping[str, Any], ...]:
        """The key's own jobs, newest first, each as in its status, with its `idempotency_key`.

        For a service that offers `job_list`; any other raises NotFound.
        """
        listed: models.ListedJobs = await self._call("GET", wire.ROOM_JOBS, models.ListedJobs.model_validate)
        return listed.jobs

    async def take_back(self, request_id: str) -> None:
        """Takes back a job that waits in a class's room; nothing is paid for it.

        Raises BadRequest if it was already sent, NotFound if the room doesn't know it or `take_back`.
        """
        path = wire.path_of(wire.ROOM_JOBS, checked_identifier(request_id, "request_id"))
        read = functools.partial(models.job_status, asked=request_id)
        await self._call("DELETE", path, read)

    async def balance(self, *, background: bool = False) -> models.Balance:
        """The prepaid balance in USD (GET billing/balance). `background` has the lowest priority."""
        purpose = Purpose.BACKGROUND if background else Purpose.CLICK
        try:
            return await self._call("GET", wire.BALANCE, models.Balance.model_validate, purpose)
        except errors.NotFound as error:  # every account has a balance
            said = "Nothing at this address speaks the API. Check REELBOOK_BASE_URL."
            raise errors.NotFound(said, answer=error.answer) from error

    async def usage(self, days: int = 30, *, background: bool = False) -> models.Usage:
        """What was used in the last `days` days (GET billing/usage). `background` has the lowest priority."""
        purpose = Purpose.BACKGROUND if background else Purpose.CLICK
        return await self._call(
            "GET", wire.USAGE, models.Usage.model_validate, purpose, params={"days": checked_days(days)}
        )

    async def list_keys(self) -> tuple[models.ApiKey, ...]:
        """All keys of the account, without the keys themselves (GET keys)."""
        listed: models.ApiKeys = await self._call("GET", wire.KEYS, models.ApiKeys.model_validate)
        return listed.api_keys

    async def create_key(
        self, name: str, *, rate_limit: int = wire.DEFAULT_REQUESTS_PER_MINUTE
    ) -> models.CreatedKey:
        """Creates a key (POST keys). `rate_limit` is 1 to 100 requests a minute.

        The key itself is in the result's `api_key.reveal()` and is never shown again. Where the answer is
        lost, a 5xx or unreadable, KeyUncertain says so and nothing is sent again: a key may exist whose
        secret nobody saw; list the keys and revoke it.
        """
        name = checked_key_name(name)
        body = {"name": name, "rate_limit": checked_rate_limit(rate_limit)}
        read = models.CreatedKey.model_validate
        try:
            return await self._call("POST", wire.KEYS, read, paid=PaidRequest(), json=body)
        except errors.ReelbookError as error:
            if not retries.is_uncertain(error):
                raise
            failure = error
        answer: errors.Answer | None = getattr(failure, "answer", None)
        raise errors.KeyUncertain(
            f"{failure} A key named “{name}” may exist all the same, and its secret can't be seen any more. "
            "It was not asked for again: list the keys and revoke it.",
            name=name,
            answer=answer and replace(answer, extract=""),  # a broken answer may hold the secret
        )

    async def revoke_key(self, key_id: str) -> models.Revoked:
        """Revokes a key at once and for good (DELETE keys/{key_id}). Raises NotFound for an unknown one."""
        path = wire.path_of(wire.KEYS, checked_identifier(key_id, "key_id"))
        return await self._call("DELETE", path, functools.partial(models.revoked, key_id))

    def watch(
        self, request_id: str, *, belief: Belief | None = None, patience_seconds: float = PATIENCE_SECONDS
    ) -> AsyncGenerator[Observation, None]:
        """Asks about a job until it is finished, and yields what was learnt each time.

        The jobs of this client take turns to be asked about. `belief` is what is known in advance about the
        time that this one takes; by default, what the client's other jobs took. The last observation has the
        finished status. A fault in between is an observation with an `error`, and the watch goes on. Raises
        AuthenticationError at once; any other refusal, such as NotFound, only where the service repeats it at
        least five times and for `patience_seconds`, and answers other requests meanwhile.
        """
        request_id = checked_identifier(request_id, "request_id")
        if belief is None:
            belief = Belief(self._pace, asyncio.get_running_loop().time())
        ask = functools.partial(self._status, request_id, Purpose.POLL, attempts=1, belief=belief)
        return watch(self._scheduler, belief, ask, self._service_answers, patience_seconds=patience_seconds)

    async def wait(self, request_id: str, *, timeout_seconds: float | None = None) -> models.Completed:
        """The status of a job once it is completed. Raises JobFailed, or WaitTimeout while it goes on."""
        try:
            async with (
                Deadline(timeout_seconds),
                contextlib.aclosing(self.watch(request_id)) as observations,
            ):
                async for seen in observations:
                    if isinstance(seen.status, models.Completed):
                        return seen.status
                    if isinstance(seen.status, models.Failed):
                        raise job_failed(seen.status.request_id, seen.status.error)
        except TimeoutError:
            pass
        raise errors.WaitTimeout(
            f"{request_id} isn't finished after {timeout_seconds:g} s. It goes on and is billed."
        )

    async def download(
        self,
        url: str,
        path: str | os.PathLike[str],
        *,
        report: Report | None = None,
        max_bytes: int | None = None,
        expected_seconds: float | None = None,
    ) -> Path:
        """Downloads a finished clip to `path`: resumed after a broken connection, whole or not at all.

        A file that is there already is taken for the clip and isn't fetched again, so each clip needs a path
        of its own. The key isn't sent, unless exactly the service's own origin asks for it with 401 or 403.
        `report` is called with the bytes so far and in all (None if unknown). The file gets its name once it
        is whole and plays. One of more than `max_bytes` isn't kept, and none fills the disk up. One that is
        clearly shorter than `expected_seconds`, the length in the job's status, is fetched again; where it
        comes out the same twice, it is kept as it is and a warning is logged.

        Raises InvalidInput where `path` is a folder. Raises DownloadFailed (what did arrive is kept beside
        `path` and the next call goes on from there): LinkExpired where the job's status may have a fresh link
        to the same file, NotAVideo where the file can't be played.
        """
        from .downloads import download

        return await download(self._transport, url, Path(path), report, max_bytes, expected_seconds)

    async def _service_answers(self) -> bool:
        """Whether the service gave a useful answer in the last minute, or gives its balance now."""
        oldest = asyncio.get_running_loop().time() - wire.RATE_WINDOW_SECONDS
        if self._answered_at < oldest:
            with contextlib.suppress(errors.ReelbookError):
                await self.balance(background=True)
        return self._answered_at >= oldest

    async def _status(
        self,
        request_id: str,
        purpose: Purpose,
        *,
        attempts: int = retries.MAX_ATTEMPTS,
        belief: Belief | None = None,
    ) -> models.JobStatus:
        path = wire.path_of(wire.STATUS, request_id)
        read = functools.partial(models.job_status, asked=request_id)
        status = await self._call("GET", path, read, purpose, attempts=attempts, belief=belief)
        return self._job_ids.own(request_id, status)

    async def _call(
        self,
        method: str,
        path: str,
        into: Callable[[Mapping[str, Any]], Model],
        purpose: Purpose = Purpose.CLICK,
        *,
        paid: PaidRequest | None = None,
        attempts: int = retries.MAX_ATTEMPTS,
        belief: Belief | None = None,
        **content: Any,
    ) -> Model:
        """Sends a request of `purpose` when its turn comes, and returns what `into` makes of the answer.

        `content` is its body, see `Transport.request`. `paid` is a request that must not take effect twice.
        Raises the last attempt's error.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                async with self._scheduler.turn(purpose, belief) as turn:
                    reply = await self._transport.request(
                        method,
                        path,
                        deadline_seconds=self.deadline_seconds,
                        fresh=paid is not None,
                        on_sending=None if paid is None else paid.record.sending,
                        **content,
                    )
                    turn.answered(reply)
                answer = responses.read(reply, into, quote=path != wire.KEYS)
                self._answered_at = asyncio.get_running_loop().time()
                self.key_trouble = None
                return answer
            except errors.ReelbookError as error:
                if isinstance(error, errors.AuthenticationError):
                    self.key_trouble = str(error)
                most = retries.MAX_KEYED_ATTEMPTS if paid and paid.doubtful else attempts
                may_repeat = retries.may_send_again(error, twice=paid is None or paid.may_repeat)
                if attempt >= most or not may_repeat or not (paid is None or paid.repeats(error)):
                    raise
                # The scheduler already waits for as long as a 429 asked.
                pause = 0.0 if isinstance(error, errors.RateLimited) else retries.delay_seconds(attempt)
            await asyncio.sleep(pause)


class JobIds:
    """Checks that a status is of the job that was asked about. `is_known` knows further jobs."""

    def __init__(self, is_known: Callable[[str], bool] | None = None) -> None:
        self._is_known = is_known or (lambda _: False)
        self._own: set[str] = set()  # every job that was submitted or asked about
        self._warned = False

    def add(self, request_id: str) -> None:
        self._own.add(request_id)

    def own(self, request_id: str, status: models.JobStatus) -> models.JobStatus:
        """The status under the id asked about. Raises UnexpectedAnswer where it is another job's."""
        self.add(request_id)
        said = status.request_id
        if said == request_id:
            return status
        if not self._warned:
            _log.warning(
                "Asked about job %.80r, the service answered with another id, %.80r. The id that was "
                "asked about counts; this is said once.",
                request_id,
                said,
            )
            self._warned = True
        if said in self._own or self._is_known(said):
            raise errors.UnexpectedAnswer(
                f"Asked about “{request_id}”, the service answered about “{said}”, which is another job. "
                "The answer was ignored.",
                answer=errors.Answer(200),
            )
        return status.model_copy(update={"request_id": request_id})


class SubmissionRecord:
    """Hears about each attempt to send a paid request; this base class ignores what it hears.

    A ReelbookError raised by `sending` stops the attempt; one raised by `unanswered` ends the repetitions.
    """

    def repeat_key(self) -> str:
        """The idempotency key: the same for every attempt, and for no other request."""
        return secrets.token_hex(16)

    def sending(self) -> None:
        """The connection is open, and the attempt is about to be sent."""

    def unsent(self) -> None:
        """The attempt certainly had no effect, and will be made again."""

    def unanswered(self, error: errors.ReelbookError) -> None:
        """The attempt may have been accepted, and `retry_uncertain` is about to repeat it."""


class PaidRequest:
    """A request that must not take effect twice unasked. See `AsyncClient.submit`.

    A `keyed` one takes effect once, however often it is sent; it is `doubtful` once an answer was lost.
    """

    def __init__(
        self, record: SubmissionRecord | None = None, *, retry_uncertain: bool = False, keyed: bool = False
    ) -> None:
        self.record = SubmissionRecord() if record is None else record
        self.keyed = keyed
        self.doubtful = False
        self.may_repeat = retry_uncertain or keyed
        self._repeated: list[errors.ReelbookError] = []
        self._held_back: errors.ReelbookError | None = None

    def repeats(self, error: errors.ReelbookError) -> bool:
        """Whether the attempt that ended in `error` may be sent again. Tells the record, which may object."""
        if self.keyed and (self.doubtful or retries.is_uncertain(error)):
            self.doubtful = True
            return True
        if not retries.is_uncertain(error):
            self.record.unsent()
            return True
        try:
            self.record.unanswered(error)
        except errors.ReelbookError as held_back:
            self._held_back = held_back
            return False
        self._repeated.append(error)
        return True

    def failure(self, error: errors.ReelbookError, cost_usd: float) -> errors.ReelbookError:
        """What the caller sees of a submission of `cost_usd` whose last attempt ended in `error`."""
        last_is_uncertain = retries.is_uncertain(error) or (self.doubtful and _tells_nothing(error))
        uncertain = [*self._repeated, *([error] if last_is_uncertain else [])]
        if not uncertain:
            return error
        answer: errors.Answer | None = getattr(uncertain[-1], "answer", None)
        return errors.SubmissionUncertain(
            f"{uncertain[-1]}{_heard(uncertain[-1])} {_maybe(len(uncertain), cost_usd)} "
            f"{self._ended(error, last_is_uncertain)}",
            estimated_cost_usd=round(cost_usd * len(uncertain), 6),
            answer=answer,
            refusal=None if last_is_uncertain else error,
        )

    def _ended(self, error: errors.ReelbookError, last_is_uncertain: bool) -> str:
        if self.keyed:
            return "All attempts had one key, so it is bought once at most: reconcile() finds out."
        again = f" again after attempt {len(self._repeated) + 1}" if self._repeated else " again"
        if self._held_back is not None:
            return f"It was not sent{again}: {self._held_back}"
        if last_is_uncertain:
            return f"It was not sent{again}."
        return f"It was sent again as asked, and that bought nothing: {error}"


def _tells_nothing(error: errors.ReelbookError) -> bool:
    """Whether no answer says anything about what an earlier attempt may have bought."""
    answered = isinstance(error, errors.ServiceError)
    return not answered or isinstance(error, errors.RateLimited | errors.AuthenticationError)


def _heard(error: errors.ReelbookError) -> str:
    """What the service said instead of accepting, for the ledger to keep: the job's id may be in it."""
    answer: errors.Answer | None = getattr(error, "answer", None)
    said = "" if answer is None or answer.status >= 300 else answer.extract.strip()
    return f" It answered: “{said}”." if said and not said.startswith("<") else ""


def _maybe(times: int, cost_usd: float) -> str:
    if times == 1:
        return f"The service may be making this clip all the same, and may bill {dollars(cost_usd)}."
    return (
        f"It was sent {times} times without a clear answer: the service may be making this clip up to "
        f"{times} times, and may bill up to {dollars(cost_usd * times)}."
    )
