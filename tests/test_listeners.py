"""Callbacks that hear of news."""

from reelbook.listeners import Listeners


def test_each_hears_until_it_ends_its_subscription() -> None:
    """Ending it twice is no error, and there are listeners only as long as one is left."""
    heard: list[str] = []
    listeners = Listeners[[str]]()
    assert not listeners
    end = listeners.subscribe(heard.append)
    listeners.subscribe(lambda news: heard.append(news.upper()))
    listeners.tell("one")
    end()
    end()
    listeners.tell("two")
    assert heard == ["one", "ONE", "TWO"]
    assert listeners


def test_who_unsubscribes_while_it_is_told_stops_nobody_else() -> None:
    """The round goes on with those who were there when it began."""
    heard: list[str] = []
    listeners = Listeners[[str]]()
    end = listeners.subscribe(lambda news: end())
    listeners.subscribe(heard.append)
    listeners.tell("one")
    assert heard == ["one"]
