"""Opens a room in a home's folder and serves it: on a socket, with uvicorn, until it is stopped."""

import contextlib
import logging
import secrets
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from ...atomic_files import write_whole
from ...errors import ClassroomError, InvalidInput
from ...secret import Secret
from ...session import Session
from ...web.listening import LOOPBACK, Server, kept_socket, own_address
from .app import Room, make_app
from .codes import LONGEST_CODE, new_code, plain_code
from .numbers import ADDRESS, classes
from .store import RoomSettings, RoomStore

USUAL_PORT: Final = 8080
EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - a class is on the network


def kept_class(home: Path, code: str | None = None) -> tuple[RoomSettings | None, list[str]]:
    """The home's class with that code, or else its newest one that goes on, and its students' names.

    None and no names without one.
    """
    with contextlib.closing(classes(home, code)) as found:
        for store in found:
            settings = store.settings()
            if code is not None or settings.open(store.clock()):
                return settings, [student.name for student in store.students()]
    return None, []


@contextlib.contextmanager
def opened_room(
    session: Session,
    code: str | None = None,
    *,
    students: Sequence[str] = (),
    host_name: str | None = None,
    certificate: tuple[Path, Path] | None = None,
    **chosen: Any,
) -> Iterator[Room]:
    """The room with that code in the session's home: a new one, or the one that goes on.

    For one process only. Without a code it is a new one. Only `students` may join, if there are any; `chosen`
    are fields of `RoomSettings`, `host_name` and `certificate` are as in `Room`. Raises InvalidInput, also
    for a class of another service, and ClassroomError if another process serves it.
    """
    code = code or new_code()
    plain = plain_code(code)
    if not 4 <= len(plain) <= LONGEST_CODE:
        raise InvalidInput(f"A code has 4 to {LONGEST_CODE} letters and digits. Nothing was started.")
    folder = session.home / "rooms" / plain
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        lock = FileLock(folder / "running.lock", timeout=0, thread_local=False).acquire()
    except Timeout:
        raise ClassroomError(
            "This class is served already, by another process. It was left as it is."
        ) from None
    with lock, contextlib.closing(RoomStore(folder / "room.db")) as store:
        if store.begun and (made_for := store.settings().service) != session.service:
            raise InvalidInput(
                f"The class {code.upper()} was opened with --service {made_for}, and goes on with that "
                "only. Nothing was started. Another class needs a code of its own (--code)."
            )
        if students:
            chosen["listed_only"] = True
        store.begin(code.upper(), session.service, students, **chosen)
        yield Room(store, session, _token(folder), host_name, certificate)


def listen(room: Room, host: str, port: int | None) -> socket.socket:
    """A listening socket: on `port`, or else on the port that this room had, the usual one, or a free one.

    The room's `url` has its `host_name` in it, or else the host as far as this machine knows its own. Raises
    ClassroomError.
    """
    try:
        listening = kept_socket(host, port, room.store.folder / "port", USUAL_PORT)
    except OSError as error:
        raise ClassroomError(
            f"The room can't listen on {host}{'' if port is None else f':{port}'}: "
            f"{error.strerror or error}. Nothing was started. Choose another port or host."
        ) from None
    address, number = listening.getsockname()[:2]
    if address in (EVERYWHERE, "::"):
        address = own_address() or LOOPBACK
    name = room.host_name or (f"[{address}]" if ":" in address else address)
    room.url = f"{'https' if room.tls else 'http'}://{name}:{number}"
    return listening


def make_server(
    room: Room, listening: socket.socket, on_started: Callable[[], None] = lambda: None
) -> Server:
    """A server of the room. `on_started` is called when it answers."""
    from .pages import routes

    certificate, key = room.certificate or (None, None)

    def started() -> None:
        write_whole(room.store.folder / ADDRESS, room.url.encode())
        on_started()

    app = make_app(room, routes(room))
    return Server(app, listening, on_started=started, ssl_certfile=certificate, ssl_keyfile=key)


def serve(room: Room, listening: socket.socket, on_started: Callable[[], None]) -> None:
    """Serves the room on the main thread until SIGINT or SIGTERM. `on_started` is called once it answers."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    make_server(room, listening, on_started).run_until_signal()


@contextlib.contextmanager
def in_thread(session: Session, code: str | None = None, **options: Any) -> Iterator[Room]:
    """Serves an `opened_room` to this computer, on a free port and in a thread, until the block ends."""
    with (
        opened_room(session, code, **options) as room,
        make_server(room, listen(room, LOOPBACK, 0)).in_thread("reelbook-room"),
    ):
        yield room


def _token(folder: Path) -> Secret:
    path = folder / "teacher"
    if not path.exists():
        write_whole(path, secrets.token_urlsafe(12).encode())
    return Secret(path.read_text().strip())
