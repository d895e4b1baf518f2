"""Panels move in a real JupyterLab whatever its kernel does; how they ask is tried in colab/."""

from browser import liveness
from browser.lab import Notebook


@liveness.whatever_the_kernel_does
def test_a_card_moves_whatever_the_kernel_does(notebook: Notebook, under_way: str) -> None:
    """Updates come from a thread: state and progress reach the page, idle, awaiting and blocked."""
    liveness.a_card_lives_while(notebook, under_way)
