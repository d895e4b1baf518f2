"""Picks, notes and tags."""

from ledger.doubles import KEY, Clock, find, fox, intend

from reelbook.ledger import Ledger, Marks


def entry(ledger: Ledger, prompt: str = "a red fox") -> int:
    """The number of a new entry."""
    return intend(ledger, fox(prompt=prompt)).entry.id


def test_tags_are_counted_and_found_by(ledger: Ledger, clock: Clock) -> None:
    """A tag that was removed finds nothing; another account has tags of its own.

    Experiments are named once each, by the newest clip of each.
    """
    other = ledger.file.ledger("https://other.example", KEY)
    first, second, foreign = entry(ledger), entry(ledger), entry(other)
    for number, tags in ((first, ("b", "A")), (second, ("b",)), (foreign, ("b",))):
        ledger.mark(number, Marks(tags=tags))
    assert ledger.tags() == {"A": 1, "b": 2}
    assert [each.id for each in find(ledger, tag="b")] == [second, first]
    ledger.mark(second, Marks())
    assert [each.id for each in find(ledger, tag="b")] == [first]
    assert ledger.tags() == {"A": 1, "b": 1}
    for name in ("winter", "summer", None, "winter"):
        clock.now += 1
        intend(ledger, fox(experiment=name))
    assert ledger.experiments() == ["winter", "summer"]


def test_the_text_is_looked_for_in_notes_too(ledger: Ledger) -> None:
    """Each word in the prompt or in the note; a changed note is found at once, and each entry once."""
    fox_entry, wolf, last = (entry(ledger, word) for word in ("a fox", "a wolf", "a fox cub"))
    ledger.mark(wolf, Marks(note="Nearly a FOX, Été (blue)"))
    ledger.mark(last, Marks(note="the best fox"))

    def found(text: str) -> list[int]:
        return [each.id for each in find(ledger, text=text)]

    assert found("fox") == [last, wolf, fox_entry]
    assert found("wolf fox") == [wolf]
    assert found("ete") == [wolf]
    assert found("blu") == [wolf]
    assert found("lue") == []
    ledger.mark(wolf, Marks(note=""))
    assert found("fox") == [last, fox_entry]
    assert [each.id for each in find(ledger, text="fox", limit=1, after=last)] == [fox_entry]


def test_picks_are_read_in_the_order_of_picking(ledger: Ledger) -> None:
    """From a time on, if one is given; another account has picks of its own."""
    first, second, third = (entry(ledger) for _ in range(3))
    foreign = intend(ledger.file.ledger("https://other.example", KEY), fox()).entry.id
    for number, at in ((third, 10.0), (first, 20.0), (foreign, 20.0), (second, 30.0)):
        ledger.mark(number, Marks(at))
    ledger.mark(second, Marks())
    assert [each.id for each in ledger.picks()] == [third, first]
    assert [each.id for each in ledger.picks(20.0)] == [first]
