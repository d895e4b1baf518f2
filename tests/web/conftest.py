"""The sandbox's fixtures: what both services stand on is tried in one of them."""

from sandbox.conftest import client, executor, open_sandbox, shared, still

__all__ = ["client", "executor", "open_sandbox", "shared", "still"]
