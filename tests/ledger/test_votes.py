"""Votes on pairs of clips."""

from pathlib import Path

from ledger.doubles import KEY, Clock, opened

from reelbook.ledger import KeptVote, Ledger

WHICH = "Which is better?"


def add(ledger: Ledger, left: str, right: str, better: str | None, voter: str = "") -> KeptVote:
    """A vote on a pair that was shown."""
    vote = KeptVote(1_800_000_000, WHICH, left, right, better, voter)
    ledger.votes.add(vote)
    return vote


def test_votes_belong_to_pairs(ledger: Ledger, folder: Path, clock: Clock) -> None:
    """A question about some clips finds all votes on pairs of them, a later kernel too; no other account. The
    last one is taken back of one voter, on one of these clips' pairs.
    """
    given = [add(ledger, "a", "b", "a"), add(ledger, "b", "a", None, "Ada")]
    wider = add(ledger, "a", "c", "c")
    other = ledger.file.ledger("https://other.example", KEY)
    add(other, "a", "b", "b")
    with opened(folder, clock=clock) as again:
        assert again.votes.among(["b", "a"], WHICH) == given
        assert again.votes.among(["a", "b", "c"], WHICH) == [*given, wider]
        assert again.votes.among(["a", "b"], "Which is funnier?") == []
        assert [again.votes.won(clip) for clip in "abcd"] == [(1, 3), (0, 2), (1, 1), (0, 0)]
    assert [ledger.votes.take_back(["a", "b"], WHICH, "") for _ in range(2)] == [given[0], None]
    assert ledger.votes.among(["a", "b", "c"], WHICH) == [given[1], wider]
