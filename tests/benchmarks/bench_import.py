"""What importing costs, as ratios against peers, each in fresh interpreters one after the other.

`python tests/benchmarks/bench_import.py`; the first ratio needs `pip install fal-client`.
"""

import statistics
import subprocess
import sys
import time

RUNS = 15
CASES = {
    "bare": "pass",
    "import reelbook": "import reelbook",
    "import fal_client": "import fal_client",
    "reelbook, AsyncClient made": "import reelbook; reelbook.AsyncClient('k', 'https://host.example')",
    "import httpx, pydantic": "import httpx, pydantic",
    "import ipywidgets, a button": "import ipywidgets; ipywidgets.Button()",
}


def main() -> None:
    taken: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(RUNS + 1):
        for name, code in CASES.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            taken[name].append(time.perf_counter() - began)
    bare = statistics.median(taken["bare"][1:])
    net = {name: statistics.median(times[1:]) - bare for name, times in taken.items()}
    for name, seconds in net.items():
        print(f"{name:28} {1000 * seconds:7.1f} ms net of bare Python ({1000 * bare:.0f} ms)")
    lightest = net["import reelbook"] / net["import fal_client"]
    print(f"import reelbook / import fal_client: {lightest:.2f} (goal 1.0)")
    made = net["reelbook, AsyncClient made"] / net["import httpx, pydantic"]
    print(f"AsyncClient made / import httpx, pydantic: {made:.2f} (goal 1.5)")


if __name__ == "__main__":
    main()
