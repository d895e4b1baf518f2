"""The board of many jobs: what it shows, what it sends, what its buttons do."""

import asyncio
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from PIL import Image
from support.waiting import until
from widgets.doubles import FOX, FakeSession, asks, clip, heard, job, kept_stills, learn, says

import reelbook as rb
from reelbook.account import Facts, Spending
from reelbook.formatting import plain
from reelbook.ledger import Spend
from reelbook.media.images import prepare
from reelbook.sandbox.handle import Sandbox
from reelbook.session import Job, JobRequest, display
from reelbook.widgets.job_board import JobBoard


@dataclass(eq=False)
class FakeLedgerSession(FakeSession):
    """A session with a past."""

    past: list[Job] = field(default_factory=list)
    at_work: list[Job] = field(default_factory=list)

    def __hash__(self) -> int:
        return id(self)

    def jobs(self, *, limit: int) -> tuple[Job, ...]:
        return tuple(self.past[:limit])

    @property
    def running(self) -> tuple[Job, ...]:
        return tuple(self.at_work)

    def spending(self) -> Spending:
        return Spending(0.0, 0.0, 0.0, of_key=Spend(2.4, 0.25, 0.0))

    def submit(self, request: JobRequest) -> Job:
        self.submitted.append(request)
        return made(self, request.prompt, request_id=None, state="sending")


def made(session: FakeSession, prompt: str, *, experiment: str | None = None, **known: Any) -> Job:
    """A job of that session which tells it of every change, as real ones do."""
    known = {"request_id": f"req-{prompt}", **known}
    one = job(session, replace(FOX, prompt=prompt), **known)
    one.experiment = experiment
    return one


def opened(session: FakeLedgerSession | None = None, **arguments: Any) -> tuple[JobBoard, list[Any]]:
    """A board that a page shows, sending by itself only when the test says so, and what it sent."""
    owner: Any = session or FakeLedgerSession()
    board = JobBoard(owner, **arguments)
    board._live.close()
    messages = heard(board)
    says(board, "hello")
    return board, messages


def rows(messages: list[Any]) -> dict[str, dict[str, Any]]:
    """The rows as the page has them after these messages, by their prompts."""
    page: dict[str, dict[str, Any]] = {}
    for content, _ in messages:
        for row in content.get("rows", []):
            page.setdefault(row["key"], {}).update(row)
    return {row["prompt"]: row for row in page.values()}


def head(messages: list[Any]) -> dict[str, Any]:
    """All that was said on top."""
    said: dict[str, Any] = {}
    for content, _ in messages:
        said.update(content)
    return said


def test_running_and_recent_jobs_are_shown_newest_first() -> None:
    """What runs is newer than what the ledger gives, and shown whatever the limit; nothing is there twice."""
    session = FakeLedgerSession()
    old, older = made(session, "old", state="completed"), made(session, "older", state="completed")
    now = made(session, "now")
    session.past, session.at_work = [old, older], [now]
    for limit, shown in ((0, (now,)), (1, (now, old)), (2, (now, old, older))):
        assert opened(session, limit=limit)[0].jobs == shown
    session.at_work = [old, now]
    assert opened(session)[0].jobs == (now, old, older)


def test_a_job_submitted_later_appears_by_itself(session: rb.Session) -> None:
    """Wherever in the session it was submitted; a batch is shown as a board of its own."""
    board = JobBoard(session)
    batch = session.submit_many(["a", "b"], duration_seconds=1)
    until(lambda: len(board.jobs) == 2)
    assert set(board.jobs) == set(display.panel(batch).jobs) == set(batch)


def test_a_page_gets_everything_once_and_then_only_what_changed() -> None:
    """A change is a row's key and the changed fields; without one nothing is sent."""
    session = FakeLedgerSession()
    fox, cat = made(session, "fox", progress=0.1), made(session, "cat", progress=0.1)
    session.at_work = [fox, cat]
    board, messages = opened(session)
    assert [row["prompt"] for row in messages[0][0]["rows"]] == ["cat", "fox"]
    messages.clear()
    board.refresh()
    assert messages == []
    learn(fox, progress=0.4)
    board.refresh()
    assert messages == [({"name": "rows", "rows": [{"key": "0", "bar": 0.4, "time": ["40 %"]}]}, [])]
    messages.clear()
    says(board, "hello")  # of a page that was reloaded
    assert {row["word"] for row in rows(messages).values()} == {"Processing"}
    assert head(messages)["count"] == "2 clips"


