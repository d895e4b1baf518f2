"""What a person who looks elsewhere is told once their clips are made."""

from collections.abc import Sequence
from typing import Any, Final

from reelbook.session import Job

from ..formatting import count, dollars, shortened

LONGEST_PROMPT: Final = 80


def notice(jobs: Sequence[Job], *, service: str) -> dict[str, Any]:
    """The notice of jobs that ran together and have ended, in their order.

    That is a notification's `head` and `body`, and what the tab's title begins with: `count` and `word`.
    """
    done = [job for job in jobs if job.clip is not None]
    shown = shortened((done or jobs)[0].prompt or "", LONGEST_PROMPT)
    views = [job.view() for job in jobs]
    paid = dollars(sum(view.price_usd or 0.0 for view in views if view.charge != "none"))
    others = len(jobs) - 1
    more = f"and {'one' if others == 1 else others} more" if others else ""
    return {
        "head": _head(len(done), len(jobs)),
        "body": f"{shown}\n{' · '.join(filter(None, [more, paid, service if service == 'sandbox' else '']))}",
        "count": len(done) or len(jobs),
        "word": "done" if done else "failed",
    }


def _head(done: int, ended: int) -> str:
    if not done:
        return f"{count(ended, 'clip')} failed"
    of = f"{done} of " if done < ended else ""
    return f"{of}{count(ended, 'clip')} {'is' if done == 1 else 'are'} done"
