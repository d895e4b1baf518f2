"""Plain pages from a server: what the room's pages and the sandbox's share."""
