"""The error that a failed request to a tool server is for a person."""

import pytest

from reelbook import errors
from reelbook.agent_tools.failures import MAX_SAID, ExchangeFailed, Note, error_of
from reelbook.secret import Secret

USER = Secret("user-planted-7f3a")

MET: list[tuple[Note, type[errors.ReelbookError], type[errors.ReelbookError]]] = [
    # what was met, what a question gets, what a call gets that may cost money
    (Note(failure="unsent"), errors.ServiceUnreachable, errors.ServiceUnreachable),
    (Note(failure="lost", began=True), errors.AnswerLost, errors.ToolCallUncertain),
    (Note(failure="foreign", began=True), errors.UnexpectedAnswer, errors.ToolCallUncertain),
    (Note(status=500), errors.ServerError, errors.ToolCallUncertain),
    (Note(status=302), errors.UnexpectedAnswer, errors.UnexpectedAnswer),
    (Note(status=401), errors.AuthenticationError, errors.AuthenticationError),
    (Note(status=402), errors.InsufficientBalance, errors.InsufficientBalance),
    (Note(status=403), errors.PermissionRefused, errors.PermissionRefused),
    (Note(status=404), errors.NotFound, errors.NotFound),
    (Note(status=413), errors.PayloadTooLarge, errors.PayloadTooLarge),
    (Note(status=429), errors.RateLimited, errors.RateLimited),
    (Note(status=404, session_gone=True), errors.ToolCallFailed, errors.ToolCallFailed),
    (Note(status=200, said="no such tool"), errors.ToolCallFailed, errors.ToolCallFailed),
]


@pytest.mark.parametrize(("note", "question", "call"), MET, ids=lambda value: repr(value)[:60])
def test_a_call_that_may_have_been_carried_out_is_uncertain(
    note: Note, question: type[errors.ReelbookError], call: type[errors.ReelbookError]
) -> None:
    """What certainly had no effect is a plain refusal, of a call as of a question."""
    assert type(error_of(note, USER)) is question
    assert type(error_of(note, USER, paid=True)) is call
    said = "may have been carried out, and billed. It was not sent again."
    assert (said in str(error_of(note, USER, paid=True))) == (call is errors.ToolCallUncertain)


def test_the_servers_words_are_quoted_without_the_user_id() -> None:
    """On one line, within bounds, and in no repr of what is kept."""
    note = Note(status=403, said=f"{USER.reveal()}\x1b[31m isn't\nknown here")
    error = error_of(note, USER)
    assert isinstance(error, errors.PermissionRefused)
    assert str(error).startswith("The tool server refuses this. It says: ")
    assert (error.answer.status, "known here" in error.answer.extract) == (403, True)
    assert not {"\n", "\x1b"} & set(str(error))
    for text in (str(error), repr(error), error.answer.extract, repr(note), repr(ExchangeFailed(note))):
        assert USER.reveal() not in text
    long = Note(failure="lost", said="x" * 10_000)
    assert len(str(error_of(long, USER, paid=True))) < MAX_SAID + 200
