"""The public names, and what importing them costs."""

import re
import subprocess
import sys

import pytest

import reelbook as rb


def test_all_is_sorted_and_every_name_is_there() -> None:
    """`__all__` is the list of what can be used."""
    assert sorted(rb.__all__) == rb.__all__
    assert all(hasattr(rb, name) for name in rb.__all__)
    assert dir(rb) == rb.__all__


def test_help_is_a_map_of_all_names() -> None:
    """`help(reelbook)` begins with every public name at its place, and names nothing that isn't there."""
    assert rb.__doc__ is not None
    listed = [
        line.partition(":")[2] for line in rb.__doc__.splitlines() if re.match(r"[A-Z][\w, ]+:  ", line)
    ]
    named = re.findall(r"\w+", " ".join(listed))
    assert [name for name in rb.__all__ if named.count(name) != 1] == []
    assert {name for name in named if name[0].isupper()} <= set(rb.__all__)


def test_a_session_is_learnt_at_a_glance() -> None:
    """It has 32 public names at most: what more there is stands with its keys, jobs and panels."""
    assert len([name for name in dir(rb.Session) if not name.startswith("_")]) <= 32


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Loading on first use doesn't invent names; the nearest is said, in capitals or not."""
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        rb.Nothing  # noqa: B018 - reading it is the test
    for wrong, right in (("conect", "connect"), ("studio", "Studio"), ("JobFaild", "errors.JobFailed")):
        with pytest.raises(AttributeError, match=f"Did you mean '{right}'?"):
            getattr(rb, wrong)


def imported_by(code: str) -> set[str]:
    script = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in ended.stdout.split()}


def test_importing_reelbook_imports_nothing_heavy() -> None:
    """Only reelbook itself and the standard library."""
    assert {name for name in imported_by("import reelbook") if name not in sys.stdlib_module_names} <= {
        "reelbook"
    }


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (
            "import reelbook\nreelbook.AsyncClient('k', 'http://127.0.0.1:9')",
            "PIL av numpy ipywidgets IPython bqplot pandas starlette uvicorn sqlite3",
        ),
        ("import reelbook\nreelbook.Job", "ipywidgets"),
        ("import reelbook.widgets.usage_chart", "bqplot pandas"),
        ("import reelbook.cli", "av numpy PIL httpx pydantic ipywidgets IPython starlette uvicorn asyncio"),
    ],
    ids=["a client in a service", "a script that shows nothing", "panels without a chart", "the command"],
)
def test_what_is_heavy_is_imported_once_it_is_needed(code: str, heavy: str) -> None:
    """It takes its time to load, and most have no use for it."""
    assert imported_by(code) & {*heavy.split()} == set()
