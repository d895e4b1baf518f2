"""The gallery in the kernel: what it looks up, what it sends, and what its buttons do."""

import zipfile
from pathlib import Path
from typing import Any

import pytest
from support.waiting import until
from widgets.doubles import Page, asks, says

from reelbook.errors import InvalidInput
from reelbook.explore import Sweep
from reelbook.session import Job, Session
from reelbook.widgets import Gallery
from reelbook.widgets import gallery as module


def finished(session: Session, *prompts: str, **arguments: Any) -> list[Job]:
    """Jobs whose clips are here, one a prompt."""
    jobs = [session.text_to_video(prompt, duration_seconds=1, **arguments) for prompt in prompts]
    for job in jobs:
        job.result(30)
    return jobs


def shown(page: Page) -> dict[str, Any]:
    """What the page shows by what it was sent; its tiles in their order."""
    known: dict[str, Any] = {}
    tiles: dict[str, dict[str, Any]] = {}
    for message in page.named("tiles"):
        tiles |= {tile["key"]: tile for tile in message.get("tiles", ())}
        known |= message
    return known | {"tiles": [tiles[key] for key in known["order"]]}


def prompts(page: Page) -> list[str]:
    """What its tiles say."""
    return [tile["prompt"] for tile in shown(page)["tiles"]]


