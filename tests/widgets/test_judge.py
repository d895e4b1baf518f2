"""The Judge: pairs without labels, votes by message, and what they say after Stop."""

import json
from pathlib import Path

import pytest
from widgets.doubles import clip_file, says, work_ends

import reelbook as rb
from reelbook.explore import Study
from reelbook.explore.study import Pair
from reelbook.widgets.judge import Judge


@pytest.fixture
def study(session: rb.Session, tmp_path: Path) -> Study:
    """A study of three files of different lengths."""
    files = [
        clip_file(tmp_path / f"{name}.mp4", seconds=at) for at, name in enumerate(("fox", "owl", "duck"), 1)
    ]
    return rb.Study(files, session)


def vote(judge: Judge, answer: str) -> None:
    """What the page sends at a key."""
    says(judge, "vote", n=judge.pair["n"], answer=answer)


def test_nothing_of_a_clip_is_in_the_page_before_stop(study: Study) -> None:
    """No name, no standing, nor in the still form. After Stop both are there, and gone when it goes on."""
    judge = Judge(study)
    for answer in ("left", "right", "left", "neither"):
        vote(judge, answer)
    state = {name: value for name, value in judge.get_state().items() if name != "_esm"}
    told = json.dumps([state, judge.still()], default=str)
    assert not any(word in told for word in ("fox", "owl", "duck", " beats "))
    assert (judge.votes, judge.face["said"].startswith("4 of about ")) == (4, True)
    says(judge, "stop")
    work_ends(judge)
    rows = judge.result["rows"]
    assert {row["label"] for row in rows} == {"fox.mp4", "owl.mp4", "duck.mp4"}
    assert rows[0]["facts"].endswith(" % from its beginning")
    assert all("fox.mp4" in text for text in judge.still()[:1])
    assert len(judge.result["findings"]) == 1  # of the first two
    says(judge, "go_on")
    assert judge.result == {}


def test_long_prompts_are_told_apart_by_what_follows_them(session: rb.Session) -> None:
    """They are cut in the middle: the seed stays."""
    jobs = [session.text_to_video("a fox " * 40, seed=seed, duration_seconds=1) for seed in (1, 2)]
    for job in jobs:
        job.result(60)
    judge = Judge(jobs)
    says(judge, "stop")
    assert {row["label"][-8:] for row in judge.result["rows"]} == {"· seed 1", "· seed 2"}


def test_a_press_is_one_vote(study: Study) -> None:
    """A second message about the same pair, a strange answer and one after Stop don't count."""
    judge = Judge(study)
    shown = judge.pair
    following = judge.upcoming
    says(judge, "vote", n=shown["n"], answer="left")
    assert [judge.pair["left"], judge.pair["right"]] == following  # it was fetched already
    says(judge, "vote", n=shown["n"], answer="left")
    vote(judge, "both")
    assert "Nothing was kept." in judge.message["text"]
    says(judge, "stop")
    vote(judge, "left")
    work_ends(judge)
    assert study.voters == {"": 1}


def test_a_vote_is_taken_back(study: Study) -> None:
    """Its pair is shown again as it stood."""
    judge = Judge(study)
    assert not judge.face["can_take_back"]
    shown = judge.pair
    vote(judge, "right")
    assert judge.face["can_take_back"]
    says(judge, "take_back")
    assert {**judge.pair, "n": 0} == {**shown, "n": 0}
    assert study.voters == {}


def test_votes_of_several_are_counted_apart_and_together(study: Study) -> None:
    """Who votes is typed in the panel; after Stop one is chosen, or all."""
    judge = Judge(study, voter="Ada")
    vote(judge, "left")
    judge.voter = "Ben"
    assert not judge.face["can_take_back"]  # only one's own
    vote(judge, "left")
    vote(judge, "right")
    says(judge, "stop")
    assert judge.result["voters"] == [["*", "All · 3"], ["Ada", "Ada · 1"], ["Ben", "Ben · 2"]]
    says(judge, "of", voter="Ben")
    assert judge.result["said"].startswith("2 votes")
    work_ends(judge)


def test_hand_over_is_offered_where_somebody_listens(study: Study) -> None:
    """With the clips as they stand."""
    judge = Judge(study)
    assert not judge.face["hands_over"]
    given: list[tuple[rb.Clip, ...]] = []
    judge.on_hand_over(given.append)
    assert judge.face["hands_over"]
    says(judge, "hand_over")
    assert {*given[0]} == {*study.clips}


def test_after_stop_the_first_two_can_be_picked(session: rb.Session, home: Path) -> None:
    """As the votes place them. Handed over, they say what they won."""
    study = Study(
        rb.Sweep("a {animal}", animal="fox, owl, duck", duration_seconds=1, seed=7).run(session).results()
    )
    judge = Judge(study)
    study.vote(Pair(study.clips[0], study.clips[1]), "left")
    study.vote(Pair(study.clips[2], study.clips[1]), "left")
    says(judge, "stop")
    assert judge.face["picks"]
    says(judge, "pick")
    assert not judge.face["picks"]
    picked = [job.clip for job in session.picks()]
    assert {*picked} == {study.clips[0], study.clips[2]}
    page = rb.hand_over(session.picks(), home / "two.html").read_text()
    assert page.count("won 1 of 1 vote<") == 2


def test_a_matrix_leads_to_it(session: rb.Session) -> None:
    """Of its whole run, or of the selected clips."""
    run = rb.Sweep("a {animal}", animal="fox, owl, duck", duration_seconds=1, seed=7).run(session)
    run.results()
    matrix, asked = rb.Matrix(run), list[Study]()
    assert "judge" not in matrix.offers
    matrix.on_judge(asked.append)
    assert "judge" in matrix.offers
    says(matrix, "judge")
    matrix.selected = [1, 3]
    says(matrix, "judge")
    assert [len(study.clips) for study in asked] == [3, 2]
