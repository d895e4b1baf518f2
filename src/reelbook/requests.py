"""What is asked for: a `JobRequest`, validated once where it is made, and a batch of them.

It travels from a form, a cell or a command down to the POST and into the ledger. Whatever any of these needs
to know about a field is in the table here. Arguments of other requests are validated here, too.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import operator
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, TypeVar, Unpack, get_args

from . import wire
from .errors import (
    InvalidAspectRatio,
    InvalidDuration,
    InvalidInput,
    InvalidKeyRequest,
    InvalidPrompt,
    InvalidSeed,
)
from .secret import hidden, is_held, quotable

if TYPE_CHECKING:
    from .media.images import ImageSource, PreparedImage

Method = TypeVar("Method", bound=Callable[..., Any])
Control = Literal["text", "slider", "choices", "seed", "image"]

MODES: Final[tuple[wire.Mode, ...]] = get_args(wire.Mode)
TEXT_ONLY: Final[tuple[wire.Mode, ...]] = ("text-to-video",)
SEEDS: Final = 10_000_000  # so many can be drawn: short enough for a tile, enough for any batch
LONGEST_TEXT: Final = 20_000  # characters that a form takes; how many the service takes isn't stated


@dataclass(frozen=True)
class RequestField:
    """All there is to know about one field of a request, for whatever asks for it, shows or sends it.

    `control` is what a form chooses it with, and `low`, `high` and `choices` are its limits (of a text `high`
    is the most characters). `flag` is its option on a terminal and in `%%video`, `column` its name in a
    receipt (default: its own), `hint` what an empty row of a sweep says. With the value `random` the service
    chooses. It is None in a mode that doesn't take it.
    """

    name: str
    label: str
    help: str
    _: KW_ONLY
    check: Callable[[Any], Any] = lambda value: value
    control: Control = "text"
    modes: tuple[wire.Mode, ...] = MODES
    default: Any = None
    random: Any = None
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    flag: str = ""
    metavar: str = "TEXT"
    hint: str = ""
    column: str = ""

    def checked(self, value: Any) -> Any:
        """The value as it is sent. Raises InvalidInput, which names the field."""
        try:
            return self.check(value)
        except InvalidInput as error:
            error.field = self.name
            raise

    @property
    def option(self) -> str:
        return self.flag or self.name.replace("_", "-")

    @property
    def option_help(self) -> str:
        if self.random is not None:
            return f"{self.help} {self.random}, or none: a random one."
        return self.help if self.default is None else f"{self.help} Default: {self.words(self.default)}."

    def is_random(self, value: Any) -> bool:
        """Whether the value leaves it to the service."""
        return self.random is not None and bool(value == self.random)

    def words(self, value: Any) -> str:
        """The value as a person reads it: "5 s", "random"."""
        if value is None or value == "":
            return "(nothing)"
        return "random" if self.is_random(value) else f"{value} {self.unit}".rstrip()


def _prompt(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidPrompt(f"The prompt must be text, not {type(value).__name__}.")
    if not value.strip():
        raise InvalidPrompt("The prompt is empty. Say what is seen and how it moves.")
    if at := _lone_surrogate(value):
        raise InvalidPrompt(f"Character {at} of the prompt is half of one, such as half an emoji. Remove it.")
    return value.strip()


def _lone_surrogate(text: str) -> int:
    """The place of a character that is only half of one, from 1; 0 where none is."""
    return next((place for place, each in enumerate(text, 1) if "\ud800" <= each <= "\udfff"), 0)


def _duration(value: Any) -> int:
    seconds = _whole(value)
    if seconds is None or not wire.MIN_SECONDS <= seconds <= wire.MAX_SECONDS:
        span = f"{wire.MIN_SECONDS} to {wire.MAX_SECONDS} whole seconds"
        raise InvalidDuration(f"The length must be {span}, not {quotable(value)}.")
    return seconds


def _ratio(value: Any) -> str:
    if isinstance(value, str) and value in wire.ASPECT_RATIOS:
        return value
    offered = ", ".join(wire.ASPECT_RATIOS)
    if value in wire.WEB_APP_ONLY_RATIOS:
        raise InvalidAspectRatio(f"{value} is offered by the web app only. The API takes {offered}.")
    raise InvalidAspectRatio(f"The aspect ratio must be one of {offered}, not {quotable(value)}.")


def _seed(value: Any) -> int:
    if (seed := _whole(value)) is None:
        said = f"The seed must be a whole number, not {quotable(value)}. -1 asks for a random one."
        raise InvalidSeed(said)
    return seed


def _whole(value: Any) -> int | None:
    if isinstance(value, float):  # A slider's 5.0 means 5.
        return int(value) if value.is_integer() else None
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


# The fields of a request, in the order in which they are shown. A new field is an entry here, a line in
# `JobRequest` and one in `TextOptions` or `ImageOptions`.
_TABLE: Final = (
    RequestField(
        "prompt",
        label="Prompt",
        help="What is seen and how it moves.",
        check=_prompt,
        high=LONGEST_TEXT,
    ),
    RequestField(
        "duration_seconds",
        label="Length",
        help=f"Length in seconds, {wire.MIN_SECONDS} to {wire.MAX_SECONDS}.",
        check=_duration,
        control="slider",
        default=wire.DEFAULT_SECONDS,
        low=wire.MIN_SECONDS,
        high=wire.MAX_SECONDS,
        unit="s",
        flag="duration",
        metavar="SECONDS",
        hint=f"2, 5 · empty: the usual {wire.DEFAULT_SECONDS} s",
        column="asked_seconds",
    ),
    RequestField(
        "aspect_ratio",
        label="Shape",
        help=f"The shape: {', '.join(wire.ASPECT_RATIOS[:-1])} or {wire.ASPECT_RATIOS[-1]}.",
        check=_ratio,
        control="choices",
        modes=TEXT_ONLY,
        default=wire.DEFAULT_ASPECT_RATIO,
        choices=wire.ASPECT_RATIOS,
        flag="ratio",
        metavar="SHAPE",
        hint=f"{', '.join(wire.ASPECT_RATIOS)} · empty: {wire.DEFAULT_ASPECT_RATIO}",
    ),
    RequestField(
        "seed",
        label="Seed",
        help="The same seed makes the same clip.",
        check=_seed,
        control="seed",
        modes=TEXT_ONLY,
        default=wire.RANDOM_SEED,
        random=wire.RANDOM_SEED,
        metavar="NUMBER",
        hint="1-4 · empty: a random one",
    ),
    RequestField(
        "image",
        label="Image",
        help="A still to move, instead of text alone.",
        control="image",
        modes=("image-to-video",),
        metavar="FILE",
    ),
)
FIELDS: Final = {each.name: each for each in _TABLE}


@dataclass(frozen=True)
class JobRequest:
    """A clip to be made, from text or from a still image (interface, POST generate/...).

        request = rb.JobRequest.from_text("a red fox in snow", duration_seconds=3, seed=7)
        job = session.submit(request)

    `duration_seconds` is a whole number from 1 to 10. A clip from text has an `aspect_ratio` (16:9, 9:16 or
    1:1) and a `seed` (-1: one is drawn when it is submitted); a clip from an image has neither, as its
    endpoint takes none. All of it is validated here and nowhere below. Raises the matching InvalidInput.
    """

    mode: wire.Mode
    prompt: str
    duration_seconds: int = wire.DEFAULT_SECONDS
    aspect_ratio: wire.AspectRatio | None = None
    seed: int | None = None
    image: PreparedImage | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidInput('A request is for "text-to-video" or for "image-to-video".')
        for name, about in FIELDS.items():
            value = getattr(self, name)
            if self.mode in about.modes:
                value = about.default if value is None else value
                left_out = value is None and about.default is None and name != "prompt"
                object.__setattr__(self, name, None if left_out else about.checked(value))  # it is frozen
            elif value is not None:
                raise InvalidInput(_not_taken(self.mode))

    @classmethod
    def from_text(cls, prompt: str, **options: Unpack[TextOptions]) -> JobRequest:
        """A clip made from text. Raises InvalidPrompt, InvalidDuration, InvalidAspectRatio, InvalidSeed."""
        return cls("text-to-video", prompt, **_checked_options("text-to-video", options))

    @classmethod
    def from_image(
        cls, image: ImageSource | PreparedImage, prompt: str, **options: Unpack[ImageOptions]
    ) -> JobRequest:
        """A clip that moves a still image: a path, bytes, a file object, a PIL image or a numpy array.

        It is turned upright, stripped of metadata and shrunk where it is large, unless it is a PreparedImage.
        Raises InvalidPrompt and InvalidDuration before the image is looked at, and InvalidImage.
        """
        from .media.images import PreparedImage, prepare

        asked = cls("image-to-video", prompt, **_checked_options("image-to-video", options))
        if not isinstance(image, PreparedImage):
            image = hidden(image)  # type: ignore[assignment]  # opened as a path, and never printed
            image = prepare(image)
        return replace(asked, image=image)

    @classmethod
    def of_record(cls, record: Mapping[str, Any], image: PreparedImage | None = None) -> JobRequest:
        """The request of a `record`, which has no pixels of an image. Unknown names are ignored.

        It isn't validated again until it is submitted.
        """
        mode: wire.Mode = "image-to-video" if record["mode"] == "image-to-video" else "text-to-video"
        kept = cls(mode, "kept", image=image)
        for name in ("prompt", *options(mode)):
            if name in record:
                object.__setattr__(kept, name, record[name])
        return kept

    def record(self) -> dict[str, Any]:
        """What is kept of it, as JSON: all that was asked for, the image as its digest."""
        image = {} if self.image is None else {"image": self.image.digest}
        return {"mode": self.mode, **self.arguments(), **image}

    def arguments(self) -> dict[str, Any]:
        """What is sent, by the interface's names; everything but the image."""
        asked = {name: getattr(self, name) for name in ("prompt", *options(self.mode))}
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def complete(self) -> bool:
        """Whether it can be submitted: a request read from the ledger may lack its picture."""
        return self.mode == "text-to-video" or self.image is not None

    @property
    def estimated_cost_usd(self) -> float:
        """0.05 USD a second of the requested length (interface, Limits)."""
        return wire.cost_usd(self.duration_seconds)

    def with_seed(self) -> JobRequest:
        """The same request, with a seed drawn now if it was left random, so that it can be repeated."""
        return replace(self, seed=secrets.randbelow(SEEDS)) if self.seed == wire.RANDOM_SEED else self

    @cached_property
    def sameness(self) -> str:
        """Equal for two requests that ask for the same, in every field."""
        record = self.record()
        asked: list[Any] = [record.pop(name, None) for name in _HASHED_IN_ORDER]
        # A field added later is left out where it has its default: ledgers keep older hashes.
        later = {name: value for name, value in sorted(record.items()) if value != FIELDS[name].default}
        return hashlib.sha256(json.dumps([*asked, later] if later else asked).encode()).hexdigest()[:32]


