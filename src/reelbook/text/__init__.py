"""What panels and terminal say: pure functions from values to words. The page only draws them.

There is a module for each panel; `card` and `board` say what several of them show of a job. Amounts, times
and lines that count seconds are in `reelbook.formatting`.
"""
