"""What the panels say: pure functions from what is known to words and figures. Drawing is the page's part.

A module for each panel; the parts that they share are in `basics`.
"""

from __future__ import annotations

from .basics import Line, counting, dollars, file_name, plain, seconds
from .card import (
    FINAL,
    NOT_WATCHING,
    RUNNING_STAGE,
    Face,
    clip_face,
    clip_lines,
    empty_face,
    job_face,
    job_lines,
)
from .form import form_words, image_words
from .line import facts_words

__all__ = [
    "FINAL",
    "NOT_WATCHING",
    "RUNNING_STAGE",
    "Face",
    "Line",
    "clip_face",
    "clip_lines",
    "counting",
    "dollars",
    "empty_face",
    "facts_words",
    "file_name",
    "form_words",
    "image_words",
    "job_face",
    "job_lines",
    "plain",
    "seconds",
]
