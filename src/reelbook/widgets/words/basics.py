"""What all words are made of: lines that count on, amounts, spans of time and names of files.

A line is a list of texts and `[seconds, rate]` pairs: the page counts each pair on by `rate` a second until
the next line comes, so that nothing has to be sent for a second that merely passed.
"""

from __future__ import annotations

from reelbook.session.saving import file_name

__all__ = ["Line", "counting", "dollars", "file_name", "plain", "seconds"]

Line = list[str | list[float]]


def dollars(usd: float) -> str:
    """An amount in USD: "$0.25"."""
    return f"-${-usd:,.2f}" if usd < -0.004 else f"${abs(usd):,.2f}"


def seconds(value: float) -> str:
    """A span of time: "14 s", "2 min 5 s"."""
    whole = max(0, int(value + 0.5))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole % 60 == 0 else f"{whole // 60} min {whole % 60} s"


def plain(line: Line) -> str:
    """The line as it reads at this moment."""
    return "".join(part if isinstance(part, str) else seconds(_counted(*part)) for part in line)


def _counted(value: float, rate: float) -> float:
    # As on the page: what is due is about to happen, and "0 s left" would be said for as long as it takes.
    return max(1.0, value) if rate < 0 else value


def counting(value: float, rate: float) -> list[float]:
    """A number of seconds in a line, and how many of them a second adds."""
    return [round(value, 1), rate]
