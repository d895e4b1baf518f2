"""A key given where something else belongs, or repeated by the service, reaches no message and no file."""

import json
import re
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from support.raw_server import Exchange, raw_server

import reelbook as rb
from reelbook import errors, settings
from reelbook.media.images import prepare
from reelbook.widgets import ImagePicker

SOURCE = str(Path(rb.__file__).parent)
# Marked as one, in an address, and as any long word.
KEYS = [
    "sk-planted-misplaced",
    "https://user:planted@host.example",
    "https://host/?api_key=planted",
    "pLanted" * 3 + "1",
]


def refusal(call: Callable[[], object]) -> str:
    """What the error and those before it say, once no frame of ours is found to hold a key."""
    with pytest.raises((errors.ReelbookError, TypeError, ValueError)) as refused:
        call()
    told = ""
    error: BaseException | None = refused.value
    while error is not None:
        told += f"{error}\n"
        for frame, _ in traceback.walk_tb(error.__traceback__):
            held = frame.f_locals
            # IPython leaves out frames that ask for it.
            if frame.f_code.co_filename.startswith(SOURCE) and "__tracebackhide__" not in held:
                assert "lanted" not in repr(held), frame.f_code
        error = error.__cause__ or error.__context__
    return told


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda key: rb.connect(key), id="service"),
        pytest.param(lambda key: rb.connect("sandbox", max_spend=key), id="max_spend"),
        pytest.param(lambda key: rb.connect(base_url=key, api_key="sk-another"), id="base_url"),
        pytest.param(lambda key: rb.AsyncClient("sk-another", key), id="client"),
        pytest.param(lambda key: settings.checked_base_url(key), id="address"),
        pytest.param(lambda key: settings.max_spend_usd(key), id="limit"),
        pytest.param(lambda key: prepare(key), id="image"),
        pytest.param(lambda key: ImagePicker(image=key), id="picker"),
    ],
)
def test_a_key_in_the_wrong_place_is_not_repeated(
    call: Callable[[str], object], key: str, home: Path
) -> None:
    """By position, as a limit, as an address or as an image's path."""
    assert "lanted" not in refusal(lambda: call(key))


def test_the_message_says_where_a_key_goes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given by position is the service; two variables are easily mixed up."""
    assert re.search("looks like a key.*api_key=…", refusal(lambda: rb.connect(KEYS[0])))  # type: ignore[arg-type]
    monkeypatch.setenv("REELBOOK_MAX_SPEND", KEYS[0])
    assert "looks like a key" in refusal(lambda: rb.connect("sandbox"))


def test_no_option_of_a_clip_repeats_a_key(session: rb.Session) -> None:
    """Each says what it takes."""
    for option in ("duration_seconds", "aspect_ratio", "seed"):
        with pytest.raises(errors.InvalidInput, match="looks like a key"):
            session.text_to_video("a fox", **{option: KEYS[0]})  # type: ignore[arg-type]  # wrong on purpose
    assert "lanted" not in refusal(lambda: session.image_to_video(KEYS[0], "zoom in"))
    with pytest.raises(errors.InvalidInput, match="looks like a key"):
        session.jobs(state=KEYS[0])


def test_a_picture_whose_name_looks_like_a_key_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only messages leave the name out."""
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (8, 8)).save("sk-planted-picture", "PNG")
    assert (prepare("sk-planted-picture").width, prepare(Path("sk-planted-picture")).height) == (8, 8)


def test_a_key_is_never_asked_about_as_an_id(home: Path) -> None:
    """It would stand in an address, and in the ledger."""
    with raw_server(lambda e: e.answer(404)) as service:
        with rb.connect("live", api_key=KEYS[0], base_url=service.url) as session:
            for ask in (session.job, session.keys.revoke):
                with pytest.raises(errors.InvalidInput, match="That is a key"):
                    ask(KEYS[0])
    assert not any(KEYS[0] in exchange.first_line for exchange in service.seen)


ECHOED = "sk-planted/4f+1c0/ffee"


@pytest.mark.parametrize(
    "echo", [ECHOED.replace("/", "\\/"), ECHOED.replace("/", "\\u002f").replace("+", "\\u002B"), ECHOED]
)
def test_a_failure_that_repeats_the_key_tells_it_to_nobody(echo: str, home: Path) -> None:
    """However it is escaped: not in JobFailed, not in the job's status, not in any file of the home."""

    def handle(exchange: Exchange) -> None:
        if exchange.first_line.startswith("POST"):
            exchange.answer(200, b'{"request_id": "r", "status": "pending"}')
        elif "status" in exchange.first_line:
            body = f'{{"request_id": "r", "status": "failed", "error": "no {echo}", "{echo}": ["{echo}"]}}'
            assert ECHOED in repr(json.loads(body))
            exchange.answer(200, body.encode())
        else:
            exchange.answer(404)

    with raw_server(handle) as service, rb.connect("live", api_key=ECHOED, base_url=service.url) as session:
        job = session.text_to_video("a fox")
        with pytest.raises(errors.JobFailed) as failed:
            job.result(30)
        said = f"{failed.value} {failed.value.reason} {job.status!r} {job.view()}"
    assert "no ***" in said
    assert ECHOED not in said
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name == "ledger.db" for path in files)
    for path in files:
        assert ECHOED.encode() not in path.read_bytes(), path
