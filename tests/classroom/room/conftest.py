"""A class that is served over a socket, with a real sandbox behind it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from classroom.room.visitors import Visitor

import reelbook as rb
from reelbook.classroom.room.app import Room
from reelbook.classroom.room.serving import in_thread
from reelbook.sandbox.handle import Sandbox

Serve = Callable[..., Room]
Visit = Callable[..., Visitor]


@pytest.fixture
def teacher(sandbox: Sandbox, short_jobs: None) -> Iterator[rb.Session]:
    """The teacher's session, which is not waited for at the end."""
    session = rb.connect("sandbox")
    yield session
    session.close()


@pytest.fixture
def serve(teacher: rb.Session) -> Iterator[Serve]:
    """Opens a room with these options, on the teacher's session."""
    with ExitStack() as stack:

        def serve(code: str | None = "FOX-234", **options: Any) -> Room:
            return stack.enter_context(in_thread(teacher, code, **options))

        yield serve


@pytest.fixture
def room(serve: Serve) -> Room:
    """A room as most are: $2.00 each."""
    return serve()


@pytest.fixture
def visit() -> Iterator[Visit]:
    """Somebody with a browser or a program of their own, who hasn't joined."""
    with ExitStack() as stack:

        def visit(room: Room, **headers: str) -> Visitor:
            return stack.enter_context(Visitor(room.url, headers))

        yield visit


@pytest.fixture
def ada(room: Room, visit: Visit) -> Visitor:
    """A student's program that has joined."""
    return visit(room).join("Ada")
