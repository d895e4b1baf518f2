"""How amounts and times of the account's figures are written."""

from __future__ import annotations

from datetime import datetime


def local(at: float) -> datetime:
    """Epoch seconds as a time where the person is."""
    return datetime.fromtimestamp(at).astimezone()


def clock(moment: datetime) -> str:
    """The time of day, with the date if that isn't today."""
    today = moment.date() == datetime.now(moment.tzinfo).date()
    return moment.strftime("%H:%M:%S" if today else "%d %b %Y, %H:%M:%S")


def dollars(amount_usd: float) -> str:
    """An amount with cents, and with more digits where it has them."""
    sign, text = "-" if amount_usd < 0 else "", f"{abs(amount_usd):,.4f}"
    return f"{sign}${text[:-2]}{text[-2:].rstrip('0')}"
