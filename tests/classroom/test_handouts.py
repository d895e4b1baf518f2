"""What a class gets on paper and as files."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from reelbook.classroom import handouts
from reelbook.classroom.class_file import Classroom
from reelbook.errors import InvalidInput
from reelbook.secret import Secret

WHEEL = "https://example.org/reelbook-1.0-py3-none-any.whl"
ADA, BO = "Ada <b>", "Bo"


def classroom(folder: Path, address: str = "https://api.example.com", install: str = "") -> Classroom:
    return Classroom(
        service="sandbox",
        name="Drawing",
        label="c",
        folder=str(folder),
        address=address,
        rate_limit=20,
        max_spend_usd=1.5,
        opened_at=0.0,
        install=install,
        students={ADA: "k1", BO: None},
    )


def test_a_students_file_says_how_to_connect_and_holds_the_only_copy_of_the_key(tmp_path: Path) -> None:
    """It is read again as it was written; a file that isn't there, or isn't one, holds nothing."""
    handouts.write(classroom(tmp_path), ADA, "k1", Secret("sk-planted"))
    file = classroom(tmp_path).handout(ADA)
    assert "REELBOOK_API_KEY=sk-planted\nREELBOOK_BASE_URL=https://api.example.com\n" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert handouts.read(classroom(tmp_path), ADA) == handouts.Handout("k1", Secret("sk-planted"))
    assert handouts.read(classroom(tmp_path), BO) is None
    classroom(tmp_path).handout(BO).write_text("REELBOOK_API_KEY=\n")
    assert handouts.read(classroom(tmp_path), BO) is None


def test_the_sheet_has_a_card_for_each_student(tmp_path: Path) -> None:
    """Made from the files: where one is missing it says so. Names are text, and nothing is fetched."""
    handouts.write(classroom(tmp_path), ADA, "k1", Secret("sk-planted"))
    page = handouts.write_sheet(classroom(tmp_path)).read_text()
    assert page.count('<section class="card">') == 2
    assert page.count("sk-planted") == 1
    assert "the student's file isn't in the folder" in page
    assert "Ada &lt;b&gt;" in page
    assert "reelbook classroom close --name Drawing" in page
    assert not [word for word in ("src=", "href=", "url(", "<script") if word in page]


@pytest.mark.parametrize(
    ("address", "reached"),
    [
        ("https://api.example.com", True),
        ("https://8.8.8.8", True),
        ("http://192.168.1.20:8000", False),
        ("http://127.0.0.1:8000", False),
        ("http://teacher.local:8000", False),
        ("http://teacher:8000", False),
    ],
)
def test_colab_is_offered_where_it_reaches_the_address(address: str, reached: bool, tmp_path: Path) -> None:
    """It runs elsewhere, and knows no address of the room: there a computer in the room does it."""
    place = classroom(tmp_path, address, "reelbook")
    handouts.write(place, ADA, "k1", Secret("sk-planted"))
    text = place.handout(ADA).read_text()
    assert ("%pip install reelbook" in text, "Colab can't reach" in text) == (reached, not reached)


@pytest.mark.parametrize(
    ("student", "name"),
    [
        ("Björn Ångström", "01-björn-ångström.txt"),
        ("../../etc/passwd", "01-etc-passwd.txt"),
        ("🦊", "01.txt"),
        ("x" * 99, f"01-{'x' * 40}.txt"),
    ],
)
def test_a_file_is_called_after_its_student(student: str, name: str, tmp_path: Path) -> None:
    """By number first, and never outside its folder."""
    assert replace(classroom(tmp_path), students={student: None}).handout(student) == tmp_path / name


def test_a_prepared_folder_is_its_owners_only(tmp_path: Path) -> None:
    """Half a file of an opening that was killed is taken away; what JupyterLab keeps beside one stays."""
    folder = tmp_path / "class"
    handouts.prepare(folder)
    (folder / ".0123.part").touch()
    (folder / ".ipynb_checkpoints").mkdir()
    handouts.prepare(folder)
    assert [each.name for each in folder.iterdir()] == [".ipynb_checkpoints"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


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
    assert handouts.requirement(given) == plain
    assert handouts.requirement(given, extra=True) == with_lab


def test_a_file_tells_what_to_install(tmp_path: Path) -> None:
    """Where nothing that was tried works, none says how."""
    handouts.write(classroom(tmp_path), ADA, "k1", Secret("sk-planted"))
    text = classroom(tmp_path).handout(ADA).read_text()
    assert "pip install" not in text
    assert text.count("(your teacher says how Reelbook is installed)") == 2
    handouts.write(classroom(tmp_path, install=WHEEL), ADA, "k1", Secret("sk-planted"))
    text = classroom(tmp_path).handout(ADA).read_text()
    assert f"   pip install 'reelbook[lab] @ {WHEEL}'\n" in text
    assert f"   %pip install 'reelbook @ {WHEEL}'\n" in text


@pytest.mark.browser
def test_what_pip_cant_install_is_refused(tmp_path: Path) -> None:
    """Before any key is made, with what pip said. What it can is tried in test_distribution."""
    with pytest.raises(InvalidInput, match=r"no card names it: .*nowhere"):
        handouts.check_install(str(tmp_path / "nowhere"))
