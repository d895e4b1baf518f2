"""English articles, by the sound of what follows."""

import pytest

from reelbook.explore.articles import article


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "fox owl unicorn uninvited user usher urn European one-eyed onion ukulele",
            "a an a an a an an a a an a",
        ),
        ("hour honey honest heron 8-bit 80 18 180 x-ray étoile “owl”", "an a an a an an an a an an an"),
    ],
)
def test_the_article_follows_the_sound(words: str, expected: str) -> None:
    """Not the letter."""
    assert " ".join(map(article, words.split())) == expected
