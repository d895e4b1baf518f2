"""What an MP4 says besides its pictures: tags that players show, and a packet of XMP at its end.

The file is a row of boxes, each with its size and its kind (ISO/IEC 14496-12). Nothing here decodes a
picture: what is read is small, and writing moves the pictures' bytes but never changes them.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from ..errors import NotAVideo

TITLE: Final = b"\xa9nam"
COMMENT: Final = b"\xa9cmt"
SYNOPSIS: Final = b"ldes"
CREATED: Final = b"\xa9day"

_XMP: Final = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
_C2PA: Final = bytes.fromhex("d8fec3d61b0e483c92975828877ec481")

_HEAD: Final = 8  # a box's size and its kind
_ITUNES: Final = b"mdir"  # the form of tags that players read
_UTF8: Final = 1  # the type of a tag's value
_HOLD_BOXES: Final = frozenset((b"moov", b"trak", b"mdia", b"minf", b"stbl", b"udta", b"meta", b"ilst"))
_FOUND_BY_PLACE: Final = frozenset((b"moof", b"meta", b"mfra"))

# A short clip has a few dozen; a file that claims more is meant to keep a reader busy.
_MOST_BOXES: Final = 10_000
_DEEPEST: Final = 10
_LARGEST_INDEX: Final = 32 << 20
_LARGEST_PACKET: Final = 4 << 20


@dataclass(frozen=True)
class Notes:
    """What a file says about itself. `tags` are texts by the four letters of their box, `xmp` is a packet."""

    tags: Mapping[bytes, str] = field(default_factory=dict)
    xmp: bytes = b""


class Box(NamedTuple):
    """Where a box is: from `start`, over `size` bytes, the first `head` of which are its own."""

    kind: bytes
    start: int
    size: int
    head: int


def read_notes(path: Path) -> Notes:
    """What the file says about itself. Raises OSError, and NotAVideo if it isn't an MP4 or is cut off."""
    with path.open("rb") as file:
        return notes(file, path.name)


def notes(file: BinaryIO, name: str = "The file") -> Notes:
    """The same for an open file. `name` is what an error calls it."""
    boxes = _outer_boxes(file, name)
    index = _index(file, next(each for each in boxes if each.kind == b"moov"), name)
    listed = _list_of_tags(index.child(b"udta") or Node(b"udta"))
    tags = {}
    for item in () if listed is None else listed.children:
        data = item.child(b"data")
        if data is not None and data.own[:4] == struct.pack(">I", _UTF8):
            tags[item.kind] = data.own[8:].decode("utf-8", "replace")
    packets = [each for each in boxes if _has_uuid(file, each, _XMP) and each.size <= _LARGEST_PACKET]
    return Notes(tags, xmp=b"".join(_body(file, each, _LARGEST_PACKET)[16:] for each in packets))


def copy_with_notes(source: Path, target: Path, tags: Mapping[bytes, str], xmp: bytes) -> bool:
    """Copies a clip and writes notes into the copy. False if it had to stay unchanged.

    It has to with Content Credentials (C2PA), which are void as soon as any other byte changes. Other tags
    stay, and the pictures are copied byte for byte. A file in fragments, which are found by their position,
    only gets the XMP, at its end. Raises OSError, and NotAVideo if the source isn't an MP4.
    """
    with source.open("rb") as file, target.open("wb") as copy:
        boxes = _outer_boxes(file, source.name)
        if any(_has_uuid(file, each, _C2PA) for each in boxes):
            file.seek(0)
            shutil.copyfileobj(file, copy)
            return False
        whole = not any(each.kind in _FOUND_BY_PLACE for each in boxes)
        for box in boxes:
            if box.kind == b"moov" and whole:
                copy.write(_tagged(_index(file, box, source.name), tags, box))
            else:
                _copy(file, box, copy, void=_has_uuid(file, box, _XMP))
        copy.write(Node(b"uuid", _XMP + xmp).written())
    return True


def _tagged(index: Node, tags: Mapping[bytes, str], at: Box) -> bytes:
    """The index with the tags added, in a file where it was `at`."""
    data = index.child(b"udta") or index.add(Node(b"udta"))
    if data.child(b"meta") is None:
        handler = Node(b"hdlr", bytes(8) + _ITUNES + b"appl" + bytes(9))
        data.add(Node(b"meta", bytes(4), [handler, Node(b"ilst")]))
    listed = _list_of_tags(data)
    if listed is None:
        return index.written()  # tags of another form stay, and there can be only one
    listed.children = [each for each in listed.children if each.kind not in tags]
    for kind, text in tags.items():
        listed.add(Node(kind, b"", [Node(b"data", struct.pack(">II", _UTF8, 0) + text.encode())]))
    by = len(index.written()) - at.size
    for table in index.all(b"stco", b"co64"):
        # Where each run of pictures is, from the file's beginning: what is after the index moves on.
        form = ">I" if table.kind == b"stco" else ">Q"
        places = [place for (place,) in struct.iter_unpack(form, table.own[8:])]
        places = [place + by if place > at.start else place for place in places]
        table.own = table.own[:8] + b"".join(struct.pack(form, place) for place in places)
    return index.written()


