"""`asyncio.run(…)` in a cell, for course material that calls it: only on request, never by itself."""

import sys


def allow_nested_loops() -> None:
    """Lets `asyncio.run(…)` work in a notebook cell, where a loop is already running.

        rb.allow_nested_loops()
        asyncio.run(asyncio.sleep(0))

    Patches asyncio for the whole process with nest-asyncio (nest-asyncio2 from Python 3.14). Reelbook itself
    doesn't need it: `await job` and `job.result()` work in every cell. Raises RuntimeError on an event loop
    that can't be patched, such as uvloop's.
    """
    if sys.version_info >= (3, 14):
        import nest_asyncio2 as nest_asyncio
    else:
        import nest_asyncio
    try:
        nest_asyncio.apply()
    except ValueError as unpatchable:
        raise RuntimeError(
            f"This event loop can't be nested: {unpatchable}. Use `await` in the cell instead of asyncio.run."
        ) from None
