"""One job for each entry of the ledger; and the images that were sent, for the next kernel."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image

import reelbook as rb
from reelbook.account.limits import SpendWarner
from reelbook.media.recent_images import RecentImages
from reelbook.session import connect


@pytest.mark.usefixtures("sandbox")
def test_an_image_job_of_an_earlier_kernel_can_be_sent_again(home: Path) -> None:
    """Code that sends an image keeps a copy; the next session's job has it whole, until it is forgotten."""
    with connect("sandbox") as first:
        job = first.image_to_video(Image.new("RGB", (320, 200), "teal"), "it turns", duration_seconds=1)
        assert job.request is not None
        assert job.request.image is not None
        sent = job.request.image
        job.result(30)
    (kept,) = RecentImages(home).list()
    assert kept.digest == hashlib.sha256(sent.data).hexdigest()
    with connect("sandbox") as second:
        (found,) = second.jobs()
        assert found.request is not None
        assert (found.request.image, found.request.complete) == (sent, True)
    RecentImages(home).forget()
    with connect("sandbox") as third:
        (found,) = third.jobs()
        assert found.request is not None
        assert (found.request.image, found.request.complete) == (None, False)


@pytest.mark.usefixtures("sandbox")
def test_a_batch_keeps_each_image_and_a_full_disk_stops_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal images are kept once; where a copy can't be made, the clip is made all the same."""
    red, blue = (Image.new("RGB", (320, 200), colour) for colour in ("red", "blue"))
    with connect("sandbox") as session:
        items = [{"image": image, "prompt": "it turns", "duration_seconds": 1} for image in (red, blue, red)]
        session.submit_many(items).results(60)
        assert len(RecentImages(home).list()) == 2

        def full(*_: object) -> None:
            raise OSError("No space left on device")

        monkeypatch.setattr(RecentImages, "keep", full)
        green = Image.new("RGB", (320, 200), "green")
        assert session.image_to_video(green, "it turns", duration_seconds=1).result(30).path.exists()
    assert len(RecentImages(home).list()) == 2


def test_whoever_looks_while_a_job_is_submitted_finds_that_job(
    session: rb.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no second one, which would say that another kernel sends it: the entry comes before the job."""
    written, goes_on = threading.Event(), threading.Event()

    def wait(*_: object) -> None:
        written.set()
        goes_on.wait(30)

    monkeypatch.setattr(SpendWarner, "look", wait)
    with ThreadPoolExecutor() as pool:
        submitted = pool.submit(session.text_to_video, "a fox", duration_seconds=1)
        assert written.wait(30)
        found = pool.submit(session.jobs)
        with suppress(TimeoutError):
            found.result(0.1)
        goes_on.set()
        assert found.result(30) == (submitted.result(30),)
