"""Options that several commands share."""

from __future__ import annotations

import shlex
from pathlib import Path

from reelbook.cli.options import Service, command_line


def test_a_command_to_copy_has_the_service_and_the_home_that_were_named() -> None:
    """A shell reads it as it was meant, and nothing stands there that goes without saying."""
    assert command_line("jobs", "resume", service=Service.auto, home=None) == "reelbook jobs resume"
    line = command_line("jobs", "resume", service=Service.live, home=Path("my home"))
    assert shlex.split(line)[3:] == ["--service", "live", "--home", "my home"]
