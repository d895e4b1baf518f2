"""The names of a class, as spreadsheets and people write them."""

from pathlib import Path

import pytest

from reelbook.classroom import roster
from reelbook.errors import InvalidInput

ADA = ("Ada Lovelace", "Björn Ångström")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ada Lovelace\nBjörn Ångström\n", ADA),
        ("Ada Lovelace\r\n\r\n  \r\nBjörn   Ångström  ", ADA),
        ("\ufeffname\nAda Lovelace\nBjörn Ångström", ADA),
        ("Name;E-mail\nAda Lovelace;ada@x.example\n;\nBjörn Ångström;", ADA),
        ('id,Student,note\n1,Ada Lovelace,"a; b, c"\n2,Björn Ångström', ADA),
        ("Nachname;Vorname\nLovelace;Ada\nÅngström;Björn\n", ADA),
        ("First name\tLast name\nAda\tLovelace\nBjörn\tÅngström", ADA),
        ('"Ada ""the first"" Lovelace"\n"O\'Neil, Pat"', ('Ada "the first" Lovelace', "O'Neil, Pat")),
        ("Ada,\nBjo\u0308rn,\n", ("Ada", "Björn")),
        ("Ada;\n;Bo;\n", ("Ada", "Bo")),
        ('"Ada\nLovelace"\nBo\x07b', ("Ada Lovelace", "Bo b")),
        ("Ada\nada\nAda\nAda (2)\n", ("Ada", "ada (2)", "Ada (3)", "Ada (2) (2)")),
        ("王小明\nمريم\n", ("王小明", "مريم")),
    ],
)
def test_names_are_read_as_they_are_written(text: str, names: tuple[str, ...], tmp_path: Path) -> None:
    """Headers, delimiters, quotes, umlauts, empty lines, a BOM and equal names."""
    file = tmp_path / "names.csv"
    file.write_bytes(text.encode())
    assert roster.read(file) == names


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_the_encodings_of_spreadsheets_are_understood(encoding: str, tmp_path: Path) -> None:
    """Excel's CSV is Windows' own, its Unicode text UTF-16."""
    file = tmp_path / "names.csv"
    file.write_bytes("Name\tGroup\r\nAda Lovelace\t1\r\nBjörn Ångström\t2\r\n".encode(encoding))
    assert roster.read(file) == ADA


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Lovelace, Ada\nCurie, Marie\n", "several columns, and no header row"),
        ("", "holds no names"),
        ("\n ; \n", "holds no names"),
        ("name\n", "holds no names"),
        (None, r"names\.csv can't be read \(No such file"),
    ],
)
def test_what_is_no_list_is_refused(text: str | None, why: str, tmp_path: Path) -> None:
    """Which of several columns holds the name isn't guessed, and a class has somebody in it."""
    file = tmp_path / "names.csv"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InvalidInput, match=why):
        roster.read(file)


def test_names_are_kept_apart() -> None:
    """By a number, also where they are too long to be different. A number of somebody's own is none."""
    names = roster.unique(["Ada", "Bo", "ada", "Cy (2)"])
    assert roster.numbered(names) == ("ada (2)",)
    assert roster.unique(["A" * 80, "A" * 90]) == ("A" * 60, "A" * 56 + " (2)")
