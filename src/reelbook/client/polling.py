"""When to ask about a job: pure. A few quick questions for a short job, then a steady pace.

Eight questions in any minute at most, so that a person's click finds room in the key's ten.
"""

from __future__ import annotations

from collections.abc import Sequence

MINUTE_SECONDS = 60.0
MOST_A_MINUTE = 8
QUICK_A_MINUTE = 5
FIRST_ASKS_SECONDS = (1.5, 3.0, 4.5)
STEADY_SECONDS = 9.0
SOONEST_SECONDS = 1.0
LATEST_SECONDS = 15.0
LONGEST_SECONDS = 60.0
PATIENCE_SECONDS = 600.0


def next_ask_seconds(
    asked_at: Sequence[float], now: float, remaining_seconds: float | None, failures: int = 0
) -> float:
    """How long to wait before the next question about a job.

    `asked_at` are the times of the questions so far and `now` the present one, in seconds since the watch
    began; `remaining_seconds` is the best guess of what is left, `failures` counts questions in a row
    that got no usable answer. A job silent for very long is asked ever more rarely, never forgotten.
    """
    if failures:
        return float(min(LONGEST_SECONDS, STEADY_SECONDS * 2 ** min(failures - 1, 6)))
    if now > PATIENCE_SECONDS:
        return min(LONGEST_SECONDS, now * STEADY_SECONDS / PATIENCE_SECONDS)
    asked = len(asked_at)
    wait = FIRST_ASKS_SECONDS[asked] if asked < len(FIRST_ASKS_SECONDS) else STEADY_SECONDS
    recent = [at for at in asked_at if now - at < MINUTE_SECONDS]
    if remaining_seconds is not None:
        # Just after the expected end: an earlier question buys nothing, a later one keeps a person waiting.
        expected = min(max(remaining_seconds + 0.3, SOONEST_SECONDS), LATEST_SECONDS)
        if expected > wait or len(recent) < QUICK_A_MINUTE:
            wait = expected
    if len(recent) >= MOST_A_MINUTE:
        wait = max(wait, recent[-MOST_A_MINUTE] + MINUTE_SECONDS - now)
    return wait
