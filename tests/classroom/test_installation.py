"""What the cards tell students to install."""

from __future__ import annotations

from pathlib import Path

import pytest
from classroom.test_handouts import ADA, room

from reelbook.classroom import installation
from reelbook.classroom.handouts import write
from reelbook.errors import InvalidInput
from reelbook.secret import Secret

WHEEL = "https://example.org/reelbook-1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("given", "plain", "with_lab"),
    [
        ("reelbook", "reelbook", "reelbook[lab]"),
        ("reelbook==1.2", "reelbook==1.2", "reelbook[lab]==1.2"),
        (WHEEL, f"reelbook @ {WHEEL}", f"reelbook[lab] @ {WHEEL}"),
        ("/srv/class", "/srv/class", "/srv/class[lab]"),
        (
            "reelbook-1.0-py3-none-any.whl",
            "reelbook-1.0-py3-none-any.whl",
            "reelbook-1.0-py3-none-any.whl[lab]",
        ),
    ],
)
def test_it_is_written_as_pip_takes_it(given: str, plain: str, with_lab: str) -> None:
    """With JupyterLab for a student's own computer, without it for Colab."""
    assert installation.requirement(given) == plain
    assert installation.requirement(given, extra=True) == with_lab


def test_it_is_kept_beside_the_cards(tmp_path: Path) -> None:
    """Where nothing was tried that works, no card says how."""
    assert installation.named(tmp_path) == ""
    write(room(tmp_path, "https://api.example.com"), ADA, "k1", Secret("sk-planted"))
    text = (tmp_path / ADA.file).read_text()
    assert "pip install" not in text
    assert text.count("(your teacher says how Reelbook is installed)") == 2
    installation.keep(tmp_path, WHEEL)
    assert installation.named(tmp_path) == WHEEL
    write(room(tmp_path, "https://api.example.com"), ADA, "k1", Secret("sk-planted"))
    text = (tmp_path / ADA.file).read_text()
    assert f"   pip install 'reelbook[lab] @ {WHEEL}'\n" in text
    assert f"   %pip install 'reelbook @ {WHEEL}'\n" in text


@pytest.mark.browser
def test_what_pip_cant_install_is_refused(tmp_path: Path) -> None:
    """Before any key is made, with what pip said. What it can is tried in test_distribution."""
    with pytest.raises(InvalidInput, match=r"no card names it: .*nowhere"):
        installation.check(str(tmp_path / "nowhere"))
