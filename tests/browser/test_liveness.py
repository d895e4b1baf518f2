"""Panels move in a real JupyterLab, also where the kernel is heard only when asked."""

from __future__ import annotations

import pytest

from browser import liveness
from browser.lab import Notebook

pytestmark = [pytest.mark.browser]


@liveness.whatever_the_kernel_does
def test_a_card_moves_whatever_the_kernel_does(notebook: Notebook, under_way: str) -> None:
    """Updates come from a thread: state and progress reach the page, idle, awaiting and blocked."""
    liveness.a_card_lives_while(notebook, under_way)


def test_where_only_answers_arrive_the_page_asks_until_the_job_is_done(notebook: Notebook) -> None:
    """As in Colab: a whole Studio lives by its questions, and asks no more when nothing runs."""
    liveness.a_studio_lives_by_asking(notebook)


def test_what_is_out_of_sight_asks_nothing(notebook: Notebook) -> None:
    """A card scrolled away is silent, and right when it is seen again."""
    liveness.nothing_is_asked_out_of_sight(notebook)
