"""What a comparison says of each clip: prompt and facts with the differences marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

from reelbook import wire

from ..formatting import Line, price
from ..states import state
from .card import ShownJob, bar_share, clip_face, empty_face, job_face, job_lines, seed_words

if TYPE_CHECKING:
    from reelbook.session import Clip, JobRequest, JobView

# What all prompts share is shortened in the middle, so that a tile's state stays under 2 KB.
SAME_CHARACTERS: Final = 90
PROMPT_CHARACTERS: Final = 300
NOT_HERE: Final = "The clip's file isn't on this disk."
KEYS: Final = (
    "Space plays and pauses all. ← → move by 1 s, with Shift by 0.1 s, and , . by a frame. < > change the "
    "speed. {picks} pick. f fills the screen, Escape leaves."
)

Run = tuple[str, bool]  # a text, and whether it differs from the other clips'

# A word with the spaces after it. Scripts without spaces are compared character by character.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]\s*|[^\s\u3040-\u30ff\u3400-\u9fff]+\s*")
_EDGES = re.compile(r"^\W+|\W+$")


# The parts of a clip's card that its tile has, too.
_OF_THE_CARD: Final = ("shape", "clip", "seconds", "fps", "codec", "word", "tone", "stage", "note")


@dataclass(frozen=True)
class ComparedClip:
    """What is known of one clip. `clip` is None while there is no file; `view` is None without a job.

    `name` is what `picked` calls it, empty while it has none; `title` is shown if the prompt isn't known.
    """

    name: str
    request: JobRequest | None
    clip: Clip | None
    view: JobView | None
    sandbox: bool
    title: str


def tiles(shown: Sequence[ComparedClip]) -> list[dict[str, Any]]:
    """The clips of a comparison, in their order: parts of each one's card, and what differs marked.

    `ended` is shown once the clock has passed a clip's end; it is empty for the longest.
    """
    prompts = differing([each.request.prompt if each.request else each.title for each in shown])
    figures = [_figures(each) for each in shown]
    mixed = len({each.sandbox for each in shown}) > 1
    longest = max((each.clip.duration_seconds for each in shown if each.clip), default=0.0)
    made = []
    for place, (each, prompt) in enumerate(zip(shown, prompts, strict=True)):
        marked = {
            kind: (text, any(other[kind] != text for other in figures))
            for kind, text in figures[place].items()
            if text
        }
        money = [marked.pop("money")] if "money" in marked else []
        facts = [*marked.values(), *([("sandbox", True)] if mixed and each.sandbox else [])]
        about = {"key": str(place), "name": each.name, "prompt": prompt, "facts": facts, "money": money}
        length = each.clip.duration_seconds if each.clip else longest
        ended = f"ended at {length:.1f} s" if longest - length > 0.05 else ""
        made.append({**about, "ended": ended, **_of_its_card(each)})
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


def length_words(shown: Sequence[ComparedClip]) -> str:
    """How clips of different lengths play together; empty if all are equally long."""
    lengths = [each.clip.duration_seconds for each in shown if each.clip]
    if not lengths or max(lengths) - min(lengths) < 0.05:
        return ""
    return f"The clock runs to the longest, {max(lengths):.1f} s. Shorter clips hold their last frame."


def picks_words(*, unknown: bool) -> str:
    """Who keeps the picks. `unknown`: one of them is of a clip that no ledger knows."""
    return "No ledger knows all of these clips: this panel alone keeps that pick." if unknown else ""


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
        if not differs and len(text) > SAME_CHARACTERS:
            half = SAME_CHARACTERS // 2
            text = f"{text[:half].rsplit(' ', 1)[0]} … {text[-half:].split(' ', 1)[-1]}"
        if len(text) > left:
            return [*made, (f"{text[:left]}…", differs)]
        left -= len(text)
        made.append((text, differs))
    return made


def _core(word: str) -> str:
    return _EDGES.sub("", word).casefold() or word.strip()


def _figures(shown: ComparedClip) -> dict[str, str]:
    clip, request = shown.clip, shown.request
    length = clip.duration_seconds if clip else request.duration_seconds if request else None
    money = price(clip.cost_usd, "spent") if clip else ""
    if not money and shown.view is not None and shown.view.charge != "reserved":
        money = price(shown.view.price_usd, shown.view.charge)
    shape = f"{clip.width} × {clip.height}" if clip else (request.aspect_ratio if request else None)
    return {
        "length": "" if length is None else f"{length:.1f} s",
        "shape": shape or "",
        "seed": seed_words(request),
        "money": money,
    }


def _of_its_card(shown: ComparedClip) -> dict[str, Any]:
    face, lines, bar = empty_face(), list[Line](), None
    if shown.clip is not None:
        face = clip_face(shown.clip)
    elif (view := shown.view) is None:
        face["stage"] = NOT_HERE
    else:
        face = job_face(ShownJob(view, shown.request, shown.name))
        lines, bar = job_lines(view, None)[:1], bar_share(face, view)
        if view.state == wire.COMPLETED and not view.watched:
            face["stage"], bar, lines = NOT_HERE, None, []
        elif not face["bar"]:
            unknown = state(view.state).group == "uncertain" and view.charge != "none"
            face["stage"] = "Whether there is a clip isn't known." if unknown else "There is no clip."
    face["shape"] = face["shape"] or [640, 360]
    made = {name: part for name, part in face.items() if name in _OF_THE_CARD}
    return made | {"bar": bar, "lines": lines}
