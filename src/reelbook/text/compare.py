"""What a comparison says of each clip: prompt and facts with the differences marked."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from reelbook import wire

from ..formatting import Line, price, shortened_inside
from ..states import state
from .card import CardFace, ShownJob, bar_share, job_face, job_lines, seed_words

# What all prompts share is shortened in the middle, so that a tile's state stays under 2 KB.
SAME_CHARACTERS: Final = 90
PROMPT_CHARACTERS: Final = 300
NOT_HERE: Final = "The clip's file isn't on this disk."
UNKNOWN_PICK: Final = "No ledger knows all of these clips: this panel alone keeps that pick."
KEYS: Final = (
    "Space plays and pauses all. ← and → move by 1 s, with Shift by 0.1 s; , and . move by a frame. "
    "< and > change the speed. {picks} pick. f fills the screen, Escape leaves."
)

Run = tuple[str, bool]  # a text, and whether it differs from the other clips'

# A word with the spaces after it. Scripts without spaces are compared character by character.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]\s*|[^\s\u3040-\u30ff\u3400-\u9fff]+\s*")
_EDGES = re.compile(r"^\W+|\W+$")


# The parts of a clip's card that its tile has, too.
_OF_THE_CARD: Final = ("shape", "clip", "seconds", "fps", "codec", "word", "tone", "stage", "note")


def tiles(shown: Sequence[ShownJob], names: Sequence[str]) -> list[dict[str, Any]]:
    """The clips of a comparison, in their order: parts of each one's card, and what differs marked.

    `names` are those in `picked`, empty for a clip without one. `ended` is shown once the clock has passed a
    clip's end; it is empty for the longest.
    """
    cards = [job_face(each) for each in shown]
    prompts = differing([card["prompt"] for card in cards])
    figures = [_figures(each) for each in shown]
    mixed = len({each.mark for each in shown}) > 1
    longest = max((each.clip.duration_seconds for each in shown if each.clip), default=0.0)
    made = []
    for place, (each, card, prompt) in enumerate(zip(shown, cards, prompts, strict=True)):
        marked = {
            kind: (text, any(other[kind] != text for other in figures))
            for kind, text in figures[place].items()
            if text
        }
        money = [marked.pop("money")] if "money" in marked else []
        facts = [*marked.values(), *([(each.mark, True)] if mixed and each.mark else [])]
        about = {"key": str(place), "name": names[place], "prompt": prompt, "facts": facts, "money": money}
        length = each.clip.duration_seconds if each.clip else longest
        ended = f"ended at {length:.1f} s" if longest - length > 0.05 else ""
        made.append({**about, "ended": ended, **_card_parts(card, each)})
    return made


def differing(texts: Sequence[str]) -> list[list[Run]]:
    """Each text as runs of words: words that all texts have in the same order, and words that they don't.

    Case and the punctuation around a word make no difference. Joined, the runs of a text are the text, with
    its spaces folded and the middle of long runs shortened to "…".
    """
    split = [_WORD.findall(" ".join(text.split())) for text in texts]
    common = [_core(word) for word in split[0]] if split else []
    for words in split[1:]:
        cores = [_core(word) for word in words]
        blocks = SequenceMatcher(None, common, cores, autojunk=False).get_matching_blocks()
        common = [core for block in blocks for core in common[block.a : block.a + block.size]]
    return [_shortened(_runs(words, common)) for words in split]


def length_words(shown: Sequence[ShownJob]) -> str:
    """How clips of different lengths play together; empty if all are equally long."""
    lengths = [each.clip.duration_seconds for each in shown if each.clip]
    if not lengths or max(lengths) - min(lengths) < 0.05:
        return ""
    return f"The clock runs to the longest, {max(lengths):.1f} s. Shorter clips hold their last frame."


def figure_words(tile: Mapping[str, Any], *, picked: bool) -> str:
    """What is known of a clip besides its prompt, in one line."""
    told = [text for text, _ in [*tile["facts"], *tile["money"]]]
    return " · ".join(filter(None, ["★ Picked" if picked else "", tile["word"], *told]))


def plain_runs(runs: Sequence[Run]) -> str:
    """The text of runs, without its marks."""
    return "".join(text for text, _ in runs)


def _runs(words: list[str], common: list[str]) -> list[Run]:
    runs: list[Run] = []
    left = iter([*common, None])
    wanted = next(left)
    for word in words:
        same = _core(word) == wanted
        if same:
            wanted = next(left)
        if runs and runs[-1][1] is not same:
            runs[-1] = (runs[-1][0] + word, not same)
        else:
            if runs and runs[-1][1]:
                # The comma and the space after the last word aren't underlined.
                text = runs[-1][0]
                kept = len(text.rstrip(" ,.;:!?…、。")) or len(text.rstrip())
                runs[-1] = (text[:kept], True)
                word = text[kept:] + word
            runs.append((word, not same))
    if runs:
        runs[-1] = (runs[-1][0].rstrip(), runs[-1][1])
    return runs


def _shortened(runs: list[Run]) -> list[Run]:
    made: list[Run] = []
    left = PROMPT_CHARACTERS
    for text, differs in runs:
        if not differs:
            text = shortened_inside(text, SAME_CHARACTERS)
        if len(text) > left:
            return [*made, (f"{text[:left]}…", differs)]
        left -= len(text)
        made.append((text, differs))
    return made


def _core(word: str) -> str:
    return _EDGES.sub("", word).casefold() or word.strip()


def _figures(job: ShownJob) -> dict[str, str]:
    clip, request, view = job.clip, job.request, job.view
    length = clip.duration_seconds if clip else request.duration_seconds if request else None
    shape = f"{clip.width} × {clip.height}" if clip else (request.aspect_ratio if request else None)
    return {
        "length": "" if length is None else f"{length:.1f} s",
        "shape": shape or "",
        "seed": seed_words(request),
        "money": "" if view.charge == "reserved" else price(view.price_usd, view.charge),
    }


def _card_parts(card: CardFace, job: ShownJob) -> dict[str, Any]:
    view, lines, bar = job.view, list[Line](), None
    made: dict[str, Any] = {name: part for name, part in card.items() if name in _OF_THE_CARD}
    made["shape"] = card["shape"] or [640, 360]
    if job.clip is not None:
        made["word"] = ""
    elif view.state == wire.COMPLETED and not view.watched:
        made["stage"] = NOT_HERE
    elif card["bar"]:
        lines, bar = job_lines(view)[:1], bar_share(card, view)
    else:
        unknown = state(view.state).group == "uncertain" and view.charge != "none"
        made["stage"] = "Whether there is a clip isn't known." if unknown else "There is no clip."
    return made | {"bar": bar, "lines": lines}
