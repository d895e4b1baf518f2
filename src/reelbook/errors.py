"""Every error that Reelbook raises.

ReelbookError
├── InvalidInput (ValueError)          raised before any request goes out
│   ├── InvalidPrompt
│   ├── InvalidDuration
│   ├── InvalidAspectRatio
│   ├── InvalidSeed
│   ├── InvalidImage
│   ├── InvalidKeyRequest
│   ├── InvalidTemplate
│   ├── NoPassport                     a file doesn't say what made it
│   └── ConfirmationNeeded             a sweep costs so much that it has to be confirmed
├── ConfigurationError                 a key or an address is missing or can't be used
├── ServiceError                       the service answered, and said no; carries an `Answer`
│   ├── BadRequest                     400
│   ├── AuthenticationError            401
│   ├── InsufficientBalance            402
│   ├── PermissionRefused              403
│   ├── NotFound                       404
│   ├── PayloadTooLarge                413
│   ├── RateLimited                    429
│   ├── ServerError                    5xx
│   └── UnexpectedAnswer               not JSON, or lacking a required field
├── ConnectionFailed (ConnectionError) no usable answer came
│   ├── ServiceUnreachable             the request certainly never arrived
│   ├── SendInterrupted                only part of it went out, so it can't have been accepted
│   └── AnswerLost                     it may have arrived
│       └── DeadlineExceeded (TimeoutError)
├── SubmissionUncertain                a paid request was sent and never answered
├── KeyUncertain                       a key may exist whose secret nobody saw
├── RotationFailed                     a new key can't be used; the session keeps the one it has
├── SpendLimitReached                  the spending limit doesn't allow it; nothing was sent
├── LedgerUnavailable                  a payment can't be recorded beforehand; nothing was sent
│   └── LedgerLocked                   another program has locked the ledger
├── JobFailed                          the service accepted the job and could not make the clip
├── WaitTimeout (TimeoutError)         the waiting ended, the job goes on
├── SubmissionCancelled                taken back before it was sent
├── DownloadFailed
│   ├── LinkExpired                    the clip is no longer at this address; its job knows a fresh one
│   └── NotAVideo                      what arrived can't be played
├── ToolCallFailed                     a tool server answered with an error instead of a result
├── ToolCallUncertain                  a tool's call was sent and its answer never came whole
│   └── ToolTimeout (TimeoutError)
├── ClassroomError                     a class couldn't be set up, ended or joined
├── SandboxError                       the local service could not be started or found
├── WouldDeadlock (RuntimeError)       a blocking call made on the session's own thread
└── SessionClosed (RuntimeError)

SpendingWarning (UserWarning)          a submission nears the spending limit or the end of the balance
LedgerTrouble (UserWarning)            the ledger was damaged, is in memory only, or can't be written now

    try:
        clip = session.text_to_video("a red fox in snow", duration_seconds=2).result()
    except rb.errors.InsufficientBalance as error:
        print(error)  # what happened, what is safe, what to do
    except rb.errors.ReelbookError as error:
        print("Something else:", error)

Errors hold plain values only, never the HTTP library's objects: a request holds the key, and an error is
pickled, logged and printed with its attributes.
"""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What the service answered, as far as it is safe to keep: status, harmless headers, a short extract."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    extract: str = ""


@dataclass(eq=False, repr=False)
class ReelbookError(Exception):
    """The base of all errors of Reelbook. Its text says what happened, what is safe and what to do."""

    message: InitVar[str]

    def __post_init__(self, message: str) -> None:
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses take keyword arguments, which Exception's own pickling would lose.
        return _new, (type(self),), {**vars(self), "args": self.args}


def _new(kind: type[Exception]) -> Exception:
    return kind.__new__(kind)


class InvalidInput(ReelbookError, ValueError):
    """An argument can't be used. Nothing was sent or paid. `field` is the request's field, if it is one's."""

    field: str | None = None


class InvalidPrompt(InvalidInput):
    """The prompt is empty, isn't text, or holds half a character."""


class InvalidDuration(InvalidInput):
    """The length is not a whole number of seconds from 1 to 10."""


class InvalidAspectRatio(InvalidInput):
    """The service doesn't offer this aspect ratio."""


class InvalidSeed(InvalidInput):
    """The seed is not a whole number."""


class InvalidImage(InvalidInput):
    """The image can't be read, isn't an image, or is too large to be opened safely."""

    field = "image"


class InvalidKeyRequest(InvalidInput):
    """The name or the rate limit of a new API key can't be used."""


@dataclass(eq=False, repr=False, kw_only=True)
class InvalidTemplate(InvalidInput):
    """A prompt with variants can't be read, or lacks values. `position` is the place in it, from 0."""

    position: int


class NoPassport(InvalidInput):
    """A file doesn't say what made it, or can't be read as one that does."""


@dataclass(eq=False, repr=False, kw_only=True)
class ConfirmationNeeded(InvalidInput):
    """A sweep costs so much that it has to be confirmed. `cost_usd` is what it would cost."""

    cost_usd: float


class ConfigurationError(ReelbookError):
    """A key or an address is missing, doubtful or can't be used. Nothing was sent."""


@dataclass(eq=False, repr=False, kw_only=True)
class ServiceError(ReelbookError):
    """The service answered with an error. `answer` holds its status, safe headers and a short extract."""

    answer: Answer


class BadRequest(ServiceError):
    """400: the service found the request invalid."""


class AuthenticationError(ServiceError):
    """401: the API key is missing, unknown or revoked."""


