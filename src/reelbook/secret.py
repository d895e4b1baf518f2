"""A credential that shows itself nowhere: not in a repr, a pickle, a log or a traceback.

A key that a person gave by mistake as another argument isn't repeated either.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final, NoReturn, TypeVar, final
from weakref import WeakValueDictionary

NOT_SHOWN: Final = "(not shown: it looks like a key)"
QUOTED_CHARACTERS: Final = 200
# Shorter ones occur in many texts by chance.
_LONG_KEY: Final = 16
# As services write keys, and as headers and addresses do; not a file's name, which has an ending.
_MARKED = re.compile(
    r"(?<![a-z0-9])(?:[spr]k[-_][\w+/=-]{3,}|key[-_](?=[a-z_-]*\d)[\w-]{8,})(?![\w.])"
    r"|\bbearer\s+\S"
    r"|://[^/\s]*@"
    r"|[?&;](?:api[-_]?key|key|(?:access[-_]?)?token|secret|password|sig|signature)=[^&\s]",
    re.IGNORECASE | re.ASCII,
)
# One long word of letters and digits; with a slash, as paths have them, only one of mixed capitals.
_RANDOM = re.compile(
    r"(?=.*\d)(?=.*[A-Za-z])[\w+=~-]{20,}|(?=.*\d)(?=.*[A-Z])(?=.*[a-z])[\w+=~][\w+=~/-]{19,}", re.ASCII
)

T = TypeVar("T")

SHORT_CHARACTERS = 8  # a shorter one may occur in other words
MIN_CUT_CHARACTERS = 4


@final
class Secret:
    """Holds an API key or another credential and prints as `Secret(***)`.

    `reveal()` is the only way to the value, so that a search for it finds every use.
    """

    __slots__ = ("__forms", "__value", "__weakref__")

    def __init__(self, value: str) -> None:
        self.__value = value
        self.__forms: re.Pattern[str] | None = None
        _held[id(self)] = self

    @classmethod
    def of(cls, value: str | Secret) -> Secret:
        """`value` as a Secret; one that already is a Secret is returned unchanged."""
        return value if isinstance(value, Secret) else cls(value)

    def reveal(self) -> str:
        """The credential itself. Don't keep it in a variable: verbose tracebacks print those."""
        return self.__value

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that tell two credentials apart without revealing them."""
        value = self.__value.encode(errors="surrogatepass")  # a broken one is refused later, in words
        return hashlib.sha256(b"reelbook fingerprint\0" + value).hexdigest()[:16]

    def masked(self, text: str, *, cut: bool = False) -> str:
        """`text` with `***` wherever the credential occurs in it.

        Each of its characters may be escaped, as in JSON, in an address, in HTML or in a repr, even twice. A
        short one is only found as a word of its own. With `cut` the text was broken off, and what may be the
        beginning of the credential at its end is masked, too.
        """
        if self.__forms is None:
            forms = "".join(map(_forms, self.__value)) or r"(?!)"
            short = len(self.__value) < SHORT_CHARACTERS
            self.__forms = re.compile(rf"(?<!\w){forms}(?!\w)" if short else forms, re.IGNORECASE)
        text = self.__forms.sub("***", text)
        return self.__without_beginning(text) if cut else text

    def __without_beginning(self, text: str) -> str:
        forms = list(map(_forms, self.__value))
        kept = max(0, len(text) - _LONGEST_FORM * len(forms))
        head, tail = text[:kept], text[kept:]
        if re.search("".join(forms[:MIN_CUT_CHARACTERS]), tail, re.IGNORECASE):
            for count in range(len(forms) - 1, MIN_CUT_CHARACTERS - 1, -1):
                beginning = "".join(forms[:count]) + _HALF_FORM
                tail = re.sub(beginning, "***", tail, flags=re.IGNORECASE)
        return head + tail

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.__value == other.__value

    def __hash__(self) -> int:
        return hash((Secret, self.__value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("A Secret can't be pickled or copied: a credential must not end up in a file.")


# All that exist, by identity: a text that equals one of them is a key, whatever it looks like.
_held: WeakValueDictionary[int, Secret] = WeakValueDictionary()


def holds_key(text: str) -> bool:
    """Whether `text` certainly holds a credential: one that is in use here, or one that is marked as such."""
    return _MARKED.search(text) is not None or any(_is_in(text, held) for held in list(_held.values()))


def looks_like_key(text: str) -> bool:
    """As `holds_key`, or whether all of it is one long word of letters and digits, which may be a key."""
    return bool(text.strip()) and (holds_key(text) or _RANDOM.fullmatch(text.strip()) is not None)


def is_held(text: str) -> bool:
    """Whether `text` is a credential that is in use here."""
    return any(text.strip() == held.reveal() for held in list(_held.values()))


def shown(text: str) -> str:
    """`text`, such as an id or a name, as a message may repeat it: unchanged, unless it holds a key."""
    return NOT_SHOWN if holds_key(text) else text


def quotable(value: object) -> str:
    """`value` as a message may repeat it: its repr, or that it isn't shown."""
    try:
        text = value if isinstance(value, str) else repr(value)
        said = repr(value)
    except ValueError:  # a number of too many digits
        return f"this {type(value).__name__}"
    if isinstance(value, Secret) or looks_like_key(text):
        return NOT_SHOWN
    return said if len(said) <= QUOTED_CHARACTERS else f"{said[:QUOTED_CHARACTERS]}…"


def hidden(value: T) -> T | Secret:
    """`value`, in a Secret if it is text that looks like a key: verbose tracebacks print arguments."""
    return Secret(value) if isinstance(value, str) and looks_like_key(value) else value


def without_keys(text: str) -> str:
    """Another library's message that quotes words, without those that look like keys."""
    return re.sub(r"[^\s'\"“”]+", lambda word: NOT_SHOWN if looks_like_key(word[0]) else word[0], text)


def _is_in(text: str, held: Secret) -> bool:
    key = held.reveal()
    return text.strip() == key or (len(key) >= _LONG_KEY and "://" not in key and key in text)


def _forms(character: str) -> str:
    """A pattern of all forms of a character. Bounded, so that no text makes the search long."""
    code = ord(character)
    entities = rf"#0{{0,6}}{code}|#x0{{0,6}}{code:x}|{_ENTITIES.get(character, '(?!)')}"
    percent = "".join(f"%(?:25){{0,3}}{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
    escaped = rf"u{code:04x}|x{code:02x}" + ("" if character.isalnum() else f"|{re.escape(character)}")
    return rf"(?:\\{{1,8}}(?:{escaped})|{percent}|&(?:amp;){{0,3}}(?:{entities});?|{re.escape(character)})"


_ENTITIES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_HALF_FORM = r"(?:\\{1,8}[ux]?[0-9a-f]{0,3}|%[0-9a-f]{0,7}|&[#\w;]{0,24})?\Z"
_LONGEST_FORM = 32
