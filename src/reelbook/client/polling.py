"""When to ask about a job: pure. A few quick questions for a short job, then a steady pace.

Eight questions a minute at most, so that a person's click finds room in the key's ten.
"""

from __future__ import annotations

from collections.abc import Sequence

FIRST_ASKS_SECONDS: Sequence[float] = (1.5, 3.0, 4.5)
STEADY_SECONDS = 9.0
SOONEST_SECONDS = 1.0
LATEST_SECONDS = 15.0
LONGEST_SECONDS = 60.0
PATIENCE_SECONDS = 600.0


def next_ask_seconds(
    asked: int, elapsed_seconds: float, remaining_seconds: float | None, failures: int = 0
) -> float:
    """How long to wait before the next question about a job.

    `asked` questions went out so far, `elapsed_seconds` passed since the watch began, `remaining_seconds` is
    the best guess of what is left, `failures` counts questions in a row that got no usable answer. A job
    silent for very long is asked ever more rarely, never forgotten.
    """
    if failures:
        return float(min(LONGEST_SECONDS, STEADY_SECONDS * 2 ** min(failures - 1, 6)))
    usual = FIRST_ASKS_SECONDS[asked] if asked < len(FIRST_ASKS_SECONDS) else STEADY_SECONDS
    if elapsed_seconds > PATIENCE_SECONDS:
        return min(LONGEST_SECONDS, elapsed_seconds * STEADY_SECONDS / PATIENCE_SECONDS)
    if remaining_seconds is None:
        return usual
    # Just after the expected end: an earlier question buys nothing, a later one keeps a person waiting.
    expected = min(max(remaining_seconds + 0.3, SOONEST_SECONDS), LATEST_SECONDS)
    spare = 2 + elapsed_seconds / STEADY_SECONDS - asked
    return expected if expected >= usual or spare >= 1 else usual
