"""`%%video`: a cell whose text is the prompt."""

from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError
from PIL import Image

import reelbook as rb
from reelbook import errors
from reelbook.sandbox.handle import Sandbox


@pytest.fixture
def shell(shell: Any) -> Any:
    shell.run_line_magic("load_ext", "reelbook")
    return shell


@pytest.fixture
def session(shell: Any, session: rb.Session) -> rb.Session:
    shell.user_ns["session"] = session
    return session


def test_the_cells_text_is_the_prompt_and_the_flags_its_settings(shell: Any, session: rb.Session) -> None:
    """The job is the result, and in the variable that was named."""
    line = "--duration 1 --ratio 1:1 --seed 7 -o fox"
    job = shell.run_cell_magic("video", line, "a red fox\nruns through snow\n")
    assert job.request == rb.JobRequest("text-to-video", "a red fox\nruns through snow", 1, "1:1", 7)
    assert shell.user_ns["fox"] is job
    assert session.running == (job,)


def test_an_image_is_a_variable_or_a_path(shell: Any, session: rb.Session, tmp_path: Path) -> None:
    """Whatever image_to_video takes."""
    picture = Image.linear_gradient("L").convert("RGB")
    picture.save(tmp_path / "still.png")
    shell.user_ns["still"] = picture
    for image in ("still", str(tmp_path / "still.png")):
        job = shell.run_cell_magic("video", f"--duration 1 --image {image}", "slow zoom in")
        assert job.request.mode == "image-to-video"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--duration 5s", "invalid int value: '5s'"),
        ("a red fox", "unrecognized arguments: a red fox"),
        ("--help", "unrecognized arguments: --help"),
        ("-o it's", "No closing quotation"),
    ],
)
def test_options_that_cant_be_read_are_said_in_one_line(shell: Any, line: str, said: str) -> None:
    """With where the prompt goes and where the options are told."""
    with pytest.raises(UsageError) as refused:
        shell.run_cell_magic("video", line, "a boat")
    assert said in str(refused.value)
    assert "The prompt goes into the lines below. %%video? shows the options." in str(refused.value)


def test_several_seeds_or_an_axis_make_a_sweep(shell: Any, session: rb.Session, sandbox: Sandbox) -> None:
    """The text is its template then; with one seed braces are sent as they are."""
    run = shell.run_cell_magic(
        "video", "--seed 1-2 --axis animal=fox,heron --duration 1 -o foxes", "a {animal}"
    )
    assert [each.request.prompt for each in run.sweep.cells].count("a fox") == 2
    assert shell.user_ns["foxes"] is run
    assert len(run.results(30)) == 4
    job = shell.run_cell_magic("video", "--seed 1 --duration 1", "a {fox|heron}")
    assert job.prompt == "a {fox|heron}"


def test_a_sweep_that_costs_more_needs_a_second_word(shell: Any, session: rb.Session) -> None:
    """The flag is named that says it, and so is the one for a slot that nothing fills."""
    with pytest.raises(errors.ConfirmationNeeded, match=r"5 clips for about \$1\.25\. Add --yes"):
        shell.run_cell_magic("video", "--seed 1-5", "a fox")
    with pytest.raises(errors.InvalidInput, match="NAME=VALUES"):
        shell.run_cell_magic("video", "--axis animal", "a fox")
    with pytest.raises(errors.InvalidInput, match=r"Nothing fills \{animal\}\. Give --axis animal=…, or"):
        shell.run_cell_magic("video", "--seed 1-2", "a {animal}")
    assert session.sweeps() == ()
    run = shell.run_cell_magic("video", "--seed 1-5 --yes", "a fox")
    run.stop()
    assert run.state in ("stopped", "completed")


def test_what_makes_no_sense_is_said_before_anything_is_sent(
    shell: Any, session: rb.Session, sandbox: Sandbox
) -> None:
    """A ratio for an image, a session that isn't one, a seed without a number, an empty prompt."""
    lines = ("--image x.png --ratio 1:1", "--session nothing", "--seed ''")
    for line, text in (*((line, "a") for line in lines), ("", " ")):
        with pytest.raises(errors.InvalidInput):
            shell.run_cell_magic("video", line, text)
    assert session.jobs() == ()
