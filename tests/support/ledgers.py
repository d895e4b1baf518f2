"""The ledger of one account, for who has no session."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reelbook.ledger import Ledger, LedgerFile
from reelbook.secret import Secret


@contextlib.contextmanager
def ledger_in(home: Path, service: str, key: Secret, **options: Any) -> Iterator[Ledger]:
    """That of `key` at `service` in `home`, closed in the end; the options are those of `LedgerFile.open`."""
    with LedgerFile.open(home, **options) as file:
        yield file.ledger(service, key)
