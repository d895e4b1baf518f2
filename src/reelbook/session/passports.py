"""A clip's passport: what made it, written into its file and beside it, and read back from there.

An exported MP4 holds it twice: as tags, which players and other tools show, and as a packet of XMP at the
file's end, which survives where a chat program empties the tags. A JSON file beside the clip says the same.
None of it tells who made the clip, with which key, or in which folder.
"""

import io
import json
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from .. import formatting
from ..errors import InvalidInput, NoPassport, NotAVideo, ReelbookError
from ..media import boxes
from ..requests import FIELDS, JobRequest, options
from .request_code import request_code

_FORM: Final = "reelbook_passport"
_NAMESPACE: Final = "urn:reelbook:passport"
_SOURCE_TYPES: Final = "http://cv.iptc.org/newscodes/digitalsourcetype/"
# Fields that the record holds unchanged.
_PLAIN: Final[dict[str, type]] = {
    **dict.fromkeys(("request_id", "service", "template"), str),
    **dict.fromkeys(("cost_usd", "seconds"), float),
    **dict.fromkeys(("width", "height"), int),
}
_LARGEST_TEXT: Final = 2 << 20
_LARGEST_CLIP: Final = 256 << 20
_MOST_FILES: Final = 1_000
_MOST_UNPACKED: Final = 1 << 30
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError)
# Characters that XML can't hold in any form.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Passport:
    """What made a clip.

        clip.passport().request      # the JobRequest of a clip
        print(clip.passport())       # the prompt, and a line with the rest

    `service` is "sandbox" or "live", `made_at` when the clip was asked for; `seconds` (of the file), `width`
    and `height` (pixels) are its real size. A clip of a sweep has the `template` and what filled its `slots`.
    `source_type` is IPTC's word for where the pictures come from. What a file doesn't say is None.
    """

    request: JobRequest
    request_id: str | None = None
    service: str | None = None
    cost_usd: float | None = None
    made_at: datetime | None = None
    seconds: float | None = None
    width: int | None = None
    height: int | None = None
    template: str | None = None
    slots: Mapping[str, str] = field(default_factory=dict)

    @property
    def _utc(self) -> str | None:
        """When it was made, in UTC: a time zone would tell where."""
        return None if self.made_at is None else self.made_at.astimezone(UTC).isoformat(timespec="seconds")

    @property
    def source_type(self) -> str | None:
        """`algorithmicMedia`, `trainedAlgorithmicMedia` or `compositeWithTrainedAlgorithmicMedia`."""
        if self.service is None:
            return None
        if self.service == "sandbox":
            return "algorithmicMedia"
        composite = self.request.mode == "image-to-video"
        return "compositeWithTrainedAlgorithmicMedia" if composite else "trainedAlgorithmicMedia"

    def record(self) -> dict[str, Any]:
        """The passport as JSON values, without what isn't known."""
        known = {name: getattr(self, name) for name in _PLAIN} | {
            "made_at": self._utc,
            "slots": dict(self.slots) or None,
            "digital_source_type": self.source_type and _SOURCE_TYPES + self.source_type,
        }
        said = {name: value for name, value in known.items() if value is not None}
        return {_FORM: 1, "request": self.request.record(), **said, "software": "Reelbook"}

    def parameters(self) -> str:
        """The passport in the form of A1111's `parameters`: the prompt, and below it a line of settings."""
        settings = {
            FIELDS[name].label: str(value)
            for name, value in self.request.arguments().items()
            if name != "prompt" and not FIELDS[name].is_random(value)
        }
        if self.width and self.height:
            settings["Size"] = f"{self.width}x{self.height}"
        if self.service is not None:
            settings["Model"] = f"{self.service} service"
        settings["Version"] = "Reelbook"
        line = ", ".join(f"{name}: {_setting(value)}" for name, value in settings.items())
        return f"{self.request.prompt}\n{line}"

    def as_code(self) -> str:
        """The code of a cell that asks for the clip again."""
        return request_code(self.request, "cell")

    def __str__(self) -> str:
        request = self.request
        arguments = [(FIELDS[name], value) for name, value in request.arguments().items() if name != "prompt"]
        told = [
            (f"{about.label.lower()} " if about.control in ("seed", "text") else "") + about.words(value)
            for about, value in arguments
        ]
        told += [
            self.service or "",
            "" if self.cost_usd is None else formatting.dollars(self.cost_usd),
            "" if self.made_at is None else f"{self.made_at.astimezone():%Y-%m-%d %H:%M}",
        ]
        lines = [request.prompt, " · ".join(each for each in told if each)]
        if self.template is not None:
            slots = ", ".join(f"{name} = {value}" for name, value in self.slots.items())
            lines.append(f"from {self.template}" + (f" with {slots}" if slots else ""))
        return formatting.terminal_text("\n".join(lines))

    __repr__ = __str__


