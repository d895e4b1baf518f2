"""A credential shows itself nowhere."""

import copy
import html
import json
import pickle
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reelbook.secret import NOT_SHOWN, Secret, hidden, is_held, looks_like_key, quotable, shown, without_keys

KEY = "sk-planted-secret"


def test_a_secret_is_neither_shown_nor_pickled_nor_copied() -> None:
    """Neither repr, str nor formatting shows the value; pickling and copying are refused."""
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="can't be pickled"):
            leak(secret)


def test_equal_secrets_are_equal_and_share_a_fingerprint() -> None:
    """Two holders of one credential compare equal, and the fingerprint doesn't contain it."""
    assert (Secret(KEY), Secret(KEY).fingerprint) == (Secret.of(KEY), Secret(KEY).fingerprint)
    assert Secret(KEY) != Secret(KEY + "x")
    assert KEY not in Secret(KEY).fingerprint
    assert len(Secret("\udcff").fingerprint) == 16  # bytes of the environment that are no text


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
    assert isinstance(hidden(text), Secret)


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
    assert hidden(value) is value


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


ESCAPED = "sk/+%&\"<'>\\=_aZ9~"


def in_unicode(text: str) -> str:
    return "".join(f"\\u{ord(character):04X}" for character in text)


@pytest.mark.parametrize(
    "form",
    [
        ESCAPED,
        json.dumps(ESCAPED)[1:-1],
        json.dumps(ESCAPED)[1:-1].replace("/", "\\/"),
        json.dumps(json.dumps(ESCAPED)[1:-1])[1:-1],
        ESCAPED.replace("\\", "\\\\").replace("/", "\\u002F").replace("+", "\\u002b").replace('"', '\\"'),
        in_unicode(ESCAPED),
        json.dumps(in_unicode(ESCAPED))[1:-1],
        quote(ESCAPED),
        quote(ESCAPED, safe="").lower(),
        quote(quote(ESCAPED, safe=""), safe=""),
        html.escape(ESCAPED),
        html.escape(html.escape(ESCAPED)),
        "".join(f"&#{ord(character)};" for character in ESCAPED),
        "".join(f"&#x{ord(character):x};" for character in ESCAPED),
        repr(ESCAPED)[1:-1],
        ESCAPED.upper(),
    ],
)
def test_a_secret_is_masked_in_every_form_in_which_an_answer_may_repeat_it(form: str) -> None:
    """Plain, and escaped as in JSON, addresses, HTML and Python, also twice; what stands around it stays."""
    assert Secret(ESCAPED).masked(f"key={form}!") == "key=***!"
    assert json.loads(Secret("sk/x\\y+z").masked(r'{"a": "b\\sk\/x\\y\u002bz\n"}')) == {"a": "b\\***\n"}


@settings(max_examples=300)
@given(
    key=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60),
    escaped=st.lists(st.sampled_from("pjux%&"), min_size=1, max_size=9),
    around=st.text(max_size=10),
)
def test_any_key_is_masked_in_any_mixture_of_forms(key: str, escaped: list[str], around: str) -> None:
    """Each character may be escaped in a way of its own."""
    ways: dict[str, Callable[[str], str]] = {
        "p": lambda c: c,
        "j": lambda c: f"\\{c}" if not c.isalnum() else c,
        "u": lambda c: f"\\u{ord(c):04x}",
        "x": lambda c: f"\\x{ord(c):02x}",
        "%": lambda c: f"%{ord(c):02X}",
        "&": lambda c: f"&#{ord(c)};",
    }
    said = "".join(ways[escaped[place % len(escaped)]](each) for place, each in enumerate(key))
    masked = Secret(key).masked(f"{around} {said} {around}")
    assert "***" in masked
    assert said not in masked.replace(around, "")


@pytest.mark.parametrize(
    ("said", "masked"),
    [("the key k5", "the key ***"), ("k5, k50 and ok5", "***, k50 and ok5"), ("{'k5': 1}", "{'***': 1}")],
)
def test_a_short_secret_masks_no_part_of_a_word(said: str, masked: str) -> None:
    """Else there would be little left of an answer."""
    assert Secret("k5").masked(said) == masked


def test_what_only_begins_like_a_form_is_left_alone() -> None:
    """A character reference of another character, half an escape."""
    said = "&#&#&# \\u00 %2 sk-planted-&#secret"
    assert Secret(KEY).masked(said) == said


@pytest.mark.parametrize("length", range(4, len(KEY)))
def test_the_beginning_of_a_secret_at_the_end_of_a_cut_text_is_masked(length: int) -> None:
    """The connection may break within it, also within an escaped character."""
    secret = Secret(KEY)
    assert secret.masked(f"not {KEY[:length]}", cut=True) == "not ***"
    assert secret.masked(f"not {in_unicode(KEY[:length])}\\u00", cut=True) == "not ***"
    assert secret.masked(f"not {KEY[:length]}") == f"not {KEY[:length]}"
    assert secret.masked(f"not {KEY[:length]} but", cut=True) == f"not {KEY[:length]} but"


def test_a_hostile_text_takes_no_time() -> None:
    """What looks like the beginning of a form again and again is looked at once."""
    began = time.monotonic()
    for text in ("\\" * 300_000, "%25" * 100_000, "&amp;" * 60_000, "&#" + "0" * 300_000, KEY[:-1] * 20_000):
        assert Secret(KEY).masked(text, cut=True).count("***") <= 1
    assert time.monotonic() - began < 60


def test_nothing_is_no_key() -> None:
    """While an empty credential is held, an empty setting is still one, and no text is masked."""
    empty = Secret("")
    assert not looks_like_key("")
    assert hidden("") == ""
    assert empty.masked("all of it") == "all of it"
