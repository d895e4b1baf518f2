"""The sandbox as a process of its own: `python -m reelbook.sandbox HOME`, which server.py starts."""

import sys
from pathlib import Path

from ..errors import SandboxError
from .service import IDLE_MINUTES
from .serving import serve

if __name__ == "__main__":
    try:
        serve(Path(sys.argv[1]), idle_minutes=IDLE_MINUTES, foreground=False)
    except SandboxError as exc:
        sys.exit(str(exc))
