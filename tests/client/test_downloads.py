"""Downloads against servers that break, move and lie."""

import errno
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest
from support.raw_server import Exchange, Handler, in_turn, raw_server

from reelbook.client import AsyncClient, downloads
from reelbook.errors import DownloadFailed, InvalidInput, LinkExpired, NotAVideo
from reelbook.sandbox.render import Spec, render

KEY = "sk-planted-download"
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_pauses")]


@pytest.fixture(scope="module")
def mp4() -> bytes:
    return render(Spec("a blue boat at sea", 1, "1:1", 7)).mp4


async def fetch(url: Any, path: Path, *, own: str = "http://127.0.0.1:9", **more: Any) -> Path:
    client = AsyncClient(KEY, own)
    try:
        return await client.download(url, path, **more)
    finally:
        await client.aclose()


def serving(data: bytes, pieces: int = 1) -> Handler:
    """Serves byte ranges of `data`, and breaks the connection after 1/`pieces` of it each time."""

    def handle(exchange: Exchange) -> None:
        start = int((exchange.header("range") or "bytes=0-")[6:].rstrip("-"))
        exchange.answer_part(data, until=start + len(data) // pieces + 1)

    return handle


def leave_part(path: Path, data: bytes, validator: str | None = '"v1"') -> None:
    """What an earlier process fetched of `path`, with a note of its version if there is one."""
    path.with_name(f"{path.name}.part").write_bytes(data)
    if validator is not None:
        note = {"validator": validator, "total": 5000}
        path.with_name(f"{path.name}.part.json").write_text(json.dumps(note))


async def test_three_broken_connections_on_another_origin_end_in_a_whole_file_without_the_key(
    mp4: bytes, tmp_path: Path
) -> None:
    """The download goes on where it broke, is whole and playable, and no request carried the key."""
    told: list[tuple[int, int | None]] = []
    with raw_server(serving(mp4, pieces=4)) as files, raw_server(lambda e: e.answer(500)) as own:
        path = await fetch(
            f"{files.url}/clip.mp4", tmp_path / "clip.mp4", own=own.url, report=lambda *x: told.append(x)
        )
    assert path.read_bytes() == mp4
    assert len(files.seen) == 4
    assert [e.header("range") is not None for e in files.seen] == [False, True, True, True]
    assert not any(KEY in e.head for e in files.seen)
    assert own.seen == []
    assert told[-1] == (len(mp4), len(mp4))
    assert [p.name for p in tmp_path.iterdir()] == ["clip.mp4"]


@pytest.mark.parametrize(
    ("validator", "heeded", "asked"),
    [
        pytest.param('"v1"', True, ["bytes=1000-"], id="the same version"),
        pytest.param('"v0"', True, ["bytes=1000-"], id="another version"),
        pytest.param('"v0"', False, ["bytes=1000-", None], id="another version, If-Range ignored"),
        pytest.param(None, True, [None], id="of unknown origin"),
    ],
)
async def test_a_part_left_by_a_killed_process_is_gone_on_with_where_its_version_is_the_same(
    validator: str | None, heeded: bool, asked: list[str | None], mp4: bytes, tmp_path: Path
) -> None:
    """What an earlier process fetched isn't fetched again, and bytes of two versions are never joined."""
    leave_part(tmp_path / "clip.mp4", mp4[:1000] if validator == '"v1"' else b"?" * 1000, validator)

    def handle(exchange: Exchange) -> None:
        if heeded and exchange.header("if-range") not in (None, '"v1"'):
            exchange.answer(200, mp4, {"etag": '"v1"'})
        else:
            exchange.answer_part(mp4)

    with raw_server(handle) as files:
        path = await fetch(files.url, tmp_path / "clip.mp4")
    assert path.read_bytes() == mp4
    assert [e.header("range") for e in files.seen] == asked
    assert files.seen[0].header("if-range") == validator


async def test_an_end_between_the_note_and_the_part_joins_no_two_versions(
    mp4: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new version's note never stands beside the old one's bytes, at whatever moment it ends."""
    path, opened = tmp_path / "clip.mp4", Path.open
    leave_part(path, mp4[:500] + b"?" * 500, '"v0"')

    def ending(self: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if self.suffix == ".part":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return opened(self, mode, *rest, **more)

    def handle(exchange: Exchange) -> None:
        if exchange.header("if-range") == '"v0"':
            exchange.answer(200, mp4, {"etag": '"v1"'})
        else:
            exchange.answer_part(mp4)

    with raw_server(handle) as files:
        with monkeypatch.context() as disk:
            disk.setattr(Path, "open", ending)
            with pytest.raises(DownloadFailed):
                await fetch(files.url, path)
        await fetch(files.url, path)
    assert path.read_bytes() == mp4


async def test_another_origin_never_gets_the_key(tmp_path: Path) -> None:
    """A 401 from elsewhere is a refusal."""
    with raw_server(lambda e: e.answer(401)) as files:
        with pytest.raises(DownloadFailed, match="401"):
            await fetch(files.url, tmp_path / "clip.mp4")
    assert [e.header("authorization") for e in files.seen] == [None]


async def test_the_own_origin_alone_gets_the_key_and_only_when_it_asks(mp4: bytes, tmp_path: Path) -> None:
    """A 401 of the service's own is answered with the key, once. It doesn't follow a redirect elsewhere."""
    with raw_server(lambda e: e.answer(200, mp4)) as files:

        def handle(exchange: Exchange) -> None:
            there = {"location": f"{files.url}/clip.mp4"}
            exchange.answer(302, headers=there) if exchange.header("authorization") else exchange.answer(401)

        with raw_server(handle) as own:
            await fetch(f"{own.url}/clip.mp4", tmp_path / "clip.mp4", own=own.url)
    assert [e.header("authorization") for e in own.seen] == [None, f"Bearer {KEY}"]
    assert [e.header("authorization") for e in files.seen] == [None]


async def test_redirects_without_end_are_an_error(tmp_path: Path) -> None:
    """A circle of redirects ends."""
    with raw_server(lambda e: e.answer(302, headers={"location": "/again"})) as files:
        with pytest.raises(DownloadFailed, match="without end"):
            await fetch(files.url, tmp_path / "clip.mp4")
    assert len(files.seen) == downloads.MAX_REDIRECTS + 1


async def test_what_isnt_a_video_is_not_kept(tmp_path: Path) -> None:
    """A page in place of a clip is found out and leaves nothing behind."""
    with raw_server(lambda e: e.answer(200, b"<html>login</html>" * 100, {"etag": '"x"'})) as files:
        with pytest.raises(NotAVideo):
            await fetch(files.url, tmp_path / "clip.mp4")
    assert list(tmp_path.iterdir()) == []


async def test_a_server_that_brings_nothing_is_given_up_and_the_part_kept(mp4: bytes, tmp_path: Path) -> None:
    """After several fruitless attempts the error says what is kept, and the next call goes on from there."""
    broken = True

    def handle(exchange: Exchange) -> None:
        if broken and len(files.seen) > 1:
            exchange.reset()
        else:
            serving(mp4, pieces=2 if broken else 1)(exchange)

    with raw_server(handle) as files:
        with pytest.raises(DownloadFailed, match="are kept"):
            await fetch(files.url, tmp_path / "clip.mp4")
        kept = (tmp_path / "clip.mp4.part").stat().st_size
        broken = False
        path = await fetch(files.url, tmp_path / "clip.mp4")
    assert files.seen[-1].header("range") == f"bytes={kept}-"
    assert path.read_bytes() == mp4


@pytest.mark.parametrize("status", [404, 410, 403, 400])
async def test_a_link_that_expired_is_told_from_other_refusals_and_the_part_is_kept(
    status: int, mp4: bytes, tmp_path: Path
) -> None:
    """Another link may bring the rest of the same file."""
    leave_part(tmp_path / "clip.mp4", mp4[:1000])
    with raw_server(lambda e: e.answer(status)) as files:
        with pytest.raises(LinkExpired):
            await fetch(files.url, tmp_path / "clip.mp4")
    with raw_server(serving(mp4)) as fresh:
        path = await fetch(fresh.url, tmp_path / "clip.mp4")
    assert path.read_bytes() == mp4
    assert [e.header("range") for e in fresh.seen] == ["bytes=1000-"]


@pytest.mark.parametrize(("status", "expired"), [(410, True), (403, False)])
async def test_the_own_origins_refusal_of_the_key_is_no_expired_link(
    status: int, expired: bool, tmp_path: Path
) -> None:
    """403 by the service itself is about the key; no fresh link helps."""
    with raw_server(lambda e: e.answer(status)) as own:
        with pytest.raises(DownloadFailed) as refused:
            await fetch(f"{own.url}/clip.mp4", tmp_path / "clip.mp4", own=own.url)
    assert isinstance(refused.value, LinkExpired) == expired


async def test_a_file_that_is_there_is_not_fetched_again(mp4: bytes, tmp_path: Path) -> None:
    """A clip on the disk costs no request, also where its name is no text. A folder is no clip, and neither
    is a missing link.
    """
    (tmp_path / "clip.mp4").write_bytes(mp4)
    with raw_server(lambda e: e.answer(500)) as files:
        await fetch(files.url, tmp_path / "clip.mp4")
        if sys.platform == "linux":  # others have no such names
            os.rename(tmp_path / "clip.mp4", tmp_path / "\udcff.mp4")
            await fetch(files.url, tmp_path / "\udcff.mp4")
        with pytest.raises(InvalidInput, match="is a folder"):
            await fetch(files.url, tmp_path)
        with pytest.raises(InvalidInput, match="only a completed job"):
            await fetch(None, tmp_path / "other.mp4")
    assert files.seen == []


async def test_a_server_that_refuses_ranges_and_always_breaks_is_given_up(tmp_path: Path) -> None:
    """What is lost and fetched anew each time is no progress."""

    def handle(exchange: Exchange) -> None:
        if exchange.header("range"):
            exchange.answer(416)
        else:
            exchange.send(b'HTTP/1.1 200 X\r\netag: "v1"\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n')

    with raw_server(handle) as files:
        with pytest.raises(DownloadFailed, match="couldn't be fetched whole"):
            await fetch(files.url, tmp_path / "clip.mp4")
    assert len(files.seen) == 1 + downloads.MAX_FRUITLESS


async def test_an_address_without_a_host_lies_on_the_services_own(mp4: bytes, tmp_path: Path) -> None:
    """The interface says no more than URL; also a path within the service is one."""
    with raw_server(serving(mp4)) as own:
        path = await fetch("/files/clip.mp4", tmp_path / "clip.mp4", own=f"{own.url}/v0")
    assert path.read_bytes() == mp4
    assert own.seen[0].first_line.startswith("GET /files/clip.mp4 ")


async def test_a_part_whose_version_cant_be_named_is_fetched_anew(mp4: bytes, tmp_path: Path) -> None:
    """No header can say that ETag again, so nothing is asked to be gone on with."""
    half = len(mp4) // 2
    head = b'HTTP/1.1 200 X\r\netag: "\xe9\xff"\r\ncontent-length: %d\r\n\r\n' % len(mp4)
    with raw_server(in_turn(lambda e: e.send(head + mp4[:half]), lambda e: e.answer(200, mp4))) as files:
        path = await fetch(files.url, tmp_path / "clip.mp4")
    assert path.read_bytes() == mp4
    assert [exchange.header("range") for exchange in files.seen] == [None, None]


@pytest.mark.parametrize("content_range", [None, "bytes 0-{last}/{size}", "bytes 0-{last}/" + "9" * 5000])
async def test_a_part_that_wasnt_asked_for_is_the_whole(
    content_range: str | None, mp4: bytes, tmp_path: Path
) -> None:
    """Some hosts answer 206 to every question."""
    said = (content_range or "").format(last=len(mp4) - 1, size=len(mp4))
    with raw_server(lambda e: e.answer(206, mp4, {"content-range": said} if said else {})) as files:
        path = await fetch(files.url, tmp_path / "clip.mp4")
    assert path.read_bytes() == mp4
    assert len(files.seen) == 1


@pytest.mark.parametrize("status", ["content-length", "content-range"])
async def test_a_file_that_says_it_is_too_large_isnt_begun(status: str, mp4: bytes, tmp_path: Path) -> None:
    """Nothing is written, and the error says how much was allowed."""
    heads = {
        "content-length": b"HTTP/1.1 200 X\r\ncontent-length: 5000001\r\n\r\n",
        "content-range": b"HTTP/1.1 206 X\r\ncontent-range: bytes 0-9/5000001\r\n\r\n",
    }
    told: list[int] = []
    with raw_server(lambda e: e.send(heads[status] + mp4)) as files:
        with pytest.raises(DownloadFailed, match=r"more than the 5\.0 MB"):
            await fetch(
                files.url,
                tmp_path / "clip.mp4",
                max_bytes=5_000_000,
                report=lambda done, _: told.append(done),
            )
    assert told == []
    assert list(tmp_path.iterdir()) == []


async def test_a_file_as_large_as_the_bound_is_fetched(mp4: bytes, tmp_path: Path) -> None:
    """How an endless one ends is tried with jobs, in tests/session."""
    with raw_server(serving(mp4)) as files:
        await fetch(files.url, tmp_path / "clip.mp4", max_bytes=len(mp4))


class Disk(NamedTuple):
    total: int
    used: int
    free: int


@pytest.mark.parametrize("says_length", [True, False])
async def test_a_disk_isnt_filled_to_its_end(
    says_length: bool, mp4: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some room is left for the person's own work; what came is kept, and the next attempt goes on."""
    monkeypatch.setattr(downloads, "LOOK_BYTES", 10_000)
    mp4 += (1_000_008).to_bytes(4) + b"free" + bytes(1_000_000)
    free = downloads.RESERVE_BYTES + len(mp4) // 2

    def usage(folder: Path) -> Disk:
        written = sum(path.stat().st_size for path in Path(folder).iterdir())
        return Disk(10**12, 10**12 - free + written, free - written)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    length = f"content-length: {len(mp4)}\r\n" if says_length else ""
    head = f'HTTP/1.1 200 X\r\netag: "v1"\r\n{length}\r\n'.encode()

    def handle(exchange: Exchange) -> None:
        exchange.send(head)
        for start in range(0, len(mp4), 5000):
            exchange.send(mp4[start : start + 5000])

    with raw_server(handle) as files:
        with pytest.raises(DownloadFailed, match=r"No space left on device.*free some space"):
            await fetch(files.url, tmp_path / "clip.mp4")
    kept = sum(path.stat().st_size for path in tmp_path.glob("*.part"))
    assert kept <= len(mp4) // 2 + 2**16  # what a busy machine reads at once
    assert (kept > 0) == (not says_length)
    monkeypatch.undo()
    with raw_server(serving(mp4)) as files:
        path = await fetch(files.url, tmp_path / "clip.mp4")
    assert path.read_bytes() == mp4


@pytest.mark.parametrize("name", ["x" * 251 + ".mp4", "狐" * 80 + ".mp4"], ids=["long", "wide"])
async def test_a_name_as_long_as_may_be_has_room_for_its_part(name: str, mp4: bytes, tmp_path: Path) -> None:
    """What lies beside the file while it comes has a name that fits."""
    with raw_server(serving(mp4, pieces=2)) as files:
        path = await fetch(files.url, tmp_path / name)
    assert path.read_bytes() == mp4
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert [e.header("range") is not None for e in files.seen] == [False, True]


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EDQUOT, "free some space"),
        (errno.EACCES, "can be written to"),
        (errno.EROFS, "can be written to"),
        (errno.ENAMETOOLONG, "shorter name"),
        (errno.EIO, "choose another folder"),
    ],
    ids=errno.errorcode.get,
)
async def test_each_trouble_of_a_disk_has_its_own_advice(
    number: int, advice: str, mp4: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To make room helps against a full disk and nothing else."""
    monkeypatch.setattr(os, "replace", Mock(side_effect=OSError(number, os.strerror(number))))
    with raw_server(serving(mp4)) as files:
        with pytest.raises(DownloadFailed) as failed:
            await fetch(files.url, tmp_path / "clip.mp4")
    assert advice in str(failed.value)
    assert ("free some space" in str(failed.value)) == (advice == "free some space")