def test_a_question_of_the_page_is_answered_within_its_message() -> None:
    """Where no thread reaches the page, nothing is sent by itself, and asking brings what is new."""
    session = FakeLedgerSession()
    fox = made(session, "fox", progress=0.1)
    session.at_work = [fox]
    board, messages = opened(session)
    board.asks = True
    messages.clear()
    learn(fox, progress=0.7)
    board._refresh_from_thread()
    assert messages == []
    says(board, "ask")
    assert rows([({"rows": [{"key": "0", "prompt": "fox"}]}, []), *messages])["fox"]["bar"] == 0.7


def test_jobs_are_grouped_by_experiment_with_count_and_sum() -> None:
    """Each experiment has a heading; jobs of none have one to stand under when they come later."""
    session = FakeLedgerSession()
    session.at_work = [
        made(session, "plain", estimated_cost_usd=0.25),
        made(session, "dawn", experiment="fog", cost_usd=0.1, state="completed"),
        made(session, "noon", experiment="fog", estimated_cost_usd=0.25),
    ]
    _, messages = opened(session)
    assert head(messages)["groups"] == {
        "fog": ["fog", "2 clips · spent $0.10 of about $0.35"],
        "": ["Without an experiment", "1 clip · about $0.25"],
    }
    groups = {prompt: row["group"] for prompt, row in rows(messages).items()}
    assert groups == {"plain": "", "dawn": "fog", "noon": "fog"}


def test_the_totals_say_states_money_and_requests() -> None:
    """What runs, what waits, what is done; what is spent of the limit; when more requests come."""
    session = FakeLedgerSession(facts=Facts(20.0, 0, 10, 12.0, max_spend_usd=5.0))
    session.at_work = [
        made(session, "runs"),
        made(session, "waits", state="sending", request_id=None),
        made(session, "done", state="completed", cost_usd=0.25),
        made(session, "fails", state="failed"),
        made(session, "unwatched", watched=False),
    ]
    board, messages = opened(session)
    said = head(messages)
    assert said["states"] == "1 running · 1 waiting · 1 not watched · 1 done · 1 failed"
    assert (said["money"], board.mark) == ("spent $2.40 of $5.00", "sandbox")
    assert said["requests"] == ["0 of 10 requests left, more in ", [12.0, -1]]


def test_why_a_job_waits_is_said_once_for_all_that_wait() -> None:
    """The line with the seconds is not repeated for each row, and it goes when there is room."""
    session = FakeLedgerSession(facts=Facts(20.0, 0, 10, 12.0))
    session.at_work = [made(session, prompt, state="sending", request_id=None) for prompt in ("a", "b")]
    board, messages = opened(session)
    assert head(messages)["wait"] == ["waiting for the rate limit, ", [12.0, -1]]
    assert [(row["wait"], "time" in row) for row in rows(messages).values()] == [(True, False)] * 2
    session.facts = Facts(20.0, 2, 10, None)
    board.refresh()
    assert [(row["wait"], row["time"]) for row in rows(messages).values()] == [(False, ["being sent"])] * 2
    assert head(messages)["wait"] == []


def test_an_empty_board_says_how_to_make_the_first_clip() -> None:
    """In code, or by a button if it leads anywhere; a list of one's own has neither."""
    empty, messages = opened()
    assert "session.text_to_video" in head(messages)["empty"]
    assert head(messages)["create"] == ""
    created = list[None]()
    empty.on_create(lambda: created.append(None))
    assert head(messages)["create"] == "Make your first clip"
    says(empty, "create")
    assert created == [None]
    board, messages = opened(jobs=())
    board.on_create(print)
    assert (board.still()[1], head(messages)["create"]) == ("No clips in this list.", "")


def test_a_board_of_given_jobs_shows_no_others() -> None:
    """What else the session does stays out, and the sum is that of these."""
    session = FakeLedgerSession()
    fox, cat = made(session, "fox", cost_usd=0.25, state="completed"), made(session, "cat")
    board, messages = opened(jobs=[fox])
    learn(cat, progress=0.5)
    board.refresh()
    assert (board.jobs, head(messages)["money"]) == ((fox,), "$0.25")


def test_one_row_opens_at_a_time_and_closes_again() -> None:
    """The open row has the card's words and actions, and follows its job."""
    session = FakeLedgerSession()
    session.at_work = [made(session, "fox", progress=0.5), made(session, "cat")]
    board, _ = opened(session)
    says(board, "open", key="0")
    assert (board.face["prompt"], board.progress) == ("fox", 0.5)
    assert [name for name, _ in board.face["actions"]] == ["stop", "copy", "select"]
    says(board, "open", key="1")
    assert (board.opened, board.face["prompt"]) == ("1", "cat")
    says(board, "open", key="1")
    assert (board.opened, board.face["word"], board.figures) == ("", "", [])
    says(board, "open", key="99")
    assert board.opened == ""
    says(board, "open", key="0")
    learn(board.jobs[1], state="failed", watched=False, error=rb.errors.ReelbookError("content policy"))
    board.refresh()
    assert (board.face["word"], board.face["note"]) == ("Failed", "content policy")


