"""What is asked for: a `JobRequest`, and a batch of them, all of it checked before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from . import validation, wire
from .errors import InvalidInput

if TYPE_CHECKING:
    from .media.images import ImageSource, PreparedImage

Submitted = TypeVar("Submitted")


@dataclass(frozen=True)
class JobRequest:
    """What was asked for. An image has no aspect ratio and no seed: its endpoint takes none."""

    mode: wire.Mode
    prompt: str
    duration_seconds: int
    aspect_ratio: wire.AspectRatio | None = None
    seed: int | None = None
    image: PreparedImage | None = None

    @property
    def complete(self) -> bool:
        """Whether it could be submitted again: the ledger of an earlier kernel keeps no picture."""
        return self.mode == "text-to-video" or self.image is not None

    @property
    def estimated_cost_usd(self) -> float:
        """0.05 USD a second of the length asked for (interface, Limits)."""
        return wire.cost_usd(self.duration_seconds)


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
    prepare: Callable[[ImageSource | PreparedImage], PreparedImage],
) -> list[JobRequest]:
    """Each item as a request, images prepared. `defaults` fill in what an item leaves out.

    Raises InvalidInput, in the type that fits and with the item's number from 1; then nothing was sent.
    """
    if isinstance(items, str | bytes | Mapping | JobRequest) or not isinstance(items, Iterable):
        raise InvalidInput("A batch is a list of requests: put a single one in brackets. Nothing was sent.")
    items = list(items)
    pictures: dict[int, PreparedImage] = {}

    def prepared(image: ImageSource | PreparedImage) -> PreparedImage:
        # Once for each picture: an open file that several requests share can be read only once.
        if id(image) not in pictures:
            pictures[id(image)] = prepare(image)
        return pictures[id(image)]

    requests = []
    for number, item in enumerate(items, 1):
        try:
            requests.append(_request(_arguments(item), defaults, prepared))
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


def _arguments(item: object) -> Mapping[str, Any]:
    if isinstance(item, str):
        return {"prompt": item}
    if isinstance(item, Mapping):
        return item
    if not isinstance(item, JobRequest):
        raise InvalidInput(
            f"It must be a prompt, a mapping of arguments or a JobRequest, not {type(item).__name__}."
        )
    if not item.complete:
        raise InvalidInput("Its picture isn't kept. Give the image again.")
    fields = ((name, getattr(item, name)) for name in _TEXT | _IMAGE)
    return {name: value for name, value in fields if value is not None}


def _request(
    given: Mapping[str, Any],
    defaults: Mapping[str, Any],
    prepare: Callable[[ImageSource | PreparedImage], PreparedImage],
) -> JobRequest:
    known = _IMAGE if "image" in given else _TEXT
    if strange := [str(name) for name in given if name not in known]:
        kind = "image-to-video" if "image" in given else "text-to-video"
        raise InvalidInput(f"{kind} takes no {', '.join(strange)}. It takes {', '.join(sorted(known))}.")
    if "prompt" not in given:
        raise InvalidInput("It has no prompt.")
    asked = {**defaults, **given}
    prompt = validation.prompt(asked["prompt"])
    duration_seconds = validation.duration_seconds(asked.get("duration_seconds", wire.DEFAULT_SECONDS))
    if "image" in given:
        return JobRequest("image-to-video", prompt, duration_seconds, image=prepare(given["image"]))
    return JobRequest(
        "text-to-video",
        prompt,
        duration_seconds,
        aspect_ratio=validation.aspect_ratio(asked.get("aspect_ratio", wire.DEFAULT_ASPECT_RATIO)),
        seed=validation.seed(asked.get("seed", wire.RANDOM_SEED)),
    )
