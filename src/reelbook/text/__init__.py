"""What panels and terminal say: pure functions from values to words. The page only draws them.

There is a module for each panel. Amounts, times and lines that count seconds are in `reelbook.formatting`.
"""

from __future__ import annotations

from ..formatting import Line, counting, dollars, plain, seconds
from .board import (
    CREATE,
    Row,
    Tally,
    board_row,
    count_words,
    empty_words,
    heading_words,
    kind_words,
    requests_words,
    spent_words,
    sum_words,
    tally,
    wait_words,
)
from .card import (
    FINAL,
    NOT_WATCHING,
    RUNNING_STAGE,
    Face,
    clip_actions,
    clip_face,
    clip_lines,
    empty_face,
    job_face,
    job_lines,
)
from .form import form_words, image_words
from .status_line import facts_words

__all__ = [
    "CREATE",
    "FINAL",
    "NOT_WATCHING",
    "RUNNING_STAGE",
    "Face",
    "Line",
    "Row",
    "Tally",
    "board_row",
    "clip_actions",
    "clip_face",
    "clip_lines",
    "count_words",
    "counting",
    "dollars",
    "empty_face",
    "empty_words",
    "facts_words",
    "form_words",
    "heading_words",
    "image_words",
    "job_face",
    "job_lines",
    "kind_words",
    "plain",
    "requests_words",
    "seconds",
    "spent_words",
    "sum_words",
    "tally",
    "wait_words",
]
