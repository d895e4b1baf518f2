"""The words of panels and terminal: pure functions from values to words.

A sentence that never varies, or that answers one press alone, is in the panel that says it. There is a
module for each panel; `card` and `board` have what several of them show of a job. Amounts, times and lines
that count seconds are in `reelbook.formatting`.
"""
