"""What is asked for: a `JobRequest`, checked once where it is made, and a batch of them.

It is the one thing that travels from a form, a cell or a command down to the POST and into the ledger.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from . import validation, wire
from .errors import InvalidInput
from .secret import veiled

if TYPE_CHECKING:
    from .media.images import ImageSource, PreparedImage

Submitted = TypeVar("Submitted")
Prepare = Callable[["ImageSource"], "PreparedImage"]


@dataclass(frozen=True)
class JobRequest:
    """A clip to be made, from text or from a still image (interface, POST generate/...).

        request = rb.JobRequest.from_text("a red fox in snow", duration_seconds=3, seed=7)
        job = session.submit(request)

    `duration_seconds` is a whole number from 1 to 10. A clip from text has an `aspect_ratio` (16:9, 9:16 or
    1:1) and a `seed` (-1: a random one); a clip from an image has neither, as its endpoint takes none. All of
    it is checked here and nowhere below. Raises InvalidInput, in the type that fits.
    """

    mode: wire.Mode
    prompt: str
    duration_seconds: int = wire.DEFAULT_SECONDS
    aspect_ratio: wire.AspectRatio | None = None
    seed: int | None = None
    image: PreparedImage | None = None

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "prompt": validation.prompt(self.prompt),
            "duration_seconds": validation.duration_seconds(self.duration_seconds),
        }
        if self.mode == "text-to-video":
            ratio = wire.DEFAULT_ASPECT_RATIO if self.aspect_ratio is None else self.aspect_ratio
            seed = wire.RANDOM_SEED if self.seed is None else self.seed
            checked |= {"aspect_ratio": validation.aspect_ratio(ratio), "seed": validation.seed(seed)}
            if self.image is not None:
                raise InvalidInput("A clip from text takes no image.")
        elif self.mode != "image-to-video":
            raise InvalidInput('A request is for "text-to-video" or for "image-to-video".')
        elif self.aspect_ratio is not None or self.seed is not None:
            raise InvalidInput("A clip from an image takes no aspect ratio and no seed.")
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # frozen for everybody else

    @classmethod
    def from_text(
        cls,
        prompt: str,
        *,
        duration_seconds: int = wire.DEFAULT_SECONDS,
        aspect_ratio: str = wire.DEFAULT_ASPECT_RATIO,
        seed: int = wire.RANDOM_SEED,
    ) -> JobRequest:
        """A clip made from text. Raises InvalidPrompt, InvalidDuration, InvalidAspectRatio, InvalidSeed."""
        return cls(
            "text-to-video",
            validation.prompt(prompt),
            validation.duration_seconds(duration_seconds),
            validation.aspect_ratio(aspect_ratio),
            validation.seed(seed),
        )

    @classmethod
    def from_image(
        cls,
        image: ImageSource | PreparedImage,
        prompt: str,
        *,
        duration_seconds: int = wire.DEFAULT_SECONDS,
        prepare: Prepare | None = None,
    ) -> JobRequest:
        """A clip that moves a still image: a path, bytes, a file object, a PIL image or a numpy array.

        `prepare` makes it ready to be sent (default: `media.images.prepare`). Raises InvalidPrompt and
        InvalidDuration before the image is looked at, and InvalidImage.
        """
        from .media.images import PreparedImage
        from .media.images import prepare as prepare_as_usual

        asked = cls("image-to-video", prompt, duration_seconds)
        if not isinstance(image, PreparedImage):
            image = veiled(image)  # type: ignore[assignment]  # opened as a path, and never printed
            image = (prepare or prepare_as_usual)(image)
        return replace(asked, image=image)

    @property
    def complete(self) -> bool:
        """Whether it could be submitted again: the ledger of an earlier kernel keeps no picture."""
        return self.mode == "text-to-video" or self.image is not None

    @property
    def estimated_cost_usd(self) -> float:
        """0.05 USD a second of the length asked for (interface, Limits)."""
        return wire.cost_usd(self.duration_seconds)

    @property
    def image_digest(self) -> str | None:
        """Tells its image apart from others; None without one."""
        return None if self.image is None else self.image.digest

    @cached_property
    def sameness(self) -> str:
        """Equal for two requests that ask for the same: mode, prompt, length, ratio, seed and image."""
        asked = (
            self.mode,
            self.prompt,
            self.duration_seconds,
            self.aspect_ratio,
            self.seed,
            self.image_digest,
        )
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]


BatchItem = str | Mapping[str, Any] | JobRequest
"""A prompt, a mapping of `text_to_video`'s or `image_to_video`'s arguments, or a finished request."""

_TEXT = frozenset({"prompt", "duration_seconds", "aspect_ratio", "seed"})
_IMAGE = frozenset({"prompt", "duration_seconds", "image"})


class BatchOptions(TypedDict, total=False):
    """The options of `Session.submit_many`."""

    duration_seconds: int
    aspect_ratio: str
    seed: int
    experiment: str | None
    again: bool
    once: str | None
    retry_uncertain: bool


def checked(
    items: Iterable[BatchItem],
    defaults: Mapping[str, Any],
    prepare: Prepare,
) -> list[JobRequest]:
    """Each item as a request, images prepared. `defaults` fill in what an item leaves out.

    Raises InvalidInput, in the type that fits and with the item's number from 1; then nothing was sent.
    """
    if isinstance(items, str | bytes | Mapping | JobRequest) or not isinstance(items, Iterable):
        raise InvalidInput("A batch is a list of requests: put a single one in brackets. Nothing was sent.")
    items = list(items)
    pictures: dict[int, PreparedImage] = {}

    def prepared(image: ImageSource) -> PreparedImage:
        # Once for each picture: an open file that several requests share can be read only once.
        if id(image) not in pictures:
            pictures[id(image)] = prepare(image)
        return pictures[id(image)]

    requests = []
    for number, item in enumerate(items, 1):
        try:
            requests.append(_made(item, defaults, prepared))
        except InvalidInput as error:
            said = f"Request {number} of {len(items)}: {error} Nothing of the batch was sent."
            raise type(error)(said) from error
    return requests


def merged(
    requests: Sequence[JobRequest], submit: Callable[[list[JobRequest]], Sequence[Submitted]]
) -> list[Submitted]:
    """What `submit` makes of each request, where equal requests are submitted once."""
    keys = [(replace(request, image=None), request.image and request.image.data) for request in requests]
    distinct = dict(zip(keys, requests, strict=True))
    jobs = dict(zip(distinct, submit(list(distinct.values())), strict=True))
    return [jobs[key] for key in keys]


def _made(item: object, defaults: Mapping[str, Any], prepare: Prepare) -> JobRequest:
    """The request that an item of a batch stands for."""
    if isinstance(item, JobRequest):
        if not item.complete:
            raise InvalidInput("Its picture isn't kept. Give the image again.")
        return item
    if isinstance(item, str):
        item = {"prompt": item}
    if not isinstance(item, Mapping):
        raise InvalidInput(
            f"It must be a prompt, a mapping of arguments or a JobRequest, not {type(item).__name__}."
        )
    known = _IMAGE if "image" in item else _TEXT
    if strange := [str(name) for name in item if name not in known]:
        kind = "image-to-video" if "image" in item else "text-to-video"
        raise InvalidInput(f"{kind} takes no {', '.join(strange)}. It takes {', '.join(sorted(known))}.")
    if "prompt" not in item:
        raise InvalidInput("It has no prompt.")
    given = {name: value for name, value in {**defaults, **item}.items() if name in known}
    if "image" in item:
        return JobRequest.from_image(prepare=prepare, **given)
    return JobRequest.from_text(**given)
