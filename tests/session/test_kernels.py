"""Sessions in real Jupyter kernels: Stop, SIGKILL and a fresh start."""

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from support.kept_clips import KeptClips
from support.kernels import Kernel
from support.waiting import until

from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

pytestmark = [pytest.mark.browser]

SUBMIT = """
import time
import reelbook as rb
session = rb.connect("sandbox")
job = session.text_to_video("a fox", duration_seconds=1)
while not job.request_id: time.sleep(0.01)
print(job.request_id)
"""


@pytest.fixture
def running(home: Path) -> Iterator[Sandbox]:
    """A sandbox outside the kernel, where nothing ends until the clock is set forward."""
    with server.in_thread(home, pace=3600, rate_limiting=False, executor=KeptClips()) as sandbox:
        yield sandbox


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    with contextlib.closing(Kernel()) as kernel:
        yield kernel


second = kernel


def test_stop_ends_the_waiting_at_once_and_not_the_watch(running: Sandbox, kernel: Kernel) -> None:
    """In `await job` and in `result()`; where nothing waits, session and sandbox don't notice Stop."""
    kernel.run(SUBMIT)
    for waiting in ("await job", "job.result()"):
        cell = kernel.start(f"print('waiting', flush=True)\n{waiting}")
        while kernel.client.get_iopub_msg(timeout=30)["msg_type"] != "stream":
            pass
        time.sleep(0.3)  # into the waiting
        kernel.manager.interrupt_kernel()
        assert kernel.ended(cell) in ("KeyboardInterrupt", "CancelledError")
    kernel.manager.interrupt_kernel()
    assert kernel.run("print(job.view().watched, session.closed)") == "True False"
    assert running.state()["jobs_under_way"] == 1
    running.advance(3601)
    assert kernel.run("print((await job).duration_seconds)") == "1.0"


def test_the_sandbox_outlives_a_killed_kernel_and_its_job_completes(
    home: Path, kernel: Kernel, second: Kernel
) -> None:
    """After SIGKILL a new kernel takes the job up by itself; nothing is left once the sandbox ended."""
    kernel.run("import reelbook as rb; rb.connect('sandbox').sandbox.settings(pace=3600)")
    request_id = kernel.run(SUBMIT)
    kernel.kill()
    running = server.ensure(home)  # finds the one that the kernel started
    running.advance(3601)
    said = second.run("import reelbook as rb; session = rb.connect('sandbox')")
    assert said.startswith("Reelbook watches 1 unfinished clip of an earlier kernel")
    assert second.run("(job,) = session.jobs(); print(job.request_id)") == request_id
    assert second.run("print(job.result(60).duration_seconds)") == "1.0"
    second.kill()
    family = [psutil.Process(running.pid), *psutil.Process(running.pid).children(recursive=True)]
    assert len(family) > 1, "the clip was rendered in a process of its own"
    running.stop()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []


def test_a_new_kernel_hears_what_a_killed_one_left_of_its_sweep(
    running: Sandbox, kernel: Kernel, second: Kernel
) -> None:
    """How many clips weren't sent, which nobody took back, and the line that sends them."""
    running.settings(pace=0)
    running.fault("stall", endpoint="generate", after=1, times=100, seconds=3600)
    kernel.run("import reelbook as rb; session = rb.connect('sandbox')")
    kernel.run("run = rb.Sweep('a {fox|owl}', seed=[1, 2, 3, 4], duration_seconds=1).run(session)")
    until(lambda: kernel.run("print(any(job.request_id for job in session.jobs()))") == "True")
    kernel.kill()
    running.clear_faults()
    said = second.run("import reelbook as rb; session = rb.connect('sandbox')")
    # Those that were on their way aren't certain.
    left = re.findall(r"The kernel ended with (\d) of 8 clips of the sweep “a \{fox\|owl\}” unsent", said)
    [run] = set(re.findall(r"rb\.Sweep\.open\(session, '\d+'\)", said))
    assert [second.run(f"print({run}.plan().bought)")] == left
    assert "Taken back" not in second.run("print([job.error for job in session.jobs()])")
    assert second.run(f"run = {run}; run.resume(); run.wait(60); print(run.plan().bought)") == "0"
