"""Downloads a finished clip: resumed by byte range, whole and playable or not at all, and without the key.

Until it is whole it is beside its final place as `<name>.part`, with a note (`<name>.part.json`) of the
version of the file that this is a part of.
"""

import asyncio
import errno
import filecmp
import hashlib
import json
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

from filelock import AsyncFileLock

from ..errors import (
    AnswerLost,
    ConnectionFailed,
    DownloadFailed,
    InvalidInput,
    LinkExpired,
    NotAVideo,
    ReelbookError,
)
from ..formatting import plain_name
from . import retries
from .responses import Reply
from .transport import Transport

MAX_REDIRECTS = 5
# Attempts in a row that brought nothing; a download that advances goes on as long as it does.
MAX_FRUITLESS = 5
# About three times what a 4K Blu-ray takes (128 Mbit/s), and enough for any clip of a second.
LIMIT_BYTES_PER_SECOND = 40_000_000
MIN_LIMIT_BYTES = 100_000_000
# The assumed length of a clip that a tool or another program asked for, where nobody says it.
LONGEST_SECONDS = 30.0
# What is left free on the disk, or a twentieth of a small one; checked again after so many bytes.
RESERVE_BYTES = 64_000_000
LOOK_BYTES = 8_000_000
# A clip may be shorter than its status says by a tenth and this: lengths are rounded, and frames left out.
SHORTER_BY_SECONDS = 0.25
MAX_SHORT = 3
SUFFIX_BYTES = len(".part.json")

Report = Callable[[int, int | None], None]

_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space on the disk"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "choose a folder that can be written to"),
    errno.ENAMETOOLONG: "choose a folder or a file with a shorter name",
}

_log = logging.getLogger(__name__)


def limit_bytes(seconds: float) -> int:
    """An upper bound of the bytes of any clip of that length in seconds."""
    return max(MIN_LIMIT_BYTES, round(LIMIT_BYTES_PER_SECOND * seconds))


async def download(
    transport: Transport,
    url: str,
    path: Path,
    report: Report | None = None,
    max_bytes: int | None = None,
    expected_seconds: float | None = None,
) -> Path:
    """Fetches `url` to `path`. See `AsyncClient.download`."""
    if not isinstance(url, str):
        raise InvalidInput("There is no link to the clip: only a completed job has one. Nothing was sent.")
    # A link without a host is on the service's own: the interface says no more than "URL".
    address = _address(transport, transport.base_url if url.startswith("/") else "", url)
    if address is None:
        raise DownloadFailed("The clip's address isn't an http or https address. Nothing was fetched.")
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder: name the file, too. Nothing was fetched.")
    part = path.with_name(plain_name(path.name, room=SUFFIX_BYTES) + ".part")
    file = _File(transport, address, part, report or (lambda *_: None), max_bytes)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two kernels may want the same clip: the second waits, and finds it done or goes on.
        async with AsyncFileLock(_lock_path(path), thread_local=False):
            if not path.exists():
                await file.fetch_in_length(expected_seconds)
                os.replace(part, path)
                file.note.unlink(missing_ok=True)
    except ReelbookError:
        raise
    except OSError as disk:
        raise DownloadFailed(
            f"The clip couldn't be written to {path.parent}: {disk.strerror or disk}. The service "
            f"still has it; {_REMEDIES.get(disk.errno or 0, 'choose another folder')}, and fetch it again."
        ) from disk
    return path


def _address(transport: Transport, base: str, link: str) -> str | None:
    """Where `link` leads from `base`; None where nothing can be fetched there."""
    try:
        url = urljoin(base, link.strip())
    except ValueError:
        return None
    return url if transport.can_fetch(url) else None


def _lock_path(path: Path) -> Path:
    """Not beside the clip: a lock file can't be removed safely, and a person's folder is to stay clean."""
    user = os.getuid() if sys.platform != "win32" else "user"  # the folder is everybody's
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]
    return Path(tempfile.gettempdir(), f"reelbook-{user}-{name}.lock")


