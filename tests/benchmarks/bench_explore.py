"""Templates and sweeps: what counting, sampling and ordering take, the best of several runs.

`python tests/benchmarks/bench_explore.py`
"""

from __future__ import annotations

import time
from collections.abc import Callable

from dynamicprompts.generators import RandomPromptGenerator

from reelbook.explore import Sweep
from reelbook.explore.designs import grid, most_different_first, pairs
from reelbook.explore.templates import Template

RUNS = 5
IMMENSE = " ".join("{" + "|".join(f"w{place}x{word}" for word in range(10)) + "}" for place in range(12))
NESTED = "{2-4$$ and $$" + "|".join(f"{{a{n}|{{b{n}|c{n}}}}} __word__" for n in range(12)) + "}"
WORDS = [f"word{number}" for number in range(300)]


def taken(work: Callable[[], object]) -> str:
    """The shortest time of several runs."""
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return f"{1000 * min(times):8.1f} ms"


def main() -> None:
    template = Template(IMMENSE)
    places = grid((10, 10, 10))
    nested = Template(NESTED, {"word": WORDS})
    print(f"{taken(lambda: Template(IMMENSE).count)}  read and count {template.count:,} (goal 50 ms)")
    print(f"{taken(lambda: Template(NESTED, {'word': WORDS}).count)}  read and count {nested.count:,}")
    print(f"{taken(lambda: Sweep(IMMENSE, sample=50))}  a sample of 50 of them")
    print(f"{taken(lambda: RandomPromptGenerator().generate(IMMENSE, 50))}  the same by dynamicprompts")
    print(f"{taken(lambda: Sweep('{a} {b} {c}', a='1-10', b='1-10', c='1-10'))}  a sweep of 1,000 cells")
    print(f"{taken(lambda: most_different_first(places))}  of it the order")
    print(f"{taken(lambda: pairs((5,) * 5))}  every pair of 5 axes with 5 values")


if __name__ == "__main__":
    main()
