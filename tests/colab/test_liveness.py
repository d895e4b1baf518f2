"""Panels move in a classic Notebook on Colab's versions, also where the kernel is heard only when asked."""

from browser import liveness

from colab.classic import ClassicNotebook


@liveness.whatever_the_kernel_does
def test_a_card_moves_whatever_the_kernel_does(notebook: ClassicNotebook, under_way: str) -> None:
    """Updates come from a thread: state and progress reach the page, idle, awaiting and blocked."""
    liveness.a_card_lives_while(notebook, under_way)


def test_where_only_answers_arrive_the_page_asks_until_the_job_is_done(notebook: ClassicNotebook) -> None:
    """As in Colab: a whole Studio lives by its questions, and asks no more when nothing runs."""
    liveness.a_studio_lives_by_asking(notebook)


def test_what_is_out_of_sight_asks_nothing(notebook: ClassicNotebook) -> None:
    """A card scrolled away is silent, and right when it is seen again."""
    liveness.nothing_is_asked_out_of_sight(notebook)


def test_a_blocked_kernel_is_asked_once(notebook: ClassicNotebook) -> None:
    """Questions don't pile up before a kernel that can't answer."""
    liveness.one_question_at_a_time(notebook)
