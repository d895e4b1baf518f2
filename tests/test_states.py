"""One state, one sum: what a state costs, and how sure that is, is the same wherever it is said."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import reelbook as rb
from reelbook.cli import app
from reelbook.explore import Cell, RunCell
from reelbook.formatting import price
from reelbook.sandbox.handle import Sandbox
from reelbook.session import Job
from reelbook.states import BEFORE_AMOUNT, INTENDED, SENDING, STATES, charge_of, names, state
from reelbook.text import gallery, matrix
from reelbook.text.card import ShownJob

USD = 0.05


@pytest.fixture
def jobs(sandbox: Sandbox, home: Path) -> Iterator[dict[str, Job]]:
    """A job in each state, with none of which it is known what it cost."""
    # Two of one ledger, so that nothing looks left behind by a kernel that ended.
    with rb.connect("sandbox") as first, rb.connect("sandbox", max_spend=9) as session:
        made = first.submit_many(list(STATES), duration_seconds=1, aspect_ratio="1:1")
        made.results(60)
        ids = {job.prompt or "": job.request_id for job in made}
        with closing(sqlite3.connect(home / "ledger.db", isolation_level=None)) as ledger:
            ledger.executemany(
                "UPDATE entries SET state = ?, cost_micro = NULL, clip_path = NULL WHERE request_id = ?",
                ids.items(),
            )
        yield {job.prompt or "": job for job in session.jobs()}


def told_by_panels(job: Job) -> dict[str, tuple[str, str, str]]:
    """How each panel calls the job's state, in which tone, and what it says of its money."""
    view, shown = job.view(), rb.JobBoard(jobs=[job])
    [entry] = shown._entries.values()
    assert job.request is not None
    faces: dict[str, Any] = {
        "card": rb.JobCard(job).face,
        "board": entry.row,
        "matrix": matrix.face(RunCell(Cell(1, (), {}, job.request)), ShownJob(view, job.request)),
        "gallery": rb.Gallery(rb.Session.of(job), state="any", opened=job.request_id).face,
    }
    return {panel: (face["word"], face["tone"], face["money"]) for panel, face in faces.items()}


def told_by_sums(job: Job) -> list[str]:
    """What the board of a job and the matrix of a cell say of the whole."""
    view = job.view()
    head = matrix.head([view.state], state="running", here=0, bought=[view])
    return [rb.JobBoard(jobs=[job])._head_words()["money"], head.split(" · ")[-1]]


def told_by_terminal(job: Job) -> str:
    """The cost in `reelbook jobs show`."""
    said = CliRunner().invoke(app, ["jobs", "show", str(job.request_id)]).stdout
    [cost] = re.findall(r"^cost +([^,\n]*)", said, re.MULTILINE)
    return str(cost)


def test_a_state_has_one_sum_everywhere(jobs: dict[str, Job]) -> None:
    """Board, card, matrix, gallery, receipt and terminal say what its row says; spending adds up."""
    sums = {"spent": "$0.05", "reserved": "about $0.05", "uncertain": "$0.05 not certain", "none": "$0.00"}
    kinds = {"spent": "charged", "reserved": "estimated", "uncertain": "uncertain"}
    session = rb.Session.of(jobs[INTENDED])
    receipt = {each.request_id: (each.cost_is, each.cost_usd) for each in session.receipt().rows}
    for name, row in STATES.items():
        job, charge = jobs[name], charge_of(name)
        assert job.state == (SENDING if name == INTENDED else name)
        assert (job.view().charge, job.view().price_usd) == (charge, USD)
        face = (row.title, row.tone, price(USD, charge))
        assert told_by_panels(job) == dict.fromkeys(("card", "board", "matrix", "gallery"), face)
        assert told_by_sums(job) == [sums[charge]] * 2
        assert told_by_terminal(job) == (price(USD, charge) or "nothing")
        assert receipt.get(job.request_id) == (None if charge == "none" else (kinds[charge], USD))
    spend = session.spending().of_key
    assert [spend.spent_usd, spend.reserved_usd, spend.uncertain_usd] == pytest.approx(
        [USD * len(names(charge=kind)) for kind in kinds]
    )


def test_what_has_ended_has_no_tone_of_what_goes_on() -> None:
    """Panels of a kernel that is gone say "Processing at 16:36", but never "Not sent at 16:36"."""
    assert not {row.tone for row in STATES.values() if row.final} & {"wait", "run"}


def test_every_state_is_found_in_the_gallery_but_those_taken_back() -> None:
    """The groups to choose from share out the table."""
    offered = [each for _, states in gallery.STATES.values() for each in states or ()]
    assert sorted(offered) == sorted(each.name for each in STATES.values() if each.group != "taken back")


def test_a_known_cost_is_spent_and_a_lost_job_uncertain() -> None:
    """Whatever the state is, unless nothing was bought. A word of the service's own is under way: it is shown
    as it is, and reserves its price until the job ends.
    """
    free = names(charge="none")
    assert {charge_of(each, cost_known=True) for each in STATES if each not in free} == {"spent"}
    assert {charge_of(each, cost_known=True) for each in free} == {"none"}
    assert {charge_of(each, abandoned=True) for each in names(charge="reserved")} == {"uncertain"}
    assert set(BEFORE_AMOUNT) == {row.charge for row in STATES.values()}
    row = state("queued for review")
    assert (row.title, row.final, row.missing, row.charge) == ("queued for review", False, False, "reserved")
