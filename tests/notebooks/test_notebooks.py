"""The lessons, run from top to bottom, with what they store compared to what comes out."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from notebooks.nbval_run import nbval
from notebooks.refresh import VOLATILE, nbformat, read
from support.kept_clips import KeptClips
from support.raw_server import raw_server

import reelbook as rb
from reelbook.classroom.classroom import Classrooms
from reelbook.lessons import shipped_lessons
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox

LESSONS = shipped_lessons()
KEY = "sk-planted-lesson"
MAX_LINES = 20  # of a cell, text or code


@pytest.mark.browser
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_and_tells_the_truth(lesson: Path, home: Path, tmp_path: Path) -> None:
    """Every stored output is what comes out; a configured live service is asked at most who it is."""
    clips = KeptClips(differing=8)
    with (
        server.in_thread(home, pace=1, rate_limiting=False, executor=clips),  # nobody watches
        raw_server(lambda exchange: exchange.answer(404)) as live,
    ):
        shutil.copy(lesson, tmp_path)
        done = nbval(tmp_path, settings={"REELBOOK_API_KEY": KEY, "REELBOOK_BASE_URL": live.url})
    assert done.returncode == 0, done.stdout
    assert {exchange.first_line for exchange in live.seen} <= {"GET /_sandbox/about HTTP/1.1"}
    assert not [exchange for exchange in live.seen if KEY in exchange.head]
    assert KEY not in done.stdout


@pytest.mark.browser
def test_in_a_class_a_lesson_uses_the_room_s_sandbox(sandbox: Sandbox, tmp_path: Path) -> None:
    """With the three settings of a student's card: the clips are ordered there, and no other one starts."""
    with rb.connect("sandbox") as teacher, Classrooms(teacher).locked() as classes:
        room = classes.open(classes.plan(["Ada"], address=sandbox.url)).status.classroom
    card = dict(
        line.split("=", 1)
        for line in room.handout("Ada").read_text().splitlines()
        if line.startswith("REELBOOK_")
    )
    shutil.copy(next(each for each in LESSONS if each.stem.startswith("03")), tmp_path)
    student = tmp_path / "student"
    done = nbval(tmp_path, compare=False, settings={"REELBOOK_HOME": str(student), **card})  # it has a limit
    assert done.returncode == 0, done.stdout
    assert sandbox.state()["requests"]["text-to-video"] == 6
    assert server.find(student) is None


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_no_lesson_changes_a_class_s_sandbox(lesson: Path) -> None:
    """Where it needs a sandbox's controls it asks for one of its own, or asks first whether it has them."""
    code = [cell.source for cell in read(lesson).cells if cell.cell_type == "code"]
    if any(
        source.startswith('os.environ["REELBOOK_BASE_URL"] = ""') for source in "\n".join(code).split("\n")
    ):
        return
    using = [source for source in code if ".sandbox." in source.replace("reelbook.sandbox", "")]
    assert [source for source in using if "if session.sandbox:" not in source] == []


@pytest.mark.browser
def test_a_wrong_stored_output_is_noticed(home: Path, tmp_path: Path) -> None:
    """The comparison is a real one: a price that is no longer true fails."""
    notebook = read(next(lesson for lesson in LESSONS if lesson.stem == "01-first-video"))
    notebook.cells = [cell for cell in notebook.cells if cell.id in ("import", "cost")]
    notebook.cells[-1].outputs[0].data["text/plain"] = "0.3"
    nbformat.write(notebook, tmp_path / "wrong.ipynb")
    done = nbval(tmp_path)
    assert (done.returncode, "0.25" in done.stdout) == (1, True), done.stdout


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_stored_clean(lesson: Path) -> None:
    """No output of one machine's own, run once from top to bottom, and an id for every cell."""
    notebook = read(lesson)
    nbformat.validate(notebook)
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    volatile = [output for cell in code if _volatile(cell) for output in cell.outputs]
    assert [output for output in volatile if set(output.data) != {"image/jpeg"}] == []
    stored = "".join(str(cell.outputs) for cell in code if not _volatile(cell))
    assert [word for word in ("/tmp", "/home", "127.0.0.1", "req_", "0x") if word in stored] == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_has_all_its_parts(lesson: Path) -> None:
    """What you learn and how long it takes, short cells, a picture, a question, its cost, what may fail."""
    notebook = read(lesson)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert "You will\n\n- " in texts[0]
    assert re.search(r"\*\*\d+ minutes\*\*", texts[0])
    questions = [text for text in texts if "### A question" in text]
    assert len(questions) == 1
    assert re.search(r"<details><summary>Answer</summary>\n\n.+\n\n</details>$", questions[0], re.DOTALL)
    headings = [line for text in texts for line in text.splitlines() if line.startswith("## ")]
    assert [each for each in headings if each.endswith("What it cost")] != []
    assert "## If this fails" in headings
    assert [cell.id for cell in notebook.cells if cell.source.count("\n") >= MAX_LINES] == []
    for_students = not lesson.stem.startswith("00")
    assert ('"image/jpeg"' in lesson.read_text()) == for_students


def test_the_pictures_of_all_lessons_are_small() -> None:
    """The lessons show posters and filmstrips before they are run, in less than a megabyte together."""
    sizes = {lesson.stem: lesson.stat().st_size for lesson in LESSONS}
    assert sum(sizes.values()) < 1_000_000, sizes


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_dollars_in_a_text_are_dollars(lesson: Path) -> None:
    """JupyterLab makes a formula of what stands between two dollar signs, escaped or not: one a text."""
    prose = {
        cell.id: re.sub(r"```.*?```|`[^`]*`", "", cell.source, flags=re.DOTALL)
        for cell in read(lesson).cells
        if cell.cell_type == "markdown"
    }
    assert [name for name, text in prose.items() if text.count("$") > 1] == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_asks_for_the_sandbox_by_name(lesson: Path) -> None:
    """No lesson leaves to the settings which service it talks to."""
    source = "\n".join(cell.source for cell in read(lesson).cells)
    assert source.count('rb.connect("sandbox")') >= 1
    assert [call for call in ("connect()", "Studio()", "PromptForm()") if call in source] == []


def _volatile(cell: Any) -> bool:
    return VOLATILE in cell.metadata.get("tags", ())
