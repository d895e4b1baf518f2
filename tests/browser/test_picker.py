"""The image picker in a real JupyterLab: photographs, camera, recent images, the part that is sent."""

from io import BytesIO

from PIL import ExifTags, Image
from playwright.sync_api import Locator

from browser.lab import Notebook, says, shown, until


def photo(width: int, height: int) -> bytes:
    """A JPEG as a phone stores it: on its side, with EXIF 6 and a place. Upright, its left half is red."""
    picture = Image.new("RGB", (width, height), "blue")
    picture.paste("red", (0, 0, width // 2, height))
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    exif[ExifTags.Base.Make] = "Phone"
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitudeRef] = "N"
    file = BytesIO()
    picture.transpose(Image.Transpose.ROTATE_90).save(file, "JPEG", exif=exif)
    return file.getvalue()


def choose(cell: Locator, data: bytes, mime: str = "image/jpeg") -> None:
    cell.locator("input[type=file]").set_input_files({"name": "x", "mimeType": mime, "buffer": data})


HALVES = (
    "(lambda p: [p.size, p.getpixel((p.width // 8, p.height // 2))[0] > 200,"
    " p.getpixel((p.width * 7 // 8, p.height // 2))[2] > 200])"
    "(__import__('PIL.Image').Image.open(__import__('io').BytesIO(taken19.image.data)))"
)


def test_a_photograph_comes_out_upright_by_either_way(notebook: Notebook) -> None:
    """Python turns a small one, the browser a large one, which it shrinks first; both say what went."""
    cell = notebook.run(
        "taken19, sent19 = rb.ImagePicker(), [0]\n"
        "taken19.on_msg(lambda _, content, buffers:"
        " content['name'] == 'image' and sent19.append(sent19.pop() + len(buffers[0])))\ntaken19"
    )
    shown(cell)
    notes = ["location and camera data removed", "turned upright"]
    small = photo(900, 600)
    choose(cell, small)
    notebook.comes_to("taken19.image and taken19.image.notes", notes)
    notebook.comes_to(HALVES, [[900, 600], True, True])
    assert notebook.value("sent19") == [len(small)]
    large = photo(3000, 2000)
    choose(cell, large)
    notebook.comes_to("taken19.image.notes", [*notes, "shrunk from 3000 × 2000 to 2048 × 1365"])
    notebook.comes_to(HALVES, [[2048, 1365], True, True])
    assert notebook.value(f"0 < sent19[0] - {len(small)} != {len(large)}")
    says(cell, "turned upright")


def test_what_cant_be_had_is_said_at_once(notebook: Notebook) -> None:
    """A HEIC photo after its first piece, a file that is too large before anything of it travels.

    And each reason for which there is no camera has its own sentence; the image chosen before stays.
    """
    cell = notebook.run(
        "picker20 = rb.ImagePicker(image=__import__('PIL.Image').Image.new('RGB', (30, 20)))\n"
        "pieces20 = []\n"
        "picker20.on_msg(lambda _, content, buffers: content['name'] == 'image' and pieces20.append(1))\n"
        "picker20"
    )
    zone = shown(cell, ".rb-drop")
    choose(cell, b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(3_000_000), "image/heic")
    says(cell, "This is a HEIC photo, which can't be read here. Export it as JPEG.")
    cell.get_by_role("progressbar").wait_for(state="hidden")
    zone.evaluate(
        """(zone) => {
          const carried = new DataTransfer();
          carried.items.add(new File([new Uint8Array(52 << 20)], 'x.jpg', {type: 'image/jpeg'}));
          zone.dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: carried}));
        }"""
    )
    says(cell, "The file is 52 MB; the limit for an image is 50 MB. Nothing was sent.")
    notebook.comes_to("[len(pieces20), picker20.image.width]", [1, 30])
    for media, words in NO_CAMERA:
        notebook.page.evaluate(
            f"Object.defineProperty(navigator, 'mediaDevices', {{configurable: true, value: {media}}})"
        )
        try:
            cell.get_by_role("button", name="Use the camera").click()
            says(cell, words)
            assert not cell.locator("video").is_visible()
        finally:
            notebook.page.evaluate("delete navigator.mediaDevices")


_FAILS = "{getUserMedia: async () => { throw new DOMException('', '%s'); }}"
NO_CAMERA = [
    (_FAILS % "NotAllowedError", "didn't give this page"),
    (_FAILS % "NotFoundError", "No camera was found."),
    ("undefined", "over https and on localhost only"),
]


def test_an_image_on_its_way_can_be_called_back(notebook: Notebook) -> None:
    """How far it is stands beside the button; afterwards nothing more is sent, and no image is there."""
    cell = notebook.run(
        "import threading\npicker25, go25 = rb.ImagePicker(), threading.Event()\n"
        "taking25 = picker25._on_image\n"
        "picker25._on_image = lambda content, buffers:"
        " taking25(content, buffers) if content['index'] == 0 else go25.wait(20) and {}\n"
        "picker25"
    )
    shown(cell)
    file = BytesIO()
    Image.effect_noise((1500, 1500), 90).save(file, "PNG")
    assert len(file.getvalue()) > 1_500_000
    choose(cell, file.getvalue(), "image/png")
    says(cell, "Sending · 33 %")
    assert cell.get_by_role("progressbar", name="Sending the image").get_attribute("aria-valuenow") == "33"
    cell.get_by_role("button", name="Don't send").click()
    cell.get_by_role("progressbar").wait_for(state="hidden")
    until(cell, "() => document.activeElement.textContent === 'Choose an image'")
    notebook.execute("go25.set()")
    notebook.comes_to("picker25.image is None", True)


def test_the_part_that_is_sent_is_chosen_by_keyboard_and_mouse(notebook: Notebook) -> None:
    """A shape shows its frame; arrows and a drag move it along the side with room; Python cuts there."""
    cell = notebook.run("picker21 = rb.ImagePicker(image=__import__('PIL.Image').Image.linear_gradient('L')"
                        ".rotate(90).resize((800, 400)))\npicker21")  # fmt: skip
    shown(cell)
    square = cell.get_by_role("button", name="1:1")
    square.wait_for()
    square.press("Enter")
    frame = cell.get_by_role("slider", name="Part of the image that is sent")
    frame.wait_for()
    assert frame.get_attribute("aria-valuetext") == "the middle"
    frame.press("Home")
    frame.press("ArrowRight")
    assert frame.get_attribute("aria-valuenow") == "4"
    notebook.comes_to("picker21.crop", {"ratio": "1:1", "x": 0.27, "y": 0.5})
    notebook.comes_to("[picker21.image.width, picker21.image.height]", [400, 400])
    frame.scroll_into_view_if_needed()
    box = frame.bounding_box()
    assert box is not None
    notebook.page.mouse.move(box["x"] + 20, box["y"] + 20)
    notebook.page.mouse.down()
    notebook.page.mouse.move(box["x"] + 400, box["y"] + 20, steps=3)
    notebook.page.mouse.up()
    notebook.comes_to("picker21.crop", {"ratio": "1:1", "x": 0.75, "y": 0.5})
    cell.get_by_role("button", name="As it is").click()
    notebook.comes_to("[picker21.crop, picker21.image.width]", [None, 800])
    frame.wait_for(state="hidden")


def test_a_picture_is_taken_with_the_camera(notebook: Notebook) -> None:
    """The camera shows what it sees, takes a picture, and is off afterwards, also after Escape."""
    cell = notebook.run("picker22 = rb.ImagePicker()\npicker22")
    shown(cell)
    notebook.page.evaluate(
        """() => { window.streams = [];
          const media = navigator.mediaDevices, real = media.getUserMedia.bind(media);
          media.getUserMedia = async (...given) => {
            streams.push(await real(...given));
            return streams.at(-1);
          };
        }"""
    )
    off = "() => streams.every((one) => one.getTracks().every((track) => track.readyState === 'ended'))"
    cell.get_by_role("button", name="Use the camera").click()
    snap = cell.get_by_role("button", name="Take the picture")
    snap.wait_for()
    until(cell, "() => document.activeElement.textContent === 'Take the picture'")
    assert not cell.evaluate(off)
    snap.press("Enter")
    says(cell, "JPEG")
    until(cell, off)
    notebook.comes_to("picker22.image.width >= 640", True)
    cell.get_by_role("button", name="Use the camera").click()
    snap.wait_for()
    snap.press("Escape")
    snap.wait_for(state="hidden")
    until(cell, off)
    until(cell, "() => document.activeElement.textContent === 'Use the camera'")


def test_a_recent_image_is_taken_again_by_keyboard_alone(notebook: Notebook) -> None:
    """Arrows lead through them, Enter takes one, the focus never gets lost; Forget them leaves none."""
    cell = notebook.run(
        "from PIL import Image\n"
        "from reelbook.media.images import prepare\nfrom reelbook.media.recent_images import RecentImages\n"
        "for side in (300, 200):\n"
        "    RecentImages(session.home).keep(prepare(Image.new('RGB', (side, 100))))\n"
        "picker23 = rb.ImagePicker()\npicker23"
    )
    shown(cell)
    before = notebook.executions()
    cell.get_by_role("button", name="Recent").press("Enter")
    first = cell.get_by_role("button", name="200 × 100, sent")
    first.wait_for()
    focused = "() => (document.activeElement.ariaLabel || document.activeElement.textContent)"
    until(cell, f"{focused}.startsWith('200 × 100')")
    notebook.press("ArrowRight")
    until(cell, f"{focused}.startsWith('300 × 100')")
    notebook.press("Enter")
    says(cell, "300 × 100 · ")
    until(cell, f"{focused} === 'Choose another'")
    cell.get_by_role("button", name="Recent").click()
    says(cell, "for you alone to read")
    cell.get_by_role("button", name="Forget them").click()
    says(cell, "No images yet.")
    notebook.press("Escape")
    until(cell, f"{focused} === 'Recent'")
    assert notebook.executions() == before
