"""The asynchronous client, on httpx; it needs neither widgets nor a thread of its own."""

from .client import AsyncClient

__all__ = ["AsyncClient"]
