"""What to spend a key's requests on. `budget`, `estimates` and `polling` are pure; `scheduler` waits."""
