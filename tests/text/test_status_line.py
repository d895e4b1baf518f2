"""The line on top of the Studio: what is left of balance, limit and requests."""

from reelbook.account import Facts
from reelbook.ledger import Spend
from reelbook.text.status_line import balance_words, facts_words

NOTHING = Spend(0.0, 0.0, 0.0)


def test_what_is_left_is_said() -> None:
    """Balance and requests; of a limit only where there is one. What is not known is left out."""
    said = facts_words("live", Facts(25.0, 7, 10, 12.0), running=2, spend=NOTHING)
    assert (said["balance"], said["limit_left"], said["low"]) == ("$25.00", "", [])
    assert (said["left"], said["limit"], said["text"], said["running"]) == (7, 10, "7 requests left", 2)
    unheard = facts_words("sandbox", Facts(None, 10, 10, None, 1.0))
    assert (unheard["balance"], unheard["limit_left"]) == ("", "")


def test_what_runs_low_is_named() -> None:
    """Both ends at once, as both may be met by the next clips."""
    said = facts_words("live", Facts(0.5, 1, 10, None, 1.0), spend=Spend(0.85, 0.0, 0.0))
    assert (said["balance"], said["limit_left"]) == ("$0.50, running low", "only $0.15 of $1.00 left")
    assert (said["low"], said["text"]) == (["balance", "limit"], "1 request left")
    used_up = facts_words("live", Facts(25.0, 1, 10, None, 1.0), spend=Spend(1.0, 0.0, 0.0))
    assert used_up["limit_left"] == "nothing of $1.00 left"


def test_what_is_taken_off_the_balance_is_said() -> None:
    """The service says another figure then, and a person may compare the two."""
    assert balance_words(Facts(None, 10, 10, None)) == ""
    assert balance_words(Facts(25.0, 10, 10, None, to_come_usd=0.001)) == "$25.00"
    said = balance_words(Facts(24.75, 10, 10, None, to_come_usd=0.25))
    assert said == "$24.75 ($25.00 less $0.25 that clips may still cost)"
