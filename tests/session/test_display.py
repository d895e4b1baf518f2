"""How a job or a clip shows itself."""

from types import SimpleNamespace
from typing import Any

import IPython
import pytest

from reelbook.session import Batch, Clip, Job, display


def test_a_thing_is_its_one_line_and_in_a_notebook_its_widget(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever widget was registered for its type."""
    shown: list[Any] = []
    monkeypatch.setattr(display, "_makers", {})
    monkeypatch.setattr("IPython.display.display", shown.append)
    thing = display.Shown()
    display.register(display.Shown, lambda thing: ("widget of", thing))
    thing.show()
    assert (capsys.readouterr().out, shown) == (f"{thing}\n", [])
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=object()))
    thing.show()
    assert shown == [("widget of", thing)]


def test_a_job_a_clip_and_a_batch_show_themselves_as_a_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    """To IPython and to marimo, a batch as one and not as its jobs."""
    monkeypatch.setattr(display, "_makers", {kind: lambda thing: type(thing) for kind in (Batch, Clip, Job)})
    shown: list[object] = []
    monkeypatch.setattr(display.Shown, "show", lambda thing: shown.append(thing))
    for kind in (Batch, Clip, Job):
        thing: Any = kind.__new__(kind)
        assert thing._display_() is kind
        thing._ipython_display_()
        assert shown.pop() is thing
