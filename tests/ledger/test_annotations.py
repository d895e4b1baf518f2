"""Stars, notes, tags and the winners of comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger.doubles import KEY, Clock, find, fox, intend, opened

from reelbook.ledger import Ledger, Pick, search


def entry(ledger: Ledger, prompt: str = "a red fox") -> int:
    """The number of one more entry."""
    return intend(ledger, fox(prompt=prompt)).entry.id


def test_what_is_given_is_set_and_the_rest_stays(ledger: Ledger, folder: Path) -> None:
    """Star, note and tags are kept apart from each other, and are there when the ledger is opened again."""
    number = entry(ledger)
    ledger.annotations.set(number, note="  the tail is odd\n")
    ledger.annotations.set(number, tags=[" for the  talk ", "keep", "", "keep"])
    ledger.annotations.set(number, starred=True)
    ledger.annotations.set(number)
    with opened(folder) as again:
        kept = again.get(number)
    assert kept is not None
    assert (kept.starred, kept.note, kept.tags) == (True, "the tail is odd", ("for the talk", "keep"))


def test_tags_are_counted_and_found_by(ledger: Ledger) -> None:
    """A tag that is taken away finds nothing any more; those of another account are its own."""
    other = ledger.file.ledger("https://other.example", KEY)
    first, second, foreign = entry(ledger), entry(ledger), entry(other)
    for number, tags in ((first, ["b", "A"]), (second, ["b"]), (foreign, ["b"])):
        ledger.annotations.set(number, tags=tags)
    assert ledger.annotations.tags() == {"A": 1, "b": 2}
    assert [each.id for each in find(ledger, tag="b")] == [second, first]
    ledger.annotations.set(second, tags=[])
    assert [each.id for each in find(ledger, tag="b")] == [first]
    assert ledger.annotations.tags() == {"A": 1, "b": 1}


@pytest.mark.parametrize("indexed", [True, False], ids=["FTS5", "no FTS5"])
def test_the_text_is_looked_for_in_notes_too(
    ledger: Ledger, indexed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each word in the prompt or in the note; a changed note is found at once, and each entry once."""
    if not indexed:
        monkeypatch.setattr(search, "_can_index", lambda connection: False)
    fox_entry, wolf, last = (entry(ledger, word) for word in ("a fox", "a wolf", "a fox cub"))
    ledger.annotations.set(wolf, note="Nearly a FOX, Été (blue)")
    ledger.annotations.set(last, note="the best fox")

    def found(text: str) -> list[int]:
        return [each.id for each in find(ledger, text=text)]

    assert found("fox") == [last, wolf, fox_entry]
    assert found("wolf fox") == [wolf]
    assert found("ete") == [wolf]
    assert found("blu") == [wolf]
    assert found("lue") == []
    ledger.annotations.set(wolf, note="")
    assert found("fox") == [last, fox_entry]
    assert [each.id for each in find(ledger, text="fox", limit=1, after=last)] == [fox_entry]


def test_experiments_are_named_the_last_one_first(ledger: Ledger, clock: Clock) -> None:
    """Each once, by its newest clip."""
    for name in ("winter", "summer", None, "winter"):
        clock.now += 1
        intend(ledger, fox(experiment=name))
    assert ledger.annotations.experiments() == ["winter", "summer"]


def test_winners_are_kept_in_the_order_of_the_choices(ledger: Ledger, clock: Clock) -> None:
    """With the entries they were chosen among, and when; the newest first. Unknown ones are left out."""
    for number in range(1, 4):
        ledger.accepted(entry(ledger), f"req-{number}")
    ledger.annotations.pick("req-1", ["req-1", "req-2", "req-elsewhere"])
    ledger.annotations.pick("req-elsewhere", ["req-1", "req-elsewhere"])
    clock.now += 60
    ledger.annotations.pick("req-3", ["req-1", "req-2", "req-3"])
    assert ledger.annotations.picks() == [
        Pick(clock.now, 3, (1, 2, 3)),
        Pick(clock.now - 60, 1, (1, 2)),
    ]


def test_marks_are_kept_while_the_disk_takes_no_writes(ledger: Ledger) -> None:
    """What was marked before and what is marked meanwhile are there, and on the disk afterwards."""
    number = entry(ledger)
    ledger.annotations.set(number, tags=["keep"], note="mind")
    ledger.accepted(number, "req-1")
    ledger.annotations.pick("req-1", ["req-1"])
    disk = ledger._store._connection
    disk.execute("PRAGMA query_only=1")
    ledger.annotations.set(number, starred=True)
    assert ledger.file.trouble is not None
    assert [each.note for each in find(ledger, tag="keep")] == ["mind"]
    assert len(ledger.annotations.picks()) == 1
    disk.execute("PRAGMA query_only=0")
    ledger.file.prove_writable()
    assert [each.starred for each in find(ledger, tag="keep")] == [True]
