"""A request as code: what is run asks for the same, and no key is in it."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli.doubles import TinyClips
from PIL import Image

import reelbook as rb
from reelbook.errors import InvalidInput
from reelbook.media.images import prepare
from reelbook.requests import JobRequest
from reelbook.sandbox import server
from reelbook.sandbox.places import Places
from reelbook.session.request_code import CodeKind, request_code

FOX = JobRequest.from_text('a "red" fox\'s $HOME, `ls` \\', duration_seconds=1, aspect_ratio="1:1", seed=7)
CAT = JobRequest.from_image(prepare(Image.new("RGB", (64, 64))), "@the cat; <turns>", duration_seconds=1)

Asked = Callable[[], list[tuple[Any, ...]]]


@pytest.fixture
def asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """What a sandbox that the settings name was asked for. A picture lies in the working folder."""
    with server.in_thread(home, pace=0, rate_limiting=False, executor=TinyClips()) as sandbox:
        monkeypatch.setenv("REELBOOK_API_KEY", sandbox.api_key.reveal())
        monkeypatch.setenv("REELBOOK_BASE_URL", sandbox.url)
        monkeypatch.chdir(home)
        Image.new("RGB", (64, 64)).save("picture.png")

        def jobs() -> list[tuple[Any, ...]]:
            with sqlite3.connect(Places(home).database) as books:
                rows = books.execute("SELECT mode, request FROM jobs")
                names = ("prompt", "duration_seconds", "aspect_ratio", "seed")
                return [(mode, *(json.loads(asked)[name] for name in names)) for mode, asked in rows]

        yield jobs


@pytest.mark.parametrize("kind", ["cell", "script", "curl"])
@pytest.mark.parametrize("request_", [FOX, CAT], ids=["text", "image"])
def test_code_that_is_run_asks_for_the_same(
    kind: CodeKind, request_: JobRequest, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a cell, as a script and in a shell, whatever signs the prompt has; the script fetches the clip.

    Run again, it fetches another one, which was paid for, too.
    """
    code = request_code(request_, kind)
    if kind == "curl":
        if shutil.which("curl") is None:
            pytest.skip("curl isn't installed")
        subprocess.run(["sh", "-c", code], check=True, capture_output=True)
    else:
        with rb.connect() as session:
            scope: dict[str, Any] = {"session": session, "image": "picture.png"}
            exec(code, scope)
            if kind == "cell":
                scope["job"].result(30)
            else:
                exec(code, scope)
                first, second = capsys.readouterr().out.splitlines()
                assert first != second
                assert Path(first).exists()
                assert Path(second).exists()
    job, *_ = asked()
    assert job[:3] == (request_.mode, request_.prompt, 1)
    if request_ is FOX:
        assert job[3:] == ("1:1", 7)


def test_code_says_what_it_costs_and_what_is_to_be_put_in() -> None:
    """Each run buys a clip; a random seed isn't written down; a picture isn't in the code."""
    random = replace(FOX, seed=-1)
    for kind in ("cell", "script", "curl"):
        assert "about $0.05" in request_code(random, kind)
    assert "# The seed was random." in request_code(random)
    assert "seed" not in request_code(random, "script")
    assert '"seed": -1' in request_code(random, "curl")
    assert 'image = "picture.png"' in request_code(CAT, "script")
    with pytest.raises(InvalidInput, match='"script" or "curl"'):
        request_code(FOX, "java")  # type: ignore[arg-type] # that is the test
