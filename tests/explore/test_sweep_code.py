"""A sweep as code: what is run plans, or buys, the same cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from reelbook.errors import InvalidInput
from reelbook.explore import Sweep
from reelbook.explore.sweep import sweep_code
from reelbook.requests import JobRequest

SWEEPS: Mapping[str, Mapping[str, Any]] = {
    "grid": {"template": "a {animal} in {snow|fog}", "animal": ["fox", "a heron, wading"], "seed": [1, 2]},
    "typed": {"template": "a fox", "seed": "1-9", "duration_seconds": 2, "aspect_ratio": "16:9, 1:1"},
    "random": {"template": "a fox", "seed": [-1, -1], "name": "twice"},
    "sample": {"template": "{a} {b}", "a": "1-9", "b": "1-9", "sample": 7, "design_seed": 3},
    "base": {"template": "{a} {b}", "a": "1-3", "b": "x, y", "design": "one-at-a-time", "base": {"b": "y"}},
    "wildcard": {"template": "a __colour__ fox", "wildcards": {"colour": ["red", "grey"]}},
    "words": {"template": "a red fox", "replace": "red, grey, white"},
}


def asked(sweep: Sweep) -> list[JobRequest]:
    return [cell.request for cell in sweep.cells]


class Client:
    """In the place of AsyncClient: it keeps what it is asked for."""

    asked: list[JobRequest]

    async def __aenter__(self) -> Client:
        Client.asked = []
        return self

    async def __aexit__(self, *_: object) -> None:
        """It has nothing to close."""

    async def submit(self, request: JobRequest) -> SimpleNamespace:
        self.asked.append(request)
        return SimpleNamespace(request_id="req-1")


@pytest.mark.parametrize("name", SWEEPS)
def test_code_that_is_run_makes_the_same_cells(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell in the same order, with nothing bought; a script submits each of them."""
    sweep = Sweep(**SWEEPS[name])
    planned: list[object] = []
    monkeypatch.setattr(Sweep, "plan", lambda self, session: planned.append(session))
    scope: dict[str, Any] = {"rb": SimpleNamespace(Sweep=Sweep), "session": "mine"}
    exec(sweep.as_code(), scope)
    assert asked(scope["sweep"]) == asked(sweep)
    assert scope["sweep"].name == sweep.name
    assert planned == ["mine"]

    monkeypatch.setattr("reelbook.Sweep", Sweep)
    monkeypatch.setattr("reelbook.AsyncClient", Client)
    exec(sweep.as_code("script"), {})
    assert Client.asked == asked(sweep)


def test_code_reads_as_a_person_would_write_it() -> None:
    """Numbers in a row by their ends; what is as usual isn't there; a script says what it costs."""
    sweep = Sweep("a {animal}", animal="fox, heron", seed="1-9", duration_seconds=2)
    assert (
        sweep.as_code()
        == """sweep = rb.Sweep(
    "a {animal}",
    animal=["fox", "heron"],
    seed="1-9",
    duration_seconds=[2],
)
print(sweep.plan(session))
# sweep.run(session, confirm=True) buys it."""
    )
    assert sweep.as_code("script").startswith("# Makes 18 clips, for about $1.80 each time it is run.")
    with pytest.raises(InvalidInput, match='"cell" or "script"'):
        sweep_code(sweep.to_record(), 1.8, "curl")  # type: ignore[arg-type] # that is the test


def test_pictures_are_to_be_put_in(tmp_path: Path) -> None:
    """They aren't in the code; given again, the cells are the same."""
    path = tmp_path / "cat.png"
    Image.new("RGB", (64, 64)).save(path)
    sweep = Sweep("a {cat|dog} turns", image=[path], duration_seconds=1)
    scope: dict[str, Any] = {"rb": SimpleNamespace(Sweep=Sweep), "pictures": [path]}
    exec(sweep.as_code().partition("\nprint")[0], scope)
    assert asked(scope["sweep"]) == asked(sweep)
    assert "# pictures:" in sweep.as_code()
