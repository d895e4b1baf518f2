"""A class on one account: a key for each student in the morning, and none in the evening."""
