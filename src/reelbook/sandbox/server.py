"""Find, start and stop the sandbox: a process shared by all kernels of one home, or a thread for tests.

Finding and starting load nothing of the server itself; only the other process pays for that.
"""

import contextlib
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ..deadlines import Countdown, acquire
from ..errors import SandboxError
from ..version import VERSION
from . import protocol
from .handle import Sandbox, ask, handle_on
from .places import Places, ended_within, read_notice, running_lock
from .protocol import Pace

ABOUT_TIMEOUT_SECONDS = 5.0
START_SECONDS = 20.0
LOOK_SECONDS = 0.02
LOG_TAIL_CHARACTERS = 2000


def ensure(home: Path) -> Sandbox:
    """The running sandbox of `home`, started if there is none. Several processes may call this at once.

    One of another version of Reelbook is replaced, unless it has jobs under way. Raises SandboxError.
    """
    places = Places(home)
    places.create()
    try:
        with acquire(FileLock(places.start_lock), START_SECONDS):
            sandbox, notice = find(home), read_notice(places)
            outdated = notice is not None and notice.version != VERSION
            if sandbox is not None and outdated and not sandbox.state()["jobs_under_way"]:
                sandbox.stop()
                sandbox = None
            return sandbox or _start(home, places)
    except Timeout:
        raise SandboxError(
            f"Another process has been starting the sandbox for {START_SECONDS:g} s. Nothing was changed. "
            f"Its log: {places.log}"
        ) from None


def restarted(former: Sandbox) -> Sandbox:
    """The sandbox in place of one that has ended; if this starts it, it has the same speed settings."""
    if (running := find(former.home)) is not None:  # started by another program, with its own settings
        return running
    started = ensure(former.home)
    started.settings(**former.kept_settings)
    return started


def find(home: Path) -> Sandbox | None:
    """The running sandbox of `home`, None if there is none."""
    notice = read_notice(Places(home))
    if notice is None:
        return None
    try:
        about = ask(notice.url + protocol.ABOUT, None, {}, ABOUT_TIMEOUT_SECONDS)
    except SandboxError:
        return None
    # Another server may have the port by now, even another home's sandbox: it must not see our token.
    if about.get("service") != protocol.SERVICE_NAME or about.get("instance") != notice.instance:
        return None
    return handle_on(home, notice.url, notice.pid)


def stop(home: Path) -> bool:
    """End the sandbox of `home`, even one that no longer answers. False if none ran. Raises SandboxError."""
    places = Places(home)
    if not places.running_lock.exists() or ended_within(places, 0):
        return False
    sandbox = find(home)
    if sandbox is not None:
        sandbox.stop()
        return True
    notice = read_notice(places)
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if notice is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(notice.pid, number)
        if ended_within(places, 3.0):
            return True
    raise SandboxError(f"The sandbox still runs and can't be reached. Its log: {places.log}")


@contextlib.contextmanager
def in_thread(
    home: Path,
    *,
    pace: Pace = 0,
    executor: Executor | None = None,
    **settings: Any,
) -> Iterator[Sandbox]:
    """Run the sandbox in a thread of this process, for tests, on a free port; ended when the block ends.

    `executor` replaces the worker processes and is shut down with it; without one a script needs a main
    guard, as for all of multiprocessing. `settings` go to `SandboxService`.
    """
    from ..web.listening import LOOPBACK, kept_socket
    from .service import SandboxService
    from .serving import local_url, make_server

    if executor is not None:
        settings["make_executor"] = lambda: executor
    places = Places(home)
    places.create()
    with running_lock(places) as lock:
        service = SandboxService(home, pace=pace, **settings)
        listening = kept_socket(LOOPBACK, 0, places.port)
        # Freed as soon as it has ended: its own controls may end it before the block does.
        server = make_server(service, listening, host=LOOPBACK, on_ended=lock.release)
        with server.in_thread("reelbook-sandbox"):
            yield handle_on(home, local_url(listening), os.getpid())


def _start(home: Path, places: Places) -> Sandbox:
    if not sys.executable:
        raise SandboxError("The sandbox can't be started: this Python doesn't know its own program.")
    places.log.write_bytes(b"")
    with places.log.open("ab") as log:  # the process itself writes to the end of it, too
        process = subprocess.Popen(
            [sys.executable, "-m", "reelbook.sandbox", str(Path(home).absolute())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=places.folder,  # Python looks for modules there first; a person's folder may hold anything
            env=_environment(),
            start_new_session=True,  # the notebook's Stop and a terminal's Ctrl-C are not meant for it
        )
    # A thread waits for the process, so that it doesn't stay as a zombie once it has ended.
    threading.Thread(target=process.wait, name="reelbook-sandbox-end", daemon=True).start()
    countdown = Countdown(START_SECONDS)
    while pause := countdown.next_pause(LOOK_SECONDS):
        notice = read_notice(places)
        if notice is not None and notice.pid == process.pid and (sandbox := find(home)):
            return sandbox
        if process.poll() is not None:
            raise SandboxError(f"The sandbox could not be started. {_log_tail(places)}")
        time.sleep(pause)
    process.kill()
    raise SandboxError(f"The sandbox didn't answer within {START_SECONDS:g} s. {_log_tail(places)}")


def _environment() -> dict[str, str]:
    """This process's environment without keys and addresses, and with the way to this very package."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("REELBOOK_")}
    paths = [os.path.abspath(path) for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    package_root = str(Path(__file__).resolve().parents[2])
    if package_root not in {*paths, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        paths.insert(0, package_root)
    if paths:
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    return environment


def _log_tail(places: Places) -> str:
    try:
        tail = places.log.read_text(errors="replace")[-LOG_TAIL_CHARACTERS:].strip()
    except OSError:
        tail = ""
    return f"The end of its log ({places.log}):\n{tail or '(empty)'}"