def test_another_jobs_change_leaves_the_open_row_alone() -> None:
    """Its counting lines are not sent because somebody else's changed."""
    session, changed = FakeLedgerSession(), list[str]()
    fox, cat = made(session, "fox"), made(session, "cat")
    session.at_work = [fox, cat]
    board, _ = opened(session)
    says(board, "open", key="0")
    board.observe(lambda change: changed.append(change["name"]))
    session.thread.at += 30
    learn(cat, progress=0.9)
    board.refresh()
    assert changed == []


def test_rows_are_chosen_in_the_page_and_from_python() -> None:
    """`selected` holds request ids, in the order of choosing; the rows and the open one's button say it."""
    session = FakeLedgerSession()
    session.at_work = [made(session, "fox"), made(session, "cat"), made(session, "owl", request_id=None)]
    board, messages = opened(session)
    for key in ("1", "0", "2"):
        says(board, "select", key=key)
    assert board.selected == ["req-cat", "req-fox"]
    says(board, "select", key="1")
    assert board.selected == ["req-fox"]
    board.selected = ["req-cat", "not here"]
    assert [prompt for prompt, row in rows(messages).items() if row.get("chosen")] == ["cat"]
    given, _ = opened(session, selected=["req-cat"])
    assert given.selected == ["req-cat"]
    says(board, "open", key="0")
    assert board.face["actions"][-1] == ["select", "Select"]
    says(board, "select", key="0")
    assert board.face["actions"][-1] == ["select", "Deselect"]


def test_again_sends_once_and_opens_the_new_row() -> None:
    """A double press pays once."""
    session = FakeLedgerSession()
    session.at_work = [made(session, "fox", state="completed")]
    board, _ = opened(session)
    for _ in range(2):
        says(board, "again", key="0")
    assert [each.prompt for each in session.submitted] == ["fox"]
    assert (board.opened, len(board.jobs)) == ("1", 2)


def test_the_buttons_do_what_they_say(session: rb.Session, sandbox: Sandbox) -> None:
    """Stop watching, Watch again and Don't send reach the job; a late Don't send is said."""
    sandbox.settings(pace=3600)
    running = session.text_to_video("slow", duration_seconds=1)
    until(lambda: running.request_id)
    board = JobBoard(session)
    says(board, "stop", key="0")
    until(lambda: not running.view().watched)
    says(board, "watch", key="0")
    until(lambda: running.view().watched)
    says(board, "cancel", key="0")
    assert board.message["text"] == "It was already sent. The job goes on and is billed."
    says(board, "stop", key="99")


def test_pictures_are_small_and_asked_for_by_name(tmp_path: Path) -> None:
    """A clip's poster, a person's image, and nothing for what has neither."""
    session = FakeLedgerSession()
    image = JobRequest("image-to-video", "a cat turns", 5, image=prepare(Image.new("RGB", (900, 600))))
    done = made(session, "fox", state="completed", clip=clip(tmp_path / "clip.mp4"))
    session.at_work = [done, made(session, "plain"), made(session, "cat")]
    session.at_work[2].request = image
    board, messages = opened(session)
    found = rows(messages)
    pictures = [found[prompt].get("picture", "") for prompt in ("fox", "plain", "a cat turns")]
    assert pictures == ["0c", "", "2i"]
    posters = asks(board, "posters", keys=["0c", "2i", "1", "99c"])["buffers"]
    assert [0 < len(each) <= 2500 for each in posters] == [True, True, False, False]
    assert (board.clip_path("0c"), board.clip_path("1")) == (tmp_path / "clip.mp4", None)
    learn(session.at_work[1], state="completed", clip=done.clip)  # another picture has another name
    board.refresh()
    assert rows(messages)["plain"]["picture"] == "1c"


def test_done_waits_for_what_runs_and_keeps_the_page_up_to_date(session: rb.Session) -> None:
    """While a cell awaits it, changes are sent by the kernel's own thread; then everything has ended."""
    batch = session.submit_many(["a", "b"], duration_seconds=1)
    board = JobBoard(session)
    board._live.close()
    messages = heard(board)
    says(board, "hello")
    asyncio.run(asyncio.wait_for(board.done(), 60))
    assert [each.running for each in batch] == [False, False]
    assert {row["word"] for row in rows(messages).values()} == {"Completed"}


