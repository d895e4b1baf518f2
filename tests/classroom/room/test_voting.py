"""A class's vote: pairs on students' phones, answers in the teacher's ledger, the standing on the wall."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from classroom.room.conftest import Visit
from classroom.room.test_pages import control, join, order, teach
from classroom.room.visitors import Visitor
from support.waiting import until

import reelbook as rb
from reelbook.classroom.room.app import Room
from reelbook.classroom.room.voting import ClassVote

Class = dict[str, Visitor]


@pytest.fixture
def four(room: Room, visit: Visit) -> Class:
    """Four students with a clip each."""
    visitors = {name: visit(room) for name in ("Ada", "Grace", "Lin", "Mary")}
    for name, visitor in visitors.items():
        join(visitor, name)
        order(visitor, f"a fox of {name}")
    until(lambda: len(room.store.newest_clips()) == len(visitors))
    return visitors


def shown(visitor: Visitor) -> tuple[str, str]:
    """The two clips that the page asks about, by their addresses."""
    page = visitor.http.get("/vote").text
    left, right = re.findall(r'<input type="hidden" name="(?:left|right)" value="([^"]+)"', page)
    return left, right


def answered(visitor: Visitor, left: str, right: str, answer: str) -> httpx.Response:
    """Presses one of the three buttons."""
    return visitor.http.post("/vote", data={"left": left, "right": right, "answer": answer})


def prefers(visitor: Visitor, better: Callable[[str, str], bool]) -> int:
    """Votes until there is nothing left to vote on; how often."""
    times = 0
    while "is better</button>" in visitor.http.get("/vote").text:
        left, right = shown(visitor)
        answered(visitor, left, right, "left" if better(left, right) else "right")
        times += 1
    return times


def test_a_class_votes_and_the_wall_tells_what_won(room: Room, four: Class, visit: Visit) -> None:
    """Each sees the others' clips in pairs; what won is told after the end, and a study counts it."""
    teacher = teach(room, visit(room))
    assert four["Ada"].http.get("/vote").headers["location"] == "/mine"
    control(teacher, "vote", question="Which fox is fastest?")
    own = {job.prompt.rpartition(" ")[2]: job.clip for job in room.store.newest_clips()}
    strength = {clip: place for place, clip in enumerate(own.values())}
    assert "Which fox is fastest?" in four["Ada"].http.get("/mine").text

    for name, visitor in four.items():
        assert own[name] not in shown(visitor)
        assert prefers(visitor, lambda left, right: strength[left] > strength[right]) == 3
    page = teacher.http.get("/room").text
    assert "12 votes by 4 students" in page
    assert "won" not in page

    control(teacher, "end_vote")
    page = teacher.http.get("/room").text
    assert re.findall(r"won \d of \d", page) == ["won 6 of 6", "won 4 of 6", "won 2 of 6", "won 0 of 6"]
    assert four["Ada"].http.get("/vote").headers["location"] == "/mine"
    jobs = room.session.jobs(experiment="class FOX-234")
    result = rb.Study(jobs, room.session, question="Which fox is fastest?").result()
    assert (result.votes, [each.won for each in result.standing]) == (12, [6, 4, 2, 0])

    control(teacher, "newest")
    assert "won" not in teacher.http.get("/room").text


def test_nobody_votes_twice_or_on_what_isnt_asked(room: Room, four: Class, visit: Visit) -> None:
    """The same pair again, also at the same moment, one's own clip, others' addresses: nothing is kept."""
    teacher, ada = teach(room, visit(room)), four["Ada"]
    control(teacher, "vote")
    left, right = shown(ada)
    own = next(job.clip or "" for job in room.store.newest_clips() if job.prompt == "a fox of Ada")
    for pair in ((left, right), (right, left), (left, left), (own, left), ("x", "y")):
        assert answered(ada, *pair, "left").headers["location"] == "/vote"
    answered(four["Grace"], left, right, "best")
    lin = shown(four["Lin"])
    with ThreadPoolExecutor(8) as taps:
        list(taps.map(lambda _: answered(four["Lin"], *lin, "neither"), range(8)))

    asked = ClassVote.of(room)
    assert asked is not None
    ada_chose = asked.votes[0].shown_left
    assert [(vote.voter, vote.better) for vote in asked.votes] == [("Ada", ada_chose), ("Lin", None)]
    assert "2 votes by 2 students" in teacher.http.get("/room").text


def test_a_vote_is_on_what_was_there_when_it_began(room: Room, four: Class, visit: Visit) -> None:
    """A clip that comes later, and one that was taken off the wall, are in no pair."""
    teacher = teach(room, visit(room))
    control(teacher, "vote")
    order(four["Ada"], "a late fox")
    until(lambda: len(room.store.newest_clips()) == len(four) + 1)
    hidden = next(job for job in room.store.newest_clips() if job.prompt == "a fox of Mary")
    control(teacher, "hide", request_id=hidden.request_id)

    asked = ClassVote.of(room)
    assert asked is not None
    assert {job.prompt for job in asked.clips.values()} == {f"a fox of {n}" for n in ("Ada", "Grace", "Lin")}
    assert asked.question == "Which is better?"


def test_where_there_is_nothing_to_compare_the_page_says_so(room: Room, visit: Visit) -> None:
    """With less than two clips of others."""
    ada = visit(room)
    join(ada)
    control(teach(room, visit(room)), "vote")
    assert "That is all there is to vote on." in ada.http.get("/vote").text
