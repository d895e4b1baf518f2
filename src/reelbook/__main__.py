"""`python -m reelbook`: the same as the command `reelbook`."""

from .cli import main

if __name__ == "__main__":
    main()
