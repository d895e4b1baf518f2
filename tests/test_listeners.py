"""Callbacks that hear of news."""

from reelbook.listeners import Listeners


def test_each_hears_until_it_ends_its_subscription() -> None:
    """Ending it twice is no error, and there are listeners only as long as one is left. Who ends it while it
    is told stops nobody else: the round goes on with those who were there when it began.
    """
    heard: list[str] = []
    listeners = Listeners[[str]]()
    assert not listeners
    end = listeners.subscribe(heard.append)
    end_soon = listeners.subscribe(lambda _: end_soon())
    listeners.subscribe(lambda news: heard.append(news.upper()))
    listeners.tell("one")
    end()
    end()
    listeners.tell("two")
    assert heard == ["one", "ONE", "TWO"]
    assert listeners
