"""What every test stands on: no setting of the person's, a home of its own, and no live service."""

import gc
import os
import shutil
import signal
from collections.abc import Generator, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy  # noqa: F401  # pytest.approx looks at it, also half imported by a sandbox's thread
import pytest
from hypothesis import HealthCheck, settings
from support.jumping_time import JumpingLoop
from support.kept_clips import KeptClips

import reelbook as rb
from reelbook import timing
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

# Nearly all that is made until the first test begins stays to the end, so no collector need look through it.
gc.disable()

# Its asserts tell what they compared, as those of the tests themselves do.
pytest.register_assert_rewrite("browser.liveness")

# Gone before anything is imported or started: no test, kernel or subprocess may find a person's key.
LIVE_SETTINGS = {name: os.environ.pop(name) for name in tuple(os.environ) if name.startswith("REELBOOK_")}
os.environ["REELBOOK_TEST_JOBS"] = "short"  # each Python that a test starts asks soon about its first clips
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
# Ledgers and sandboxes flush each step to the disk. No test cuts the power, so their folders lie in memory
# where there is room for them.
MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 2_000_000_000:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
# A shell's background job ignores Ctrl-C, and so would all processes that tests start and stop with it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no fault of the code: examples may take longer than the 0.2 s that are usual.
settings.register_profile("reelbook", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("reelbook")

# What takes longest begins first, so that nobody waits for it in the end.
FIRST = (
    "tests/colab/test_liveness.py",
    "tests/colab/test_panels.py",
    "tests/browser/",
    "tests/colab/",
    "tests/notebooks/",
    "tests/test_checks.py",
    "tests/test_distribution.py",
)
# Their tests all have the mark "browser".
IN_BROWSER = ("tests/browser/", "tests/colab/", "tests/in_marimo/")
# A lab takes long to start: the tests of such a folder share one, but for these files, which have another.
SHARED_LABS = ("tests/browser", "tests/colab")
SECOND_LAB = [
    f"tests/browser/test_{name}.py"
    for name in ("access", "board", "liveness", "matrix", "player", "saved", "tools")
]
# Their tests share nothing and are long: each of them goes where there is room.
SPREAD = ("tests/colab/test_environment.py", "tests/notebooks/test_notebooks.py", "tests/test_checks.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--live", action="store_true", help="let the contract suite talk to the configured service"
    )
    parser.addoption("--max-spend", type=float, default=None, help="what --live may spend, in USD")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is `IN_BROWSER`, and puts `FIRST` first, in its order."""
    for item in items:
        if item.nodeid.startswith(IN_BROWSER):
            item.add_marker("browser")
    items.sort(
        key=lambda item: next((n for n, name in enumerate(FIRST) if item.nodeid.startswith(name)), len(FIRST))
    )


def pytest_collection_finish() -> None:
    """The tests' own garbage is collected as usual."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file goes to one process: clusters and sandboxes are made for a file, labs for more of them."""
    from xdist.scheduler import LoadFileScheduling

    class LoadLabScheduling(LoadFileScheduling):  # type: ignore[misc] # it has no types
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            if file in SPREAD:
                return nodeid
            if file in SECOND_LAB:
                return "second lab"
            folder = file.rpartition("/")[0]
            return folder if folder in SHARED_LABS else file

    return LoadLabScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A browser's test that failed says what its page shows."""
    report = yield
    page = getattr(item, "funcargs", {}).get("page")
    if report.failed and page is not None and hasattr(page, "evaluate"):  # not a double
        from browser.pages import seen_in

        report.sections.append(("The page", seen_in(page)))
    return report


@pytest.fixture(autouse=True)
def reelbook_can_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package index is asked for it; what is tried for a teacher is tried in tests/classroom."""
    monkeypatch.setattr("reelbook.classroom.classroom.check_install", lambda _: None)


@pytest.fixture(autouse=True)
def ctrl_c_still_interrupts() -> Iterator[None]:
    """A test that leaves another handler would make the next one that is interrupted hang."""
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A REELBOOK_HOME of the test's own; a sandbox process started in it is stopped at the end."""
    folder = tmp_path / "reelbook-home"
    monkeypatch.setenv("REELBOOK_HOME", str(folder))
    yield folder
    server.stop(folder)


@pytest.fixture
def shell(home: Path) -> Iterator[Any]:
    """IPython as it is in a notebook's kernel."""
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    yield shell
    for left in shell.user_ns.values():
        if isinstance(left, rb.Session):
            left.close()
    InteractiveShell.clear_instance()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture(autouse=True)
def jumping_sessions() -> Iterator[None]:
    """The sessions wait for answers and threads, and for nothing else."""
    timing.use(timing.Timing(new_loop=JumpingLoop))
    yield
    timing.use(None)


@pytest.fixture
def short_jobs(jumping_sessions: None) -> None:
    """The sessions believe of jobs that they are short: they ask about them before anything else happens."""
    timing.use(timing.Timing(new_loop=JumpingLoop, took=timing.SHORT_JOBS))


@pytest.fixture
def real_time(jumping_sessions: None) -> None:
    """The sessions wait for their timers, too, as users' do: for a service whose minutes are real ones."""
    timing.use(None)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent again is sent again at once."""
    monkeypatch.setattr("reelbook.client.retries.delay_seconds", lambda *_: 0.0)


@pytest.fixture
def clips() -> Executor:
    """Where this test's clips are drawn."""
    return KeptClips()


@pytest.fixture
def sandbox(home: Path, clips: Executor) -> Iterator[Sandbox]:
    """A sandbox in a thread of the test, as fast as it can be and without a rate limit."""
    with server.in_thread(home, pace=0, rate_limiting=False, executor=clips) as running:
        yield running


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[rb.Session]:
    """A session with it, closed at the end."""
    with rb.connect("sandbox") as session:
        yield session
