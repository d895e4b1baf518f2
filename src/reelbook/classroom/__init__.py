"""A class on one account: a room that serves the students, or a key of their own for each."""