@dataclass(eq=False, repr=False, kw_only=True)
class InsufficientBalance(ServiceError):
    """402: the balance is lower than the cost. Nothing was charged.

    `balance_usd` and `required_usd` are the amounts the service named, None where it named none.
    """

    balance_usd: float | None = None
    required_usd: float | None = None


class PermissionRefused(ServiceError):
    """403: the service doesn't allow the key to do that (not in the interface; some services answer so)."""


class NotFound(ServiceError):
    """404: the service knows no such job or key."""


class PayloadTooLarge(ServiceError):
    """413: the image is larger than the service takes."""


@dataclass(eq=False, repr=False, kw_only=True)
class RateLimited(ServiceError):
    """429: the key's requests are used up. `retry_after_seconds` is the wait it asked for, None if unsaid."""

    retry_after_seconds: float | None = None


class ServerError(ServiceError):
    """5xx: the service failed."""


class UnexpectedAnswer(ServiceError):
    """The answer isn't JSON, lacks what it must hold, or has a status the interface doesn't name."""


class ConnectionFailed(ReelbookError, ConnectionError):
    """No usable answer came from the service."""


class ServiceUnreachable(ConnectionFailed):
    """The request certainly never arrived: no connection could be made."""


class SendInterrupted(ConnectionFailed):
    """The connection broke while the request was still being sent: the service can't have accepted it."""


class AnswerLost(ConnectionFailed):
    """The connection broke after the request may have arrived. `answer` is the part that did arrive."""

    answer: Answer | None = None


class DeadlineExceeded(AnswerLost, TimeoutError):
    """The answer took longer than the call's deadline. The request may have arrived."""


@dataclass(eq=False, repr=False, kw_only=True)
class SubmissionUncertain(ReelbookError):
    """A paid request was sent and never answered: the job may be running, and may be billed.

    It was not sent again, unless `retry_uncertain` asked for that. `estimated_cost_usd` is the cost of all
    the attempts that may have been accepted; `answer` is what the service said, None if nothing came back.
    `refusal` is the error that ended the repetitions, if the last of them certainly bought nothing.
    """

    estimated_cost_usd: float | None = None
    answer: Answer | None = None
    refusal: ReelbookError | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class KeyUncertain(ReelbookError):
    """A new key was asked for and no whole answer came: it may exist, and nobody saw its secret.

    It wasn't asked for again. `name` is its name, `answer` what the service said, None if nothing
    came back. `candidates` are the listed keys (`models.ApiKey`) that it may be: revoke it.
    """

    name: str
    answer: Answer | None = None
    candidates: tuple[Any, ...] = ()


@dataclass(eq=False, repr=False, kw_only=True)
class RotationFailed(ReelbookError):
    """A new key can't take the place of the one in use. `key_id` is the new one: revoke it."""

    key_id: str


@dataclass(eq=False, repr=False, kw_only=True)
class SpendLimitReached(ReelbookError):
    """The spending limit doesn't allow these submissions. None of them was recorded or sent.

    In USD: `limit_usd` is the limit, `committed_usd` what counts towards it already (spent, reserved and
    uncertain), `needed_usd` what was to be added.
    """

    limit_usd: float
    committed_usd: float
    needed_usd: float


class LedgerUnavailable(ReelbookError):
    """The ledger can't be written, and nothing is paid before it is recorded. Nothing was sent."""


class LedgerLocked(LedgerUnavailable):
    """Another program has locked the ledger: a submission waits for it, until Stop ends that."""


@dataclass(eq=False, repr=False, kw_only=True)
class JobFailed(ReelbookError):
    """The service accepted the job and then reported it as failed. `reason` is its own text."""

    request_id: str
    reason: str | None = None


class WaitTimeout(ReelbookError, TimeoutError):
    """The wait ended before the job, or the tool's call, did. It goes on and is billed."""


class SubmissionCancelled(ReelbookError):
    """The job was taken back before it was sent. Nothing was paid."""


class DownloadFailed(ReelbookError):
    """A file could not be fetched whole. The next attempt goes on from what arrived, if that is kept."""


class LinkExpired(DownloadFailed):
    """The clip is no longer at this address. Its job's status may have a fresh one."""


class NotAVideo(DownloadFailed):
    """A file can't be played, or is gone. Such a download isn't kept."""


class ToolCallFailed(ReelbookError):
    """An agent tool server answered with an error instead of a result."""


class ToolCallUncertain(ReelbookError):
    """A tool's call was sent and its answer never came whole: it may have been carried out, and billed."""


class ToolTimeout(ToolCallUncertain, TimeoutError):
    """The answer took longer than the call's deadline. The server was told that nobody waits any more."""


class ClassroomError(ReelbookError):
    """A class couldn't be set up, ended or joined. Its text says what was done and what is recorded."""


class SandboxError(ReelbookError):
    """The local sandbox service could not be started, found or stopped."""


class WouldDeadlock(ReelbookError, RuntimeError):
    """A blocking call was made on the session's own thread, where it would wait for itself."""


class SessionClosed(ReelbookError, RuntimeError):
    """The session was closed; `reelbook.connect()` makes a new one."""


class SpendingWarning(UserWarning):
    """A submission nears the spending limit or the end of the balance. `left_usd` is what would be left.

    Where warnings are turned into errors, nothing was sent.
    """

    def __init__(self, message: str, *, left_usd: float) -> None:
        super().__init__(message)
        self.left_usd = left_usd

    def __reduce__(self) -> tuple[Any, ...]:
        return _new, (type(self),), {**vars(self), "args": self.args}


class LedgerTrouble(UserWarning):
    """A notice about the ledger: it was damaged, is in memory only, or can't be written now."""
