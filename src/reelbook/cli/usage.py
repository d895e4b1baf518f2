"""`reelbook usage` and `reelbook balance`: where the money goes, on a terminal."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import ReelbookError
from ..formatting import dollars, iso_time
from .console import moving_line, say, say_json, waiting_notice
from .options import AsJson, Home, Which, open_session, option

if TYPE_CHECKING:
    from ..account.usage import UsageSpan
    from ..account.usage_history import UsageHistory
    from ..session import Session

BAR, BESIDE = 40, 66


def usage(
    days: Annotated[int, option("How many days back. Default: 30.", min=1, max=365)] = 30,
    service: Which = "auto",
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Draw what was used day by day.

    The service reports totals only, so this sends a request for each day that has to be told apart, after
    everything else that the key does. Answers are kept, so the next time takes few. Ctrl-C draws what it has.
    """
    with open_session(service, home) as session:
        history = session.usage_history(days)
        _wait_for_days(history)
        if history.total is None:
            raise ReelbookError(history.trouble or "The service didn't say what was used.")
        if as_json:
            say_json(_document(history, session))
        else:
            _draw(history, session)


def balance(service: Which = "auto", as_json: AsJson = False, home: Home = None) -> None:
    """Say what is left of the balance, and what was spent in all."""
    from ..text.status_line import balance_words

    with open_session(service, home) as session:
        with waiting_notice(session):
            told, facts = session.balance(), session.facts
        if as_json:
            figures = {"balance_usd": facts.balance_usd, "to_come_usd": facts.to_come_usd}
            say_json({"service": session.service, **figures, "total_spent_usd": told.total_spent_usd})
            return
        spent = "" if told.total_spent_usd is None else f", {dollars(told.total_spent_usd)} spent in all"
        say(f"Balance {balance_words(facts)}{spent} ({session.service}).")


def _wait_for_days(history: UsageHistory) -> None:
    """Waits until the history asks no more; Ctrl-C after a first answer ends it, too."""
    from ..text import usage as words

    try:
        with moving_line() as show:
            while not history.done:
                line = words.progress_words(spans=history.spans, asked=history.asked, done=False, trouble="")
                show(line.replace("dashed ", ""))
                with suppress(TimeoutError):
                    history.wait(0.25)
    except KeyboardInterrupt:
        if not history.spans:
            raise
    finally:
        history.close()


def _draw(history: UsageHistory, session: Session) -> None:
    from rich.table import Table
    from rich.text import Text

    from ..text import usage as words
    from .screen import Screen

    screen = Screen()
    total, reading = history.total, history.reading
    money, about = words.total_words(total, history.days)
    screen.print(Text.assemble((money, "bold"), f"  {about}"))
    if pace := words.pace_words(session.facts, total, history.days):
        screen.print(pace)
    busy = [span for span in history.spans if span.usd > 0]
    if busy:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        for justify in ("right", "left", "right"):
            table.add_column(justify=justify, no_wrap=True)
        table.add_column(overflow="fold")
        highest = max(map(_per_day, busy))
        widest = max(8, min(BAR, screen.width - BESIDE))
        split, unsplit = "#-" if screen.options.ascii_only else "█░"
        for span in busy:
            when, money, about, note = words.span_words(span, reading)
            length = max(1, round(widest * _per_day(span) / highest))
            bar = Text((split if span.split else unsplit) * length, "blue")
            table.add_row(when, bar, money, f"{about} · {note}" if note else about)
        screen.print()
        screen.print(table)
        screen.print()
    else:
        screen.print(words.NOTHING_SPENT)
    if mine := words.ledger_words(history.own(), total):
        screen.print(mine)
    last = history.spans[-1].to_at
    found = words.progress_words(spans=history.spans, asked=history.asked, done=True, trouble=history.trouble)
    screen.print(found.replace("Dashed spans", "Light bars"), words.reading_words(reading, last))


def _per_day(span: UsageSpan) -> float:
    return span.usd / max(1.0, span.days)


def _document(history: UsageHistory, session: Session) -> dict[str, Any]:
    total = history.total
    assert total is not None
    return {
        "service": session.service,
        "days": history.days,
        "reading": history.reading,
        "requests_asked": history.asked,
        "trouble": history.trouble,
        "total_usd": total.usd,
        "total_seconds": total.seconds,
        "total_requests": total.requests,
        "balance_usd": session.facts.balance_usd,
        "to_come_usd": session.facts.to_come_usd,
        "ledger_usd": round(sum(own.usd for own in history.own()), 6),
        "spans": [
            {
                "from": iso_time(span.from_at),
                "to": iso_time(span.to_at),
                **{name: getattr(span, name) for name in ("usd", "seconds", "requests", "split")},
            }
            for span in history.spans
        ],
    }