def test_tiles_come_a_page_at_a_time(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first page when a view opens, the next ones as it asks; no tile is sent twice."""
    monkeypatch.setattr(module, "PAGE", 2)
    finished(session, "one", "two", "three", seed=4)
    gallery = Gallery(session)
    page = Page(gallery)
    page.says("hello")
    first = shown(page)
    assert (prompts(page), first["more"], first["count"]) == (["three", "two"], True, "2 clips, more below")
    page.says("page", first=2)
    second = shown(page)
    assert (prompts(page), second["more"], second["count"]) == (["three", "two", "one"], False, "3 clips")
    (one,) = page.last("tiles")["tiles"]
    assert (one["prompt"], one["about"]) == ("one", "seed 4 · 1 s · 16:9")
    page.says("page", first=2)  # another view of it
    assert len(page.named("tiles")) == 2


def test_filters_search_anew_and_can_be_cleared(session: Session) -> None:
    """From Python and from the page; what nothing matches is said, with a way back; clearing asks once."""
    fox, _ = finished(session, "a fox", "a wolf")
    fox.mark(tags=["keep"])
    gallery = Gallery(session)
    page = Page(gallery)
    page.says("hello")
    gallery.tag = "keep"
    assert prompts(page) == ["a fox"]
    assert shown(page)["tiles"][0]["about"].endswith(" · 1 s · 16:9")
    page.says("filter", trait="text", value="wolf")
    last = shown(page)
    assert (last["tiles"], last["nothing"], last["filtered"]) == ([], "No clip matches.", True)
    page.says("clear")
    assert (gallery.text, gallery.tag) == ("", "")
    assert prompts(page) == ["a wolf", "a fox"]
    assert [message["turn"] for message in page.named("tiles")] == [0, 1, 2, 3]


def test_an_empty_gallery_says_what_will_be_there(session: Session) -> None:
    """One line, on the page and in the still form, and the button that begins if it leads anywhere."""
    gallery = Gallery(session)
    page = Page(gallery)
    page.says("hello")
    assert shown(page)["nothing"].startswith("No clips yet.")
    assert "No clips yet." in gallery.still()[1]
    created: list[str] = []
    gallery.on_create(lambda: created.append("pressed"))
    page.says("create")
    assert (shown(page)["create"], created) == ("Make your first clip", ["pressed"])
    gallery.text = "wolf"
    assert shown(page)["create"] == ""


def test_a_clip_that_is_made_appears_in_its_place(session: Session) -> None:
    """Without a reload, once it is finished; only what is new is sent."""
    finished(session, "one")
    gallery = Gallery(session)
    page = Page(gallery)
    page.says("hello")
    finished(session, "two")
    until(lambda: prompts(page) == ["two", "one"])
    until(lambda: shown(page)["tiles"][0].get("here"))
    later = [tile["prompt"] for message in page.named("tiles")[1:] for tile in message.get("tiles", ())]
    assert set(later) == {"two"}
    assert [job.request.prompt for job in gallery.jobs if job.request] == ["two", "one"]
    gallery.close()


def test_an_opened_clip_shows_everything_and_plays(session: Session) -> None:
    """By the page or by its id; its file is served under the panel's own key, its code can be copied."""
    (fox,) = finished(session, "a fox", seed=7)
    fox.mark(note="the tail", tags=["keep", "blue"])
    gallery = Gallery(session)
    gallery.opened = str(fox.request_id)
    face: Any = gallery.face
    assert (face["prompt"], face["remark"], face["tags"]) == ("a fox", "the tail", "keep, blue")
    assert [name for name, _ in face["actions"]] == ["pick", "again", "save", "code", "delete"]
    assert "seed=7" in asks(gallery, "code", kind="cell", key=face["key"])["text"]
    assert asks(gallery, "chunk", index=0, key="")["buffers"] == [fox.result().path.read_bytes()]
    for given in ({}, {"state": "any"}, {"text": "fox", "sort": "oldest"}):  # the search comes first
        assert Gallery(session, opened=str(fox.request_id), **given).face["key"] == str(fox.number)
    gallery.opened = "req-unknown"
    assert ("key" in gallery.face, gallery.opened, gallery.message["text"]) == (False, "", "")


def test_marks_made_on_the_page_are_kept(session: Session) -> None:
    """Pick, note and tags go into the ledger; the tile and the tags to choose from follow."""
    (fox,) = finished(session, "a fox")
    gallery = Gallery(session)
    page = Page(gallery)
    page.says("hello")
    key = str(fox.number)
    page.says("open", key=key)
    page.says("pick", key=key, picked=True)
    page.says("mark", key=key, note="mind")
    page.says("mark", key=key, tags="blue, , keep")
    assert (fox.picked, fox.note, fox.tags) == (True, "mind", ("blue", "keep"))
    assert shown(page)["tiles"][0]["picked"] is True
    assert [name for name, _ in gallery.choices["tag"]] == ["", "blue", "keep"]
    assert gallery.face["picked"] is True


def test_the_clips_of_a_sweep_stand_in_groups_of_an_axis(session: Session) -> None:
    """In its own order, each with how many are picked; filters combine, and what differs inside is marked."""
    finished(session, "a boat")
    sweep = Sweep("a {animal} in {place}", animal=["fox", "owl"], place=["snow", "fog"], duration_seconds=1)
    run = sweep.run(session)
    run.results()
    for job in session.jobs(sweep=run.id, where={"place": "snow"}):
        session.pick(job, note="mind")
    gallery = Gallery(session)
    page = Page(gallery)
    page.says("hello")
    assert [label for _, label in gallery.choices["sweep"]] == ["Any sweep", sweep.template]
    gallery.sweep = str(run.id)
    assert [name for name, _ in gallery.choices["where"]] == ["animal", "place"]
    gallery.group_by = "place"
    message = shown(page)
    assert (message["count"], message["groups"]) == (
        "4 of 4 clips",
        [["snow", "2 picked of 2"], ["fog", "none picked of 2"]],
    )
    assert [tile["group"] for tile in message["tiles"]] == [0, 0, 1, 1]
    marked = {"".join(text for text, differs in tile["runs"] if differs) for tile in message["tiles"]}
    assert marked == {"fox", "owl"}
    gallery.picked = True
    gallery.where = {"animal": "owl"}
    message = shown(page)
    assert (prompts(page), message["count"]) == (["a owl in snow"], "1 of 4 clips")
    assert [words for _, words in message["groups"]] == ["2 picked of 2", "none picked of 2"]
    (owl,) = gallery.jobs
    page.says("pick", key=str(owl.number), picked=False)
    assert shown(page)["groups"][0] == ["snow", "1 picked of 2"]
    gallery.where = {"animal": "bear"}
    assert "has no animal 'bear'" in gallery.message["text"]
    given = Gallery(session, sweep=str(run.id), group_by="place", where={"animal": "fox"})
    assert [job.prompt for job in given.jobs] == ["a fox in snow", "a fox in fog"]
    page.says("clear")
    assert (gallery.sweep, gallery.where, gallery.group_by) == ("", {}, "")
    assert shown(page)["count"] == "5 clips"


def test_a_deleted_file_is_fetched_again_by_a_press(session: Session) -> None:
    """The record stays, the tile says so, and "Fetch again" brings the file back."""
    (fox,) = finished(session, "a fox")
    path, key = fox.result().path, str(fox.number)
    gallery = Gallery(session)
    page = Page(gallery)
    page.says("hello")
    page.says("open", key=key)
    assert "Its record stays" in gallery.face["delete"]
    page.says("delete", key=key)
    assert not path.exists()
    assert "here" not in shown(page)["tiles"][0]
    assert gallery.face["note"].startswith("The clip's file isn't on this disk.")
    assert [name for name, _ in gallery.face["actions"]] == ["watch", "again", "code"]
    page.says("watch", key=key)
    assert fox.result(30).path == path
    until(lambda: gallery.face["clip"])
    path.unlink()  # by other hands
    page.says("open", key=key)
    assert [name for name, _ in gallery.face["actions"]] == ["watch", "again", "code"]
    assert (gallery.figures, gallery.face["bar"]) == ([], "")
    page.says("watch", key=key)
    until(lambda: gallery.face["clip"])
    gallery.close()


def test_again_buys_one_clip_however_often_it_is_pressed(session: Session) -> None:
    """A double press sends one; whoever asked hears of the job."""
    (fox,) = finished(session, "a fox", seed=7)
    gallery = Gallery(session)
    jobs: list[Job] = []
    gallery.on_job(jobs.append)
    Page(gallery)
    for _ in range(2):
        says(gallery, "again", key=str(fox.number))
    assert [job.request for job in jobs] == [fox.request]
    assert len(session.jobs()) == 2
    gallery.close()


def test_vary_and_compare_are_offered_where_somebody_hears_them(session: Session) -> None:
    """Their callbacks get the opened job, and the selected ones in the order of their selection."""
    fox, wolf = finished(session, "a fox", "a wolf")
    gallery = Gallery(session)
    says(gallery, "open", key=str(fox.number))
    assert "vary" not in [name for name, _ in gallery.face["actions"]]
    assert gallery.choices["compare"] == 0
    told = list[Any]()
    gallery.on_vary(told.append)
    gallery.on_compare(told.append)
    says(gallery, "open", key=str(wolf.number))
    assert "vary" in [name for name, _ in gallery.face["actions"]]
    assert gallery.choices["compare"] == 9
    gallery.selected = [str(wolf.request_id), "req-unknown", str(fox.request_id)]
    says(gallery, "vary", key=str(fox.number))
    says(gallery, "compare")
    assert told == [fox, (wolf, fox)]


def test_the_selected_clips_are_exported(session: Session, tmp_path: Path) -> None:
    """In one zip, where it is wanted, and no others; without a selection there is nothing to export."""
    fox, _ = finished(session, "a fox", "a wolf", seed=7)
    gallery = Gallery(session, selected=[str(fox.request_id)])
    with zipfile.ZipFile(gallery.export(tmp_path / "mine.zip")) as archive:
        assert sorted(archive.namelist()) == ["a-fox-7.mp4", "settings.csv", "settings.json"]
    gallery.selected = []
    with pytest.raises(InvalidInput, match="No clips"):
        gallery.export(tmp_path)


def test_the_still_form_has_a_few_small_pictures(session: Session) -> None:
    """Markup in a prompt stays text."""
    finished(session, *(f"a <fox>, number {number}" for number in range(6)))
    page, text = Gallery(session).still()
    assert (page.count("data:image/jpeg"), page.count("a &lt;fox&gt;")) == (4, 4)
    assert len(page) < 20_000
    assert text == "Gallery: 6 clips"


def test_a_job_of_an_earlier_search_is_still_known(session: Session) -> None:
    """The page may speak of it until it has the new one. A closed session keeps what was found."""
    fox, wolf = finished(session, "a fox", "a wolf")
    gallery = Gallery(session)
    gallery.text = "wolf"
    says(gallery, "open", key=str(fox.number))
    assert (gallery.jobs, gallery.opened) == ((wolf,), fox.request_id)
    session.close()
    says(gallery, "page", first=1)
    assert (gallery.jobs, gallery.message["text"]) == ((wolf,), "")