_HASHED_IN_ORDER: Final = ("mode", "prompt", "duration_seconds", "aspect_ratio", "seed", "image")


class ImageOptions(TypedDict, total=False):
    duration_seconds: int


class TextOptions(ImageOptions, total=False):
    aspect_ratio: str
    seed: int


def options(mode: wire.Mode = "text-to-video") -> dict[str, RequestField]:
    """The fields that a mode takes besides prompt and image, by name."""
    return {
        name: about
        for name, about in FIELDS.items()
        if mode in about.modes and name != "prompt" and about.control != "image"
    }


def lists_options(mode: wire.Mode) -> Callable[[Method], Method]:
    """Decorates a method that takes a request's `**options`: help and completion list them one by one."""

    def decorate(method: Method) -> Method:
        signature = inspect.signature(method)
        kept = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        listed = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=about.default,
                annotation="int" if about.control in ("slider", "seed") else "str",
            )
            for name, about in options(mode).items()
        ]
        parameters = sorted([*listed, *kept], key=lambda each: each.kind)
        method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # inspect's
        return method

    return decorate


def _checked_options(mode: wire.Mode, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options, each validated as given. Raises TypeError for a name that no request has."""
    known = options(mode)
    if any(name in FIELDS and name not in known for name in given):
        raise InvalidInput(_not_taken(mode))
    return {name: known[name].checked(value) if name in known else value for name, value in given.items()}


def _not_taken(mode: wire.Mode) -> str:
    made_from = "text" if mode == "text-to-video" else "an image"
    others = [name.replace("_", " ") for name, about in FIELDS.items() if mode not in about.modes]
    return f"A clip from {made_from} takes {' and '.join(f'no {each}' for each in others)}."


BatchItem = str | Mapping[str, Any] | JobRequest
"""A prompt, a mapping of `text_to_video`'s or `image_to_video`'s arguments, or a finished request."""


class BatchOptions(TextOptions, total=False):
    experiment: str | None
    again: bool
    once: str | None
    retry_uncertain: bool


def checked(items: Iterable[BatchItem], defaults: Mapping[str, Any]) -> list[JobRequest]:
    """Each item as a request, images prepared. `defaults` fill in what an item leaves out.

    Raises the matching InvalidInput, with the item's number from 1.
    """
    if isinstance(items, str | bytes | Mapping | JobRequest) or not isinstance(items, Iterable):
        raise InvalidInput("A batch is a list of requests: put a single one in brackets. Nothing was sent.")
    items = list(items)
    # Once for each picture: an open file that several requests share can be read only once.
    pictures: dict[int, PreparedImage | None] = {}
    requests = []
    for number, item in enumerate(items, 1):
        try:
            requests.append(_made(item, defaults, pictures))
        except InvalidInput as error:
            said = f"Request {number} of {len(items)}: {error} Nothing of the batch was sent."
            raise type(error)(said) from error
    return requests


def _made(item: object, defaults: Mapping[str, Any], pictures: dict[int, PreparedImage | None]) -> JobRequest:
    """The request that an item stands for. `pictures` are those of the items before, by their `id`."""
    if isinstance(item, JobRequest):
        if not item.complete:
            raise InvalidInput("Its image isn't kept. Give it again.")
        return item
    if isinstance(item, str):
        item = {"prompt": item}
    if not isinstance(item, Mapping):
        raise InvalidInput(
            f"It must be a prompt, a mapping of arguments or a JobRequest, not {type(item).__name__}."
        )
    mode: wire.Mode = "image-to-video" if "image" in item else "text-to-video"
    known = {"prompt", *options(mode), *(("image",) if "image" in item else ())}
    if strange := [str(name) for name in item if name not in known]:
        raise InvalidInput(f"{mode} takes no {', '.join(strange)}. It takes {', '.join(sorted(known))}.")
    if "prompt" not in item:
        raise InvalidInput("It has no prompt.")
    given = {name: value for name, value in {**defaults, **item}.items() if name in known}
    if "image" not in item:
        return JobRequest.from_text(**given)
    picture = id(item["image"])
    request = JobRequest.from_image(**{**given, "image": pictures.get(picture) or item["image"]})
    pictures[picture] = request.image
    return request


def checked_identifier(value: Any, what: str) -> str:
    """A `request_id` or `key_id` as it came from the service. Raises InvalidInput."""
    if not isinstance(value, str) or not value.strip() or _lone_surrogate(value):
        raise InvalidInput(f"The {what} must be the text that the service gave, not {quotable(value)}.")
    if is_held(value):
        raise InvalidInput(f"That is a key, not a {what}. Nothing was sent.")
    return value.strip()


def checked_days(value: Any) -> int:
    """A period in whole days, at least 1. Raises InvalidInput."""
    days = _whole(value)
    if days is None or days < 1:
        raise InvalidInput(f"The period must be a whole number of days, 1 or more, not {quotable(value)}.")
    return days


def checked_key_name(value: Any) -> str:
    """A name for a new key. Raises InvalidKeyRequest."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidKeyRequest("A key needs a name, so that you know it again in the list.")
    return value.strip()


def checked_rate_limit(value: Any) -> int:
    """Requests a minute for a new key, 1 to 100 (interface, Limits). Raises InvalidKeyRequest."""
    limit = _whole(value)
    if limit is None or not 1 <= limit <= wire.MAX_REQUESTS_PER_MINUTE:
        span = f"1 to {wire.MAX_REQUESTS_PER_MINUTE} requests a minute"
        raise InvalidKeyRequest(f"The rate limit must be {span}, not {quotable(value)}.")
    return limit
