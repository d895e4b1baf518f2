"""The tables of words: what each word stands for is something that can be drawn."""

from reelbook.sandbox.render import vocabulary as known


def test_every_thing_is_called_by_its_own_name_too() -> None:
    """And by what people call it."""
    for table in (known.TIMES, known.SETTINGS, known.WEATHER, known.SEASONS, known.MOODS, known.SUBJECTS):
        assert {table[name] for name in table.values()} == set(table.values())
        assert all(word == word.lower() for word in table)
    assert known.SETTINGS["dune"] == "desert"
