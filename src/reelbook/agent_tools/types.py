"""What an agent tool server offers and answers, as values that know nothing of the protocol's package.

All of it is what a server says about itself, so it is shown as text and never trusted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tool:
    """A tool. `input_schema` is the JSON Schema of its arguments; `read_only` and `destructive` are hints."""

    name: str
    title: str | None = None
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    read_only: bool | None = None
    destructive: bool | None = None


@dataclass(frozen=True)
class Resource:
    """A resource that a result points at: nothing is fetched from it."""

    uri: str
    name: str = ""
    title: str | None = None
    mime_type: str | None = None


@dataclass(frozen=True)
class TextContent:
    """Text in a result. `uri` says which resource it belongs to, if any."""

    text: str
    uri: str = ""


@dataclass(frozen=True)
class BinaryContent:
    """A picture, sound or any other file in a result. `uri` says which resource it is, if any."""

    data: bytes = field(repr=False)
    mime_type: str = ""
    uri: str = ""


@dataclass(frozen=True)
class UnknownContent:
    """Content of a kind that Reelbook doesn't know, or that can't be read, as it came."""

    kind: str
    raw: Any


Content = TextContent | BinaryContent | Resource | UnknownContent


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered. `is_error` says that the tool itself reports a failure, in its content.

    `structured` is a JSON value where the tool gives one, otherwise None. `str()` returns the text.
    """

    content: tuple[Content, ...] = ()
    structured: Any = None
    is_error: bool = False

    def __str__(self) -> str:
        return "\n".join(each.text for each in self.content if isinstance(each, TextContent))


@dataclass(frozen=True)
class ToolProgress:
    """How far a call is: `progress` of `total`, in the server's own units. None where it didn't say."""

    progress: float
    total: float | None = None
    message: str | None = None

    @property
    def fraction(self) -> float | None:
        """The part that is done, 0 to 1; None where the total isn't known."""
        if self.total is None or self.total <= 0:
            return None
        return min(1.0, max(0.0, self.progress / self.total))


OnProgress = Callable[[ToolProgress], object]


@dataclass(frozen=True)
class ToolServerInfo:
    """Who the server says it is, and the negotiated version of the protocol."""

    name: str
    version: str
    protocol: str
