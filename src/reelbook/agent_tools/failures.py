"""What became of a request to a tool server, and the error that a person sees: pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .. import errors
from ..formatting import terminal_line
from ..secret import Secret

MAX_SAID = 500

_REFUSALS: Mapping[int, tuple[type[errors.ServiceError], str]] = {
    401: (errors.AuthenticationError, "The tool server doesn't accept this user id. It may be mistyped."),
    402: (errors.InsufficientBalance, "The balance is too low. Nothing was charged."),
    403: (errors.PermissionRefused, "The tool server refuses this."),
    404: (errors.NotFound, "There is no tool server at this address."),
    413: (errors.PayloadTooLarge, "The arguments are larger than the tool server takes."),
    429: (errors.RateLimited, "The tool server has had too many requests. Wait, and try again."),
}
_LOST: Mapping[str, str] = {
    "lost": "The answer was lost on its way.",
    "foreign": "What answers at this address is not a tool server. Check the address.",
}


@dataclass
class Note:
    """What happened to a request on its way.

    `began` is True once a byte of it may have been sent. `said` are the server's words, or another library's;
    `raw` is the result, not validated; `session_gone`: the server refused it unread; "foreign" is what no
    tool server answers, such as a page. What may quote the user id isn't in the repr.
    """

    began: bool = False
    status: int | None = None
    failure: Literal["unsent", "lost", "foreign"] | None = None
    said: str = field(default="", repr=False)
    session_gone: bool = False
    raw: Mapping[str, Any] | None = field(default=None, repr=False)


class ExchangeFailed(Exception):
    """A request got no result; `note` has what is known. This never leaves the package."""

    def __init__(self, note: Note) -> None:
        super().__init__()
        self.note = note


def error_of(note: Note, user_id: Secret, *, paid: bool = False) -> errors.ReelbookError:
    """The error for a missing answer; `paid` for that of a call, which may have cost money all the same."""
    status, words = note.status or 0, _words(note, user_id)
    answer = errors.Answer(status, {}, _quoted(note, user_id))
    if note.failure == "unsent":
        return errors.ServiceUnreachable(f"The tool server can't be reached. Nothing was sent.{words}")
    if note.failure or status >= 500:
        lost = _LOST.get(note.failure or "", f"The tool server failed ({status}).")
        if paid:
            may_be = "The call may have been carried out, and billed. It was not sent again."
            return errors.ToolCallUncertain(f"{lost}{words} {may_be}")
        if note.failure == "lost":
            return errors.AnswerLost(f"{lost}{words}")
        kind = errors.UnexpectedAnswer if note.failure else errors.ServerError
        return kind(f"{lost}{words}", answer=answer)
    if note.session_gone:
        return errors.ToolCallFailed("The tool server dropped the session twice. Nothing was carried out.")
    if status in _REFUSALS:
        refusal, text = _REFUSALS[status]
        return refusal(f"{text}{words}", answer=answer)
    if 300 <= status < 400:
        return errors.UnexpectedAnswer(
            "The tool server points elsewhere, where the user id must not go. If you trust that address, set "
            f"it instead.{words}",
            answer=answer,
        )
    return errors.ToolCallFailed(f"The tool server answered with an error.{words}")


def _words(note: Note, user_id: Secret) -> str:
    quoted = _quoted(note, user_id)
    if not quoted:
        return ""
    if note.failure:
        return f" ({quoted.rstrip('.')}.)"
    return f" It says: {quoted}" + ("" if quoted[-1] in ".!?…" else ".")


def _quoted(note: Note, user_id: Secret) -> str:
    # A server that echoes what it was sent must not get the user id into an error.
    return terminal_line(user_id.masked(note.said)[: 10 * MAX_SAID], MAX_SAID)
