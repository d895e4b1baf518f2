"""The quiet "sandbox" mark in every frame, so that nobody takes a drawn clip for a model's."""

from PIL import Image, ImageDraw, ImageFont

from reelbook.sandbox.render.layers import Sprite


def mark(height: int) -> Sprite:
    """The mark for frames of `height` pixels: white on a translucent dark pill."""
    fine = 3
    size = max(11, round(height / 30))
    font = ImageFont.load_default(size * fine)
    left, top, right, bottom = font.getbbox("sandbox")
    pad_x, pad_y = round(size * 0.62) * fine, round(size * 0.36) * fine
    box = (int(right - left) + 2 * pad_x, int(bottom - top) + 2 * pad_y)
    text = Image.new("L", box, 0)
    ImageDraw.Draw(text).text((pad_x - left, pad_y - top), "sandbox", fill=255, font=font)
    pill = Image.new("L", box, 0)
    ImageDraw.Draw(pill).rounded_rectangle((0, 0, box[0] - 1, box[1] - 1), radius=box[1] / 2, fill=112)
    size_out = (box[0] // fine, box[1] // fine)
    text = text.resize(size_out, Image.Resampling.BOX)
    cover = pill.resize(size_out, Image.Resampling.BOX)
    colour = Image.merge("RGB", (text, text, text))
    # Where there is a letter it covers nearly wholly, elsewhere the pill lets the picture through.
    cover.paste(235, (0, 0), text)
    return Sprite(colour, cover, (size_out[0], size_out[1]))


def stamp(frame: Image.Image, pill: Sprite) -> None:
    """Put the mark into the lower right corner of `frame`."""
    edge = round(pill.colour.height * 0.5)
    place = (frame.width - pill.colour.width - edge, frame.height - pill.colour.height - edge)
    frame.paste(pill.colour, place, pill.cover)
