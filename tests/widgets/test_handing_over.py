"""Clips that are given away: what goes out, what never does, and that it plays without a network."""

import base64
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from media.test_clips import make

from reelbook.errors import InvalidInput, NoPassport
from reelbook.requests import JobRequest
from reelbook.secret import Secret
from reelbook.session import Clip, passport
from reelbook.session.passports import passports
from reelbook.widgets.handing_over import Handed, common_title, hand_over

NOTE = "the glow <on> the tail"


@pytest.fixture
def handed(tmp_path: Path) -> list[Handed]:
    """Two picks; one has a note and votes."""
    made = []
    for number, place in enumerate(("snow", "</script> rain")):
        request = JobRequest.from_text(f"a fox in {place}", duration_seconds=3, seed=7 + number)
        file = make(tmp_path / f"req-{number}.mp4", frames=12)
        made.append(Handed(Clip(file, f"req-{number}", request, cost_usd=0.15, sandbox=True)))
    return [replace(made[0], note=NOTE, votes="won 18 of 24 votes"), made[1]]


def clips_in(page: str) -> Iterator[bytes]:
    for data in re.findall(r'data-clip="data:video/mp4;base64,([^"]+)"', page):
        yield base64.b64decode(data)


def contents(archive: Path) -> bytes:
    """All files of an archive, and the clips in its page."""
    with zipfile.ZipFile(archive) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    pages = [file.decode() for name, file in files.items() if name.endswith(".html")]
    return b"".join([*files.values(), *(clip for page in pages for clip in clips_in(page))])


def test_the_page_says_what_made_each_clip(handed: list[Handed], tmp_path: Path) -> None:
    """Prompt with the words that differ, seed, length, note and votes; a clip taken from it says it, too."""
    page = hand_over(handed, tmp_path / "foxes.html", title="Foxes & snow").read_text("utf-8")
    for said in (
        "<h1>Foxes &amp; snow</h1>",
        "<p>a fox in <mark>snow</mark></p>",
        "seed 7 · 1.0 s",
        "won 18 of 24 votes",
        "the glow &lt;on&gt; the tail",
    ):
        assert said in page
    [request, _] = [passports(BytesIO(clip), "x")[0]["x"].request for clip in clips_in(page)]
    assert request == handed[0].clip.request


def test_nothing_is_loaded_and_nothing_private_goes_out(handed: list[Handed], tmp_path: Path) -> None:
    """Text stays text, no address is opened; neither price, folder nor unwanted notes are in it."""
    page = hand_over(handed, tmp_path / "foxes.html", title="Foxes", notes=False).read_text("utf-8")
    assert "default-src 'none'" in page
    assert not re.search("the tail|votes", page)
    assert page.count("</script>") == 1
    assert not re.search(r'(src|href)="(?!data:)', page)
    everything = page.encode() + b"".join(clips_in(page))
    assert b"cost" not in b"".join(clips_in(page))
    assert str(tmp_path).encode() not in everything


def test_a_zip_holds_the_files_as_well(handed: list[Handed], tmp_path: Path) -> None:
    """The page, each clip under a telling name, and what made it as JSON."""
    archive = hand_over(handed, tmp_path / "foxes.zip", title="Foxes")
    with zipfile.ZipFile(archive) as opened:
        names = sorted(opened.namelist())
    fox, rain = "a-fox-in-snow-7", "a-fox-in-script-rain-8"
    files = [f"{name}.{ending}" for name in (fox, rain) for ending in ("mp4", "json")]
    assert names == sorted([*files, "foxes.html"])
    assert passport(archive, rain).request == handed[1].clip.request
    assert passport(archive, fox).cost_usd is None


@pytest.mark.parametrize("left_out", ["prompts", "seeds"])
def test_what_is_left_out_is_in_no_file(handed: list[Handed], tmp_path: Path, left_out: str) -> None:
    """Without prompts or seeds the clips hold no passport either, and their names say nothing."""
    prompts, seeds = left_out != "prompts", left_out != "seeds"
    archive = hand_over(handed, tmp_path / "foxes.zip", title="Two", prompts=prompts, seeds=seeds)
    with zipfile.ZipFile(archive) as opened:
        assert sorted(opened.namelist()) == ["clip-1.mp4", "clip-2.mp4", "foxes.html"]
        page = opened.read("foxes.html").decode()
    hidden, told = ("fox in", "seed 7") if left_out == "prompts" else ("seed 7", "a fox in")
    assert hidden not in page
    assert told in page
    assert b'"seed": 7' not in contents(archive)


def test_an_exported_clip_tells_no_price(handed: list[Handed], tmp_path: Path) -> None:
    """Its file goes on saying what made it, but for the price; without prompts it says nothing."""
    exported = handed[0].clip.save(tmp_path / "mine.mp4")
    assert passport(exported).cost_usd == 0.15
    files = [Clip(exported, "")]
    archive = hand_over(files, tmp_path / "told.zip")
    said = passport(archive)
    assert (said.request, said.cost_usd) == (handed[0].clip.request, None)
    assert b"cost" not in contents(archive)
    archive = hand_over(files, tmp_path / "bare.zip", prompts=False)
    assert not re.search(b"a fox|cost", contents(archive))
    with pytest.raises(NoPassport):
        passport(archive)


def test_in_colab_no_copy_is_downloaded(
    handed: list[Handed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that holds the clips is the one to download; their copies are gone by then."""
    files: Any = ModuleType("google.colab.files")
    files.download = (downloaded := list[str]()).append
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    monkeypatch.setitem(sys.modules, "google.colab.files", files)
    hand_over(handed, tmp_path / "foxes.zip")
    assert downloaded == []


def test_what_cant_go_out_is_said_first(handed: list[Handed], tmp_path: Path) -> None:
    """Nothing is written: a key in a note, a file in the way, no clips, an ending that isn't known."""
    key = Secret("rk_secret_of_mine_123")
    private = replace(handed[0], note="my key is " + key.reveal())
    (tmp_path / "old.html").write_text("kept")
    refused: list[tuple[Any, str, str]] = [
        ([private], "a.html", "belongs to clip 1"),
        ([replace(handed[0], note=f"see {Path.home()}/x")], "a.html", "home folder"),
        ([replace(handed[0].clip, path=tmp_path / "gone.mp4")], "a.html", "isn't on this disk"),
        (handed, "old.html", "already exists"),
        (handed, "no/a.html", "no folder"),
        (handed, "a.pdf", r"\.html or \.zip, not \.pdf"),
        ([], "a.html", "No clips"),
        (handed[0].clip, "a.html", "takes a list of jobs and clips, not Clip"),
        (["a.mp4"], "a.html", "takes jobs and clips, not str"),
    ]
    for clips, name, said in refused:
        with pytest.raises(InvalidInput, match=said):
            hand_over(clips, tmp_path / name, title="Two")
    assert (tmp_path / "old.html").read_text() == "kept"
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize(
    ("prompts", "title"),
    [
        (["an owl in snow, dawn", "a fox in snow, night"], "In snow, …"),
        (["a fox in snow"], "A fox in snow"),
        (["a fox in snow", "an owl in rain"], "Clips"),
    ],
)
def test_the_title_is_what_the_prompts_have_in_common(
    handed: list[Handed], prompts: list[str], title: str
) -> None:
    """Short enough for a heading."""
    made = [
        replace(handed[0], clip=replace(handed[0].clip, request=JobRequest.from_text(prompt)))
        for prompt in prompts
    ]
    assert common_title(made) == title
