"""An exported clip says what made it, whatever was done to the file on its way."""

import json
import struct
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import av
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from media.test_clips import make
from PIL import Image
from support.fragments import fragmented

import reelbook as rb
from reelbook.errors import InvalidInput, NoPassport, NotAVideo
from reelbook.media import boxes, clips
from reelbook.media.images import prepare
from reelbook.requests import JobRequest
from reelbook.session import Clip, Passport

FOX = JobRequest.from_text('a "red" fox, {not a slot}\nin snow <b>&amp;</b>', duration_seconds=5, seed=7)
AT = datetime(2026, 11, 25, 9, 30, tzinfo=UTC)

prompts = st.one_of(
    st.text(min_size=1, max_size=200),
    st.text(alphabet='{}|"\\,:\n\r\t\x00\x1b<>&;🦊é\u2028\ufffe', min_size=1, max_size=60),
    st.text(min_size=1, max_size=5).map(lambda some: (some * 20_000)[:20_000]),
).filter(lambda prompt: prompt.strip())
requests = st.builds(
    JobRequest.from_text,
    prompts,
    duration_seconds=st.integers(1, 10),
    aspect_ratio=st.sampled_from(("16:9", "9:16", "1:1")),
    seed=st.integers(-1, 2**63),
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clip as a service sends it."""
    return make(tmp_path_factory.mktemp("clips") / "req.mp4", frames=12)


@pytest.fixture
def clip(file: Path) -> Clip:
    return Clip(file, "req-1", request=FOX, cost_usd=0.25, sandbox=True, made_at=AT)


def remuxed(source: Path, target: Path) -> Path:
    """As `ffmpeg -i source -c copy target` does it."""
    with av.open(str(source)) as old, av.open(str(target), "w") as new:
        new.metadata.update(old.metadata)
        stream = new.add_stream_from_template(old.streams.video[0])
        for packet in old.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                new.mux(packet)
    return target


def without_user_data(file: Path) -> Path:
    """As Discord does it: the box `udta` full of zeros."""
    data = bytearray(file.read_bytes())
    at = data.index(b"udta") - 4
    (size,) = struct.unpack_from(">I", data, at)
    data[at + 8 : at + size] = bytes(size - 8)
    cleared = file.with_stem("cleared")
    cleared.write_bytes(data)
    return cleared


def zipped(file: Path) -> Path:
    """The clip in a zip, without its JSON."""
    archive = file.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as writing:
        writing.write(file, "clips/fox.mp4")
    return archive


def packets(file: Path) -> list[bytes]:
    with av.open(str(file)) as container:
        return [bytes(packet) for packet in container.demux(video=0)]


@settings(max_examples=50)
@given(request=requests)
def test_every_request_comes_back(request: JobRequest, file: Path, tmp_path_factory: Any) -> None:
    """Exported, remuxed, zipped, or with its tags zeroed: the same request, with the same pictures."""
    folder = tmp_path_factory.mktemp("export")
    saved = Clip(file, "req-1", request=request, sandbox=True).save(folder / "fox.mp4")
    for each in (
        saved,
        saved.with_suffix(".json"),
        remuxed(saved, folder / "remuxed.mp4"),
        zipped(saved),
        without_user_data(saved),
    ):
        assert rb.passport(each).request == request, each.name
    assert packets(saved) == packets(file)
    assert clips.probe(saved) == replace(clips.probe(file), size_bytes=saved.stat().st_size)


def test_it_says_all_that_is_known(clip: Clip, tmp_path: Path) -> None:
    """Price, time, size, service and the source's type by IPTC's word; as text for people, too."""
    saved = rb.passport(clip.save(tmp_path / "fox.mp4"))
    assert saved == clip.passport()
    assert (saved.request_id, saved.cost_usd, saved.made_at, saved.service) == ("req-1", 0.25, AT, "sandbox")
    assert (saved.seconds, saved.width, saved.height) == (1.0, 96, 64)
    asked, _, known = str(saved).rpartition(" · sandbox · ")
    assert "\n5 s · 16:9 · seed 7" in asked
    assert known == f"$0.25 · {AT.astimezone():%Y-%m-%d %H:%M}"
    assert json.loads((tmp_path / "fox.json").read_text("utf-8")) == saved.record()


def test_the_source_type_follows_what_made_it() -> None:
    """Drawn by the sandbox, made by a model, made by a model from a photo."""
    photo = JobRequest("image-to-video", "zoom", image=prepare(Image.new("RGB", (64, 64))))
    for request, service, expected in (
        (FOX, "sandbox", "algorithmicMedia"),
        (FOX, "live", "trainedAlgorithmicMedia"),
        (photo, "live", "compositeWithTrainedAlgorithmicMedia"),
        (FOX, None, None),
    ):
        assert Passport(request, service=service).source_type == expected


def test_players_and_other_tools_show_it(clip: Clip, tmp_path: Path) -> None:
    """FFmpeg's libraries, and so ffprobe, see the tags; the comment is A1111's form."""
    with av.open(str(clip.save(tmp_path / "fox.mp4"))) as container:
        tags = container.metadata
    assert tags["comment"].startswith(FOX.prompt + '\nLength: 5, Shape: "16:9", Seed: 7, ')
    assert ", Size: 96x64, " in tags["comment"]
    assert tags["title"] == FOX.prompt[:80]
    assert tags["date"] == "2026-11-25T09:30:00+00:00"


def test_what_was_in_the_file_stays(file: Path, tmp_path: Path) -> None:
    """Other tags and another packet of XMP; exported again there is one passport."""
    theirs = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="r"><a/></rdf:RDF></x:xmpmeta>'
    tagged = tmp_path / "tagged.mp4"
    boxes.copy_with_notes(file, tagged, {b"aART": "a studio"}, theirs.encode())
    first = Clip(tagged, "req-1", request=FOX).save(tmp_path / "first.mp4")
    second = Clip(first, "req-2", request=replace(FOX, seed=8)).save(tmp_path / "second.mp4")
    notes = boxes.read_notes(second)
    assert notes.tags[b"aART"] == "a studio"
    assert notes.tags[b"\xa9too"] == boxes.read_notes(file).tags[b"\xa9too"]
    assert b"<a/>" in boxes.read_notes(first).xmp
    assert notes.xmp.count(b"reelbook:passport>") == 2  # one element, opened and closed
    assert rb.passport(second).request.seed == 8


def test_content_credentials_stay_valid(file: Path, tmp_path: Path) -> None:
    """A file that is sealed (C2PA) isn't touched: its passport stands in the JSON alone."""
    sealed = tmp_path / "sealed.mp4"
    seal = bytes.fromhex("d8fec3d61b0e483c92975828877ec481") + b"credentials"
    sealed.write_bytes(file.read_bytes() + struct.pack(">I4s", 8 + len(seal), b"uuid") + seal)
    saved = Clip(sealed, "req-1", request=FOX).save(tmp_path / "fox.mp4")
    assert saved.read_bytes() == sealed.read_bytes()
    assert rb.passport(saved.with_suffix(".json")).request == FOX
    with pytest.raises(NoPassport):
        rb.passport(saved)


def test_a_clip_in_fragments_keeps_its_places(tmp_path: Path) -> None:
    """Its parts are found by where they lie, so only the end is written to."""
    parts = tmp_path / "parts.mp4"
    parts.write_bytes(fragmented(1))
    saved = Clip(parts, "req-1", request=FOX).save(tmp_path / "fox.mp4")
    assert saved.read_bytes().startswith(parts.read_bytes())
    assert rb.passport(saved).request == FOX


def test_without_a_passport_the_file_is_as_it_came(clip: Clip, tmp_path: Path) -> None:
    """Nothing beside it either; and a JSON that is something else isn't touched by one."""
    saved = clip.save(tmp_path / "fox.mp4", passport=False)
    assert saved.read_bytes() == clip.path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == ["fox.mp4"]
    saved.with_suffix(".json").write_text('{"mine": 1}')
    clip.save(tmp_path / "fox.mp4", overwrite=True)
    assert saved.with_suffix(".json").read_text() == '{"mine": 1}'


def test_nothing_private_is_in_it(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, account, folder, machine or name of a person."""
    for name in ("REELBOOK_API_KEY", "LOGNAME", "USER"):
        monkeypatch.setenv(name, "rk_live_planted_0123456789abcdef")
    photo = prepare(Image.new("RGB", (64, 64)))
    request = JobRequest("image-to-video", "zoom", image=photo)
    kept = tmp_path / "planted-req.mp4"
    kept.write_bytes(file.read_bytes())
    saved = Clip(kept, "req-1", request=request, made_at=AT).save(tmp_path / "zoom.mp4")
    content = saved.read_bytes() + saved.with_suffix(".json").read_bytes()
    assert b"planted" not in content
    assert str(tmp_path).encode() not in content


def absurd(data: bytes, kind: bytes, size: int) -> bytes:
    """The file with another size in the head of its first such box."""
    at = data.index(kind) - 4
    return data[:at] + struct.pack(">I", size) + data[at + 4 :]


def broken(data: bytes) -> Iterator[bytes]:
    """The file cut off, and with boxes of absurd sizes and numbers."""
    yield from (b"", b"hello", *(data[: int(len(data) * share)] for share in (0.999, 0.9, 0.5, 0.1, 0.01)))
    for kind in (b"ftyp", b"moov", b"trak", b"stbl", b"udta", b"ilst", b"mdat"):
        yield from (absurd(data, kind, size) for size in (2, 7, 2**31, 2**32 - 1))
    yield data + struct.pack(">I4s", 8, b"free") * 2_000_000
    yield data[:32] + b"".join(struct.pack(">I4s", 8 * n, b"moov") for n in range(2_000_000, 0, -1))


def test_a_damaged_file_is_refused_at_once(clip: Clip, tmp_path: Path) -> None:
    """A typed error within a tenth of a second."""
    file = clip.save(tmp_path / "fox.mp4")

    def took() -> float:
        began = time.thread_time()
        with pytest.raises(NotAVideo):
            rb.passport(file)
        return time.thread_time() - began

    for number, data in enumerate(broken(file.read_bytes())):
        file.write_bytes(data)
        assert min(took() for _ in range(3)) < 0.1, number  # a busy machine makes one of them slower


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1]",
        "{" * 100_000,
        '{"reelbook_passport": 1}',
        '{"reelbook_passport": 2, "request": {}}',
        '{"reelbook_passport": 1, "request": 3}',
        '{"reelbook_passport": 1, "request": {"mode": "x"}}',
        '{"reelbook_passport": 1, "request": {"mode": "text-to-video", "prompt": " "}}',
    ],
)
def test_a_json_that_says_nothing_is_told(text: str, tmp_path: Path) -> None:
    """Somebody else's, or one that was changed beyond use."""
    for content in (text.encode(), text.encode() + b"\xff"):
        (tmp_path / "x.json").write_bytes(content)
        with pytest.raises(NoPassport, match=r"x\.json doesn't say what made it"):
            rb.passport(tmp_path / "x.json")


def test_a_zip_of_several_asks_which(clip: Clip, tmp_path: Path) -> None:
    """One is chosen by its name, with or without its ending."""
    archive = tmp_path / "foxes.zip"
    with zipfile.ZipFile(archive, "w") as writing:
        for name, seed in (("one", 1), ("two", 2)):
            saved = replace(clip, request=replace(FOX, seed=seed)).save(tmp_path / f"{name}.mp4")
            writing.write(saved, f"{name}.mp4")
            writing.write(saved.with_suffix(".json"), f"{name}.json")
    with pytest.raises(InvalidInput, match=r"foxes\.zip holds 2 clips\. Name one"):
        rb.passport(archive)
    assert [rb.passport(archive, each).request.seed for each in ("one", "two.mp4")] == [1, 2]
    with pytest.raises(NoPassport, match="three"):
        rb.passport(archive, "three")
    archive.write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(NoPassport, match=r"foxes\.zip isn't a zip"):
        rb.passport(archive)


def test_a_zip_with_folders_loses_no_clip(clip: Clip, tmp_path: Path) -> None:
    """Equal names in two of them are two clips, and what macOS adds for itself is none."""
    archive = tmp_path / "days.zip"
    with zipfile.ZipFile(archive, "w") as writing:
        for day, seed in (("monday", 1), ("tuesday", 2)):
            saved = replace(clip, request=replace(FOX, seed=seed)).save(tmp_path / f"{seed}.mp4")
            writing.write(saved, f"{day}/fox.mp4")
            writing.writestr(f"__MACOSX/{day}/._fox.mp4", b"\0\5\x16\7 of the Finder")
    with pytest.raises(InvalidInput, match=r"holds 2 clips\. Name one: clip='monday/fox\.mp4'"):
        rb.passport(archive, "fox")
    assert [rb.passport(archive, f"{day}/fox.mp4").request.seed for day in ("monday", "tuesday")] == [1, 2]


def test_a_zip_that_grows_immense_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So much is unpacked, and no more."""
    monkeypatch.setattr("reelbook.session.passports._MOST_UNPACKED", 2_500)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as writing:
        for number in range(9):
            said = json.dumps(Passport(replace(FOX, seed=number)).record())
            writing.writestr(f"{number}.json", said.ljust(1_000))
    with pytest.raises(InvalidInput, match="holds 2 clips"):
        rb.passport(tmp_path / "bomb.zip")


@pytest.mark.parametrize("made_at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59", "0001-01-01"])
def test_what_a_stranger_wrote_is_shown_as_text(made_at: str, tmp_path: Path) -> None:
    """A time that some zone doesn't have is none, and no order of a terminal comes through."""
    record = Passport(FOX).record() | {"made_at": made_at, "service": "\x1b[31mlive"}
    (tmp_path / "fox.json").write_text(json.dumps(record), "utf-8")
    found = rb.passport(tmp_path / "fox.json")
    assert (found.made_at, found.request) == (None, FOX)
    assert str(found).endswith(" · [31mlive")
    assert repr(found) == str(found)
