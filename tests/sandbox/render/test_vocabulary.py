"""The tables of words: what each word stands for is something that can be drawn."""

from reelbook.sandbox.render import vocabulary as known


def test_every_thing_is_called_by_its_own_name_too() -> None:
    """And by what people call it."""
    for table in (known.TIMES, known.SETTINGS, known.WEATHER, known.SEASONS, known.MOODS, known.SUBJECTS):
        assert {table[name] for name in table.values()} == set(table.values())
        assert all(word == word.lower() for word in table)
    assert known.SETTINGS["dune"] == "desert"


def test_what_is_told_of_subjects_is_told_of_some_that_there_are() -> None:
    """Who walks; how many there are; in which colours."""
    subjects = set(known.SUBJECTS.values())
    assert subjects >= known.WALKERS
    colours = [*known.COLOURS.values(), *known.SPECIES_COLOURS.values()]
    assert all(0 <= channel <= 255 for colour in colours for channel in colour)
    assert all(number >= 2 for number in known.NUMBERS.values())
