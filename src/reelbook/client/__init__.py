"""The asynchronous client: httpx, no widgets, no threads."""

from __future__ import annotations

from .client import AsyncClient

__all__ = ["AsyncClient"]
