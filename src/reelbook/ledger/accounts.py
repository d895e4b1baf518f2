"""Whose rows they are: a service's origin and a fingerprint of the key, which tells nothing elsewhere."""

from __future__ import annotations

import hashlib
import sqlite3
from urllib.parse import urlsplit

from ..secret import Secret
from .entries import Account


def account_of(connection: sqlite3.Connection, service: str, key: Secret) -> Account:
    """The account of `key` at `service`, made where there is none."""
    salt = connection.execute("SELECT salt FROM salt").fetchone()["salt"]
    fingerprint = hashlib.blake2b(key.reveal().encode(), key=salt, digest_size=8).hexdigest()
    named = (origin(service), fingerprint)
    connection.execute("INSERT OR IGNORE INTO accounts (origin, fingerprint) VALUES (?, ?)", named)
    row = connection.execute("SELECT * FROM accounts WHERE origin = ? AND fingerprint = ?", named).fetchone()
    return Account(row["id"], row["origin"], row["fingerprint"])


def restore(connection: sqlite3.Connection, account: Account) -> None:
    """Puts an account that is in use into a ledger that lost it."""
    connection.execute(
        "INSERT OR IGNORE INTO accounts VALUES (?, ?, ?)", (account.id, account.origin, account.fingerprint)
    )


def all_ids(connection: sqlite3.Connection) -> list[int]:
    """The numbers of all accounts."""
    return [row["id"] for row in connection.execute("SELECT id FROM accounts")]


def origin(service: str) -> str:
    """Scheme, host and port of an address; any other name as it is."""
    parts = urlsplit(service.strip())
    if not parts.hostname:
        return service.strip()
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{parts.hostname}:{port}"
