"""What is believed of jobs before one was seen, for sandboxes that need no time: they are soon asked about.

Without it each new ledger's first job is left alone for some seconds, as a service's jobs may take minutes.
"""

from __future__ import annotations

from reelbook.client.scheduling import estimates

USUAL_JOBS = estimates._PRIOR
_LONGER = 0.001  # how likely each longer time is, against the shortest

SHORT_JOBS = tuple(
    estimates._shares(
        [
            1.0 if median == estimates.SHORTEST_MEDIAN_SECONDS else _LONGER
            for median in estimates.MEDIANS
            for _ in estimates.SPREADS
        ]
    )
)
"""It stands in the place of `estimates._PRIOR`."""