def test_a_real_run_sends_at_most_400_bytes_for_a_changed_job(session: rb.Session, sandbox: Sandbox) -> None:
    """All messages of a batch with long prompts, from the first row to the last."""
    sandbox.settings(pace=0.5)
    board = JobBoard(session)
    messages = heard(board)
    says(board, "hello")
    prompts = [f"{'雪の中を走る狐 ' * 40}{number}" for number in range(8)]
    session.submit_many(prompts, duration_seconds=1).results(60)
    until(lambda: head(messages).get("states") == "8 done")
    sent = [row for content, _ in messages for row in content.get("rows", [])]
    sizes = [len(json.dumps(row, ensure_ascii=False).encode()) for row in sent]
    assert (len(sizes) >= 16, max(sizes) <= 400) == (True, True)


def test_a_stopped_batch_says_so(session: rb.Session, sandbox: Sandbox) -> None:
    """Why the rest was taken back stands on the board of the batch."""
    sandbox.settings(balance_usd=0.05)
    batch = session.submit_many(["a", "b", "c"], duration_seconds=1)
    board = JobBoard(jobs=batch)
    messages = heard(board)
    says(board, "hello")
    assert all(end.wait(30) for end in batch._ends)
    until(lambda: "The balance ran out" in str(head(messages).get("note")))


def test_the_still_form_is_small_and_reads_well(tmp_path: Path) -> None:
    """What a saved notebook shows: the totals, the newest rows, a few pictures; markup stays text."""
    session = FakeLedgerSession()
    film = clip(tmp_path / "clip.mp4")
    session.past = [made(session, f"<b>{n}", state="completed", cost_usd=0.25, clip=film) for n in range(40)]
    page, text = opened(session)[0].still()
    assert text == "40 clips · 40 done · spent $2.40 · sandbox"
    assert ("&lt;b&gt;0" in page, "<b>" in page, "and 28 more" in page) == (True, False, True)
    assert (page.count("<img"), len(page) < 25_000) == (5, True)


def test_the_still_form_is_kept_once_everything_has_ended() -> None:
    """What is saved shows the end; a board that is told nothing new stays as it is."""
    session = FakeLedgerSession()
    fox = made(session, "fox")
    session.at_work = [fox]
    board, _ = opened(session)
    kept = kept_stills(board)
    fox._life.finish(error=rb.errors.ReelbookError("content policy"), state="failed")
    for _ in range(3):
        board.refresh()
    says(board, "hello")
    assert kept == ["1 clip · 1 failed · spent $2.40 · sandbox"]


def test_an_idle_board_of_earlier_clips_keeps_its_view(sandbox: Sandbox) -> None:
    """A new view looks the same jobs up again, and no new still form replaces it by a newer one."""
    with rb.connect("sandbox") as earlier:
        earlier.text_to_video("a fox", duration_seconds=1).result(30)
    with rb.connect("sandbox") as session:
        board = JobBoard(session)
        kept = kept_stills(board)
        says(board, "hello")
        board.refresh()
        assert (len(board.jobs), kept) == (1, [])


def test_a_damaged_clip_is_fetched_again_and_the_others_are_shown(session: rb.Session) -> None:
    """A file that is gone or cut off stops no panel: its row says so and offers the way back."""
    gone, cut, whole = [session.text_to_video(each, duration_seconds=1) for each in ("gone", "cut", "whole")]
    files = [job.result(30).path for job in (gone, cut, whole)]
    files[0].unlink()
    files[1].chmod(0o600)
    files[1].write_bytes(files[1].read_bytes()[:200])
    board = JobBoard(session)
    messages = heard(board)
    says(board, "hello")
    shown = rows(messages)
    assert [plain(shown[each]["time"]) for each in ("gone", "cut")] == ["not on this disk"] * 2
    assert plain(shown["whole"]["time"]).startswith("took ")
    assert [shown[each].get("picture", "") for each in ("gone", "cut", "whole")] == ["", "", "2c"]
    says(board, "open", key="1")
    assert (board.face["stage"], board.face["actions"][0]) == ("No file here.", ["watch", "Fetch again"])
    card = rb.JobCard(cut)
    assert all(page.still()[0] for page in (board, card, rb.Gallery(session), rb.Compare([cut, whole])))
    assert card.poster == b""
    says(board, "watch", key="1")
    assert cut.result(30).duration_seconds == 1
    until(lambda: board.face["clip"] and card.poster and rows(messages)["cut"].get("picture") == "1c")
