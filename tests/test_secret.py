"""A credential shows itself nowhere."""

from __future__ import annotations

import copy
import pickle

import pytest

from reelbook.secret import NOT_SHOWN, Secret, is_held, quotable, shown, veiled, without_keys

KEY = "sk-planted-secret"


def test_a_secret_prints_as_stars() -> None:
    """Neither repr, str nor formatting shows the value."""
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"


@pytest.mark.parametrize("leak", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_secret_is_neither_pickled_nor_copied(leak: object) -> None:
    """Pickling and copying are refused."""
    with pytest.raises(TypeError, match="can't be pickled"):
        leak(Secret(KEY))  # type: ignore[operator]  # one of three callables


def test_equal_secrets_are_equal_and_share_a_fingerprint() -> None:
    """Two holders of one credential compare equal, and the fingerprint doesn't contain it."""
    assert (Secret(KEY), Secret(KEY).fingerprint) == (Secret.of(KEY), Secret(KEY).fingerprint)
    assert Secret(KEY) != Secret(KEY + "x")
    assert KEY not in Secret(KEY).fingerprint


LONG = "q8ZtKd03mPwX5vLr7NcA"


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        "SK_live_51H8x",
        f" {KEY}\n",
        f"The key is {KEY}",
        "pk-test-1",
        "key-4f1c0ffee4f1",
        "Bearer abc",
        f"https://user:{KEY}@host",
        "https://user:pw@host/path",
        "https://host/?api_key=abc",
        "https://host/?x=1&access_token=abc",
        LONG,
        LONG.lower(),
        f"{LONG[:9]}/{LONG[9:]}+==",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_what_looks_like_a_key_is_not_quoted(text: str) -> None:
    """Usual marks, credentials in addresses, and long words of letters and digits."""
    assert quotable(text) == NOT_SHOWN
    assert isinstance(veiled(text), Secret)


@pytest.mark.parametrize(
    "value",
    [
        *("paid", "sandboxx", "16:10", "4:3", "", "a red fox runs through snow", "2026-11-21T14:30", "5.0.0"),
        *("cat.png", "/home/ada/photos/2024/IMG_20240101_123456.jpg", "photos/2024/summer-holiday/cat1"),
        *("~/pictures/long-name-of-a-picture-1.png", "sk-001.png", "key-visual_v2.png", "task-12345678"),
        *(r"C:\Users\ada\Pictures\cat1.png", "https://host.example/cat.png", "mask_of_a_fox_2", "keyboard"),
        *(5, 5.5, None, True, ["16:9"]),
    ],
)
def test_what_a_person_wrote_is_quoted(value: object) -> None:
    """A mistake can be seen: prices, shapes, times, names of files."""
    assert quotable(value) == repr(value)
    assert veiled(value) is value


def test_a_key_in_use_is_not_quoted_whatever_it_looks_like() -> None:
    """Alone or within a text; once it is forgotten, its words are words again."""
    key = Secret("correct-horse-battery")
    assert [quotable(text) for text in ("correct-horse-battery", "a correct-horse-battery b")] == [
        NOT_SHOWN
    ] * 2
    assert shown("correct-horse-battery") == NOT_SHOWN
    assert is_held(" correct-horse-battery ")
    del key
    assert quotable("correct-horse-battery") == "'correct-horse-battery'"


def test_an_id_is_shown_though_it_is_long() -> None:
    """Only what surely is a key is left out of where long words are usual."""
    assert shown("req_4f1c0ffee4f1c0ffee4f1c0ffee") == "req_4f1c0ffee4f1c0ffee4f1c0ffee"
    assert shown(KEY) == NOT_SHOWN
    assert without_keys(f"Invalid value: '{KEY}' is no time.") == f"Invalid value: '{NOT_SHOWN}' is no time."


def test_a_value_that_is_endless_is_quoted_by_its_beginning() -> None:
    """Also where it can't be written out at all."""
    assert len(quotable(["fox"] * 1000)) < 300
    assert quotable(10**5000) == "this int"
