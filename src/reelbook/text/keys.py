"""What the key manager says: each key in a row, what stops with it, and how far a rotation has come."""

import time
from collections.abc import Sequence
from typing import Any, Final, Literal

from reelbook import wire
from reelbook.account import Rotation
from reelbook.models import ApiKey, CreatedKey
from reelbook.settings import API_KEY, BASE_URL

from ..formatting import age, count, date, epoch_seconds

STALE_DAYS: Final = 30
NEW_DAYS: Final = 7
SHOWN_SECONDS: Final = 60

State = Literal["in use", "active", "revoked"]


def state_of(key: ApiKey, in_use: ApiKey | None) -> State:
    if not key.is_active:
        return "revoked"
    return "in use" if in_use is not None and key.key_id == in_use.key_id else "active"


def stale(key: ApiKey) -> str:
    """Why the key may be left over: "not used for 45 days", "unused for 9 days"; "" if it isn't."""
    if not key.is_active:
        return ""
    since = epoch_seconds(key.last_used or key.created_at)
    if since is None:
        return ""
    days = int((time.time() - since) / wire.DAY_SECONDS)
    if key.last_used:
        return f"not used for {days} days" if days >= STALE_DAYS else ""
    return f"unused for {days} days" if days >= NEW_DAYS else ""


def limit(key: ApiKey | CreatedKey) -> str:
    """The key's rate limit: "10 a minute"."""
    return "not said" if key.rate_limit is None else f"{key.rate_limit:g} a minute"


def rows(keys: Sequence[ApiKey], in_use: ApiKey | None) -> list[dict[str, Any]]:
    """The list for the page: the key in use first, then active ones, the newest first, revoked ones last."""
    order = {"in use": 0, "active": 1, "revoked": 2}
    placed = sorted(
        keys,
        key=lambda key: (order[state_of(key, in_use)], -(epoch_seconds(key.created_at) or 0.0), key.key_id),
    )
    return [
        {
            "id": key.key_id,
            "name": key.name or "(no name)",
            "preview": key.key_preview,
            "limit": limit(key),
            "state": state_of(key, in_use),
            "created": date(key.created_at) or "not said",
            "used": age(key.last_used),
            "stale": stale(key),
            "question": question(key, in_use),
        }
        for key in placed
    ]


def summary(keys: Sequence[ApiKey], in_use: ApiKey | None) -> str:
    """The list in one line: "3 active keys, 1 revoked, 1 not used lately."."""
    active = [key for key in keys if key.is_active]
    said = [count(len(active), "active key")]
    if revoked := len(keys) - len(active):
        said.append(f"{revoked} revoked")
    if old := sum(bool(stale(key)) for key in active):
        said.append(f"{old} not used lately")
    unknown = " The list doesn't show which one this session uses." if active and in_use is None else ""
    return f"{', '.join(said)}.{unknown}"


def question(key: ApiKey, in_use: ApiKey | None) -> str:
    """What to know before a key is revoked: what stops, and that it is for good."""
    last = "It was never used." if not key.last_used else f"It was last used {age(key.last_used)}."
    what = f"Revoke “{key.name}” ({key.key_preview or key.key_id})? {last}"
    rotate = "To change the key without that, rotate it."
    if in_use is None:
        risk = (
            "The list doesn't show which key this session uses: if it is this one, the session stops, and "
            "clips under way can't be fetched."
        )
    elif in_use.key_id == key.key_id:
        risk = (
            "It is the key that this session uses. This session, and every notebook that uses the key, can "
            "make no request any more; clips under way go on, are billed and can't be fetched."
        )
    else:
        risk, rotate = "Whatever uses it stops at once: other notebooks, other machines, other people.", ""
    return f"{what} {risk} It can't be taken back. {rotate}".strip()


def created(key: CreatedKey) -> str:
    """The words above a key that is shown."""
    requests = "" if key.rate_limit is None else f", with {key.rate_limit:g} requests a minute"
    return (
        f"“{key.name}” was created{requests}. This is the only time that the key is shown: copy or download "
        f"it now. It disappears from this page after {SHOWN_SECONDS} s."
    )


def revoked(name: str) -> str:
    return f"“{name}” is revoked."


def rotated(rotation: Rotation, *, sandbox: bool, can_keep: bool, set_in: str | None) -> str:
    """How far a rotation has come, and what to do before the old key is revoked."""
    old, kept = rotation.old, rotation.kept
    name = rotation.new.name
    done = f"This session uses “{name}” now. It was tried, and no later request carries the old key."
    if sandbox:
        where = "It is kept with the sandbox, for every kernel."
    elif kept:
        where = "It is kept in this system's keyring."
    elif can_keep:
        where = "Keep it before the old key is revoked: in the keyring, or copied from above."
    else:
        where = "Copy it before the old key is revoked: nothing else keeps it."
    if set_in is not None and not (set_in == "keyring" and kept):
        where = f"{where} {elsewhere(set_in)}"
    last = (
        "The list doesn't show which key was the old one: revoke it in the list."
        if old is None
        else f"The old key “{old.name}” ({old.key_preview or old.key_id}) still works. Revoke it when "
        "nothing else needs it."
    )
    return f"{done} {where} {last}"


def elsewhere(source: str) -> str:
    """Where the settings still have the old key; "" where they don't."""
    return {
        "environment": f"The environment variable {API_KEY} still has the old key: change it.",
        "Colab secret": f"The Colab secret {API_KEY} still has the old key: change it.",
        "keyring": f"The keyring still has the old key for {API_KEY} and {BASE_URL}.",
    }.get(source, "")
