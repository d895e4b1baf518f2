"""A real Jupyter kernel and what a notebook does with it."""

import os
import subprocess
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.manager import KernelManager


class Kernel:
    """One kernel with one client. `python` is whose kernel it is, `environment` what is set for it."""

    def __init__(self, *, python: str | None = None, environment: dict[str, str] | None = None) -> None:
        options: dict[str, Any] = {}
        if environment is not None:
            # A person's own settings, such as a limit, are none of its.
            others = {name: value for name, value in os.environ.items() if not name.startswith("REELBOOK_")}
            options["env"] = {**others, **environment}
        # Sockets in a folder of its own: a TCP port that is chosen here may be another's before it is used.
        self.sockets = TemporaryDirectory(prefix="kernel")
        self.manager = KernelManager(kernel_name="python3", transport="ipc", ip=f"{self.sockets.name}/socket")
        if python is not None:
            self.manager.kernel_spec.argv[0] = python  # type: ignore[union-attr]  # it's there
        self.manager.start_kernel(**options)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(60)

    def run(self, code: str, metadata: dict[str, Any] | None = None) -> str:
        """Runs a cell; what it printed, or the name of the error it ended with."""
        return self.ended(self.start(code, metadata))

    def start(self, code: str, metadata: dict[str, Any] | None = None) -> str:
        """Starts a cell as a front end does that sends `metadata` with it; its message's id."""
        content = {"code": code, "silent": False, "allow_stdin": False}
        return self.send("execute_request", content, metadata)

    def send(self, kind: str, content: dict[str, Any], metadata: dict[str, Any] | None = None) -> str:
        """Sends a message on the shell channel; its id."""
        message = self.client.session.msg(kind, content, metadata=metadata)
        self.client.shell_channel.send(message)
        sent: str = message["header"]["msg_id"]
        return sent

    def ended(self, cell: str) -> str:
        """Waits for the end of a message's handling; what was printed meanwhile, or an error's name."""
        printed = ""
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != cell:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                printed += content["text"]
            elif kind == "error":
                printed += content["ename"]
            elif kind == "status" and content["execution_state"] == "idle":
                return printed.strip()

    @property
    def process(self) -> subprocess.Popen[bytes]:
        return self.manager.provisioner.process  # type: ignore[union-attr, no-any-return]  # it runs

    def kill(self) -> None:
        """SIGKILL, and waits until the process is gone."""
        self.process.kill()
        self.process.wait(60)

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.sockets.cleanup()
