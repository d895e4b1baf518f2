"""Which cell is running: what tells a cell that is run again from a script, a button or another cell."""

from __future__ import annotations

import hashlib
import sys
import threading
from typing import NamedTuple


class Execution(NamedTuple):
    """One execution of a cell: a hash of its source, and what tells this run from the next."""

    cell: str
    run: str


def current_execution() -> Execution | None:
    """The execution that this call is a part of, or None outside a notebook's cell.

    A button's callback isn't a part of one, even while a cell runs: a press is a wish of its own.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    kernel = getattr(shell, "kernel", None)
    if kernel is None or threading.current_thread() is not threading.main_thread():
        return None
    message = kernel.get_parent("shell") or {}
    header = message.get("header", {})
    if header.get("msg_type") != "execute_request":
        return None
    source = message.get("content", {}).get("code", "")
    return Execution(hashlib.sha256(source.strip().encode()).hexdigest()[:32], header["msg_id"])