def passport(file: str | os.PathLike[str], clip: str | None = None) -> Passport:
    """Reads what made a clip: from its MP4, from the JSON that `save` wrote, or from a zip of these.

        file = clip.save("a-fox.mp4", overwrite=True)
        session.submit(rb.passport(file).request)    # the same again

    `clip` is the name of one in a zip, with its folder where two have the same name. Raises NoPassport where
    the file doesn't say, NotAVideo for a damaged MP4, InvalidInput where a zip holds several clips, and
    ReelbookError where it can't be read.
    """
    path = Path(file)
    found, _ = passports_in(path)
    if clip is not None:
        wanted = _stem(clip)
        found = {name: each for name, each in found.items() if _stem(name)[-len(wanted) :] == wanted}
    if not found:
        raise NoPassport(f"{path.name} doesn't say what made {'it' if clip is None else clip}.")
    if len(found) > 1:
        raise InvalidInput(f"{path.name} holds {len(found)} clips. Name one: clip={min(found)!r}.")
    return next(iter(found.values()))


def passports_in(path: Path) -> tuple[dict[str, Passport], list[ReelbookError]]:
    """The passports in a file, see `passports`. Raises ReelbookError where it can't be read."""
    try:
        with path.open("rb") as opened:
            return passports(opened, path.name)
    except OSError as error:
        raise ReelbookError(f"{path} could not be read: {error.strerror or error}.") from error


def passports(file: BinaryIO, name: str) -> tuple[dict[str, Passport], list[ReelbookError]]:
    """The passports in an open MP4, JSON or zip, by the name of the clip or JSON; and a zip's damaged files.

    Raises NotAVideo for a damaged MP4, NoPassport for a damaged zip, either for a zip of only damaged files.
    """
    start = file.read(4)
    file.seek(0)
    if start[:2] == b"PK":
        return _of_zip(file, name)
    is_json = start.lstrip()[:1] in (b"{", b"[")
    found = _of_text(file.read(_LARGEST_TEXT)) if is_json else of_notes(boxes.notes(file, name))
    return {} if found is None else {name: found}, []


def of_notes(said: boxes.Notes) -> Passport | None:
    """The passport in an MP4's notes: from its XMP, or else from its tags."""
    texts = (_in_xmp(said.xmp), said.tags.get(boxes.SYNOPSIS))
    return next((found for text in texts if text and (found := _of_text(text))), None)


def write(source: Path, target: Path, said: Passport) -> bool:
    """Copies a clip with its passport in it. A sealed file (C2PA) is copied unchanged; returns False then."""
    text = json.dumps(said.record())
    tags = {boxes.TITLE: said.request.prompt[:80], boxes.COMMENT: said.parameters(), boxes.SYNOPSIS: text}
    if said._utc is not None:
        tags[boxes.CREATED] = said._utc
    packet = _xmp(said, text, boxes.read_notes(source).xmp.decode("utf-8", "replace"))
    return boxes.copy_with_notes(source, target, tags, packet.encode())


