"""Options that several commands share."""

import shlex
from pathlib import Path

import pytest
from cli.conftest import Run

from reelbook import magics
from reelbook.account import receipt
from reelbook.cli.options import command_line
from reelbook.requests import RequestField, options
from reelbook.text.sweep_form import axis_row
from reelbook.widgets.prompt_form import PromptForm


@pytest.mark.parametrize("about", options().values(), ids=options())
def test_what_a_request_has_is_there_wherever_it_can_be_asked_for(run: Run, about: RequestField) -> None:
    """In the commands, the magic, the forms and the receipt, from the one table."""
    for words in (("generate",), ("sweep", "plan")):
        assert f"\n  --{about.option} " in run(*words, "--help").stdout
    assert f"--{about.option}" in magics._parser().format_help()
    assert PromptForm.class_traits()[about.name].metadata["sync"]
    assert axis_row(about.name, None)[1] == about.label
    assert (about.column or about.name) in receipt.COLUMNS


def test_a_command_to_copy_has_the_service_and_the_home_that_were_named() -> None:
    """A shell reads it as it was meant, and nothing stands there that goes without saying."""
    assert command_line("jobs", "resume", service="auto", home=None) == "reelbook jobs resume"
    line = command_line("jobs", "resume", service="live", home=Path("my home"))
    assert shlex.split(line)[3:] == ["--service", "live", "--home", "my home"]
