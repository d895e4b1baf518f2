"""The error that a failed request to a tool server is for a person."""

from __future__ import annotations

import pytest

from reelbook.agent_tools.failures import MAX_SAID, Failed, Note, error_of
from reelbook.errors import (
    AnswerLost,
    AuthenticationError,
    InsufficientBalance,
    NotFound,
    PayloadTooLarge,
    PermissionRefused,
    RateLimited,
    ReelbookError,
    ServerError,
    ServiceUnreachable,
    ToolCallFailed,
    ToolCallUncertain,
    UnexpectedAnswer,
)
from reelbook.secret import Secret

USER = Secret("user-planted-7f3a")

MET: list[tuple[Note, type[ReelbookError], type[ReelbookError]]] = [
    # what was met, what a question gets, what a call gets that may cost money
    (Note(failure="unsent"), ServiceUnreachable, ServiceUnreachable),
    (Note(failure="lost", began=True), AnswerLost, ToolCallUncertain),
    (Note(failure="too large", began=True), AnswerLost, ToolCallUncertain),
    (Note(failure="foreign", began=True), UnexpectedAnswer, ToolCallUncertain),
    (Note(status=500), ServerError, ToolCallUncertain),
    (Note(status=302), UnexpectedAnswer, UnexpectedAnswer),
    (Note(status=401), AuthenticationError, AuthenticationError),
    (Note(status=402), InsufficientBalance, InsufficientBalance),
    (Note(status=403), PermissionRefused, PermissionRefused),
    (Note(status=404), NotFound, NotFound),
    (Note(status=413), PayloadTooLarge, PayloadTooLarge),
    (Note(status=429), RateLimited, RateLimited),
    (Note(status=404, session_gone=True), ToolCallFailed, ToolCallFailed),
    (Note(status=200, said="no such tool"), ToolCallFailed, ToolCallFailed),
]


@pytest.mark.parametrize(("note", "question", "call"), MET, ids=lambda value: repr(value)[:60])
def test_a_call_that_may_have_been_carried_out_is_uncertain(
    note: Note, question: type[ReelbookError], call: type[ReelbookError]
) -> None:
    """What certainly had no effect is a plain refusal, of a call as of a question."""
    assert type(error_of(note, USER)) is question
    assert type(error_of(note, USER, paid=True)) is call
    if call is ToolCallUncertain:
        assert "may have been carried out, and billed. It was not sent again." in str(
            error_of(note, USER, paid=True)
        )


def test_the_servers_words_are_quoted_without_the_user_id() -> None:
    """On one line, within bounds, and in no repr of what is kept."""
    note = Note(status=400, said=f"{USER.reveal()}\x1b[31m isn't\nknown here")
    assert str(error_of(note, USER)).startswith("The tool server answered with an error. It says: ")
    assert not {"\n", "\x1b"} & set(str(error_of(note, USER)))
    for text in (str(error_of(note, USER)), repr(error_of(note, USER)), repr(note), repr(Failed(note))):
        assert USER.reveal() not in text
    long = Note(failure="lost", said="x" * 10_000)
    assert len(str(error_of(long, USER, paid=True))) < MAX_SAID + 200


def test_a_status_and_its_words_are_kept_in_the_error() -> None:
    """For who looks closer."""
    error = error_of(Note(status=403, said="not you"), USER)
    assert isinstance(error, PermissionRefused)
    assert (error.answer.status, error.answer.extract) == (403, "not you")