@dataclass
class _File:
    transport: Transport
    url: str
    part: Path
    report: Report
    max_bytes: int | None

    @property
    def note(self) -> Path:
        """The path of the note, which holds the validator of the file's version and its length in bytes."""
        return self.part.with_name(self.part.name + ".json")

    @property
    def size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def noted(self) -> tuple[str, int | None]:
        """The noted validator (empty if unknown) and length."""
        try:
            note = json.loads(self.note.read_text())
            return note["validator"], note["total"]
        except (OSError, ValueError, TypeError, KeyError):
            return "", None

    def forget(self) -> None:
        self.part.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    async def fetch_in_length(self, expected_seconds: float | None) -> None:
        """Downloads until the file is as long as it should be, or there is no more of it.

        A file in fragments plays up to wherever it was cut, and a server that gives no length may cut it
        anywhere. One that came out the same twice, or whose link no longer works, is kept: it was paid for.
        """
        earlier = self.part.with_suffix(".cut")
        for _ in range(MAX_SHORT):
            try:
                await self.fetch()
                no_more = earlier.exists() and await asyncio.to_thread(
                    filecmp.cmp, earlier, self.part, shallow=False
                )
            except LinkExpired:
                if not earlier.exists():
                    raise
                os.replace(earlier, self.part)
                no_more = True
            try:
                seconds = await asyncio.to_thread(_playable_seconds, self.part)
            except NotAVideo:
                self.forget()
                raise
            short = ""
            if expected_seconds is not None and seconds < 0.9 * expected_seconds - SHORTER_BY_SECONDS:
                short = f"{seconds:.1f} s instead of {expected_seconds:.1f} s"
            if no_more or not short:
                if short:
                    said = "A clip came with %s. There is no more of it, so it is kept: %s"
                    _log.warning(said, short, self.part.stem)
                earlier.unlink(missing_ok=True)
                return
            os.replace(self.part, earlier)
            self.forget()
        earlier.unlink()
        raise DownloadFailed(
            f"The clip arrived {MAX_SHORT} times, each time cut off elsewhere, the last time with {short}. "
            "It isn't kept. The service still has it; fetch it again later."
        )

    async def fetch(self) -> None:
        """Downloads to the end, however often the connection breaks, as long as it advances."""
        fruitless, most = 0, self.size
        while True:
            try:
                await self.fetch_once()
                return
            except ConnectionFailed as broken:
                # A download that loses what it had and fetches it again isn't advancing.
                fruitless = 0 if self.size > most else fruitless + 1
                most = max(most, self.size)
                if fruitless >= MAX_FRUITLESS:
                    raise DownloadFailed(
                        f"The clip couldn't be fetched whole: {broken} "
                        f"The {self.size:,} bytes that arrived are kept; the next attempt goes on from there."
                    ) from None
            await asyncio.sleep(retries.delay_seconds(fruitless + 1))

    async def fetch_once(self) -> None:
        validator, whole = self.noted()
        have = self.size if validator else 0
        headers = {"range": f"bytes={have}-", "if-range": validator} if have else {}
        async with self.opened(headers) as (reply, chunks, own):
            if reply.status == 416 and validator and have == whole:
                return  # all of it is here already
            if reply.status not in (200, 206):
                if reply.status == 416:
                    self.forget()
                raise _refusal(reply, own)
            start = _range_start(reply, have) if reply.status == 206 else 0
            if start not in (0, have):
                self.forget()
                raise AnswerLost("The server sent a different part of the file than it was asked for.")
            if start and (now := _validator(reply)) and now != validator:
                self.forget()  # not every server respects If-Range
                raise AnswerLost("The file has changed on the server. It is fetched from the beginning.")
            total = _total(reply, start)
            self.refuse_too_large(total or start)
            self.refuse_full((total or start) - start)
            if start == 0:
                self.forget()  # or an end right after the note would leave it beside another version's part
                self.note.write_text(json.dumps({"validator": _validator(reply), "total": total}))
            done = looked = start
            with self.part.open("r+b" if start else "wb") as file:
                file.seek(start)
                async for chunk in chunks:
                    self.refuse_too_large(done + len(chunk))
                    if done - looked >= LOOK_BYTES:
                        looked = done
                        self.refuse_full(len(chunk))
                    file.write(chunk)
                    done += len(chunk)
                    self.report(done, total)
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
        if total is not None and done != total:
            raise AnswerLost(f"The connection ended after {done:,} of {total:,} bytes.")

    @asynccontextmanager
    async def opened(
        self, headers: Mapping[str, str]
    ) -> AsyncIterator[tuple[Reply, AsyncIterator[bytes], bool]]:
        """The reply, its bytes, and whether it is of the service's own origin, which may see the key."""
        transport, url, with_key = self.transport, self.url, False
        for _ in range(MAX_REDIRECTS + 1):
            async with transport.fetch(url, headers=headers, with_key=with_key) as (reply, chunks):
                if reply.status in (301, 302, 303, 307, 308) and "location" in reply.headers:
                    target, with_key = _address(transport, url, reply.headers["location"]), False
                    if target is None or (url.startswith("https:") and target.startswith("http:")):
                        raise DownloadFailed("The clip's address leads to one that isn't safe to follow.")
                    url = target
                    continue
                if reply.status in (401, 403) and not with_key and transport.is_own(url):
                    with_key = True
                    continue
                yield reply, chunks, transport.is_own(url)
                return
        raise DownloadFailed("The clip's address redirects without end.")

    def refuse_too_large(self, size: int) -> None:
        if self.max_bytes is not None and size > self.max_bytes:
            self.forget()
            raise DownloadFailed(
                f"The file has more than the {self.max_bytes / 1e6:.1f} MB that a clip of this length may "
                "have, so it isn't kept. AsyncClient.download() fetches its address without this bound."
            )

    def refuse_full(self, coming: int) -> None:
        """Raises the system's own error of a full disk if `coming` more bytes would nearly fill it."""
        disk = shutil.disk_usage(self.part.parent)
        # Some mounted drives don't tell.
        if disk.total and disk.free - coming < min(RESERVE_BYTES, disk.total // 20):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _playable_seconds(path: Path) -> float:
    from ..media.clips import probe

    return probe(path).duration_seconds


def _refusal(reply: Reply, own: bool) -> Exception:
    if reply.status in (429, 416) or reply.status >= 500:
        return AnswerLost(f"The server answered with status {reply.status}.")
    # A file's host reports an expired signed link this way: 403, or 400 at Google's.
    if reply.status in (404, 410) or (reply.status in (400, 403) and not own):
        return LinkExpired("The clip is no longer at its address: the link may have expired.")
    return DownloadFailed(f"The server of the clip refused it with status {reply.status}.")


def _range_start(reply: Reply, have: int) -> int | None:
    said = reply.headers.get("content-range", "")
    if not said and not have:
        return 0  # the whole file was asked for, so nothing else can be meant
    found = re.match(r"bytes (\d{1,18})-", said)
    return int(found[1]) if found else None


def _total(reply: Reply, start: int) -> int | None:
    if found := re.search(r"/(\d{1,18})$", reply.headers.get("content-range", "")):
        return int(found[1])
    found = re.fullmatch(r"\d{1,18}", reply.headers.get("content-length", ""))
    return start + int(found[0]) if found else None


def _validator(reply: Reply) -> str:
    etag = reply.headers.get("etag", "")
    # A weak validator can't promise equal bytes (RFC 9110, 13.1.5).
    found = etag if etag and not etag.startswith("W/") else reply.headers.get("last-modified", "")
    return found if found.isascii() else ""  # no header of ours could say it again
