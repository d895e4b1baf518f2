"""Serves the sandbox from this process, until it is stopped. server.py starts such a process and finds it."""

import functools
import logging
import logging.handlers
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from filelock import Timeout

from ..deadlines import acquire
from ..errors import SandboxError
from ..version import VERSION
from ..web.listening import LOOPBACK, LOOPBACK_NAMES, Server, kept_socket, own_address
from .app import make_app
from .cluster import DaskPool
from .places import Notice, Places, read_notice, running_lock, write_notice
from .protocol import TOOLS
from .render_pool import WorkerPool
from .service import SandboxService

LOG_BYTES = 1 << 20
# An older sandbox of the same home may be on its way out.
WAIT_FOR_OLDER_SECONDS = 10.0


def serve(
    home: Path,
    *,
    host: str = LOOPBACK,
    port: int | None = None,
    workers: int | None = None,
    dask: str | None = None,
    foreground: bool = True,
    stop_command: str = "reelbook sandbox stop",
    **settings: Any,
) -> None:
    """Serve the sandbox of `home`, on the main thread, until it is stopped.

    In the `foreground` it introduces itself and logs to the terminal. `port` None is the one used last or a
    free one; `workers` is the number of drawing processes; `dask` is the address of a Dask scheduler to draw
    on. `stop_command` ends it on a terminal. `settings` go to `SandboxService`. Raises SandboxError.
    """
    places = Places(home)
    places.create()
    try:
        lock = acquire(running_lock(places), 0 if foreground else WAIT_FOR_OLDER_SECONDS)
    except Timeout:
        notice = read_notice(places)
        where = f" at {notice.url}" if notice else ""
        raise SandboxError(
            f"A sandbox of this folder already runs{where}. It was left as it is. To end it: {stop_command}"
        ) from None
    with lock:
        logging.basicConfig(
            level=logging.WARNING if foreground else logging.INFO,
            format="%(asctime)s %(levelname)s %(name)s: %(message)s",
            handlers=[logging.StreamHandler() if foreground else bounded_log(places)],
        )
        logging.getLogger("mcp").setLevel(logging.WARNING)  # it reports the begin and end of each request
        cluster = DaskPool(dask) if dask else None
        try:
            listening = kept_socket(host, port, places.port)
        except OSError as exc:
            raise SandboxError(
                f"The sandbox can't listen on {host}{f':{port}' if port else ''}: {exc.strerror or exc}. "
                "Nothing was started. Choose another port or host."
            ) from None
        make_executor = functools.partial(WorkerPool, workers)
        service = SandboxService(home, make_executor=make_executor, dask=cluster, **settings)
        introduce = functools.partial(_introduce, local_url(listening), host, places)
        server = make_server(service, listening, host=host, on_started=introduce if foreground else None)
        server.run_until_signal()


def bounded_log(places: Places) -> logging.Handler:
    """Writes to `places.log`; what is older than the last MiB goes to one file beside it."""

    def copy_and_empty(log: str, older: str) -> None:
        # Not renamed: the process's standard error goes to the same file, and mustn't go on in the older one.
        shutil.copyfile(log, older)
        os.truncate(log, 0)

    handler = logging.handlers.RotatingFileHandler(
        places.log, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8"
    )
    handler.rotator = copy_and_empty
    return handler


def local_url(listening: socket.socket) -> str:
    """The address by which this machine reaches `listening`."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104  # compared, not bound
        host = LOOPBACK
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(
    service: SandboxService,
    listening: socket.socket,
    *,
    host: str,
    on_started: Callable[[], None] | None = None,
    on_ended: Callable[[], object] = lambda: None,
) -> Server:
    """A server of `service`, whose notice is up while it runs."""
    places = service.places

    def started() -> None:
        write_notice(places, Notice(local_url(listening), os.getpid(), VERSION, service.instance))
        if on_started is not None:
            on_started()

    def ended() -> None:
        places.server.unlink(missing_ok=True)
        on_ended()

    app = make_app(service, loopback_only=host in LOOPBACK_NAMES)
    server = Server(app, listening, on_started=started, on_ended=ended)
    service.end = server.end
    return server


def _introduce(url: str, host: str, places: Places) -> None:
    lines = [
        f"The sandbox serves at {url}",
        f"Its page: {url}/ (sign in with control_token of the file below)",
        f"Agent tools: {url}{TOOLS}",
        f"API key and user id are in {places.access} (readable by you only).",
        "In a notebook: reelbook.connect(service='sandbox'). Ctrl-C stops it.",
    ]
    if host not in LOOPBACK_NAMES:
        if url.startswith(f"http://{LOOPBACK}:") and (own := own_address()):
            lines.insert(1, f"From other machines of the network: {url.replace(LOOPBACK, own)}")
        lines.append(
            f"It listens on {host} in plain HTTP: anyone on the network can read what is sent, "
            "and whoever has a key can use it."
        )
    print("\n".join(lines), flush=True)  # noqa: T201  # a person started it on a terminal
