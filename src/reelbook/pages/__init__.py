"""Plain pages from a server: what the room's and the sandbox's share. They know neither of the two."""
