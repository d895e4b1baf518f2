"""The job's card."""

import threading
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from PIL import Image
from widgets.doubles import FOX, FakeSession, clip, job, kept_stills, learn, says

from reelbook.media.images import prepare
from reelbook.session import JobRequest
from reelbook.widgets.job_card import JobCard
from reelbook.widgets.static_html import POSTER_BYTES


def test_a_change_reaches_the_card_from_any_thread() -> None:
    """The session's thread says that something changed, and the card has it soon after."""
    running, seen = job(progress=0.1), threading.Event()
    card = JobCard(running)
    card.observe(lambda _: seen.set(), "progress")
    threading.Thread(target=learn, args=(running,), kwargs={"progress": 0.7}).start()
    assert seen.wait(60)
    assert card.progress == 0.7


def test_a_card_says_that_the_ledger_cannot_be_written() -> None:
    """At once, though nothing changes in its job; and it says when that is over."""
    session: Any = FakeSession()
    running = job(session)
    card, said = JobCard(running), SimpleQueue[str]()
    card.observe(lambda change: said.put(change["new"]["text"]), "message")
    for kind, text, over in (
        ("trouble", "The ledger can't be written: the disk is full.", "The ledger can be written again."),
        ("key_trouble", "The service doesn't accept this API key.", "The key is accepted now."),
    ):
        for trouble in (text, None):
            session.facts = replace(session.facts, **{kind: trouble})
            session.tell(None)
            assert said.get(timeout=60) == (trouble or over)
    card.close()
    assert session.listeners == []


def test_unchanged_things_are_not_sent_again() -> None:
    """An update whose only news is the progress changes the progress and the counting lines, nothing else."""
    running, changed = job(progress=0.1, estimated_cost_usd=0.25), set[str]()
    card = JobCard(running)
    card.observe(lambda change: changed.add(change["name"]))
    learn(running, progress=0.2)
    card.refresh()
    assert changed == {"progress", "figures"}


def test_a_card_can_take_up_another_job() -> None:
    """The old job is listened to no more; an empty card says what will appear."""
    first, second = job(state="pending"), job(progress=0.3)
    card = JobCard(first)
    card.job = second
    assert (card.state, card.progress, card.live) == ("processing", 0.3, True)
    assert not first._listeners
    card.job = None
    assert (card.state, card.progress, card.live) == ("", None, False)
    assert card.face["stage"] == card.still()[1] == "The clip appears here when it is done."
    assert not second._listeners


def test_the_persons_own_image_stands_on_the_stage_until_the_clip_does(tmp_path: Path) -> None:
    """A small preview first, then the clip's poster, each small enough to be saved."""
    picture = prepare(Image.effect_noise((800, 600), 80))
    running = job(request=JobRequest("image-to-video", "x", 5, image=picture))
    card = JobCard(running)
    preview = card.poster
    assert 0 < len(preview) <= POSTER_BYTES
    learn(running, state="completed", clip=clip(tmp_path / "c.mp4"))
    card.refresh()
    assert 0 < len(card.poster) <= POSTER_BYTES
    assert card.poster != preview


def test_again_sends_the_same_request_once(tmp_path: Path) -> None:
    """A second press finds a running job and buys nothing."""
    session = FakeSession()
    card = JobCard(job(session=session, state="failed"))
    says(card, "again")
    says(card, "again")
    assert session.submitted == [FOX]
    assert card.state == "processing"


def test_the_still_form_shows_the_clip_and_escapes_what_came_from_outside(tmp_path: Path) -> None:
    """A saved page has poster, prompt, figures and cost, in at most 20 KB and without markup of others."""
    asked = JobRequest("text-to-video", "<script>alert(1)</script> & a fox", 5, "16:9", 7)
    finished = clip(tmp_path / "c.mp4", asked)
    bundle = JobCard(job(request=asked, state="completed", clip=finished, cost_usd=0.25))._repr_mimebundle_()
    page = bundle["text/html"]
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert 'src="data:image/jpeg;base64,' in page
    assert "sandbox · Completed · 1.0 s · 64 × 36 · seed 7 · took 48 s · $0.25" in page
    assert len(page) < 20_000
    assert "a fox" in bundle["text/plain"]


def test_a_finished_card_replaces_its_still_form_once(tmp_path: Path) -> None:
    """What the notebook saves is the finished clip, not the progress at the moment of display."""
    running = job(progress=0.2)
    card = JobCard(running)
    pages = kept_stills(card)
    learn(running, progress=0.4)
    card.refresh()
    assert pages == []
    learn(running, state="completed", clip=clip(tmp_path / "c.mp4"))
    card.refresh()
    card.refresh()
    assert len(pages) == 1
    assert "Completed" in pages[0]
