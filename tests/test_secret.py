"""A credential shows itself nowhere."""

from __future__ import annotations

import copy
import pickle

import pytest

from reelbook.secret import Secret

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