def _list_of_tags(data: Node) -> Node | None:
    """The list of tags in user data, if it is of the form that players read."""
    meta = data.child(b"meta")
    handler = None if meta is None else meta.child(b"hdlr")
    if meta is None or handler is None or handler.own[8:12] != _ITUNES:
        return None
    return meta.child(b"ilst") or meta.add(Node(b"ilst"))


class Node:
    """A box in memory: `own` is what it holds itself, before its `children`."""

    def __init__(self, kind: bytes, own: bytes = b"", children: Iterable[Node] = ()) -> None:
        self.kind = kind
        self.own = own
        self.children = list(children)

    @classmethod
    def of(cls, kind: bytes, body: memoryview, inside: tuple[bytes, ...] = ()) -> Node:
        """Reads a box's content. Raises ValueError if the boxes in it don't fit."""
        if kind not in _HOLD_BOXES and inside[-1:] != (b"ilst",):
            return cls(kind, bytes(body))
        if len(inside) == _DEEPEST:
            raise ValueError(kind)
        node, at = cls(kind), 0
        if kind == b"meta" and bytes(body[4:8]) != b"hdlr":  # a version, except in QuickTime
            node.own, at = bytes(body[:4]), 4
        while len(body) - at >= _HEAD:
            size, child = struct.unpack_from(">I4s", body, at)
            if size == 0 and not any(body[at:]):
                break  # QuickTime ends user data with zeros
            if not _HEAD <= size <= len(body) - at:
                raise ValueError(kind)
            node.children.append(cls.of(child, body[at + _HEAD : at + size], inside=(*inside, kind)))
            at += size
        return node

    def child(self, kind: bytes) -> Node | None:
        return next((each for each in self.children if each.kind == kind), None)

    def add(self, node: Node) -> Node:
        self.children.append(node)
        return node

    def all(self, *kinds: bytes) -> Iterator[Node]:
        """Every box of those kinds, however deep."""
        for each in self.children:
            if each.kind in kinds:
                yield each
            yield from each.all(*kinds)

    def written(self) -> bytes:
        body = self.own + b"".join(each.written() for each in self.children)
        return struct.pack(">I4s", _HEAD + len(body), self.kind) + body


def _outer_boxes(file: BinaryIO, name: str) -> list[Box]:
    length = file.seek(0, os.SEEK_END)
    boxes: list[Box] = []
    at = 0
    while at < length:
        file.seek(at)
        start = file.read(16)
        size, kind = struct.unpack(">I4s", start[:_HEAD].ljust(_HEAD, b"\0"))
        head = _HEAD
        if size == 1 and len(start) == 16:
            (size,), head = struct.unpack(">Q", start[_HEAD:]), 16
        elif size == 0:
            size = length - at  # the last one, to the file's end
        if not boxes and kind not in (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide"):
            raise NotAVideo(f"{name} isn't an MP4.")
        if not head <= size <= length - at or len(boxes) == _MOST_BOXES:
            raise NotAVideo(f"{name} is cut off or damaged.")
        boxes.append(Box(kind, at, size, head))
        at += size
    if not any(each.kind == b"moov" for each in boxes):
        raise NotAVideo(f"{name} isn't an MP4, or is cut off.")
    return boxes


def _index(file: BinaryIO, box: Box, name: str) -> Node:
    try:
        return Node.of(box.kind, memoryview(_body(file, box, _LARGEST_INDEX)))
    except ValueError:
        raise NotAVideo(f"{name} is damaged.") from None


def _body(file: BinaryIO, box: Box, most: int) -> bytes:
    if box.size > most:
        raise ValueError(box.kind)
    file.seek(box.start + box.head)
    return file.read(box.size - box.head)


def _has_uuid(file: BinaryIO, box: Box, uuid: bytes) -> bool:
    if box.kind != b"uuid":
        return False
    file.seek(box.start + box.head)
    return file.read(16) == uuid


def _copy(file: BinaryIO, box: Box, copy: BinaryIO, *, void: bool) -> None:
    """Copies a box; a `void` one as a free box of zeros of the same size, so that nothing moves."""
    file.seek(box.start + 8)
    # The last box may say "to the end"; something follows it now.
    size = 1 if box.head == 16 else box.size
    copy.write(struct.pack(">I4s", size, b"free" if void else box.kind))
    copy.write(file.read(box.head - _HEAD))
    left = box.size - box.head
    while left > 0:
        some = file.read(min(left, 1 << 20))
        if not some:
            raise NotAVideo("The file ended while it was copied.")
        copy.write(bytes(len(some)) if void else some)
        left -= len(some)
