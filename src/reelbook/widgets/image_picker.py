"""Choosing a still image, which is received in pieces, prepared, cropped and shown here."""

import contextlib
import html
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import traitlets
from PIL import Image

from reelbook import settings, wire
from reelbook.errors import InvalidImage
from reelbook.media import images, recent_images
from reelbook.media.image_files import never_a_picture, removed_by_the_page
from reelbook.secret import hidden, quotable

from ..formatting import file_size
from ..text.form import where_words
from .base import Panel
from .bundle import added_style, module, packed
from .clip_serving import PIECE_BYTES
from .static_html import figure_html, picture_html
from .uploads import MAX_BYTES, Uploads

PREVIEW_SIDE = 256


class TakesImage(Panel):
    """For a panel with an image picker in it."""

    image = traitlets.Any(None, allow_none=True, help="The PreparedImage chosen, or None.")
    crop = traitlets.Any(None, allow_none=True, help="The part that is sent; None: all.").tag(sync=True)
    preview = traitlets.Bytes(help="A small JPEG of the whole image.").tag(sync=True)
    image_words = traitlets.Unicode(help="Its size, and what was changed in it.").tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        self._uploads = Uploads("image", InvalidImage)
        self._made: dict[str, Any] | None = None  # what the page did to the file; None: nothing
        self._removed: list[str] = []  # what else was in that file
        # The image first: the crop is a part of it.
        later = {name: hidden(traits.pop(name)) for name in ("image", "crop") if name in traits}
        super().__init__(**traits)
        for name, value in later.items():
            setattr(self, name, value)

    @traitlets.validate("image")
    def _prepared(self, proposal: Any) -> Any:
        value = proposal["value"]
        # A prepared image knows its crop, so that linked pickers show the same part.
        if value is None or isinstance(value, images.PreparedImage):
            return value
        return images.cropped(images.prepare(value), _crop(self.crop))

    @traitlets.validate("crop")
    def _checked_crop(self, proposal: Any) -> Any:
        try:
            crop = _crop(proposal["value"])
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(str(error)) from None
        return None if crop is None else asdict(crop)

    @traitlets.observe("crop")
    def _cut(self, change: Any) -> None:
        if self.image is not None and _crop(change["new"]) != self.image.crop:
            self.image = images.cropped(self.image, _crop(change["new"]))

    @traitlets.observe("image")
    def _show_image(self, change: Any) -> None:
        image: images.PreparedImage | None = change["new"]
        with self.hold_sync():
            if image is None:
                self.preview, self.image_words = b"", ""
                return
            before: images.PreparedImage | None = change["old"]
            if before is None or (before.whole or before).data != (image.whole or image).data:
                self.preview = _thumbnail(image.whole or image, PREVIEW_SIDE)
            said = [f"{image.width} × {image.height}", image.format, file_size(len(image.data))]
            self.image_words = " · ".join([*said, *image.notes])
            self.crop = None if image.crop is None else asdict(image.crop)

    def _recent(self) -> recent_images.RecentImages:
        session = getattr(self, "session", None)
        return recent_images.RecentImages(settings.home() if session is None else session.home)

    def _on_tools(self) -> dict[str, Any]:
        # Most of the page's code comes when it is needed: a notebook saves a panel's code with every panel.
        side, ratios = images.MAX_SIDE, wire.ASPECT_RATIOS
        limits = {"bytes": MAX_BYTES, "piece": PIECE_BYTES, "side": side, "ratios": ratios}
        looks = added_style("image_picker_tools", "prompt_form", "image_picker")
        return {"code": module("image_picker_tools"), "style": looks, "limits": limits}

    def _on_image(self, content: dict[str, Any], buffers: Any) -> dict[str, Any]:
        try:
            if content["index"] == 0:
                if reason := never_a_picture(bytes(buffers[0][:2048])):
                    raise InvalidImage(reason)
                self._made = content.get("made")
                names = self._made["segments"] if self._made else []
                self._removed = removed_by_the_page(zip(names, map(bytes, buffers[1:]), strict=True))
            data = self._uploads.take(content, buffers)
            image = None if data is None else images.prepare(data)
        except InvalidImage as error:
            self._uploads.drop()
            return {"problem": str(error)}
        if image is None:
            return {}
        if made := self._made:
            kind, before = str(made["kind"]), (int(made["width"]), int(made["height"]))
            notes = [*self._removed]
            if kind != image.format:
                notes.append(f"converted from {kind}")
            if before != (image.width, image.height):
                notes.append(f"shrunk from {before[0]} × {before[1]} to {image.width} × {image.height}")
            image = replace(image, notes=(*notes, *image.notes))
        # The chosen shape stays; its position belonged to the old picture.
        self.image = images.cropped(image, _crop(self.crop and self.crop["ratio"]))
        return {}

    def _on_crop(self, crop: Any) -> None:
        self.crop = crop

    def _on_remove(self) -> None:
        self._uploads.drop()
        self.image = self.crop = None

    def _on_recent(self) -> dict[str, Any]:
        recent, items, pictures = self._recent(), [], []
        for one in recent.list():
            with contextlib.suppress(InvalidImage, OSError), Image.open(one.path) as picture:
                pictures.append(_thumbnail(one.path, 128))
                at = time.strftime("%d %b, %H:%M", time.localtime(one.at)).lstrip("0")
                items.append({"key": one.digest, "words": f"{picture.width} × {picture.height}, sent {at}"})
        return {
            "items": items,
            "words": where_words(len(items), recent.folder, recent_images.KEPT),
            "buffers": pictures,
        }

    def _on_take_recent(self, key: Any) -> dict[str, Any]:
        try:
            self.image = self._recent().load(str(key))
        except InvalidImage as error:
            return {"problem": str(error)}
        return {}

    def _on_forget_recent(self) -> dict[str, Any]:
        self._recent().forget()
        return self._on_recent()


class ImagePicker(TakesImage):
    """Takes a still image that is chosen, dropped, pasted, taken by the camera or sent before.

    Observe, link or set `image`: a PreparedImage or None. It can be set to a path, bytes, a PIL image or a
    numpy array; raises InvalidImage for anything that isn't an image. `crop` is the part that is sent: None,
    or an aspect ratio and its centre in shares of width and height, as `{"ratio": "16:9", "x": 0.5, "y":
    0.4}`; "16:9" alone means the middle. Image-to-video takes no aspect ratio (interface, Endpoints): the
    shape of the image decides.

        picker = rb.ImagePicker(image="cat.png", crop="1:1")
        button = ipywidgets.Button(description="Animate")
        button.on_click(lambda _: session.image_to_video(picker.image, "the cat turns its head"))
        ipywidgets.VBox([picker, button])
    """

    _esm = packed("image_picker")

    def still(self) -> tuple[str, str]:
        if self.image is None:
            return super().still()
        picture, words = picture_html(_thumbnail(self.image, PREVIEW_SIDE)), f"Image: {self.image_words}"
        return figure_html(picture, html.escape(words)), words


def _thumbnail(image: Any, side: int) -> bytes:
    data = image.data if isinstance(image, images.PreparedImage) else image
    return images.thumbnail(data, max_side=side, max_bytes=6_000)


def _crop(value: object) -> images.Crop | None:
    """A crop as a person or the page gives it. Raises TypeError or ValueError."""
    if value is None or isinstance(value, images.Crop):
        return value
    if isinstance(value, str):
        return images.Crop(value)
    if isinstance(value, Mapping):
        return images.Crop(**value)
    raise TypeError(f'A crop is None, a ratio such as "16:9" or ratio, x and y, not {quotable(value)}.')
