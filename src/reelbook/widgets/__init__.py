"""The panels that a person at a notebook sees and uses; their words are in `reelbook.text`."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from reelbook.explore.study import Study
from reelbook.session import Batch, Clip, Job, display


def __getattr__(name: str) -> Any:
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()  # JobBoard is in job_board
    module = {"hand_over": "handing_over"}.get(name, module)
    if not Path(__file__).with_name(f"{module}.py").exists():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return value


display.register(Batch, lambda batch: __getattr__("JobBoard")(jobs=batch))
display.register(Job, lambda job: __getattr__("JobCard")(job))
display.register(Study, lambda study: __getattr__("Judge")(study))
display.register(Clip, lambda clip: __getattr__("Player")(clip))
