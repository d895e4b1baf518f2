"""What to spend a key's requests on: its budget, how long jobs take, whom to ask next.

`budget`, `estimates` and `polling` are pure, with the time as an argument; `scheduler` waits, `watch` asks.
"""
