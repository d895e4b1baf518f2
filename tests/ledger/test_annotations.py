"""Stars, notes, tags and the winners of comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger.doubles import KEY, Clock, fox

from reelbook.ledger import Account, Ledger, Pick, search


def entry(ledger: Ledger, account: Account, prompt: str = "a red fox") -> int:
    """The number of one more entry."""
    return ledger.intend(account, fox(prompt=prompt)).entry.id


def test_what_is_given_is_set_and_the_rest_stays(ledger: Ledger, account: Account, folder: Path) -> None:
    """Star, note and tags are kept apart from each other, and are there when the ledger is opened again."""
    number = entry(ledger, account)
    ledger.annotations.set(number, note="  the tail is odd\n")
    ledger.annotations.set(number, tags=[" for the  talk ", "keep", "", "keep"])
    ledger.annotations.set(number, starred=True)
    ledger.annotations.set(number)
    with Ledger.open(folder) as again:
        kept = again.get(number)
    assert kept is not None
    assert (kept.starred, kept.note, kept.tags) == (True, "the tail is odd", ("for the talk", "keep"))


def test_tags_are_counted_and_found_by(ledger: Ledger, account: Account) -> None:
    """A tag that is taken away finds nothing any more; those of another account are its own."""
    other = ledger.account("https://other.example", KEY)
    first, second, foreign = entry(ledger, account), entry(ledger, account), entry(ledger, other)
    for number, tags in ((first, ["b", "A"]), (second, ["b"]), (foreign, ["b"])):
        ledger.annotations.set(number, tags=tags)
    assert ledger.annotations.tags(account) == {"A": 1, "b": 2}
    assert [each.id for each in ledger.find(account=account, tag="b")] == [second, first]
    ledger.annotations.set(second, tags=[])
    assert [each.id for each in ledger.find(account=account, tag="b")] == [first]
    assert ledger.annotations.tags(account) == {"A": 1, "b": 1}


@pytest.mark.parametrize("indexed", [True, False], ids=["FTS5", "no FTS5"])
def test_the_text_is_looked_for_in_notes_too(
    ledger: Ledger, account: Account, indexed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each word in the prompt or in the note; a changed note is found at once, and each entry once."""
    if not indexed:
        monkeypatch.setattr(search, "_can_index", lambda connection: False)
    fox_entry, wolf, last = (entry(ledger, account, word) for word in ("a fox", "a wolf", "a fox cub"))
    ledger.annotations.set(wolf, note="Nearly a FOX, Été (blue)")
    ledger.annotations.set(last, note="the best fox")

    def found(text: str) -> list[int]:
        return [each.id for each in ledger.find(account=account, text=text)]

    assert found("fox") == [last, wolf, fox_entry]
    assert found("wolf fox") == [wolf]
    assert found("ete") == [wolf]
    assert found("blu") == [wolf]
    assert found("lue") == []
    ledger.annotations.set(wolf, note="")
    assert found("fox") == [last, fox_entry]
    assert [each.id for each in ledger.find(account=account, text="fox", limit=1, after=last)] == [fox_entry]


def test_experiments_are_named_the_last_one_first(ledger: Ledger, account: Account, clock: Clock) -> None:
    """Each once, by its newest clip."""
    for name in ("winter", "summer", None, "winter"):
        clock.now += 1
        ledger.intend(account, fox(experiment=name))
    assert ledger.annotations.experiments(account) == ["winter", "summer"]


def test_winners_are_kept_in_the_order_of_the_choices(ledger: Ledger, account: Account, clock: Clock) -> None:
    """With the entries they were chosen among, and when; the newest first."""
    first, second, third = (entry(ledger, account) for _ in range(3))
    ledger.annotations.pick(account, first, [first, second])
    clock.now += 60
    ledger.annotations.pick(account, third, [first, second])
    assert ledger.annotations.picks(account) == [
        Pick(clock.now, third, (first, second, third)),
        Pick(clock.now - 60, first, (first, second)),
    ]
    assert [pick.winner for pick in ledger.annotations.picks(account, winner=first)] == [first]


def test_marks_are_kept_while_the_disk_takes_no_writes(ledger: Ledger, account: Account) -> None:
    """What was marked before and what is marked meanwhile are there, and on the disk afterwards."""
    number = entry(ledger, account)
    ledger.annotations.set(number, tags=["keep"], note="mind")
    ledger.annotations.pick(account, number, [number, entry(ledger, account)])
    disk = ledger._store._connection
    disk.execute("PRAGMA query_only=1")
    ledger.annotations.set(number, starred=True)
    assert ledger.trouble is not None
    assert [each.note for each in ledger.find(account=account, tag="keep")] == ["mind"]
    assert len(ledger.annotations.picks(account)) == 1
    disk.execute("PRAGMA query_only=0")
    ledger.prove_writable()
    assert [each.starred for each in ledger.find(account=account, tag="keep")] == [True]
