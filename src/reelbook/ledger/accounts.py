"""Whose rows they are: a service's origin and a fingerprint of the key, which tells nothing elsewhere."""

from __future__ import annotations

import hashlib
import sqlite3
from urllib.parse import urlsplit

from ..secret import Secret
from .entries import Account


def account_of(
    connection: sqlite3.Connection, service: str, key: Secret, same_as: Account | None = None
) -> Account:
    """The account of `key` at `service`, made where there is none.

    With `same_as` the key takes the place of that account's key, from now on and for every later kernel: the
    rows stay the account's, only the requests of the two keys are counted apart.
    """
    salt = connection.execute("SELECT salt FROM salt").fetchone()["salt"]
    fingerprint = hashlib.blake2b(key.reveal().encode(), key=salt, digest_size=8).hexdigest()
    named = (origin(service), fingerprint)
    if same_as is not None:
        connection.execute(
            "INSERT OR REPLACE INTO later_keys (origin, fingerprint, account) VALUES (?, ?, ?)",
            (*named, same_as.id),
        )
    later = connection.execute(
        "SELECT id, account FROM later_keys WHERE origin = ? AND fingerprint = ?", named
    ).fetchone()
    if later is not None:
        return Account(later["account"], *named, later_key=later["id"])
    connection.execute("INSERT OR IGNORE INTO accounts (origin, fingerprint) VALUES (?, ?)", named)
    row = connection.execute("SELECT * FROM accounts WHERE origin = ? AND fingerprint = ?", named).fetchone()
    return Account(row["id"], row["origin"], row["fingerprint"])


def restore(connection: sqlite3.Connection, account: Account) -> None:
    """Puts an account that is in use into a ledger that lost it."""
    connection.execute(
        "INSERT OR IGNORE INTO accounts VALUES (?, ?, ?)", (account.id, account.origin, account.fingerprint)
    )
    if account.later_key is not None:
        connection.execute(
            "INSERT OR IGNORE INTO later_keys VALUES (?, ?, ?, ?)",
            (account.later_key, account.origin, account.fingerprint, account.id),
        )


def all_ids(connection: sqlite3.Connection) -> list[int]:
    """The numbers of all accounts."""
    return [row["id"] for row in connection.execute("SELECT id FROM accounts")]


def origin(service: str) -> str:
    """Scheme, host and port of an address; any other name as it is."""
    try:
        parts = urlsplit(service.strip())
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return service.strip()
    if not parts.hostname:
        return service.strip()
    return f"{parts.scheme}://{parts.hostname}:{port}"
