"""A credential that shows itself nowhere: not in a repr, a pickle, a copy of state, a log or a traceback."""

from __future__ import annotations

import hashlib
from typing import NoReturn, final


@final
class Secret:
    """Holds an API key or another credential and prints as `Secret(***)`.

    `reveal()` is the only way to the value, so that a search for it finds every use.
    """

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        self.__value = value

    @classmethod
    def of(cls, value: str | Secret) -> Secret:
        """`value` as a Secret; one that already is a Secret is returned as it is."""
        return value if isinstance(value, Secret) else cls(value)

    def reveal(self) -> str:
        """The credential itself. Don't keep it in a variable: verbose tracebacks print those."""
        return self.__value

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that tell two credentials apart without telling what they are."""
        return hashlib.sha256(b"reelbook fingerprint\0" + self.__value.encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.__value == other.__value

    def __hash__(self) -> int:
        return hash((Secret, self.__value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("A Secret can't be pickled or copied: a credential must not end up in a file.")
