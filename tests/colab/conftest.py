"""One environment, one classic Notebook, one page and one kernel for all tests of this package."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.notebooks import *  # noqa: F403 - its fixtures

from colab.classic import ClassicNotebook, running_classic
from colab.environment import Environment, environment


@pytest.fixture(scope="package")
def colab() -> Environment:
    return environment()


@pytest.fixture(scope="package")
def address(colab: Environment, folder: Path) -> Iterator[str]:
    with running_classic(colab.python, folder) as url:
        yield url


@pytest.fixture(scope="package")
def kind() -> type[ClassicNotebook]:
    return ClassicNotebook