def _of_zip(file: BinaryIO, name: str) -> tuple[dict[str, Passport], list[ReelbookError]]:
    told, damaged = dict[str, Passport](), list[ReelbookError]()
    try:
        with zipfile.ZipFile(file) as archive:
            inside = [each for each in archive.infolist() if not each.is_dir()][:_MOST_FILES]
            stems, left = set[tuple[str, ...]](), _MOST_UNPACKED
            # Small files first: a clip whose JSON says it all isn't unpacked.
            for each in sorted(inside, key=lambda each: not each.filename.endswith(".json")):
                clip = PurePosixPath(each.filename)
                # What macOS adds for itself has the clip's name after "._".
                if _stem(clip) in stems or clip.suffix not in (".json", ".mp4") or clip.name.startswith("."):
                    continue
                if each.file_size > min(left, _LARGEST_TEXT if clip.suffix == ".json" else _LARGEST_CLIP):
                    continue
                left -= each.file_size
                try:
                    for found in passports(io.BytesIO(archive.read(each)), str(clip))[0].values():
                        stems.add(_stem(clip))
                        told[str(clip)] = found
                except (NotAVideo, NoPassport) as error:
                    damaged.append(error)
                except _UNREADABLE as error:
                    damaged.append(NoPassport(f"{clip} can't be read: {error}."))
    except _UNREADABLE as error:
        raise NoPassport(f"{name} isn't a zip that can be read: {error}.") from error
    if damaged and not told:
        raise damaged[0]
    return told, damaged


def _stem(name: str | PurePosixPath) -> tuple[str, ...]:
    """A file's folders and its name without the ending: the same for a clip and for the JSON beside it."""
    path = PurePosixPath(name)
    return *path.parent.parts, path.stem


def _of_text(text: str | bytes) -> Passport | None:
    """The passport in a JSON text; None where it is something else, or was changed beyond use."""
    try:
        record = json.loads(text)
        if record[_FORM] != 1:
            return None
        slots = record.get("slots", {})
        return Passport(
            _request(record["request"]),
            made_at=_moment(record.get("made_at")),
            slots={str(slot): str(value) for slot, value in slots.items()},
            **{name: _kind(kind, record.get(name)) for name, kind in _PLAIN.items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _request(record: Mapping[str, Any]) -> JobRequest:
    """The request of a record that anybody may have changed, checked like a typed one."""
    named = {name: record[name] for name in ("prompt", *options(record["mode"])) if name in record}
    return JobRequest(record["mode"], **named)


def _moment(text: str | None) -> datetime | None:
    """A time that exists in every zone; None for one at the ends of the calendar."""
    found = None if text is None else datetime.fromisoformat(text)
    return found if found is not None and 1970 <= found.year <= 9000 else None


def _kind(kind: type[Any], value: Any) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    return value if type(value) is kind else None


def _setting(value: str) -> str:
    # As A1111 writes them: a value that would end too early is quoted.
    return json.dumps(value, ensure_ascii=False) if re.search(r'[,:\n"]', value) else value


def _xmp(said: Passport, text: str, earlier: str) -> str:
    """The packet of XMP. What `earlier` packets say stays in it, except another passport."""
    # JSON without the three letters that have a meaning in XML: the same text, whoever rewrites it.
    safe = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    prompt = escape(_NOT_XML.sub("\ufffd", said.request.prompt))
    facts = {
        "xmp:CreatorTool": "Reelbook",
        "xmp:CreateDate": said._utc,
        "Iptc4xmpExt:DigitalSourceType": said.source_type and _SOURCE_TYPES + said.source_type,
        "reelbook:passport": safe,
    }
    description = (
        '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:xmp="http://ns.adobe.com/xap/1.0/" '
        'xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" '
        f'xmlns:reelbook="{_NAMESPACE}">'
        f'<dc:description><rdf:Alt><rdf:li xml:lang="x-default">{prompt}</rdf:li></rdf:Alt></dc:description>'
        + "".join(f"<{name}>{value}</{name}>" for name, value in facts.items() if value)
        + "</rdf:Description>"
    )
    if earlier.count("</rdf:RDF>") == 1 and _NAMESPACE not in earlier:
        return earlier.replace("</rdf:RDF>", f"{description}</rdf:RDF>")
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'{description}</rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
    )


def _in_xmp(packet: bytes) -> str | None:
    """The JSON in a packet of XMP, also where another tool rewrote it as an element or an attribute."""
    if b"<!" in packet:
        return None  # a document type, whose entities can grow without end
    try:
        root = ElementTree.fromstring(packet.rstrip(b"\0"))  # noqa: S314 - has no document type
    except ElementTree.ParseError:
        return None
    name = f"{{{_NAMESPACE}}}passport"
    found = (each.text if each.tag == name else each.get(name) for each in root.iter())
    return next((text for text in found if text is not None), None)
