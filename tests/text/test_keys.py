"""What is said of API keys: their state, what stops with them, and how far a rotation has come."""

import time
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from reelbook import settings
from reelbook.models import ApiKey, CreatedKey
from reelbook.secret import Secret
from reelbook.text import keys as words

NOW = time.time()
DAY = 86_400.0


def key(**fields: Any) -> ApiKey:
    return ApiKey.model_validate({"key_id": "k", "name": "ada", "key_preview": "sk-…1", **fields})


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"last_used": iso(NOW - 29 * DAY), "created_at": iso(NOW - 90 * DAY)}, ""),
        ({"last_used": iso(NOW - 30 * DAY)}, "not used for 30 days"),
        ({"created_at": iso(NOW - 6.9 * DAY)}, ""),
        ({"created_at": iso(NOW - 9 * DAY)}, "unused for 9 days"),
        ({"created_at": iso(NOW - 9 * DAY), "is_active": False}, ""),
        ({"created_at": "yesterday"}, ""),
    ],
)
def test_keys_that_are_left_over_are_marked(fields: dict[str, Any], said: str) -> None:
    """Thirty days without use, or seven without a first one."""
    assert words.stale(key(**fields)) == said


def test_what_cannot_be_told_is_said() -> None:
    """Where the list doesn't tell which key is in use, the summary and the question say so."""
    unknown = key(created_at=iso(NOW))
    assert "doesn't show" in words.summary([unknown], None)
    assert "doesn't show" in words.question(unknown, None)
    other = words.question(unknown, key(key_id="mine"))
    assert ("other people" in other, "can't be taken back" in other) == (True, True)


def test_where_the_old_key_still_stands_is_said() -> None:
    """The environment comes before the keyring, so keeping the new key isn't enough."""
    kept: Any = SimpleNamespace(new=key(name="b"), old=key(), kept=True)
    said = words.rotated(kept, sandbox=False, can_keep=True, set_in="environment")
    assert f"{settings.API_KEY} still has the old key" in said
    unkept: Any = SimpleNamespace(new=key(name="b"), old=None, kept=False)
    alone = words.rotated(unkept, sandbox=False, can_keep=False, set_in=None)
    assert "nothing else keeps it" in alone
    made = words.created(CreatedKey(key_id="k", api_key=Secret("sk-planted"), name="b"))
    assert "planted" not in made


def test_the_key_in_use_stands_first_and_revoked_ones_last() -> None:
    """Between them the newest first; the row has the limit, the age and what is left over."""
    mine = key(key_id="mine", created_at=iso(NOW - 50 * DAY), last_used=iso(NOW), rate_limit=10)
    old = key(key_id="old", created_at=iso(NOW - 40 * DAY), last_used=iso(NOW - 31 * DAY))
    new = key(key_id="new", created_at=iso(NOW - DAY))
    gone = key(key_id="gone", created_at=iso(NOW), is_active=False)
    listed = words.rows([gone, old, new, mine], mine)
    assert [(row["id"], row["state"], row["stale"]) for row in listed] == [
        ("mine", "in use", ""),
        ("new", "active", ""),
        ("old", "active", "not used for 31 days"),
        ("gone", "revoked", ""),
    ]
    assert [listed[0]["limit"], listed[1]["limit"]] == ["10 a minute", "not said"]
    assert words.summary([gone, old, new, mine], mine) == "3 active keys, 1 revoked, 1 not used lately."
